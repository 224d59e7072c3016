"""The interface of a configured source to the catalog, whatever its kind."""

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
"""A cheap fingerprint of a source's content, taken without reading it: equal states mean equal content."""


@dataclass(frozen=True, slots=True)
class OpenedPart:
    """A source that was opened.

    Attributes:
        summary: what it contains, as counted when it was opened.
        described: what its configuration says about it, as JSON; a part of its identity.
    """

    sources: Sources
    summary: SourceSummary
    described: JsonValue


class SourcePart(Protocol):
    """One configured source. It may be opened several times, for different onsets, one at a time."""

    @property
    def kind(self) -> str:
        """The kind, as the settings name it."""
        ...

    def state(self) -> SourceState:
        """The present state of its content; an empty one never changes.

        Raises:
            OSError: it cannot be reached.
        """
        ...

    def open(self, onset_s: float | None, progress: Progress) -> OpenedPart:
        """Open it, with the onset that the caller states, or None.

        Raises:
            InvalidInput: it cannot be used; the place is `ONSET_PLACE` if it has no data of that time.
        """
        ...

    def content(self, state: SourceState) -> Mapping[str, JsonValue]:
        """Digests of its whole content in this state, by name."""
        ...


def ignore_progress(name: str, done: int, total: int) -> None:
    """A `Progress` for callers that show none."""
    del name, done, total
