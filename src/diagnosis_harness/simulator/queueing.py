"""How long a request waits for a worker: latency grows with load, slowly at first and then without bound."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

UTILISATION_MAX = 0.97
"""Above this a queue has no steady state; the callers' timeouts then limit the wait."""


def utilisation(
    rate_per_s: NDArray[np.float64], service_time_s: NDArray[np.float64], servers: float
) -> NDArray[np.float64]:
    """Busy share of `servers` workers, from 0 to `UTILISATION_MAX`."""
    return np.clip(rate_per_s * service_time_s / servers, 0.0, UTILISATION_MAX)


def waiting_time_s(
    service_time_s: NDArray[np.float64], busy: NDArray[np.float64], servers: float
) -> NDArray[np.float64]:
    """Mean time in the queue of an M/M/c station, in seconds.

    Sakasegawa's closed form (1977): `S * rho^(sqrt(2(c+1)) - 1) / (c * (1 - rho))`. It is exact for one
    worker, within a few per cent for several, and accepts a fractional number of workers (shared cores).
    """
    power = np.sqrt(2.0 * (servers + 1.0)) - 1.0
    return np.asarray(service_time_s * busy**power / (servers * (1.0 - busy)), dtype=np.float64)
