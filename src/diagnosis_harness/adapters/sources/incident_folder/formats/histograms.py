"""Histogram triples (`_bucket`, `_sum`, `_count`) as people read them: how many, how long, and quantiles."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.names import unit_of_signal

_QUANTILES: Final = (0.5, 0.95, 0.99)
_ENDINGS: Final = ("_bucket", "_sum", "_count")

SeriesPoints = tuple[tuple[float, float | None], ...]
_Key = tuple[str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class LabelledSeries:
    """One series with its labels (`__name__` is its name) and its points by time."""

    labels: Mapping[str, str]
    points: SeriesPoints
    unit: str | None = None


def read_histograms(series: Sequence[LabelledSeries]) -> list[LabelledSeries]:
    """The series with every complete histogram replaced by its rate, its mean and its quantiles.

    A histogram is a name with `_bucket` series that have `le`, or with `_sum` and `_count` of equal labels.
    The quantile is that of what was counted between two samples, by straight lines inside a bucket, as
    `histogram_quantile` takes it.
    """
    triples: dict[_Key, dict[str, list[LabelledSeries]]] = defaultdict(lambda: defaultdict(list))
    for one in series:
        base, ending = _split(one.labels)
        if ending:
            triples[base][ending].append(one)
    whole = {key: parts for key, parts in triples.items() if _is_whole(parts)}
    result = [one for one in series if _split(one.labels)[0] not in whole]
    for (name, labels), parts in whole.items():
        result += _derive(name, dict(labels), parts)
    return result


def _split(labels: Mapping[str, str]) -> tuple[_Key, str]:
    name = labels.get("__name__", "")
    ending = next((one for one in _ENDINGS if name.endswith(one)), "")
    if ending == "_bucket" and "le" not in labels:
        ending = ""
    rest = tuple(sorted((key, value) for key, value in labels.items() if key not in {"__name__", "le"}))
    return (name.removesuffix(ending) if ending else name, rest), ending


def _is_whole(parts: Mapping[str, Sequence[LabelledSeries]]) -> bool:
    return len(parts.get("_bucket", ())) > 1 or ("_sum" in parts and "_count" in parts)


def _derive(
    name: str, labels: Mapping[str, str], parts: Mapping[str, Sequence[LabelledSeries]]
) -> Iterator[LabelledSeries]:
    unit = unit_of_signal(name)
    buckets = {_bound(one.labels["le"]): dict(one.points) for one in parts.get("_bucket", ())}
    counts = parts["_count"][0].points if "_count" in parts else _largest(buckets)
    grown = _growth(counts)
    rates = ((time_s, by / span_s) for time_s, by, span_s in grown)
    yield _new(labels, f"{name}_per_second", unit="1/s", points=rates)
    if "_sum" in parts:
        total = {time_s: by for time_s, by, _ in _growth(parts["_sum"][0].points)}
        means = ((time_s, total[time_s] / by) for time_s, by, _ in grown if by > 0 and time_s in total)
        yield _new(labels, f"{name}_mean", unit=unit, points=means)
    if len(buckets) > 1:
        for quantile in _QUANTILES:
            points = _quantiles(buckets, quantile)
            yield _new(labels, f"{name}_p{round(quantile * 100)}", unit=unit, points=points)


def _new(
    labels: Mapping[str, str], name: str, *, unit: str | None, points: Iterable[tuple[float, float]]
) -> LabelledSeries:
    return LabelledSeries({**labels, "__name__": name}, tuple(points), unit)


def _bound(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.inf


def _largest(buckets: Mapping[float, Mapping[float, float | None]]) -> SeriesPoints:
    return tuple(sorted(buckets[max(buckets)].items()))


def _growth(points: SeriesPoints) -> list[tuple[float, float, float]]:
    """Time, growth since the sample before and seconds between the two; after a reset it grew from zero."""
    present = [(time_s, value) for time_s, value in points if value is not None and math.isfinite(value)]
    return [
        (after_s, after - before if after >= before else after, after_s - before_s)
        for (before_s, before), (after_s, after) in pairwise(present)
        if after_s > before_s
    ]


def _quantiles(
    buckets: Mapping[float, Mapping[float, float | None]], quantile: float
) -> Iterator[tuple[float, float]]:
    bounds = sorted(buckets)
    grown = {
        bound: {time_s: by for time_s, by, _ in _growth(tuple(sorted(buckets[bound].items())))}
        for bound in bounds
    }
    for time_s in sorted(grown[bounds[-1]]):
        counts = [grown[bound].get(time_s) for bound in bounds]
        present = [(bound, by) for bound, by in zip(bounds, counts, strict=True) if by is not None]
        if present and present[-1][1] > 0:
            yield time_s, _inside(present, quantile)


def _inside(cumulative: Sequence[tuple[float, float]], quantile: float) -> float:
    """Where the quantile lies, by a straight line inside its bucket; above all, the last finite bound."""
    rank = quantile * cumulative[-1][1]
    low_bound, low = 0.0, 0.0
    for bound, count in cumulative:
        if count >= rank:
            if math.isinf(bound) or count == low:
                return low_bound
            return low_bound + (bound - low_bound) * (rank - low) / (count - low)
        low_bound, low = bound, count
    return low_bound
