"""Background tasks go on whatever they raise, log it once, and report when they stop succeeding."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import cast

import pytest

from diagnosis_harness.adapters.background.tasks import BackgroundTasks, TaskPeriods
from diagnosis_harness.application.alerts.alerts import AlertAccount, Alerts
from diagnosis_harness.application.alerts.inbox import AlertEffect
from diagnosis_harness.application.runs.sources import LeftRuns, SourceBacklog
from diagnosis_harness.application.runs.supervisor import RecoveryFailure, RecoveryReport, RunSupervisor
from diagnosis_harness.kernel.errors import FailureKind, StoreFailure
from diagnosis_harness.testing.clock import ManualClock

PERIOD_S = 2.0
PERIODS = TaskPeriods(PERIOD_S, PERIOD_S, dead_after_s=10.0)
TASKS = 4
AWAY = StoreFailure("the database cannot be reached", kind=FailureKind.TRANSPORT)


class ObservedClock(ManualClock):
    """A clock that reports each wait that begins."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: asyncio.Queue[float] = asyncio.Queue()

    def call_at(self, at_s: float, callback: Callable[[], object]) -> Callable[[], None]:
        """Begin to wait."""
        disarm = super().call_at(at_s, callback)
        self.waits.put_nowait(at_s)
        return disarm


@dataclass
class ScriptedWork:
    """Succeeds or raises as a test says."""

    raises: dict[str, Exception] = field(default_factory=dict)
    account: RecoveryReport = field(default_factory=RecoveryReport)
    alerts: AlertAccount = field(default_factory=AlertAccount)

    async def send_heartbeat(self) -> None:
        """Send a heartbeat."""
        self._raise_or_return("send_heartbeat")

    async def recover(self) -> RecoveryReport:
        """Recover runs."""
        self._raise_or_return("recover")
        return self.account

    async def apply_cancel_requests(self) -> tuple[str, ...]:
        """Apply cancellation requests."""
        self._raise_or_return("apply_cancel_requests")
        return ()

    async def work_off(self) -> AlertAccount:
        """Process alerts."""
        self._raise_or_return("work_off")
        return self.alerts

    async def sign_off(self) -> None:
        """Sign off."""

    def _raise_or_return(self, what: str) -> None:
        if what in self.raises:
            raise self.raises[what]


@dataclass
class Scene:
    """The tasks, and the work they do."""

    work: ScriptedWork
    clock: ObservedClock
    tasks: BackgroundTasks

    async def advance(self) -> None:
        """Let every task run once more."""
        self.clock.advance(PERIOD_S)
        await self.until_idle()

    async def until_idle(self) -> None:
        """Return when every task waits for its next turn."""
        async with asyncio.timeout(10):
            for _ in range(TASKS):
                await self.clock.waits.get()


def play(act: Callable[[Scene], Awaitable[None]]) -> None:
    """Run the tasks while the test acts."""

    async def run() -> None:
        work, clock = ScriptedWork(), ObservedClock()
        tasks = BackgroundTasks(
            cast("RunSupervisor", work), cast("Alerts", work), clock=clock, periods=PERIODS
        )
        async with tasks.running():
            scene = Scene(work, clock, tasks)
            await scene.until_idle()
            await act(scene)

    asyncio.run(run())


@pytest.mark.parametrize("what", ["send_heartbeat", "recover", "apply_cancel_requests", "work_off"])
@pytest.mark.parametrize("error", [KeyError("reason"), AWAY])
def test_a_task_that_raises_goes_on_and_logs_it_once(
    what: str, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever it raises; its recovery is logged once, too."""

    async def act(scene: Scene) -> None:
        scene.work.raises[what] = error
        for _ in range(3):
            await scene.advance()
        scene.work.raises.clear()
        for _ in range(2):
            await scene.advance()

    with caplog.at_level(logging.INFO, logger="diagnosis_harness.background"):
        play(act)
    failing, works = (record.getMessage() for record in caplog.records)
    assert ("KeyError" if isinstance(error, KeyError) else str(AWAY)) in failing
    assert works.endswith("works again")


def test_a_heartbeat_that_keeps_failing_is_a_problem_until_it_succeeds() -> None:
    """By then other processes take this one for dead."""

    async def act(scene: Scene) -> None:
        scene.work.raises["send_heartbeat"] = AWAY
        for _ in range(5):
            await scene.advance()
        assert scene.tasks.problem() is None
        await scene.advance()
        assert scene.tasks.problem() == "heartbeat has not succeeded for 12 s"
        scene.work.raises.clear()
        await scene.advance()
        assert scene.tasks.problem() is None

    play(act)


def test_runs_left_to_other_processes_are_logged_once_for_each_source(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The log explains why runs wait, without repeating it every few seconds."""
    shop, bank = SourceBacklog("shop", "sha256:a", 2), SourceBacklog("bank\n", None, 1)

    async def act(scene: Scene) -> None:
        scene.work.account = RecoveryReport(left=(LeftRuns(shop, is_another=True),))
        await scene.advance()
        scene.work.account = RecoveryReport(
            left=(LeftRuns(shop, is_another=True), LeftRuns(bank, is_another=False))
        )
        await scene.advance()
        await scene.advance()

    play(act)
    of_shop, of_bank = (record.getMessage() for record in caplog.records)
    assert of_shop.startswith("queued runs need source 'shop', which is a different one in this process")
    assert of_bank.startswith(r"queued runs need source 'bank\n', which this process does not have")


@pytest.mark.parametrize("what", ["recover", "apply_cancel_requests"])
def test_recovery_or_cancellation_that_keeps_failing_is_a_problem(what: str) -> None:
    """Orphaned runs would stay open, and cancellation requests would be ignored."""

    async def act(scene: Scene) -> None:
        scene.work.raises[what] = KeyError("reason")
        for _ in range(6):
            await scene.advance()
        assert scene.tasks.problem() is not None

    play(act)


def test_a_task_that_has_ended_is_a_problem() -> None:
    """Immediately, whatever ended it."""

    async def act(scene: Scene) -> None:
        (task,) = (task for task in asyncio.all_tasks() if task.get_name() == "run-recovery")
        task.cancel()
        await asyncio.wait([task])
        assert scene.tasks.problem() == "run-recovery has ended"

    play(act)


def test_runs_that_cannot_be_recovered_are_logged_once_together(caplog: pytest.LogCaptureFixture) -> None:
    """One line for each reason; the task itself succeeded, so the process stays ready."""

    async def act(scene: Scene) -> None:
        scene.work.account = RecoveryReport(
            failed=(RecoveryFailure("run a", AWAY), RecoveryFailure("run b", AWAY))
        )
        for _ in range(6):
            await scene.advance()
        assert scene.tasks.problem() is None
        scene.work.account = RecoveryReport()
        await scene.advance()

    with caplog.at_level(logging.INFO, logger="diagnosis_harness.background"):
        play(act)
    assert [record.getMessage() for record in caplog.records] == [
        f"recovery of run a, run b failed and will be retried: {AWAY}",
        "recovery of run a, run b works again",
    ]


def test_effects_of_alerts_are_logged_and_an_unreadable_group_is_named_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Senders of alerts read no answers, so the log says what was done to which run."""
    unread = StoreFailure("a value in the database cannot be read", kind=FailureKind.INVALID_OUTPUT)

    async def act(scene: Scene) -> None:
        scene.work.alerts = AlertAccount({"run-1": AlertEffect.CANCELLED}, {"alert-7": unread})
        await scene.advance()
        scene.work.alerts = AlertAccount({}, {"alert-7": unread})
        await scene.advance()

    with caplog.at_level(logging.INFO, logger="diagnosis_harness.background"):
        play(act)

    assert [record.getMessage() for record in caplog.records] == [
        "an alert: run run-1 CANCELLED",
        f"the notifications of alert group alert-7 cannot be processed: {unread}",
    ]
