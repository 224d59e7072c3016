"""What a store of alert notifications must do; part of `run_store_contract`, since they make runs."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from tests.support.expecting import expect, log_of, row_of
from tests.support.rows import SUBMITTED_S, Kept, Process, a_request, a_success

from diagnosis_harness.application.alerts.inbox import (
    AlertEffect,
    AlertNotification,
    AlertStatus,
    GroupReport,
    KeptNotification,
    WaitingNotifications,
)
from diagnosis_harness.application.runs.row import RunRow, RunStatus
from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.errors import TooManyAlerts
from diagnosis_harness.trace.event import TraceName

AT_S = SUBMITTED_S + 100
_MANY = 10_000


def fires(
    run_id: str, group: str = "g", *, question: str = "why?", most: int | None = None
) -> AlertNotification:
    """That a group fires; the run that may come of it has this id."""
    request = replace(a_request(run_id, fingerprint=group), question=question, unfinished_max=most)
    return AlertNotification(
        notification_id=f"n-{run_id}",
        fingerprint=group,
        asked_by=request.asked_by.name,
        status=AlertStatus.FIRING,
        received_s=SUBMITTED_S,
        request=request,
    )


def resolves(group: str = "g", *, name: str = "n-resolved") -> AlertNotification:
    """That a group is resolved."""
    return AlertNotification(
        notification_id=name,
        fingerprint=group,
        asked_by=a_request().asked_by.name,
        status=AlertStatus.RESOLVED,
        received_s=SUBMITTED_S + 1,
    )


async def _send(kept: Kept, *notifications: AlertNotification) -> GroupReport:
    """What working off comes to when these of one group were kept."""
    inbox = kept.inboxes[0]
    for each in notifications:
        await inbox.keep(each, waiting_max=_MANY)
    return await inbox.work_off(notifications[0].fingerprint, at_s=AT_S)


async def _begin(process: Process, row: RunRow) -> bool:
    ctx = process.open(row.run_id)
    return await process.store.begin(ctx, row.request, owner=process.owner, at_s=AT_S + 1)


async def keeps_a_notification_until_it_is_worked_off(kept: Kept) -> None:
    """Kept by one process, worked off by the other; the run asks what was kept, from its making on."""
    one, two = kept.inboxes
    expect(holds=await one.waiting() == WaitingNotifications(0, None), what="none waits")
    stays = await one.keep(fires("r1", question="为什么?\u0000"), waiting_max=_MANY)
    expect(holds=stays == KeptNotification("n-r1", 0), what="it waits under its id")
    expect(holds=await two.waiting() == WaitingNotifications(1, SUBMITTED_S), what="for every process")
    expect(holds=await two.due(limit=5) == ("g",), what="and can be worked off")
    report = await two.work_off("g", at_s=AT_S)
    row = await row_of(kept)
    expect(
        holds=replace(report, made=()) == GroupReport({"r1": AlertEffect.SUBMITTED}, 1, 0),
        what=f"it makes a run: {report}",
    )
    expect(holds=[each.run_id for each in report.made] == ["r1"], what="which is to be put into the queue")
    asked = a_request(fingerprint="g")
    expect(
        holds=row.request
        == replace(
            asked, question="为什么?\ufffd", submitted_s=AT_S, start_by_s=(asked.start_by_s or 0) + 100
        ),
        what=f"that asks it, with its whole time to begin: {row.request}",
    )
    expect(holds=await one.waiting() == WaitingNotifications(0, None), what="and the notification is gone")
    expect(holds=await one.work_off("g", at_s=AT_S) == GroupReport(), what="worked off once")


async def keeps_once_what_says_the_same(kept: Kept) -> None:
    """A group that is sent again while it waits keeps its one place; the run asks about the last content."""
    inbox = kept.inboxes[0]
    await inbox.keep(fires("r1", question="one alert"), waiting_max=2)
    again = await inbox.keep(fires("r2", question="two alerts"), waiting_max=2)
    expect(holds=again == KeptNotification("n-r1", 0), what="it takes the place of the one before")
    await inbox.keep(resolves(), waiting_max=2)
    try:
        await inbox.keep(fires("r3"), waiting_max=2)
    except TooManyAlerts as refused:
        expect(holds=refused.limit == 2, what="one more than may wait is refused")
    else:
        raise AssertionError("one more than may wait is refused")
    last = await inbox.keep(resolves(name="n-again"), waiting_max=2)
    expect(holds=last == KeptNotification("n-resolved", 1), what="what takes no place is kept also then")
    report = await inbox.work_off("g", at_s=AT_S)
    expect(holds=report == GroupReport({"r2": AlertEffect.CANCELLED}, 2, 0), what="fired, then resolved")
    row = await row_of(kept, "r2")
    expect(holds=row.request.question == "two alerts", what="asked as it was sent last")


async def makes_one_run_of_a_group_while_it_is_unfinished(kept: Kept) -> None:
    """Queued or at work it is joined; when it has ended, the group firing again is a new run."""
    await _send(kept, fires("r1"))
    report = await _send(kept, fires("r2"))
    expect(holds=report.effects == {"r1": AlertEffect.JOINED}, what="a queued one is joined")
    ctx = kept.one.open("r1")
    await kept.one.store.begin(ctx, (await row_of(kept)).request, owner="one", at_s=AT_S)
    report = await _send(kept, fires("r3"))
    expect(holds=report.effects == {"r1": AlertEffect.JOINED}, what="one at work is joined")
    await kept.one.store.finish(ctx, a_success())
    report = await _send(kept, fires("r4"))
    expect(holds=report.effects == {"r4": AlertEffect.SUBMITTED}, what="an ended one is not")
    report = await _send(kept, fires("r5", "other"))
    expect(holds=report.effects == {"r5": AlertEffect.SUBMITTED}, what="nor is another group's")


async def ends_by_a_resolved_alert_what_is_queued_alone(kept: Kept) -> None:
    """Queued: CANCELLED, closed, with one event. RUNNING: not cancelled, and not joined any more."""
    await _send(kept, fires("r1"))
    report = await _send(kept, resolves())
    expect(holds=report == GroupReport({"r1": AlertEffect.CANCELLED}, 1, 0), what="a queued run is ended")
    row = await row_of(kept)
    expect(holds=row.status is RunStatus.CANCELLED and row.is_closed, what="CANCELLED and closed")
    ended = row.ending
    expect(
        holds=ended is not None
        and (ended.state, ended.termination.detail)
        == (RunState.CANCELLED, "its alert was resolved before it began"),
        what="and it says why",
    )
    expect(holds=await log_of(kept) == [TraceName.RUN_FINISHED], what="it did not start, and it finished")
    expect(holds=not await _begin(kept.one, row), what="it never begins")
    await _send(kept, fires("r2"))
    expect(holds=await _begin(kept.two, await row_of(kept, "r2")), what="the next begins")
    began = await row_of(kept, "r2")
    report = await _send(kept, resolves())
    expect(holds=report == GroupReport({"r2": AlertEffect.LEFT_RUNNING}, 1, 0), what="and is left at work")
    expect(holds=await row_of(kept, "r2") == began, what="nobody requests to cancel it")
    expect(holds=await kept.recovery.cancel_requests("two") == (), what="nor tells its owner")
    report = await _send(kept, resolves())
    expect(holds=report == GroupReport({}, 1, 0), what="resolved again there is nothing to do")
    report = await _send(kept, fires("r3"))
    expect(holds=report.effects == {"r3": AlertEffect.SUBMITTED}, what="firing anew is a new run beside it")
    report = await _send(kept, fires("r4"))
    expect(holds=report.effects == {"r3": AlertEffect.JOINED}, what="which is joined then")


async def lets_a_claim_or_a_resolved_alert_win(kept: Kept) -> None:
    """A claim that races a resolved alert: the run is at work and left, or it never began. Never both."""
    for number in range(24):
        run_id, group = f"r{number}", f"g{number}"
        await _send(kept, fires(run_id, group))
        await kept.inboxes[0].keep(resolves(group, name=f"n{number}"), waiting_max=_MANY)
        row = await row_of(kept, run_id)
        works_off = kept.inboxes[0].work_off(group, at_s=AT_S)
        began, report = await asyncio.gather(_begin(kept.two, row), works_off)
        now = await row_of(kept, run_id)
        done = AlertEffect.LEFT_RUNNING if began else AlertEffect.CANCELLED
        expect(holds=report.effects == {run_id: done}, what=f"it says what was done: {began}, {report}")
        stands = RunStatus.RUNNING if began else RunStatus.CANCELLED
        expect(holds=now.status is stands, what=f"and the run stands so: {now.status}")
        expect(holds=(now.cancel_request is None) == began, what="a running run is not cancelled")


async def works_a_notification_off_once(kept: Kept) -> None:
    """Two processes that keep and work off at once: one run for each group, and nothing is left."""
    groups = [f"g{number}" for number in range(12)]
    sent = [
        kept.inboxes[number % 2].keep(fires(f"r-{group}-{number}", group), waiting_max=_MANY)
        for number in range(4)
        for group in groups
    ]
    await asyncio.gather(*sent)
    reports = await asyncio.gather(
        *(inbox.work_off(group, at_s=AT_S) for group in groups for inbox in kept.inboxes)
    )
    made = [run for each in reports for run, did in each.effects.items() if did is AlertEffect.SUBMITTED]
    rows = (await kept.archive.runs(RunQuery(limit=100))).rows
    expect(holds=sorted(made) == sorted(row.run_id for row in rows), what="each run is told of once")
    expect(holds=sorted(row.request.fingerprint or "" for row in rows) == sorted(groups), what="one each")
    expect(holds=(await kept.inboxes[1].waiting()).count == 0, what="and nothing waits")


async def waits_while_its_caller_has_as_many_runs_as_it_may(kept: Kept) -> None:
    """Beyond that, a group waits and is not lost; what needs no room does not wait behind it."""
    inbox = kept.inboxes[0]
    for number in range(4):
        await inbox.keep(fires(f"r{number}", f"g{number}", most=2), waiting_max=_MANY)
    expect(holds=await inbox.due(limit=9) == ("g0", "g1"), what="as many are due as there is room for")
    for group in ("g0", "g1"):
        await inbox.work_off(group, at_s=AT_S)
    expect(holds=await inbox.due(limit=9) == (), what="then none is")
    expect(holds=await inbox.work_off("g2", at_s=AT_S) == GroupReport({}, 0, 1), what="nor is one made")
    await inbox.keep(resolves("g3"), waiting_max=_MANY)
    await inbox.keep(fires("r4", "g0", most=2), waiting_max=_MANY)
    expect(holds=await inbox.due(limit=9) == ("g3", "g0"), what="but what takes no room")
    expect(holds=await inbox.due(limit=9, but_not={"g3"}) == ("g0",), what="without those named")
    report = await inbox.work_off("g3", at_s=AT_S)
    expect(holds=report == GroupReport({"r3": AlertEffect.CANCELLED}, 2, 0), what="fired and resolved")
    expect(holds=(await row_of(kept, "r3")).status is RunStatus.CANCELLED, what="is seen afterwards, too")
    await inbox.work_off("g0", at_s=AT_S)
    await _send(kept, resolves("g1"))
    expect(holds=await inbox.due(limit=9) == ("g2",), what="with room again the oldest is due")
    report = await inbox.work_off("g2", at_s=AT_S)
    expect(holds=report.effects == {"r2": AlertEffect.SUBMITTED}, what="and has its run")


ALERT_CHECKS = (
    keeps_a_notification_until_it_is_worked_off,
    keeps_once_what_says_the_same,
    makes_one_run_of_a_group_while_it_is_unfinished,
    ends_by_a_resolved_alert_what_is_queued_alone,
    lets_a_claim_or_a_resolved_alert_win,
    works_a_notification_off_once,
    waits_while_its_caller_has_as_many_runs_as_it_may,
)
