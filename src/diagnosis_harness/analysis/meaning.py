"""The meaning of a signal: what it measures, whose work that is, and which way is harmful.

| kind | what it measures | harmful | says of its entity |
|---|---|---|---|
| LATENCY | how long something takes | up | a symptom or a cause |
| ERRORS | failures, rejections, restarts, what is unhealthy | up | a symptom or a cause |
| AVAILABILITY | what is up, ready, successful | down | a symptom or a cause |
| CPU, MEMORY, DISK | a resource in use (what is free of it: harmful down) | up | a resource of its own |
| QUEUE | what waits to be done, and how far behind it is | up | a resource of its own |
| POOL | connections in use, and who waits for one | up | a resource of its own |
| SATURATION | threads, handles, locks, any other share in use | up | a resource of its own |
| EFFICIENCY | how often a cache answers (misses: harmful up) | down | what it spares those behind it |
| TRAFFIC | how much is asked and done | neither | load: a symptom |
| LIMIT | a ceiling or a wanted number | neither | what a resource is measured against |
| INFO | times of events, versions, owners | neither | nothing to compare |
| OTHER | unknown | neither | nothing until more is known |
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SignalKind(StrEnum):
    """What a signal measures."""

    LATENCY = "latency"
    ERRORS = "errors"
    AVAILABILITY = "availability"
    CPU = "cpu"
    MEMORY = "memory"
    DISK = "disk"
    QUEUE = "queue"
    POOL = "pool"
    SATURATION = "saturation"
    EFFICIENCY = "efficiency"
    TRAFFIC = "traffic"
    LIMIT = "limit"
    INFO = "info"
    OTHER = "other"


class SignalSide(StrEnum):
    """Whose work a signal measures."""

    OWN = "own"  # the entity's own work, or not stated
    OUTGOING = "outgoing"  # the calls that the entity makes: any of its callees may be at fault
    BETWEEN = "between"  # time that neither end of a call accounts for
    HOST = "host"  # the machine beneath, shared with neighbours


class SignalForm(StrEnum):
    """How the values of a series are produced, and so how they may be combined."""

    GAUGE = "gauge"  # a level that goes up and down
    COUNTER = "counter"  # a total that only grows, apart from resets: read as growth per second
    RATIO = "ratio"  # a share: shares of several instances are averaged, never added
    HISTOGRAM = "histogram"  # one bucket, sum or count of a distribution
    SUMMARY = "summary"  # one quantile that the monitored program computed: never averaged
    INFO = "info"  # always 1; the labels are what it says


SYMPTOMS = frozenset({SignalKind.LATENCY, SignalKind.ERRORS, SignalKind.AVAILABILITY})
RESOURCES = frozenset(
    {
        SignalKind.CPU,
        SignalKind.MEMORY,
        SignalKind.DISK,
        SignalKind.QUEUE,
        SignalKind.POOL,
        SignalKind.SATURATION,
    }
)
USUAL_HARM = {
    SignalKind.AVAILABILITY: -1,
    SignalKind.EFFICIENCY: -1,
    SignalKind.TRAFFIC: 0,
    SignalKind.LIMIT: 0,
    SignalKind.INFO: 0,
    SignalKind.OTHER: 0,
}
"""The harmful direction of a kind by default; +1 for the kinds that are not listed."""


@dataclass(frozen=True, slots=True)
class SignalMeaning:
    """How a signal is judged.

    Attributes:
        harmful: +1 if a rise is harmful, -1 if a fall is, 0 if neither is harmful by itself.
        form: how its values are produced; None if unknown.
        unit: the unit of its values by convention; None if the convention names none.
    """

    kind: SignalKind
    side: SignalSide
    harmful: int
    form: SignalForm | None = None
    unit: str | None = None


def usual_meaning(kind: SignalKind, side: SignalSide = SignalSide.OWN) -> SignalMeaning:
    """The default meaning of a kind."""
    return SignalMeaning(kind, side, USUAL_HARM.get(kind, 1))
