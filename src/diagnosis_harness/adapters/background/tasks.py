"""Background tasks of a service process: heartbeat, run recovery, cancellation polling, alerts, uploads."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final

from diagnosis_harness.application.alerts.alerts import Alerts
from diagnosis_harness.application.runs.sources import LeftRuns
from diagnosis_harness.application.runs.supervisor import RecoveryReport, RunSupervisor
from diagnosis_harness.harness.waiting import sleep
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import StoreFailure

_LOG = logging.getLogger("diagnosis_harness.background")
_HEARTBEAT: Final = "heartbeat"
_UPLOADS_HEARTBEATS: Final = 5
"""Between removals of expired uploads: they are already invisible, so only their disk space waits."""


@dataclass(frozen=True, slots=True)
class TaskPeriods:
    """How often the tasks run, and when others consider this process dead.

    Attributes:
        heartbeat_s: pause between heartbeats, and between rounds of recovery.
        poll_s: pause between polls for cancellation requests and alerts.
        dead_after_s: other processes take over the runs of a process whose heartbeat is older.
    """

    heartbeat_s: float
    poll_s: float
    dead_after_s: float


class BackgroundTasks:
    """Runs the tasks. A failure is logged once, and the task is tried again after its period.

    Args:
        check_evidence: one small write into the evidence store, if that is not the database. The log says
            when the store becomes unavailable, and when it is available again.
        remove_uploads: removes a bounded part of the uploads that have expired.
    """

    def __init__(
        self,
        supervisor: RunSupervisor,
        alerts: Alerts,
        *,
        clock: Clock,
        periods: TaskPeriods,
        check_evidence: Callable[[], Awaitable[None]] | None = None,
        remove_uploads: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._supervisor = supervisor
        self._alerts = alerts
        self._clock = clock
        self._dead_after_s = periods.dead_after_s
        # What was already logged, so that a lasting problem is logged once.
        self._logged_lanes: set[str] = set()
        self._logged_failures: dict[str, str] = {}
        self._logged_alert_groups: frozenset[str] = frozenset()
        self._tasks = [
            # Separate from recovery: a slow recovery must not make this process look dead.
            _PeriodicTask(_HEARTBEAT, periods.heartbeat_s, supervisor.send_heartbeat, clock),
            _PeriodicTask("run-recovery", periods.heartbeat_s, self._recover_runs, clock),
            _PeriodicTask("cancellation-requests", periods.poll_s, self._apply_cancel_requests, clock),
            _PeriodicTask("alerts", periods.poll_s, self._process_alerts, clock),
        ]
        self._essential = tuple(self._tasks)
        if check_evidence is not None:
            self._tasks.append(_PeriodicTask("evidence-store", periods.heartbeat_s, check_evidence, clock))
        if remove_uploads is not None:
            pause_s = _UPLOADS_HEARTBEATS * periods.heartbeat_s
            self._tasks.append(_PeriodicTask("expired-uploads", pause_s, remove_uploads, clock))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Send one heartbeat, run the tasks for the duration of the body, then sign off.

        Raises:
            StoreFailure: the first heartbeat failed; a process unknown to others must not own runs.
        """
        await self._supervisor.send_heartbeat()
        for task in self._tasks:
            task.start()
        try:
            yield
        finally:
            for task in self._tasks:
                await task.stop()
            with suppress(StoreFailure):
                await self._supervisor.sign_off()

    def problem(self) -> str | None:
        """Why others may consider this process dead, or why no run is recovered; None if all is well."""
        now_s = self._clock.now_s()
        for task in self._essential:
            is_late = now_s - task.succeeded_s > self._dead_after_s
            if task.has_ended:
                return f"{task.name} has ended"
            if is_late and (task.is_failing or task.name == _HEARTBEAT):
                return f"{task.name} has not succeeded for {now_s - task.succeeded_s:.0f} s"
        return None

    async def _recover_runs(self) -> None:
        account = await self._supervisor.recover()
        _log_recovery(account)
        self._log_left_runs(account.left)
        failures = {each.what: str(each.failure) for each in account.failed}
        fresh = {what: failure for what, failure in failures.items() if what not in self._logged_failures}
        for failure in dict.fromkeys(fresh.values()):
            what = ", ".join(each for each, its in fresh.items() if its == failure)
            _LOG.warning("recovery of %s failed and will be retried: %s", what, failure)
        if over := [what for what in self._logged_failures if what not in failures]:
            _LOG.warning("recovery of %s works again", ", ".join(over))
        self._logged_failures = failures

    def _log_left_runs(self, left: Iterable[LeftRuns]) -> None:
        """Log once for each source why its runs wait."""
        for each in left:
            if each.backlog.lane not in self._logged_lanes:
                self._logged_lanes.add(each.backlog.lane)
                _LOG.warning(
                    "queued runs need source %r, which %s: they wait for a process that has it; to run them"
                    " here, configure it with --from or [sources]",
                    each.backlog.name,
                    "is a different one in this process" if each.is_another else "this process does not have",
                )

    async def _process_alerts(self) -> None:
        account = await self._alerts.work_off()
        for run_id, effect in account.effects.items():
            _LOG.info("an alert: run %s %s", run_id, effect.value)
        for fingerprint in account.failed.keys() - self._logged_alert_groups:
            failure = account.failed[fingerprint]
            _LOG.error("the notifications of alert group %s cannot be processed: %s", fingerprint, failure)
        self._logged_alert_groups = frozenset(account.failed)

    async def _apply_cancel_requests(self) -> None:
        for run_id in await self._supervisor.apply_cancel_requests():
            # Requested in another process, or here while the run was being claimed.
            _LOG.info("run %s was cancelled on request", run_id)


class _PeriodicTask:
    """Calls `action` repeatedly. A boundary: whatever one call raises, the next one is made."""

    def __init__(
        self, name: str, period_s: float, action: Callable[[], Awaitable[None]], clock: Clock
    ) -> None:
        self.name = name
        self.succeeded_s = clock.now_s()
        self.is_failing = False
        self._period_s = period_s
        self._action = action
        self._clock = clock
        self._task: asyncio.Task[None] | None = None

    @property
    def has_ended(self) -> bool:
        """Whether the task ended without being stopped."""
        return self._task is not None and self._task.done()

    def start(self) -> None:
        """Make the first call soon, and continue until `stop`."""
        self.succeeded_s = self._clock.now_s()
        self._task = asyncio.create_task(self._run(), name=self.name)

    async def stop(self) -> None:
        """Cancel a call in progress, and make no further one."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            try:
                await self._action()
            except StoreFailure as failure:
                if not self.is_failing:
                    _LOG.warning("%s: the store failed: %s", self.name, failure)
                self.is_failing = True
            except Exception as error:  # noqa: BLE001 - a boundary: a bug in one call must not end the task
                if not self.is_failing:
                    _LOG.exception("%s failed with %s and goes on", self.name, type(error).__name__)
                self.is_failing = True
            else:
                if self.is_failing:
                    _LOG.warning("%s works again", self.name)
                self.is_failing = False
                self.succeeded_s = self._clock.now_s()
            await sleep(self._clock, self._period_s)


def _log_recovery(account: RecoveryReport) -> None:
    for run_id in account.lost:
        _LOG.warning("run %s ended FAILED: its end could not be stored in time", run_id)
    for run_id in account.orphaned:
        _LOG.warning("run %s ended FAILED: its process is dead", run_id)
    for run_id in account.requeued:
        _LOG.info("run %s was requeued", run_id)
