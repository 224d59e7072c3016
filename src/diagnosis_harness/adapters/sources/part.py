"""What one configured source is to the catalog, whatever its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.toolbox.ports import Sources, SourceSummary

ONSET_PLACE: Final = "--onset"
"""The place in an `InvalidInput` about the onset that the caller gave."""

Progress = Callable[[str, int, int], None]
"""Called before each file or query: its name, how many are done, how many there are."""

SourceState = Mapping[str, object]
"""What can be seen of a source's content without reading it: an equal state means equal content."""


@dataclass(frozen=True, slots=True)
class OpenedPart:
    """A source that was opened.

    Attributes:
        summary: what it holds, as counted when it was opened.
        described: what a person says of it in its configuration, as JSON; a part of its identity.
    """

    sources: Sources
    summary: SourceSummary
    described: JsonValue


class SourcePart(Protocol):
    """One configured source. It may be opened several times, for different onsets, one at a time."""

    @property
    def kind(self) -> str:
        """Its kind, as the settings name it."""
        ...

    def state(self) -> SourceState:
        """The state of its content now; an empty one never changes.

        Raises:
            OSError: it cannot be reached.
        """
        ...

    def open(self, onset_s: float | None, progress: Progress) -> OpenedPart:
        """Open it for an onset that the caller states, or for none.

        Raises:
            InvalidInput: it cannot be used; the place is `ONSET_PLACE` where it holds nothing of that time.
        """
        ...

    def content(self, state: SourceState) -> Mapping[str, JsonValue]:
        """Digests of all that it holds in this state, by name."""
        ...


def ignore_progress(name: str, done: int, total: int) -> None:
    """A `Progress` for callers who show none."""
    del name, done, total
