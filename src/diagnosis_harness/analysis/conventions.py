"""The table of conventions (conventions.tsv): what metric names of well-known exporters mean.

A name matches in any style of writing (`http.server.request.duration`, `CPUUtilization`), with common
suffixes (`_bucket`, `_p99`, `_average`, `_per_second`, unit, `_total`) and with a prefix of up to two words.
Among the rows of one name the first with a matching label applies; the row without a label is tried last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

from diagnosis_harness.analysis.meaning import SignalForm, SignalKind, SignalMeaning, SignalSide
from diagnosis_harness.analysis.signal_words import words_of

_UNIT_WORDS = frozenset(
    ["seconds", "milliseconds", "microseconds", "ms", "us", "s", "sec", "bytes", "total", "ratio", "percent"]
)
_STATISTIC = re.compile(
    r"p\d{1,3}|avg|average|mean|median|min|minimum|max|maximum|sum|count|bucket|rate|samplecount|quantile"
)
_COUNTED = frozenset(["count", "bucket", "per_second"])
_NAMESPACE_WORDS = 2  # an exporter puts a prefix of one or two words before a name (`aws_rds_…`)
_LEAST_WORDS = 3
"""Shorter names are too common to be found inside another: `up`, `calls_total`, `Evictions`."""

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Convention:
    """One row of the table. Without a `label` it applies to every series of the name."""

    source: str
    name: str
    meaning: SignalMeaning
    label: str = ""

    def holds_for(self, labels: Mapping[str, str]) -> bool:
        """Whether the row applies to a series with these labels: one of the keys has one of the values."""
        if not self.label:
            return True
        keys, _, values = self.label.partition("=")
        return any(
            fnmatchcase(labels[key], pattern)
            for key in keys.split(",")
            if key in labels
            for pattern in values.split("|")
        )

    @property
    def label_keys(self) -> tuple[str, ...]:
        """The labels that it depends on."""
        return tuple(self.label.partition("=")[0].split(",")) if self.label else ()


@dataclass(frozen=True, slots=True)
class Conventions:
    """Rows by the words of their names."""

    rows: Mapping[Words, tuple[Convention, ...]]

    def find(self, words: Words, labels: Mapping[str, str]) -> SignalMeaning | None:
        """The meaning of a name according to the table; None if the table does not contain it."""
        for start in range(_NAMESPACE_WORDS + 1):
            rest = words[start:]
            if start and len(rest) < _LEAST_WORDS:
                break
            found = self._with_endings(rest, labels, least=_LEAST_WORDS if start else 1)
            if found is not None:
                return found
        return None

    def label_keys(self, name: str) -> frozenset[str]:
        """The labels of a name that determine its meaning."""
        rows = self.rows.get(words_of(name), ())
        return frozenset(key for row in rows for key in row.label_keys)

    def _with_endings(self, words: Words, labels: Mapping[str, str], *, least: int) -> SignalMeaning | None:
        endings: list[str] = []
        while len(words) >= least and words:
            rows = self.rows.get(words)
            if rows is not None:
                row = next((one for one in rows if one.holds_for(labels)), None)
                return None if row is None else _derive(row.meaning, endings)
            if words[-2:] == ("per", "second") or words[-2:] == ("per", "sec"):
                endings.append("per_second")
                words = words[:-2]
            elif _STATISTIC.fullmatch(words[-1]) or words[-1] in _UNIT_WORDS:
                endings.append(words[-1])
                words = words[:-1]
            else:
                return None
        return None


def _derive(meaning: SignalMeaning, endings: Sequence[str]) -> SignalMeaning:
    """The meaning of a series derived from one in the table: the `_count` of a histogram counts requests."""
    if meaning.form in {SignalForm.HISTOGRAM, SignalForm.SUMMARY}:
        if _COUNTED & frozenset(endings):
            form = SignalForm.GAUGE if "per_second" in endings else SignalForm.COUNTER
            return SignalMeaning(SignalKind.TRAFFIC, meaning.side, 0, form, "1")
        if "sum" in endings:
            return SignalMeaning(SignalKind.TRAFFIC, meaning.side, 0, SignalForm.COUNTER, meaning.unit)
        return replace(meaning, form=SignalForm.GAUGE if endings else meaning.form)
    if "per_second" in endings or "rate" in endings:
        return replace(meaning, form=SignalForm.GAUGE, unit=None)
    return meaning


def build_conventions(rows: Iterable[Convention]) -> Conventions:
    """Index the rows by the words of their names, with and without a unit at the end.

    OpenTelemetry writes `jvm.memory.used` where Prometheus writes `jvm_memory_used_bytes`. A name without a
    unit is left out if two rows with different meanings share it.
    """
    exact: dict[Words, list[Convention]] = {}
    for row in rows:
        exact.setdefault(words_of(row.name), []).append(row)
    short: dict[Words, list[Convention]] = {}
    unclear: set[Words] = set()
    for words, found in exact.items():
        bare = _without_unit(words)
        if bare == words or len(bare) < _LEAST_WORDS or bare in exact:
            continue
        if bare in short and [one.meaning.harmful for one in short[bare]] != [
            one.meaning.harmful for one in found
        ]:
            unclear.add(bare)
        short.setdefault(bare, found)
    known = exact | {words: found for words, found in short.items() if words not in unclear}
    return Conventions(
        {words: tuple(sorted(found, key=lambda row: not row.label)) for words, found in known.items()}
    )


def _without_unit(words: Words) -> Words:
    while words and words[-1] in _UNIT_WORDS:
        words = words[:-1]
    return words


@cache
def load_conventions() -> Conventions:
    """The table shipped with the package."""
    return build_conventions(convention_rows())


def convention_rows() -> Iterator[Convention]:
    """The rows of conventions.tsv, in its order."""
    text = files("diagnosis_harness.analysis").joinpath("conventions.tsv").read_text(encoding="utf-8")
    for line in text.splitlines()[1:]:
        source, name, form, kind, side, unit, harmful, label = line.split("\t")
        meaning = SignalMeaning(
            SignalKind(kind),
            SignalSide(side),
            int(harmful),
            SignalForm(form),
            None if unit == "-" else unit,
        )
        yield Convention(source, name, meaning, "" if label == "-" else label)
