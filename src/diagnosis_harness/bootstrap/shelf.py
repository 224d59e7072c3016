"""The configured incident folders, opened when they are first asked about and kept for the next run."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder
from diagnosis_harness.adapters.sources.incident_folder.opening import ONSET_PLACE
from diagnosis_harness.adapters.sources.incident_folder.summary import FolderSummary
from diagnosis_harness.application.diagnosis_path import OpenSource
from diagnosis_harness.application.system.profile import SourceProfile
from diagnosis_harness.application.system.source_profile import source_profile
from diagnosis_harness.kernel.errors import FailureKind, InvalidInput, OnsetOutsideData, SourceUnavailable
from diagnosis_harness.settings import SourceSettings
from diagnosis_harness.toolbox.catalog import build_tools
from diagnosis_harness.toolbox.ports import AlertInfo, Sources, SourceSummary
from diagnosis_harness.tools.spec import Tool, ToolSpec

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext

_LOG = logging.getLogger("diagnosis_harness.sources")

Progress = Callable[[str, int, int], None]
"""Told the file, and how many of how many are done."""

_Files = frozenset[tuple[str, int, int]]
"""Name, size and time of change of every file: another set is another incident."""


def _silent(file: str, done: int, total: int) -> None:
    del file, done, total


@dataclass(frozen=True, slots=True)
class _Place:
    """What an open folder is kept under: it is read with the onset that was stated."""

    name: str
    onset_s: float | None


class FolderShelf:
    """Implements `SourceShelf`. Used from one event loop; folders are read in threads.

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
        self._open: OrderedDict[_Place, tuple[_Files, OpenSource]] = OrderedDict()
        self._reading = asyncio.Lock()
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
            files = await asyncio.to_thread(_files, folder)
            self._keep(place, files, await asyncio.to_thread(self._opened, name, folder, None, progress))

    def profiles(self) -> tuple[SourceProfile, ...]:
        """What each configured folder holds, as it was last read."""
        return tuple(self._profiles.get(name, SourceProfile(name, ())) for name in self._folders)

    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools that there are, over a configured folder and beside it."""
        return self._tools

    async def open(self, ctx: RunContext, name: str | None, onset_s: float | None) -> OpenSource:
        """The source of a name, read anew where its files have changed; one that holds nothing for None.

        Raises:
            SourceUnavailable: it is not configured any more, or cannot be read; the log says why.
            OnsetOutsideData: it holds nothing of that time.
        """
        del ctx
        if name is None:
            return self._nothing
        folder = self._folders.get(name)
        if folder is None:
            raise SourceUnavailable(f"no source {name} is configured", kind=FailureKind.UNAVAILABLE)
        place = _Place(name, onset_s)
        async with self._reading:  # one at a time: reading takes the memory of a whole incident
            files = await asyncio.to_thread(self._stamps, name, folder)
            held = self._open.get(place)
            if held is None or held[0] != files:
                held = files, await asyncio.to_thread(self._read, name, folder, onset_s)
            self._keep(place, *held)
            return held[1]

    def _keep(self, place: _Place, files: _Files, source: OpenSource) -> None:
        self._open[place] = files, source
        self._open.move_to_end(place)
        while len(self._open) > self._open_max:
            self._open.popitem(last=False)

    def _stamps(self, name: str, folder: SourceSettings) -> _Files:
        try:
            return _files(folder)
        except OSError as error:
            _LOG.error("source %s cannot be read: %s", name, error)
            raise SourceUnavailable(f"source {name} cannot be read", kind=FailureKind.UNAVAILABLE) from error

    def _read(self, name: str, folder: SourceSettings, onset_s: float | None) -> OpenSource:
        try:
            return self._opened(name, folder, onset_s, _silent)
        except InvalidInput as error:
            if error.place == ONSET_PLACE:  # whoever asked gave it: nothing is wrong with the folder
                raise OnsetOutsideData(error.problem, kind=FailureKind.REJECTED) from error
            _LOG.error("source %s cannot be read: %s", name, error)
            raise SourceUnavailable(f"source {name} cannot be read", kind=FailureKind.UNAVAILABLE) from error

    def _opened(
        self, name: str, folder: SourceSettings, onset_s: float | None, progress: Progress
    ) -> OpenSource:
        sources = open_incident_folder(
            folder.folder,
            baseline=folder.baseline,
            onset_s=onset_s,
            memory_limit_mb=self._memory_limit_mb,
            progress=progress,
        )
        tools = (*build_tools(sources), *self._beside)
        self._tools = tuple(tool.spec for tool in tools)
        if isinstance(sources.summary, FolderSummary):
            self._profiles[name] = replace(source_profile(sources.summary.value), name=name)
        return OpenSource(sources, tools)


class _NoSource:
    """Says that there is nothing."""

    def summary(self, ctx: RunContext) -> SourceSummary:
        """Nothing of any kind."""
        del ctx
        return SourceSummary(
            name="",
            alert=AlertInfo(),
            onset_s=None,
            incident=None,
            baseline=None,
            metric_series=0,
            log_lines=0,
            spans=0,
            edges=0,
            changes=0,
            entities=(),
            files=(),
        )


def _files(folder: SourceSettings) -> _Files:
    roots = [folder.folder] if folder.baseline is None else [folder.folder, folder.baseline]
    return frozenset(_stamp(file) for root in roots for file in root.rglob("*") if file.is_file())


def _stamp(file: Path) -> tuple[str, int, int]:
    stat = file.stat()
    return str(file), stat.st_size, stat.st_mtime_ns
