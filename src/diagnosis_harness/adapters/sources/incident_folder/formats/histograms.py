"""Converts histogram triples (`_bucket`, `_sum`, `_count`) to rates, means and quantiles."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from diagnosis_harness.adapters.sources.incident_folder.names import unit_of_signal
from diagnosis_harness.analysis.histogram import LEAST_BUCKETS, Samples, derive_series

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
    The quantile is of the observations between two samples, interpolated linearly inside a bucket, as
    `histogram_quantile` does.
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
    return len(parts.get("_bucket", ())) >= LEAST_BUCKETS or ("_sum" in parts and "_count" in parts)


def _derive(
    name: str, labels: Mapping[str, str], parts: Mapping[str, Sequence[LabelledSeries]]
) -> Iterator[LabelledSeries]:
    unit = unit_of_signal(name)
    samples = {ending: [_samples(one.points) for one in those] for ending, those in parts.items()}
    bounds = [_bound(one.labels["le"]) for one in parts.get("_bucket", ())]
    buckets = dict(zip(bounds, samples.get("_bucket", ()), strict=True))
    total, count = (next(iter(samples.get(ending, ())), None) for ending in ("_sum", "_count"))
    for ending, (time_s, value) in derive_series(buckets, total, count):
        points = tuple(zip(time_s.tolist(), value.tolist(), strict=True))
        own = "1/s" if ending == "per_second" else unit
        yield LabelledSeries({**labels, "__name__": f"{name}_{ending}"}, points, own)


def _samples(points: SeriesPoints) -> Samples:
    time_s = np.array([time_s for time_s, _ in points], dtype=np.float64)
    return time_s, np.array([np.nan if value is None else value for _, value in points], dtype=np.float64)


def _bound(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.inf
