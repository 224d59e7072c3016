"""Turns histograms (`_bucket`, `_sum` and `_count`) into rate, mean and quantiles.

A source that does this itself returns none of those series. Buckets name their upper bound in the label
`le` (`latency_seconds_bucket{le=0.5}`) or in their suffix (`latency_seconds_bucket_le_0.5`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, Literal

from diagnosis_harness.analysis.histogram import LEAST_BUCKETS, derive_series
from diagnosis_harness.analysis.meaning import SignalForm
from diagnosis_harness.analysis.name_meaning import meaning_of
from diagnosis_harness.analysis.series import is_cumulative
from diagnosis_harness.analysis.signal_words import divide_labels, words_of
from diagnosis_harness.toolbox.ports import Series

_BUCKET = re.compile(r"(?P<base>.+)_bucket(?:_le_(?P<bound>\+?[\w.]+))?")
_UNITS = {"seconds": "s", "milliseconds": "ms", "microseconds": "us", "bytes": "bytes"}

_SIGNALS_MAX: Final = 4_096
"""Maximum number of cached names: thousands of entities share some hundred signals."""

_Labels = tuple[tuple[str, str], ...]
_Key = tuple[str, str, _Labels]


@dataclass
class _Histogram:
    """The series of one distribution."""

    buckets: dict[float, Series] = field(default_factory=dict)
    total: Series | None = None
    count: Series | None = None

    @property
    def parts(self) -> list[Series]:
        return [*self.buckets.values(), *(one for one in (self.total, self.count) if one is not None)]

    @property
    def is_whole(self) -> bool:
        """Whether anything can be derived: quantiles, or the mean of a cumulative sum and count."""
        known = len(self.buckets) >= LEAST_BUCKETS or (self.total is not None and self.count is not None)
        return known and all(is_cumulative(one.value) for one in self._counting)

    @property
    def _counting(self) -> list[Series]:
        """The series that increase with every observation."""
        whole = [self.buckets[max(self.buckets)]] if self.buckets else []
        return [*whole, *(one for one in (self.total, self.count) if one is not None)]


def read_histograms_of(series: Sequence[Series]) -> list[Series]:
    """Replace every histogram with the series derived from it, ordered by entity and signal."""
    found: dict[_Key, _Histogram] = {}
    for one in series:
        _sort_in(one, found)
    whole = {key: one for key, one in found.items() if one.is_whole}
    replaced = {id(part) for one in whole.values() for part in one.parts}
    kept = [one for one in series if id(one) not in replaced]
    kept += [derived for key, one in whole.items() for derived in _derive(key, one)]
    return sorted(kept, key=lambda one: (one.entity, one.signal))


def _sort_in(one: Series, found: dict[_Key, _Histogram]) -> None:
    part = _part_named(one.signal)
    if part is None:
        return
    base, labels, place = part
    histogram = found.setdefault((one.entity, base, labels), _Histogram())
    if place == "sum":
        histogram.total = one
    elif place == "count":
        histogram.count = one
    else:
        histogram.buckets[place] = one


@lru_cache(maxsize=_SIGNALS_MAX)
def _part_named(signal: str) -> tuple[str, _Labels, float | Literal["sum", "count"]] | None:
    """The histogram that a name belongs to, and its part: a bucket's upper bound, the sum or the count."""
    plain, labels = divide_labels(signal)
    rest = tuple(sorted((key, value) for key, value in labels.items() if key != "le"))
    bucket = _BUCKET.fullmatch(plain)
    bound = None if bucket is None else _bound(bucket["bound"] or labels.get("le", ""))
    if bucket is not None and bound is not None:
        return bucket["base"], rest, bound
    if plain.endswith("_sum"):
        return plain.removesuffix("_sum"), rest, "sum"
    return (plain.removesuffix("_count"), rest, "count") if plain.endswith("_count") else None


def _bound(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _derive(key: _Key, histogram: _Histogram) -> Iterator[Series]:
    entity, base, labels = key
    inside = ",".join(f"{name}={value}" for name, value in labels)
    unit = _unit_of(base, histogram)
    pattern = histogram.parts[0]
    meaning = replace(pattern.meaning, form=SignalForm.GAUGE)

    points = {bound: (one.time_s, one.value) for bound, one in histogram.buckets.items()}
    total, count = histogram.total, histogram.count
    for ending, (time_s, value) in derive_series(
        points,
        None if total is None else (total.time_s, total.value),
        None if count is None else (count.time_s, count.value),
    ):
        signal = f"{base}_{ending}" + (f"{{{inside}}}" if inside else "")
        time_s.setflags(write=False)
        value.setflags(write=False)
        yield Series(entity, signal, "1/s" if ending == "per_second" else unit, time_s, value, meaning)


def _unit_of(base: str, histogram: _Histogram) -> str | None:
    stated = histogram.total.unit if histogram.total is not None else None
    named: Mapping[str, str] = {word: unit for word, unit in _UNITS.items() if word in words_of(base)}
    return stated or next(iter(named.values()), None) or meaning_of(base, None).unit
