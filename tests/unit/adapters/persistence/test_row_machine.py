"""The life of a row compared with a simple model: QUEUED, RUNNING, ended, closed, never back."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.support.rows import SUBMITTED_S, Process, a_fallback, a_request, a_success

from diagnosis_harness.adapters.persistence.archive import SqlRunArchive
from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.evidence import SqlEvidenceStore
from diagnosis_harness.adapters.persistence.recovery import SqlRunRecovery
from diagnosis_harness.adapters.persistence.run_log import SqlRunLog
from diagnosis_harness.adapters.persistence.run_store import SqlRunStore
from diagnosis_harness.application.runs.row import CancelRequest, RunEnding, RunFailure, RunRow, RunStatus
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.termination import CancellationReason, RunState, RunTermination, state_for
from diagnosis_harness.kernel.errors import StoreFailure
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.trace.event import TraceName

T = TypeVar("T")
OWNERS = st.sampled_from(["one", "two"])


@st.composite
def endings(draw: st.DrawFn) -> RunEnding:
    """Any end: every outcome with every termination, since none says anything of the other."""
    outcome = draw(st.sampled_from(ReleaseOutcome))
    reason = draw(st.sampled_from([None, *CancellationReason]))
    state = RunState.SUCCESS if reason is None else state_for(reason)
    base = a_fallback() if outcome is ReleaseOutcome.FALLBACK else a_success()
    released = outcome in (ReleaseOutcome.SUCCESS, ReleaseOutcome.FALLBACK)
    return replace(
        base,
        outcome=outcome,
        termination=RunTermination(state, reason, SUBMITTED_S + draw(st.floats(0, 1e6)), "why"),
        fallback=draw(st.sampled_from(FallbackType)) if outcome is ReleaseOutcome.FALLBACK else None,
        answer=base.answer if released else None,
        failure=None if released else RunFailure("CODE", "没有答案"),
    )


@dataclass
class Reference:
    """What must be true of the row."""

    row: RunRow | None = None
    log: tuple[TraceName, ...] = ()

    @property
    def is_running(self) -> bool:
        """Whether somebody works on it."""
        return self.row is not None and self.row.status is RunStatus.RUNNING

    def change(self, **fields: object) -> None:
        """Change the row."""
        assert self.row is not None
        self.row = replace(self.row, **fields)  # type: ignore[arg-type]  # fields of the row, named by the rules


class RowMachine(RuleBasedStateMachine):
    """One run, two processes, and everybody doing anything at any time."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = ManualClock()
        self.base = self.do(Database.open(str(Path(self.folder.name) / "runs.db"), pool_size=2))
        self.archive, self.care = SqlRunArchive(self.base), SqlRunRecovery(self.base)
        self.processes = {owner: self.process(owner) for owner in ("one", "two")}
        self.contexts: dict[str, RunContext] = {}
        self.truth = Reference()

    def process(self, owner: str) -> Process:
        """One process incarnation."""
        log = SqlRunLog(self.base, owner=owner, clock=self.clock)
        self.do(log.start())
        core = DiagnosisHarnessCore(clock=self.clock, ids=CountingIds(), sink=log)
        evidence = SqlEvidenceStore(self.base, owner=owner)
        return Process(owner, core, SqlRunStore(self.base, owner=owner), log, log, evidence)

    def do(self, work: Awaitable[T]) -> T:
        """Carry it out."""
        return self.loop.run_until_complete(_await(work))

    def teardown(self) -> None:
        """Close everything."""
        for process in self.processes.values():
            assert isinstance(process.log, SqlRunLog)
            self.do(process.log.stop())
        self.do(self.base.close())
        self.loop.close()
        self.folder.cleanup()

    @rule()
    def submit(self) -> None:
        """Once it is new, then it is joined."""
        submitted = self.do(self.archive.submit(a_request("r1")))
        assert submitted.is_new == (self.truth.row is None)
        if submitted.is_new:
            self.truth.row = RunRow(request=a_request("r1"), status=RunStatus.QUEUED)

    @rule(owner=OWNERS)
    def begin(self, owner: str) -> None:
        """A new or a queued run is claimed; nothing else."""
        process = self.processes[owner]
        ctx = process.open("r1")
        may = self.truth.row is None or self.truth.row.status is RunStatus.QUEUED
        at_s = self.clock.now_s()
        assert self.do(process.store.begin(ctx, a_request("r1"), owner=owner, at_s=at_s)) == may
        if may:
            self.truth.row = RunRow(
                request=a_request("r1"), status=RunStatus.RUNNING, started_s=at_s, owner=owner
            )
            self.contexts[owner] = ctx
            process.log.close(ctx)
            process.tell(ctx, TraceName.RUN_STARTED)
            process.log.open(ctx)
            self.do(process.log.flush(ctx))
            self.truth.log = (TraceName.RUN_STARTED,)

    @rule(owner=OWNERS, ending=endings())
    def finish(self, owner: str, ending: RunEnding) -> None:
        """The owner ends a RUNNING row, once."""
        process = self.processes[owner]
        ctx = self.contexts.get(owner) or process.open("r1")
        may = self.truth.is_running and self.truth.row is not None and self.truth.row.owner == owner
        assert self.do(process.store.finish(ctx, ending)) == may
        if may:
            self.truth.change(status=ending.status, ending=ending)

    @rule(owner=OWNERS, name=st.sampled_from([TraceName.TOOL_PROGRESS, TraceName.RUN_FINISHED]))
    def emit(self, owner: str, name: TraceName) -> None:
        """The owner writes its log until it is closed; RUN_FINISHED needs an end."""
        ctx, row = self.contexts.get(owner), self.truth.row
        if ctx is None or row is None:
            return
        process = self.processes[owner]
        was_closed_here = TraceName.RUN_FINISHED in self.truth.log and not self.was_given_up()
        process.tell(ctx, name)
        if was_closed_here:
            self.do(process.log.flush(ctx))
            return
        if row.is_closed or (name is TraceName.RUN_FINISHED and row.status is RunStatus.RUNNING):
            with pytest.raises(StoreFailure):
                self.do(process.log.flush(ctx))
            del self.contexts[owner]
            process.log.close(ctx)
            return
        self.do(process.log.flush(ctx))
        self.truth.log = (*self.truth.log, name)
        if name is TraceName.RUN_FINISHED:
            self.truth.change(is_closed=True)

    def was_given_up(self) -> bool:
        """Whether another process closed the log."""
        return TraceName.RUN_ENDED in self.truth.log

    @rule(reason=st.sampled_from(CancellationReason))
    def cancel(self, reason: CancellationReason) -> None:
        """A queued run ends by it; a running one keeps the first."""
        cancel = CancelRequest(reason, self.clock.now_s())
        found = self.do(self.archive.request_cancel("r1", cancel))
        row = self.truth.row
        if row is None:
            assert found is None
        elif row.status is RunStatus.QUEUED:
            assert found is not None
            assert found.ending is not None
            assert found.ending.state is state_for(reason)
            assert found.ending.failure is not None
            assert found.status is not RunStatus.SUCCESS
            self.truth = Reference(found, (TraceName.RUN_FINISHED,))
        elif row.status is RunStatus.RUNNING and row.cancel_request is None:
            self.truth.change(cancel_request=cancel)

    @rule(owner=OWNERS)
    def give_up(self, owner: str) -> None:
        """What its process left open is ended and closed."""
        row = self.truth.row
        may = row is not None and row.owner == owner and not row.is_closed
        assert self.do(self.care.abandon("r1", owner=owner, at_s=self.clock.now_s())) == may
        if not may or row is None:
            return
        now = self.do(self.archive.run("r1"))
        assert now is not None
        assert now.ending is not None
        if row.ending is None:
            assert now.status is RunStatus.FAILED
            assert now.ending.termination.reason is CancellationReason.INTERNAL_FAILURE
            self.truth.change(status=RunStatus.FAILED, ending=now.ending)
        self.truth.change(is_closed=True)
        self.truth.log = (*self.truth.log, TraceName.RUN_ENDED, TraceName.RUN_FINISHED)

    @invariant()
    def the_row_and_the_log_are_as_the_reference_says(self) -> None:
        """Every column, every event."""
        assert self.do(self.archive.run("r1")) == self.truth.row
        events = self.do(self.archive.events("r1", limit=1000))
        assert tuple(event.name for event in events) == self.truth.log
        assert [event.seq for event in events] == list(range(1, len(events) + 1))


async def _await(work: Awaitable[T]) -> T:
    return await work


TestRow = RowMachine.TestCase
TestRow.settings = settings(
    max_examples=settings().max_examples // 4,
    stateful_step_count=15,  # each step is a few transactions
)
