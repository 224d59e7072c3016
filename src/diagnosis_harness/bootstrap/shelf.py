"""The configured incident folders, opened when they are first asked about and kept for the next run."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder
from diagnosis_harness.adapters.sources.incident_folder.opening import ONSET_PLACE
from diagnosis_harness.adapters.sources.incident_folder.summary import FolderSummary
from diagnosis_harness.application.diagnosis_path import OpenSource
from diagnosis_harness.application.runs.sources import ANY_LANE, Lane, SourceStamp, lane_of
from diagnosis_harness.application.system.profile import SourceProfile
from diagnosis_harness.application.system.source_profile import source_profile
from diagnosis_harness.bootstrap.folder_stamp import Files, FolderStamps, files_of
from diagnosis_harness.kernel.errors import FailureKind, InvalidInput, OnsetOutsideData, SourceUnavailable
from diagnosis_harness.settings import SourceSettings
from diagnosis_harness.toolbox.catalog import build_tools
from diagnosis_harness.toolbox.ports import Sources, SourceSummary
from diagnosis_harness.tools.spec import Tool, ToolSpec

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext

_LOG = logging.getLogger("diagnosis_harness.sources")

Progress = Callable[[str, int, int], None]
"""Told the file, and how many of how many are done."""


def _silent(file: str, done: int, total: int) -> None:
    del file, done, total


@dataclass(frozen=True, slots=True)
class _Place:
    """What an open folder is kept under: it is read with the onset that was stated."""

    name: str
    onset_s: float | None


class FolderShelf:
    """Implements `SourceShelf` and `OwnSources`. Used from one event loop; folders are read in threads.

    Args:
        open_max: folders kept open; the one that was not asked about for longest goes first.
        beside: further tools, which need no folder.
    """

    def __init__(
        self,
        folders: Mapping[str, SourceSettings],
        *,
        memory_limit_mb: int,
        open_max: int,
        beside: Sequence[Tool] = (),
    ) -> None:
        self._folders = dict(folders)
        self._beside = tuple(beside)
        self._memory_limit_mb = memory_limit_mb
        self._open_max = open_max
        self._open: OrderedDict[_Place, tuple[Files, OpenSource]] = OrderedDict()
        self._reading = asyncio.Lock()
        self._stamper = FolderStamps()
        self._read_last: dict[str, tuple[Files, SourceStamp]] = {}
        self._identities: dict[str, set[str]] = {}  # also those that a source had before it changed
        self._profiles: dict[str, SourceProfile] = {}
        self._tools: tuple[ToolSpec, ...] = tuple(tool.spec for tool in self._beside)
        self._nothing = OpenSource(Sources(summary=_NoSource()), self._beside)

    async def warm(self, progress: Progress = _silent) -> None:
        """Read every configured folder once: what cannot be used is said at the start.

        Raises:
            InvalidInput: a folder, or a file in it, cannot be used.
        """
        for name, folder in self._folders.items():
            place = _Place(name, None)
            files = await asyncio.to_thread(files_of, folder)
            source = await asyncio.to_thread(self._opened, place, folder, files, progress)
            self._keep(place, files, source)

    def profiles(self) -> tuple[SourceProfile, ...]:
        """What each configured folder holds, as it was last read."""
        return tuple(self._profiles.get(name, SourceProfile(name, ())) for name in self._folders)

    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools that there are, over a configured folder and beside it."""
        return self._tools

    def stamps(self) -> Mapping[str, SourceStamp]:
        """Every configured source as it was last read."""
        return {name: stamp for name, (_, stamp) in self._read_last.items()}

    def lanes_now(self) -> frozenset[Lane]:
        """The runs about the sources as they were last read, and those about none: what is listened to."""
        return frozenset({ANY_LANE, *(lane_of(name, each.identity) for name, each in self.stamps().items())})

    def lanes(self) -> frozenset[Lane]:
        """The runs that this process can work on.

        A source that has changed since the process started is the same one to it. What an older program
        kept goes by the name of its source.
        """
        own = {lane_of(name, identity) for name, held in self._identities.items() for identity in held}
        return frozenset({ANY_LANE, *own, *(lane_of(name, None) for name in self._folders)})

    async def stamp(self, name: str) -> SourceStamp | None:
        """The source as it is now, or as it was last where it cannot be read; None if not configured.

        Waits for nobody who reads a source, unless this one has changed.
        """
        folder, last = self._folders.get(name), self._read_last.get(name)
        if folder is None:
            return None
        with suppress(SourceUnavailable, OnsetOutsideData):  # whoever opens it says why
            if last is None or last[0] != await asyncio.to_thread(self._files, name, folder):
                await self._looked_at(_Place(name, None))
        return self.stamps().get(name)

    async def refresh(self) -> None:
        """Read anew every source that has changed."""
        for name in self._folders:
            await self.stamp(name)

    async def open(
        self, ctx: RunContext, name: str | None, onset_s: float | None, asked: SourceStamp | None
    ) -> OpenSource:
        """The source of a name, read anew where its files have changed; one that holds nothing for None.

        Raises:
            SourceUnavailable: it is another one here, or none, or cannot be read; the log says why.
            OnsetOutsideData: it holds nothing of that time.
        """
        if name is None:
            return self._nothing
        try:
            opened = await self._looked_at(_Place(self._own_name(name, asked), onset_s))
        except SourceUnavailable as error:
            _LOG.error(
                "run %s: %s: %s", ctx.run_id, error, error.__cause__ or "see [sources] in the settings"
            )
            raise
        if asked is not None and opened.stamp is not None and asked.content != opened.stamp.content:
            _LOG.warning("run %s: source %s holds something else than when it was asked", ctx.run_id, name)
        return opened

    def _own_name(self, name: str, asked: SourceStamp | None) -> str:
        """What the source is called here: another machine may have it under another name."""
        if name in self._folders and (asked is None or asked.identity in self._identities.get(name, ())):
            return name
        if asked is not None:
            for own, identities in self._identities.items():
                if asked.identity in identities:
                    return own
        problem = (
            "is another one in this process" if name in self._folders else "is not configured in this process"
        )
        raise SourceUnavailable(f"source {name} {problem}", kind=FailureKind.UNAVAILABLE)

    async def _looked_at(self, place: _Place) -> OpenSource:
        """The source, read anew where its files have changed."""
        folder = self._folders[place.name]
        async with self._reading:  # one at a time: reading takes the memory of a whole incident
            files = await asyncio.to_thread(self._files, place.name, folder)
            held = self._open.get(place)
            if held is None or held[0] != files:
                held = files, await asyncio.to_thread(self._read, place, folder, files)
            self._keep(place, *held)
            return held[1]

    def _keep(self, place: _Place, files: Files, source: OpenSource) -> None:
        if source.stamp is not None:
            self._stamped(place.name, files, source.stamp)
        self._open[place] = files, source
        self._open.move_to_end(place)
        while len(self._open) > self._open_max:
            self._open.popitem(last=False)

    def _stamped(self, name: str, files: Files, stamp: SourceStamp) -> None:
        before = self._read_last.get(name)
        self._read_last[name] = files, stamp
        self._identities.setdefault(name, set()).add(stamp.identity)
        if before is None or before[1] == stamp:
            return
        self._stamper.forget({file: mark for file, mark in before[0].items() if files.get(file) != mark})
        if before[1].identity == stamp.identity:
            _LOG.info("source %s has changed and was read anew", name)
        else:
            _LOG.warning(
                "source %s has changed in its description or its entities: processes that have it as it was"
                " before do not work on what is asked of it from now on",
                name,
            )

    def _files(self, name: str, folder: SourceSettings) -> Files:
        try:
            return files_of(folder)
        except OSError as error:
            raise SourceUnavailable(f"source {name} cannot be read", kind=FailureKind.UNAVAILABLE) from error

    def _read(self, place: _Place, folder: SourceSettings, files: Files) -> OpenSource:
        name = place.name
        try:
            return self._opened(place, folder, files, _silent)
        except InvalidInput as error:
            if error.place == ONSET_PLACE:  # whoever asked gave it: nothing is wrong with the folder
                raise OnsetOutsideData(error.problem, kind=FailureKind.REJECTED) from error
            raise SourceUnavailable(f"source {name} cannot be read", kind=FailureKind.UNAVAILABLE) from error

    def _opened(self, place: _Place, folder: SourceSettings, files: Files, progress: Progress) -> OpenSource:
        sources = open_incident_folder(
            folder.folder,
            baseline=folder.baseline,
            onset_s=place.onset_s,
            memory_limit_mb=self._memory_limit_mb,
            progress=progress,
        )
        tools = (*build_tools(sources), *self._beside)
        self._tools = tuple(tool.spec for tool in tools)
        stamp = None
        if isinstance(sources.summary, FolderSummary):
            self._profiles[place.name] = replace(source_profile(sources.summary.value), name=place.name)
            stamp = self._stamper.stamp(files, sources.summary)
        return OpenSource(sources, tools, stamp)


class _NoSource:
    """Says that there is nothing."""

    def summary(self, ctx: RunContext) -> SourceSummary:
        """Nothing of any kind."""
        del ctx
        return SourceSummary("")
