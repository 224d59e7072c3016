"""Cancel a run that any process may own, and report what the cancellation achieved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.application.callers.caller import Caller
from diagnosis_harness.application.runs.reader import RunReader
from diagnosis_harness.application.runs.row import CancelRequest, RunRow, RunStatus
from diagnosis_harness.application.runs.store import RunArchive
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.core import CancelAnswer
from diagnosis_harness.harness.lease import OpenCall
from diagnosis_harness.harness.waiting import sleep
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import NotPermitted, RunUnknown
from diagnosis_harness.kernel.json_value import JsonValue

LOOK_S = 0.1
"""How often the row is read while waiting for an answer: ten times a second feels immediate."""


class CancelEffect(StrEnum):
    """The effect of a cancel."""

    STOPPED = "STOPPED"  # this cancel ended the run
    NEVER_STARTED = "NEVER_STARTED"  # it was queued, and will not start
    ENDED_BEFORE = "ENDED_BEFORE"  # the run had already ended otherwise
    ASKED = "ASKED"  # the process that runs it has not answered yet


@dataclass(frozen=True, slots=True)
class CancelReport:
    """The effect of a cancel, and the answer of the run's owner (`cancel_body`) or None."""

    row: RunRow
    effect: CancelEffect
    answer: JsonValue = None


class RunCanceller(RunReader):
    """Reads runs, and requests the cancellation of those that other processes own."""

    def __init__(self, archive: RunArchive, *, clock: Clock) -> None:
        super().__init__(archive)
        self._clock = clock

    async def cancel(self, caller: Caller, run_id: str) -> CancelReport:
        """Cancel a queued run at once, and request the cancellation of a running one from its owner.

        Raises:
            NotPermitted: the caller may not cancel.
            RunUnknown, StoreFailure: as `row`.
        """
        return await self._request_cancel(await self._row_to_cancel(caller, run_id))

    async def _row_to_cancel(self, caller: Caller, run_id: str) -> RunRow:
        if not caller.may_ask:
            raise NotPermitted("a viewer may only read")
        return await self.row(caller, run_id)

    async def _request_cancel(self, row: RunRow) -> CancelReport:
        if row.status.is_final:  # the answer to an earlier cancellation does not answer this one
            return CancelReport(row, CancelEffect.ENDED_BEFORE)
        was_queued = row.status is RunStatus.QUEUED
        request = CancelRequest(CancellationReason.USER_REQUESTED, self._clock.now_s())
        requested = await self._archive.request_cancel(row.run_id, request)
        if requested is None:
            raise RunUnknown(row.run_id)
        return report_of_request(requested, was_queued=was_queued)


def may_be_answered(row: RunRow) -> bool:
    """Whether the owner may still answer: its run may have ended before the answer is stored."""
    return row.cancel_answer is None and (not row.status.is_final or row.status is RunStatus.CANCELLED)


async def cancel_and_wait(
    runs: RunCanceller, caller: Caller, run_id: str, *, clock: Clock, answer_within_s: float
) -> CancelReport:
    """Cancel a run in any process, wait a while for its owner's answer, and report the row afterwards.

    Raises:
        NotPermitted, RunUnknown, StoreFailure: as `RunCanceller.cancel`.
    """
    report = await runs.cancel(caller, run_id)
    row = report.row
    if report.effect is CancelEffect.ASKED:
        until_s = clock.now_s() + answer_within_s
        while may_be_answered(row) and clock.now_s() < until_s:
            await sleep(clock, LOOK_S)
            row = await runs.row(caller, run_id)
        report = report_of_request(row, was_queued=False)
    row = await runs.row(caller, run_id)
    return CancelReport(row, report.effect, report.answer)


def report_of_request(row: RunRow, *, was_queued: bool) -> CancelReport:
    """The effect of a request to cancel another process's run, read from its row afterwards."""
    if row.cancel_answer is not None:
        stored = row.cancel_answer
        changed = isinstance(stored, dict) and stored.get("changed") is True
        effect = CancelEffect.STOPPED if changed else CancelEffect.ENDED_BEFORE
        return CancelReport(row, effect, stored)
    if not row.status.is_final:
        return CancelReport(row, CancelEffect.ASKED)
    never_started = was_queued and row.status is RunStatus.CANCELLED and row.started_s is None
    return CancelReport(row, CancelEffect.NEVER_STARTED if never_started else CancelEffect.ENDED_BEFORE)


def cancel_body(answer: CancelAnswer) -> JsonValue:
    """The owner's answer to a cancel, as JSON: what was stopped, and what was still in flight."""
    return {
        "changed": answer.changed,
        "state": answer.state.value,
        "reason": None if answer.reason is None else answer.reason.value,
        "begun": answer.begun,
        "never_started": _calls(answer.never_started),
        "in_flight": _calls(answer.in_flight),
        "notified": answer.notified,
    }


def _calls(several: Sequence[OpenCall]) -> list[JsonValue]:
    return [{"name": call.name, "tool_call_id": call.tool_call_id} for call in several]
