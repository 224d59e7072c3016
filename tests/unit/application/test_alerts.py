"""Notifications are kept first and worked off later, whatever becomes of process, queue or store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from sqlalchemy import text
from tests.support.held_sources import HeldSources
from tests.support.run_process import SHOP
from tests.support.scripted_chat import KeptChat, open_chat

from diagnosis_harness.adapters.persistence.alert_inbox import SqlAlertInbox
from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.queue.local_queue import LocalRunQueue
from diagnosis_harness.application.alerts.alerts import Alerts, AlertSettings, TakenNotification
from diagnosis_harness.application.alerts.inbox import AlertEffect, GroupReport
from diagnosis_harness.application.callers.caller import ALERTS, Caller, CallerRole
from diagnosis_harness.application.runs.closed_runs import ClosedRuns
from diagnosis_harness.application.runs.run_service import RunService, RunsSettings
from diagnosis_harness.application.runs.submission import Submission, SubmissionRules
from diagnosis_harness.application.runs.supervisor import RecoverySettings, RunSupervisor
from diagnosis_harness.kernel.errors import (
    FailureKind,
    InvalidInput,
    NotPermitted,
    StoreFailure,
    TooManyAlerts,
)

ONE_MORE = 2


class AwayQueue(LocalRunQueue):
    """A queue that takes nothing at first, as if its process died before; and what is put again."""

    def __init__(self) -> None:
        super().__init__()
        self.put_ids: list[str] = []

    async def put(self, run_id: str, lane: str) -> None:
        """Say that it cannot."""
        self.put_ids.append(run_id)
        raise StoreFailure(f"{run_id} was not put", kind=FailureKind.UNAVAILABLE)

    async def requeue(self, run_id: str, lane: str) -> bool:
        """Take it."""
        await super().put(run_id, lane)
        return True


class HeldInbox(SqlAlertInbox):
    """An inbox that a test makes fail, or holds, while it works off."""

    raises: StoreFailure | None = None
    is_held = False

    def __init__(self, database: Database, *, closed: ClosedRuns) -> None:
        super().__init__(database, closed=closed)
        self.reached, self.let_go = asyncio.Event(), asyncio.Event()

    async def work_off(self, fingerprint: str, *, at_s: float) -> GroupReport:
        """Work off, as the test lets it."""
        if self.raises is not None:
            raise self.raises
        if self.is_held:
            self.reached.set()
            await self.let_go.wait()
        return await super().work_off(fingerprint, at_s=at_s)


class Scene:
    """Alerts of one process over a real store."""

    def __init__(self, kept: KeptChat) -> None:
        self.kept = kept
        self.closed: list[str] = []
        closed = ClosedRuns()
        closed.on_closed(lambda row: self.closed.append(row.run_id))
        self.queue = AwayQueue()
        self.sources = HeldSources(shop=SHOP)
        self.inbox = HeldInbox(kept.database, closed=closed)
        rules = SubmissionRules(
            sources=("shop", "bank"), limit_s=60.0, limit_max_s=60.0, start_within_s=300.0
        )
        self.runs = RunService(
            kept.core,
            archive=kept.stores.archive,
            queue=self.queue,
            active=kept.stores.active,
            owner="me",
            settings=RunsSettings(rules, unfinished_max=1, sources=self.sources),
        )
        self.alerts = Alerts(
            self.runs,
            inbox=self.inbox,
            queue=self.queue,
            clock=kept.clock,
            settings=AlertSettings(waiting_max=3, unfinished_max=ONE_MORE, source="shop"),
        )

    async def fire(self, group: str, **more: int) -> TakenNotification:
        """A group fires."""
        submission = Submission(question=f"why {group}?", source=self.alerts.source_of(None))
        return await self.alerts.take_firing(
            ALERTS, submission, notification_id=f"n-{group}", fingerprint=group, **more
        )

    async def resolve(self, group: str) -> TakenNotification:
        """A group is resolved."""
        return await self.alerts.take_resolved(ALERTS, notification_id=f"x-{group}", fingerprint=group)


def play(folder: Path, act: Callable[[Scene], Awaitable[None]]) -> None:
    """Act on alerts."""

    async def run_act() -> None:
        async with open_chat(folder) as kept:
            await asyncio.wait_for(act(Scene(kept)), 60)

    asyncio.run(run_act())


def test_a_run_whose_queue_was_not_notified_is_delivered_later(tmp_path: Path) -> None:
    """A process that dies between the two leaves a queued row: the notification is done, and has its run."""

    async def act(scene: Scene) -> None:
        taken = await scene.fire("g")
        assert taken.report is not None
        (run_id,) = taken.report.effects
        assert scene.queue.put_ids == [run_id]
        care = RunSupervisor(
            scene.kept.core,
            scene.kept.stores,
            recovery=scene.kept.recovery,
            queue=scene.queue,
            settings=RecoverySettings(),
            sources=scene.sources,
        )
        scene.kept.clock.advance(11.0)
        assert (await care.recover()).requeued == (run_id,)

    play(tmp_path, act)


def test_a_store_that_fails_after_the_notification_was_kept_refuses_nothing(tmp_path: Path) -> None:
    """It is accepted and waits for the next poll. A refusal would make the sender send it again."""

    async def act(scene: Scene) -> None:
        scene.inbox.raises = StoreFailure("the database does not answer", kind=FailureKind.TIMEOUT)
        taken = await scene.fire("g")
        assert (taken.notification_id, taken.report) == ("n-g", None)
        with pytest.raises(StoreFailure):
            await scene.alerts.work_off()
        scene.inbox.raises = None
        assert list((await scene.alerts.work_off()).effects.values()) == [AlertEffect.SUBMITTED]

    play(tmp_path, act)


def test_within_a_process_one_group_is_worked_off_at_a_time(tmp_path: Path) -> None:
    """However many come at once: the others wait for the next look, and are not lost."""

    async def act(scene: Scene) -> None:
        scene.inbox.is_held = True
        first = asyncio.create_task(scene.fire("g0"))
        await scene.inbox.reached.wait()
        second = await scene.fire("g1")
        assert (second.report, second.ahead) == (None, 1)
        assert (await scene.alerts.work_off()).effects == {}
        scene.inbox.let_go.set()
        assert (await first).report is not None
        assert len((await scene.alerts.work_off()).effects) == 1

    play(tmp_path, act)


def test_who_comes_later_does_not_take_the_room_of_who_waits(tmp_path: Path) -> None:
    """Groups have their runs in the order in which they came."""

    async def act(scene: Scene) -> None:
        took = [await scene.fire(f"g{number}") for number in range(4)]
        assert [each.report is None for each in took] == [False, False, True, True]
        await scene.runs.cancel(ALERTS, next(iter(took[0].report.effects)))  # type: ignore[union-attr]  # it was taken
        late = await scene.fire("g4")
        assert late.report is None
        (run_id,) = (await scene.alerts.work_off()).effects
        assert (await scene.runs.row(ALERTS, run_id)).request.fingerprint == "g2"
        assert (await scene.alerts.waiting()).count == ONE_MORE

    play(tmp_path, act)


def test_one_more_than_may_wait_is_refused_and_a_key_may_have_fewer_runs(tmp_path: Path) -> None:
    """What is refused was not kept."""

    async def act(scene: Scene) -> None:
        took = [await scene.fire(f"g{number}", unfinished_max=1) for number in range(4)]
        assert [each.report is None for each in took] == [False, True, True, True]
        with pytest.raises(TooManyAlerts):
            await scene.fire("g4")
        assert (await scene.alerts.waiting()).count == 3

    play(tmp_path, act)


def test_a_resolved_alert_names_the_run_that_it_ended(tmp_path: Path) -> None:
    """Counts and exports hear of every run that is closed, also of one that was never begun."""

    async def act(scene: Scene) -> None:
        (run_id,) = (await scene.fire("g")).report.effects  # type: ignore[union-attr]  # it was taken
        await scene.resolve("g")
        assert scene.closed == [run_id]

    play(tmp_path, act)


def test_a_notification_that_cannot_be_read_keeps_no_other_from_its_run(tmp_path: Path) -> None:
    """It is named, and stays; with room for one run alone, the next group has it."""

    async def act(scene: Scene) -> None:
        scene.inbox.raises = StoreFailure("not now", kind=FailureKind.TIMEOUT)
        for number in range(3):
            await scene.fire(f"g{number}", unfinished_max=1)
        scene.inbox.raises = None
        await scene.kept.database.write(
            lambda connection: connection.execute(
                text("UPDATE alert_notification SET request = '{\"kind\": 7}' WHERE fingerprint = 'g0'")
            )
        )
        account = await scene.alerts.work_off()
        assert list(account.failed) == ["g0"]
        assert account.failed["g0"].kind is FailureKind.INVALID_OUTPUT
        (run_id,) = account.effects
        assert (await scene.runs.row(ALERTS, run_id)).request.fingerprint == "g1"
        assert (await scene.alerts.waiting()).count == ONE_MORE

    play(tmp_path, act)


def test_what_can_never_be_asked_is_refused_and_not_kept(tmp_path: Path) -> None:
    """A viewer, and a source that is not there: sent again, they would be refused again."""

    async def act(scene: Scene) -> None:
        viewer = Caller("eve", CallerRole.VIEWER)
        with pytest.raises(NotPermitted):
            await scene.alerts.take_firing(
                viewer, Submission(question="why?", source="shop"), notification_id="n", fingerprint="g"
            )
        with pytest.raises(NotPermitted):
            await scene.alerts.take_resolved(viewer, notification_id="n", fingerprint="g")
        with pytest.raises(InvalidInput):
            await scene.alerts.take_firing(
                ALERTS, Submission(question="why?", source="pub"), notification_id="n", fingerprint="g"
            )
        assert (await scene.alerts.waiting()).count == 0

    play(tmp_path, act)
