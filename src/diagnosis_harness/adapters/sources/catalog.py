"""The configured sources, opened when a run first asks about them and kept open for the next run."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from diagnosis_harness.adapters.sources.merge import ChosenPart, merge_parts
from diagnosis_harness.adapters.sources.part import (
    ONSET_PLACE,
    OpenedPart,
    Progress,
    SourcePart,
    SourceState,
    ignore_progress,
)
from diagnosis_harness.application.diagnosis_path import OpenSource
from diagnosis_harness.application.runs.sources import ANY_LANE, Lane, SourceStamp, lane_of
from diagnosis_harness.application.system.profile import SourceProfile
from diagnosis_harness.application.system.source_profile import source_profile
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.canonical import canonical_json, digest
from diagnosis_harness.kernel.errors import FailureKind, InvalidInput, OnsetOutsideData, SourceUnavailable
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.toolbox.catalog import build_tools
from diagnosis_harness.toolbox.no_sources import NO_SOURCES
from diagnosis_harness.tools.spec import Tool, ToolSpec

_LOG = logging.getLogger("diagnosis_harness.sources")

_States = tuple[SourceState, ...]
"""The state of every part of a source."""


@dataclass(frozen=True, slots=True)
class ConfiguredPart:
    """One part of a source, and the kinds of telemetry that are taken from it; all if none is named."""

    part: SourcePart
    roles: Collection[str] = ()


ConfiguredSource = Sequence[ConfiguredPart]
"""The parts of one source name; several are merged."""


@dataclass(frozen=True, slots=True)
class _Key:
    """A source is opened separately for each onset that a caller states."""

    name: str
    onset_s: float | None


class LocalSourceCatalog:
    """Implements `SourceCatalog` and `OwnSources`. Used from one event loop; sources are read in threads.

    Args:
        open_max: sources kept open; the least recently used one is closed first.
        extra_tools: further tools, which need no source.
    """

    def __init__(
        self, sources: Mapping[str, ConfiguredSource], *, open_max: int, extra_tools: Sequence[Tool] = ()
    ) -> None:
        self._sources = dict(sources)
        self._extra_tools = tuple(extra_tools)
        self._open_max = open_max
        self._open: OrderedDict[_Key, tuple[_States, OpenSource]] = OrderedDict()
        self._reading = asyncio.Lock()
        self._read_last: dict[str, tuple[_States, SourceStamp]] = {}
        self._identities: dict[str, set[str]] = {}  # also those that a source had before it changed
        self._profiles: dict[str, SourceProfile] = {}
        self._tools: tuple[ToolSpec, ...] = tuple(tool.spec for tool in self._extra_tools)
        self._nothing = OpenSource(NO_SOURCES, self._extra_tools)

    async def warm(self, progress: Progress = ignore_progress) -> None:
        """Read every configured source once, so that an unusable one is reported at the start.

        Raises:
            InvalidInput: a source, or a file in it, cannot be used.
        """
        for name, source in self._sources.items():
            key = _Key(name, None)
            states = await asyncio.to_thread(_states_of, source)
            opened = await asyncio.to_thread(self._open_parts, key, source, states, progress)
            self._keep_open(key, states, opened)

    def add(self, name: str, source: ConfiguredSource) -> None:
        """Add a source; it is read when a run first asks about it."""
        self._sources[name] = source

    def remove(self, name: str) -> None:
        """Forget a source; a run that has opened it continues."""
        for entries in (self._sources, self._read_last, self._identities, self._profiles):
            entries.pop(name, None)
        for key in [key for key in self._open if key.name == name]:
            del self._open[key]

    def profiles(self) -> tuple[SourceProfile, ...]:
        """What each configured source contains, as last read."""
        return tuple(self._profiles.get(name, SourceProfile(name, ())) for name in self._sources)

    def tools(self) -> tuple[ToolSpec, ...]:
        """All tools: those over a configured source, and the extra ones."""
        return self._tools

    def stamps(self) -> Mapping[str, SourceStamp]:
        """The stamp of every configured source, as last read."""
        return {name: stamp for name, (_, stamp) in self._read_last.items()}

    def lanes_now(self) -> frozenset[Lane]:
        """The queues to listen to: runs about the sources as last read, and runs about none."""
        return frozenset({ANY_LANE, *(lane_of(name, each.identity) for name, each in self.stamps().items())})

    def lanes(self) -> frozenset[Lane]:
        """The runs that this process can work on.

        A source that has changed since the process started counts in its old and its new state. Runs that
        an older program stored are found by the name of their source.
        """
        own = {
            lane_of(name, identity)
            for name, identities in self._identities.items()
            for identity in identities
        }
        return frozenset({ANY_LANE, *own, *(lane_of(name, None) for name in self._sources)})

    async def stamp(self, name: str) -> SourceStamp | None:
        """The present stamp of a source, or the last one if it cannot be read; None if not configured.

        It does not wait for sources that are being read, unless this one has changed.
        """
        source, last = self._sources.get(name), self._read_last.get(name)
        if source is None:
            return None
        with suppress(SourceUnavailable, OnsetOutsideData):  # `open` reports why
            if last is None or last[0] != await asyncio.to_thread(_reachable_states, name, source):
                await self._read_if_changed(_Key(name, None))
        return self.stamps().get(name)

    async def refresh(self) -> None:
        """Read every source that has changed again."""
        for name in self._sources:
            await self.stamp(name)

    async def open(
        self, ctx: RunContext, name: str | None, onset_s: float | None, asked: SourceStamp | None
    ) -> OpenSource:
        """The source of a name, read again if it has changed; an empty one for None.

        Raises:
            SourceUnavailable: it differs in this process, is missing or unreadable; the log says why.
            OnsetOutsideData: it has no data of that time.
        """
        if name is None:
            return self._nothing
        try:
            opened = await self._read_if_changed(_Key(self._own_name(name, asked), onset_s))
        except SourceUnavailable as error:
            _LOG.error(
                "run %s: %s: %s", ctx.run_id, error, error.__cause__ or "see [sources] in the settings"
            )
            raise
        if asked is not None and opened.stamp is not None and asked.content != opened.stamp.content:
            _LOG.warning(
                "run %s: the content of source %s has changed since the question was asked", ctx.run_id, name
            )
        return opened

    def _own_name(self, name: str, asked: SourceStamp | None) -> str:
        """The name of the source in this process, which may differ from that on another machine."""
        if name in self._sources and (asked is None or asked.identity in self._identities.get(name, ())):
            return name
        if asked is not None:
            for own, identities in self._identities.items():
                if asked.identity in identities:
                    return own
        problem = (
            "is another one in this process" if name in self._sources else "is not configured in this process"
        )
        raise SourceUnavailable(f"source {name} {problem}", kind=FailureKind.UNAVAILABLE)

    async def _read_if_changed(self, key: _Key) -> OpenSource:
        """The open source, or the source read again if its state has changed."""
        async with self._reading:  # one at a time: reading takes the memory of a whole incident
            source = self._sources.get(key.name)
            if source is None:
                raise _unreadable(key.name)  # it was removed in the meantime
            states = await asyncio.to_thread(_reachable_states, key.name, source)
            opened = self._open.get(key)
            if opened is None or opened[0] != states:
                opened = states, await asyncio.to_thread(self._read, key, source, states)
            self._keep_open(key, *opened)
            return opened[1]

    def _keep_open(self, key: _Key, states: _States, source: OpenSource) -> None:
        if source.stamp is not None:
            self._remember_stamp(key.name, states, source.stamp)
        self._open[key] = states, source
        self._open.move_to_end(key)
        while len(self._open) > self._open_max:
            self._open.popitem(last=False)

    def _remember_stamp(self, name: str, states: _States, stamp: SourceStamp) -> None:
        before = self._read_last.get(name)
        self._read_last[name] = states, stamp
        self._identities.setdefault(name, set()).add(stamp.identity)
        if before is None or before[1] == stamp:
            return
        if before[1].identity == stamp.identity:
            _LOG.info("source %s has changed and was read again", name)
        else:
            _LOG.warning(
                "the description or the entities of source %s have changed: processes that still have the"
                " earlier version do not work on new questions about it",
                name,
            )

    def _read(self, key: _Key, source: ConfiguredSource, states: _States) -> OpenSource:
        try:
            return self._open_parts(key, source, states, ignore_progress)
        except InvalidInput as error:
            if error.place == ONSET_PLACE:  # the caller gave the onset: the source itself is fine
                raise OnsetOutsideData(error.problem, kind=FailureKind.REJECTED) from error
            raise _unreadable(key.name) from error

    def _open_parts(
        self, key: _Key, source: ConfiguredSource, states: _States, progress: Progress
    ) -> OpenSource:
        parts = [ChosenPart(one.part.kind, one.part.open(key.onset_s, progress), one.roles) for one in source]
        merged = merge_parts(key.name, parts)
        tools = (*build_tools(merged.sources), *self._extra_tools)
        self._tools = tuple(tool.spec for tool in tools)
        self._profiles[key.name] = replace(source_profile(merged.summary), name=key.name)
        return OpenSource(merged.sources, tools, _stamp_of(source, states, merged))


def _stamp_of(source: ConfiguredSource, states: _States, merged: OpenedPart) -> SourceStamp:
    """Identity and content of a source; both are stored with runs, so their form never changes."""
    identity: JsonValue = {
        "kind": "+".join(one.part.kind for one in source),
        "description": merged.described,
        "entities": list(merged.summary.entities),
    }
    contents = [one.part.content(state) for one, state in zip(source, states, strict=True)]
    content: JsonValue = (
        dict(contents[0])
        if len(contents) == 1
        else {f"{number}/{name}": one for number, part in enumerate(contents) for name, one in part.items()}
    )
    return SourceStamp(digest(canonical_json(identity)), digest(canonical_json(content)))


def _states_of(source: ConfiguredSource) -> _States:
    return tuple(one.part.state() for one in source)


def _reachable_states(name: str, source: ConfiguredSource) -> _States:
    try:
        return _states_of(source)
    except OSError as error:
        raise _unreadable(name) from error


def _unreadable(name: str) -> SourceUnavailable:
    return SourceUnavailable(f"source {name} cannot be read", kind=FailureKind.UNAVAILABLE)
