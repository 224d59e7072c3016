"""An incident of which only log lines tell, from a seed: an hour of normal operation, then ten minutes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.testing.sources import InMemorySources
from diagnosis_harness.toolbox.ports import AlertInfo, CallEdge, LogLine

ONSET_S = 1_704_117_900.0  # 2024-01-01T14:05:00Z
NORMAL_S, FAULT_S = 3_600.0, 600.0
CALLS = (("shop", "orders"), ("orders", "payments"), ("orders", "stock"), ("payments", "payments-db"))
POOL = "HikariPool-1 - Connection is not available, request timed out after 30000ms."
REFUSED = "failed to charge: dial tcp payments:5432: connect: connection refused"


class LogFault(StrEnum):
    """What goes wrong from `ONSET_S` on."""

    NOTHING = "nothing"
    POOL = "pool"  # payments has no connection left and says so; orders says that its call failed
    REFUSED = "refused"  # orders cannot reach payments; payments itself writes nothing
    EARLY_RETURN = "early return"  # stock ends after the check; nobody writes an error
    SURGE = "surge"  # three times the requests, with three times the failures of every day


def log_incident(fault: LogFault, *, seed: int = 1) -> InMemorySources:
    """Lines of four services; requests run side by side, each with its trace."""
    rng = np.random.default_rng(seed)
    lines = [*_requests(fault, rng), *_noise(fault, rng)]
    return InMemorySources(
        log_lines=tuple(sorted(lines, key=lambda line: line.time_s)),
        call_edges=tuple(CallEdge(caller, callee) for caller, callee in CALLS),
        part_of={f"{name}-7d9f": name for name in ("shop", "orders", "payments", "stock")},
        alert=AlertInfo(entity="shop", time_s=ONSET_S + 60.0),
        onset_s=ONSET_S,
        name="log incident",
    )


def _requests(fault: LogFault, rng: np.random.Generator) -> Iterator[LogLine]:
    for number, begin_s in enumerate(_times(fault, 0.25, rng).tolist()):
        late = begin_s >= ONSET_S
        ids = int(rng.integers(10_000, 99_999))
        steps = [
            ("shop", "INFO", f"GET /order/{ids} from 10.0.{ids % 200}.7"),
            ("orders", "INFO", f"order {ids} received"),
            ("stock", "INFO", f"checking stock of item {ids % 40}"),
            ("stock", "INFO", f"reserved {ids % 9} of item {ids % 40}"),
            ("payments", "INFO", f"charge {ids} begun"),
            ("payments", "INFO", f"charge {ids} done in {ids % 90} ms"),
            ("orders", "INFO", f"order {ids} placed"),
        ]
        yield from _write(begin_s, f"t{number}", _steps_of(fault, steps) if late else steps)


def _steps_of(fault: LogFault, steps: Sequence[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    match fault:
        case LogFault.POOL:
            failed = ("orders", "ERROR", "call to payments failed: 500 Internal Server Error")
            return [*steps[:5], ("payments", "ERROR", POOL), failed]
        case LogFault.REFUSED:
            return [*steps[:4], ("orders", "ERROR", REFUSED)]
        case LogFault.EARLY_RETURN:
            return [*steps[:3], *steps[4:]]
        case LogFault.NOTHING | LogFault.SURGE:
            return list(steps)


def _write(begin_s: float, trace: str, steps: Sequence[tuple[str, str, str]]) -> Iterator[LogLine]:
    for place, (entity, level, message) in enumerate(steps):
        yield LogLine(begin_s + 0.02 * place, f"{entity}-7d9f", level, message, trace)


def _noise(fault: LogFault, rng: np.random.Generator) -> Iterator[LogLine]:
    """Failures of every day, and what services say of themselves."""
    for at_s in _times(fault, 0.02, rng).tolist():
        yield LogLine(at_s, "orders-7d9f", "WARN", f"retry {int(rng.integers(1, 4))} of a slow call")
    for at_s in np.arange(ONSET_S - NORMAL_S, ONSET_S + FAULT_S, 20.0).tolist():
        yield LogLine(at_s, "payments-7d9f", "INFO", f"pool: {int(rng.integers(2, 9))} of 64 in use")


def _times(fault: LogFault, rate: float, rng: np.random.Generator) -> NDArray[np.float64]:
    busy = 3.0 if fault is LogFault.SURGE else 1.0
    early = ONSET_S - NORMAL_S * rng.random(rng.poisson(rate * NORMAL_S))
    late = ONSET_S + FAULT_S * rng.random(rng.poisson(rate * busy * FAULT_S))
    times: NDArray[np.float64] = np.sort(np.concatenate((early, late)))
    return times
