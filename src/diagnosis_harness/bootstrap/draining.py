"""How a process of the service stops: no more work is taken, what is at work may end, the rest is ended."""

from __future__ import annotations

import logging

from diagnosis_harness.application.runs.row import SERVICE_STOPPED
from diagnosis_harness.application.service import Service
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.waiting import passed
from diagnosis_harness.settings import Settings

_LOG = logging.getLogger("diagnosis_harness.service")
_LOOK_S = 0.05
_WAITS_MAX = 4
"""How often the end of a run may wait for a store: for a record, what is owed, its log and its row."""


async def drain(service: Service, settings: Settings) -> None:
    """Return when no run is at work, or those that are cannot be brought to their end in time.

    Queued runs stay queued, for another process or for this one when it is started again. A run that takes
    longer than `care.drain_s` ends FAILED / INTERNAL_FAILURE; one that does not even end so is left to the
    processes that go on, which end it.
    """
    await service.queue.close()
    if await _idle(service, settings.care.drain_s):
        return
    for ctx in service.keeping.active.all():
        _LOG.warning("run %s is ended: the service stops", ctx.run_id)
        service.core.cancel(ctx, CancellationReason.INTERNAL_FAILURE, SERVICE_STOPPED)
    await _idle(service, _WAITS_MAX * settings.run.finalise_timeout_s)


async def _idle(service: Service, patience_s: float) -> bool:
    clock = service.core.clock
    until_s = clock.now_s() + patience_s
    while len(service.keeping.active) > 0 and clock.now_s() < until_s:
        await passed(clock, _LOOK_S)
    return len(service.keeping.active) == 0
