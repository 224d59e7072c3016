"""The id of an event on a stream: its number in the run's log and its part, as an event can have several."""

from __future__ import annotations

import re
from dataclasses import dataclass

from diagnosis_harness.kernel.errors import InvalidInput

_SEQ_MAX = 2**31 - 1
"""The largest seq of any log; larger ones are refused."""

_FORM = re.compile(r"(0|[1-9][0-9]{0,9})\.([01])", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class EventId:
    """`<seq>.<part>`: metadata is 0.0, the end of a run is part 0 and `done` part 1 of its RUN_FINISHED."""

    seq: int
    part: int = 0

    def __str__(self) -> str:
        return f"{self.seq}.{self.part}"


METADATA_ID = EventId(0)


def read_event_id(text: str) -> EventId:
    """The id that a client sends back.

    Raises:
        InvalidInput: it is not well-formed.
    """
    found = _FORM.fullmatch(text)
    if found is None or int(found[1]) > _SEQ_MAX:
        raise bad_event_id()
    return EventId(int(found[1]), int(found[2]))


def bad_event_id() -> InvalidInput:
    """The error for an id that is not of this run."""
    return InvalidInput(
        "Last-Event-ID",
        ("it belongs to no event of this run"),
        "send the id of the last event received, or omit it",
    )
