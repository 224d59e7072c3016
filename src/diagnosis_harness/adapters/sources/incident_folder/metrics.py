"""The metric series of a recording, read from checked files when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.adapters.sources.incident_folder.database import Database
from diagnosis_harness.adapters.sources.incident_folder.metrics_file import SeriesPart
from diagnosis_harness.adapters.sources.incident_folder.recording_parts import RecordingParts
from diagnosis_harness.analysis.series import mean_per_step
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.toolbox.ports import ALL_METRICS, MetricSelection, Recording, Series, SignalInfo

_BYTES_PER_POINT = 16
_Name = tuple[str, str]
_Arrays = tuple[NDArray[np.float64], NDArray[np.float64]]


class FolderMetrics:
    """`MetricSource` over files.

    Series stay in memory once read, if their whole recording takes at most half of the memory limit.
    """

    def __init__(
        self, database: Database, recordings: Mapping[Recording, RecordingParts[SeriesPart]]
    ) -> None:
        self._database = database
        self._windows = {recording: parts.window for recording, parts in recordings.items()}
        self._parts = {recording: _by_name(parts.parts) for recording, parts in recordings.items()}
        self._signals = {recording: _by_entity(parts) for recording, parts in self._parts.items()}
        self._infos: dict[Recording, tuple[SignalInfo, ...]] = {}
        self._cache: dict[tuple[Recording, _Name], _Arrays] = {}
        self._cached_bytes = 0
        self._all_bytes = {
            recording: _BYTES_PER_POINT * sum(part.points for part in parts.parts)
            for recording, parts in recordings.items()
        }
        self._limit_bytes = database.memory_limit_mb * 1_000_000 // 2
        self._lock = Lock()

    def signals(self, ctx: RunContext, recording: Recording) -> tuple[SignalInfo, ...]:
        """All series of a recording, ordered by entity and signal; empty if there are none."""
        del ctx
        with self._lock:
            known = self._infos.get(recording)
        if known is not None:
            return known
        infos = tuple(self._list(recording))
        with self._lock:
            return self._infos.setdefault(recording, infos)

    def series(
        self,
        ctx: RunContext,
        recording: Recording,
        selection: MetricSelection = ALL_METRICS,
    ) -> tuple[Series, ...]:
        """The selected series, ordered by entity and signal.

        Raises:
            MemoryLimit: the requested series do not fit into memory.
            ToolFailure: a file can no longer be read.
        """
        del ctx
        names = self._names_in(recording, selection)
        found = self._arrays(recording, names, selection.window)
        return tuple(
            series for name in names for series in self._cut(recording, name, found[name], selection)
        )

    def _names_in(self, recording: Recording, selection: MetricSelection) -> list[_Name]:
        signals_of = self._signals.get(recording, {})
        wanted = signals_of if selection.entities is None else sorted(selection.entities & signals_of.keys())
        names = ((entity, signal) for entity in wanted for signal in signals_of[entity])
        return [name for name in names if selection.includes(*name)]

    def _cut(
        self,
        recording: Recording,
        name: _Name,
        arrays: _Arrays,
        selection: MetricSelection = ALL_METRICS,
    ) -> Iterable[Series]:
        """The series cut to the requested window and step; none if nothing is left of it."""
        time_s, value = arrays
        cut = _meet(selection.window, self._windows.get(recording))
        if cut is not None:
            low, high = np.searchsorted(time_s, (cut.start_s, cut.end_s), side="left")
            time_s, value = time_s[low:high], value[low:high]
        if selection.step_s is not None:
            time_s, value = mean_per_step(time_s, value, selection.step_s)
        if len(time_s):
            part = self._parts[recording][name][0]
            yield Series(*name, part.unit, time_s, value, part.meaning)

    def _list(self, recording: Recording) -> Iterable[SignalInfo]:
        if self._windows.get(recording) is not None:  # only a part of the recording counts
            for series in self._in_turns(recording):
                points = int(np.count_nonzero(np.isfinite(series.value)))
                if points:
                    first_s, last_s = float(series.time_s[0]), float(series.time_s[-1])
                    yield SignalInfo(
                        series.entity, series.signal, series.unit, points, first_s, last_s, series.meaning
                    )
            return
        for (entity, signal), parts in self._parts.get(recording, {}).items():
            yield SignalInfo(
                entity=entity,
                signal=signal,
                unit=parts[0].unit,
                points=sum(part.points for part in parts),
                first_s=min(part.first_s for part in parts),
                last_s=max(part.last_s for part in parts),
                meaning=parts[0].meaning,
            )

    def _in_turns(self, recording: Recording) -> Iterable[Series]:
        """All series of a recording, read in groups that easily fit into memory."""
        names = list(self._parts.get(recording, {}))
        sizes = [sum(part.points for part in self._parts[recording][name]) for name in names]
        turns = np.cumsum(sizes) * _BYTES_PER_POINT // max(1, self._limit_bytes // 2)
        for _, turn in groupby(range(len(names)), key=lambda place: int(turns[place])):
            read = self._arrays(recording, [names[place] for place in turn], None)
            for name, arrays in read.items():
                yield from self._cut(recording, name, arrays)

    def _arrays(
        self, recording: Recording, names: Sequence[_Name], window: TimeWindow | None
    ) -> Mapping[_Name, _Arrays]:
        with self._lock:
            found = {name: self._cache[recording, name] for name in names if (recording, name) in self._cache}
        missing = [name for name in names if name not in found]
        if not missing:
            return found
        parts = [part for name in missing for part in self._parts[recording][name]]
        size_bytes = _BYTES_PER_POINT * sum(part.points for part in parts)
        too_large = size_bytes > self._limit_bytes
        if too_large and window is None:
            points = size_bytes // _BYTES_PER_POINT
            raise self._database.too_much(f"the {points:,} values of these series do")
        read = self._read(parts, window if too_large else None)
        if not too_large:
            self._keep(recording, read, size_bytes)
        return found | read

    def _keep(self, recording: Recording, read: Mapping[_Name, _Arrays], size_bytes: int) -> None:
        with self._lock:
            fits = self._all_bytes.get(recording, 0) <= self._limit_bytes  # or others would soon evict it
            if fits and self._cached_bytes + size_bytes <= self._limit_bytes:
                self._cached_bytes += size_bytes
                self._cache |= {(recording, name): arrays for name, arrays in read.items()}

    def _read(self, parts: Sequence[SeriesPart], window: TimeWindow | None) -> dict[_Name, _Arrays]:
        pieces: dict[_Name, list[_Arrays]] = {}
        for _, group in groupby(sorted(parts, key=_source_of), key=_source_of):
            for part, arrays in self._read_source(list(group), window):
                pieces.setdefault((part.entity, part.signal), []).append(arrays)
        return {name: _join(arrays) for name, arrays in pieces.items()}

    def _read_source(
        self, parts: Sequence[SeriesPart], window: TimeWindow | None
    ) -> Iterable[tuple[SeriesPart, _Arrays]]:
        """The rows of parts of one file, in the order of the file."""
        refs = sorted({part.ref for part in parts})
        groups = sorted({part.keys for part in parts})
        columns = [key for key, _ in groups[0]]
        parameters: list[object] = []
        join = ""
        if columns:
            lists = "".join(f", unnest(?::VARCHAR[]) AS {column}" for column in columns)
            parameters += [[group[at][1] for group in groups] for at in range(len(columns))]
            equal = " AND ".join(f"k.{column} = t.{column}" for column in columns)
            join = f" JOIN (SELECT unnest(range({len(groups)})) AS number{lists}) k ON {equal}"
        where = ""
        if window is not None:
            where = " WHERE t.time >= ? AND t.time < ?"
            parameters += [window.start_s, window.end_s]
        number = "CAST(k.number AS INTEGER)" if columns else "0"
        selected = ", ".join(f"t.{ref}" for ref in refs)
        arrays = self._database.arrays(
            f"SELECT {number} AS number, t.time AS time, {selected} FROM {parts[0].source} t{join}{where}",
            parameters,
        )
        numbers = np.ma.getdata(arrays["number"])
        order = np.argsort(numbers, kind="stable")
        bounds = np.searchsorted(numbers[order], np.arange(len(groups) + 1))
        time_s = _fill_missing(arrays["time"])[order]
        values = {ref: _fill_missing(arrays[ref])[order] for ref in refs}
        places = {group: (bounds[at], bounds[at + 1]) for at, group in enumerate(groups)}
        for part in parts:
            low, high = places[part.keys]
            yield part, (time_s[low:high], values[part.ref][low:high])


def _by_name(parts: Iterable[SeriesPart]) -> dict[_Name, tuple[SeriesPart, ...]]:
    ordered = sorted(parts, key=lambda part: (part.entity, part.signal))
    return {
        name: tuple(group) for name, group in groupby(ordered, key=lambda part: (part.entity, part.signal))
    }


def _by_entity(names: Iterable[_Name]) -> Mapping[str, tuple[str, ...]]:
    return {
        entity: tuple(signal for _, signal in group)
        for entity, group in groupby(names, key=lambda name: name[0])
    }


def _source_of(part: SeriesPart) -> str:
    return part.source


def _fill_missing(array: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.ma.filled(np.ma.asarray(array, dtype=np.float64), np.nan)


def _join(pieces: Sequence[_Arrays]) -> _Arrays:
    """One series in order of time; values with the same timestamp are averaged, ignoring missing ones."""
    if len(pieces) == 1 and np.all(pieces[0][0][1:] > pieces[0][0][:-1]):  # nearly always: one file, in order
        for array in pieces[0]:
            array.setflags(write=False)
        return pieces[0]
    time_s = np.concatenate([piece[0] for piece in pieces])
    value = np.concatenate([piece[1] for piece in pieces])
    if np.any(time_s[1:] < time_s[:-1]):
        order = np.argsort(time_s, kind="stable")
        time_s, value = time_s[order], value[order]
    starts = np.flatnonzero(np.concatenate(([True], time_s[1:] != time_s[:-1])))
    if len(starts) < len(time_s):
        present = np.isfinite(value)
        counts = np.add.reduceat(present.astype(np.float64), starts)
        sums = np.add.reduceat(np.where(present, value, 0.0), starts)
        time_s = time_s[starts]
        value = np.divide(sums, counts, out=np.full(len(starts), np.nan), where=counts > 0)
    time_s.setflags(write=False)
    value.setflags(write=False)
    return time_s, value


def _meet(one: TimeWindow | None, other: TimeWindow | None) -> TimeWindow | None:
    if one is None or other is None:
        return one or other
    start_s = max(one.start_s, other.start_s)
    return TimeWindow(start_s, max(start_s, min(one.end_s, other.end_s)))
