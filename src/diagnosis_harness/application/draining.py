"""Stops a service process: take no more work, wait for active runs, and end those that do not finish."""

from __future__ import annotations

import logging

from diagnosis_harness.application.runs.row import SERVICE_STOPPED
from diagnosis_harness.application.service import Service
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.waiting import sleep

_LOG = logging.getLogger("diagnosis_harness.service")
_POLL_S = 0.05  # short enough that a stop feels immediate, long enough to be cheap
_STORE_WAITS_MAX = 4  # an ending run may wait for its record, its unfinished calls, its log and its row


async def drain(service: Service, *, drain_s: float, finalise_timeout_s: float) -> None:
    """Return when this process has no active run, or its runs cannot be ended in time.

    Queued runs stay queued, for another process or for this one after a restart. A run that is active for
    longer than `drain_s` ends FAILED / INTERNAL_FAILURE. A run that does not end even then is left to the
    other processes, which end it as abandoned.
    """
    await service.queue.close()
    if await _wait_until_idle(service, drain_s):
        return
    for ctx in service.stores.active.all():
        _LOG.warning("run %s is ended: the service stops", ctx.run_id)
        service.core.cancel(ctx, CancellationReason.INTERNAL_FAILURE, SERVICE_STOPPED)
    await _wait_until_idle(service, _STORE_WAITS_MAX * finalise_timeout_s)


async def _wait_until_idle(service: Service, timeout_s: float) -> bool:
    clock, active = service.core.clock, service.stores.active
    until_s = clock.now_s() + timeout_s
    while len(active) > 0 and clock.now_s() < until_s:
        await sleep(clock, _POLL_S)
    return len(active) == 0
