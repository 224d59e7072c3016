"""A log line for each answer that an operator may have to explain: failures and refused callers."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable

from starlette.types import Scope

from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.report.timestamps import escape_line
from diagnosis_harness.server.problems import Problem
from diagnosis_harness.server.rate_limit import RateLimits

_LOG = logging.getLogger("diagnosis_harness.server")
_REFUSED = frozenset({401, 403, 429})

LINES_PER_MINUTE = 30
"""Lines of each kind of refusal a minute, so that somebody guessing keys, or a storm of alerts, cannot fill
the disk."""
SUM_UP_AFTER_S = 60.0
"""How long after the first line that was left out the log says how many were: the window of the limit."""


class RefusalLog:
    """Writes one line for a request: its id, its route, and why it was not answered.

    Every 5xx is written. 401, 403 and 429 are limited to so many of a kind a minute; a line of its own says
    how many were left out, a minute after the first of them or when the service stops. No line holds a key, a
    body, a header, or a path as it was sent.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rates = RateLimits()
        self._lock = threading.Lock()  # the clock calls from a thread of its own
        self._left_out: Counter[str] = Counter()
        self._disarm: Callable[[], None] | None = None

    def write(self, scope: Scope, request_id: str, status: int) -> None:
        """Write the line of an answer, if it needs one."""
        if status >= 500:
            _LOG.error("request %s: %s", request_id, _describe(scope, status))
        elif status in _REFUSED:
            kind = _kind(scope, status)
            wait_s = self._rates.wait_s(kind, now_s=self._clock.now_s(), per_minute=LINES_PER_MINUTE)
            if wait_s is None:
                _LOG.warning("request %s: %s", request_id, _describe(scope, status))
            else:
                self._leave_out(f"{status} {kind}")

    def sum_up(self) -> None:
        """Write how many lines of each kind were left out; called by the clock and at the end."""
        with self._lock:
            left_out, self._left_out = self._left_out, Counter()
            disarm, self._disarm = self._disarm, None
        if disarm is not None:
            disarm()
        for kind, count in sorted(left_out.items()):
            _LOG.warning("%d more refusals of the kind %s were not written", count, kind)

    def _leave_out(self, kind: str) -> None:
        with self._lock:
            self._left_out[kind] += 1
            if self._disarm is None:
                at_s = self._clock.now_s() + SUM_UP_AFTER_S
                self._disarm = self._clock.call_at(at_s, lambda: self._clock.hand_off(self.sum_up))


def _problem(scope: Scope) -> Problem | None:
    found = scope["state"].get("problem")
    return found if isinstance(found, Problem) else None


def _kind(scope: Scope, status: int) -> str:
    problem = _problem(scope)
    return str(status) if problem is None else problem.kind.value


def _describe(scope: Scope, status: int) -> str:
    """The route, the caller and the reason; of the values that the client chose, only its address."""
    problem, client = _problem(scope), scope.get("client")
    route = getattr(scope.get("route"), "path", "an unmatched path")
    parts = [f"{status} {_kind(scope, status)}: {escape_line(scope['method'])[:20]} {route}"]
    if client:
        parts.append(f"from {escape_line(str(client[0]))}")
    if admission := scope["state"].get("admission"):
        parts.append(f"caller {escape_line(admission.caller.name)}")
    reason = scope["state"].get("reason") or (problem.reason if problem else "")
    return ", ".join(parts) + (f": {reason}" if reason else "")
