"""Sources of a process that a test gives and changes, by name."""

from __future__ import annotations

from collections.abc import Collection

from diagnosis_harness.application.runs.sources import ANY_LANE, Lane, SourceStamp, lane_of


class HeldSources:
    """`OwnSources`. `set_stamps` says what a look finds from now on; what was held before is held still."""

    def __init__(self, **stamps: SourceStamp) -> None:
        self._found = dict(stamps)
        self._seen = {(name, stamp.identity) for name, stamp in stamps.items()}

    def set_stamps(self, **stamps: SourceStamp) -> None:
        """Have the next look find this."""
        self._found |= stamps

    def lanes(self) -> Collection[Lane]:
        """The runs that this process can work on, as far as it has looked."""
        own = {lane_of(name, identity) for name, identity in self._seen}
        return {ANY_LANE, *own, *(lane_of(name, None) for name in self._found)}

    async def stamp(self, name: str) -> SourceStamp | None:
        """The source as it is now."""
        await self.refresh()
        return self._found.get(name)

    async def refresh(self) -> None:
        """Look."""
        self._seen |= {(name, stamp.identity) for name, stamp in self._found.items()}
