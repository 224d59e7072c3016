"""Compares two benches of the same incidents: what improved, and what became worse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import comb
from pathlib import Path

from diagnosis_harness.bench.report import FORMAT
from diagnosis_harness.bench.scoring import FALSE_ALARM, FIRST, NOT_FIRST, QUIET, RIGHT, WRONG
from diagnosis_harness.kernel.errors import InvalidInput, JsonInvalid
from diagnosis_harness.kernel.json_fields import JsonFields
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.strict_json import parse_json

RANK = {WRONG: 0, FALSE_ALARM: 0, NOT_FIRST: 1, QUIET: 1, FIRST: 2, RIGHT: 3}
"""Ordered from worst to best: a wrong release is worse than none, a right one is better than a candidate."""


@dataclass(frozen=True, slots=True)
class Place:
    """One incident under one condition."""

    data_set: str
    incident_id: str
    condition: str


@dataclass(frozen=True, slots=True)
class Standing:
    """The result of an incident, and which entity was named first; empty if none was."""

    standing: str
    named: str


@dataclass(frozen=True, slots=True)
class Change:
    """The results of one incident in both benches, and what each named first."""

    place: Place
    before: str
    after: str
    named_before: str
    named_after: str

    @property
    def better(self) -> bool:
        """Whether it is better than before; False also for a different but equally good result."""
        return RANK[self.after] > RANK[self.before]

    @property
    def worse(self) -> bool:
        """Whether it is worse than before."""
        return RANK[self.after] < RANK[self.before]


@dataclass(frozen=True, slots=True)
class Comparison:
    """All incidents that are in both benches, and how many are only in one of them."""

    shared: int
    changes: tuple[Change, ...]
    only_before: int
    only_after: int

    @property
    def chance(self) -> float:
        """The probability of a difference at least this large by chance: the exact two-sided sign test."""
        better = sum(change.better for change in self.changes)
        worse = sum(change.worse for change in self.changes)
        count = better + worse
        tail = sum(comb(count, k) for k in range(min(better, worse) + 1)) / 2.0**count
        return min(1.0, 2.0 * tail)


def compare_benches(before: Mapping[Place, Standing], after: Mapping[Place, Standing]) -> Comparison:
    """Compare two benches, in the order of the second."""
    changes = [
        Change(
            place=place,
            before=before[place].standing,
            after=now.standing,
            named_before=before[place].named,
            named_after=now.named,
        )
        for place, now in after.items()
        if place in before and before[place] != now
    ]
    shared = len(before.keys() & after.keys())
    return Comparison(shared, tuple(changes), len(before) - shared, len(after) - shared)


def read_bench(file: Path) -> Mapping[Place, Standing]:
    """The result of every incident, from a document that `bench --json` wrote.

    Raises:
        InvalidInput: it cannot be read, or is of another form.
    """
    try:
        value = parse_json(file.read_bytes())
    except (OSError, JsonInvalid) as error:
        problem = error.problem if isinstance(error, JsonInvalid) else error.strerror
        raise InvalidInput(
            str(file), f"it cannot be read as JSON ({problem})", "name a file written by --json"
        ) from error
    try:
        return _standings(value)
    except JsonInvalid as error:
        problem = f"it is not a bench document of format {FORMAT} ({error})"
        raise InvalidInput(str(file), problem, "write it again with --json") from error


def comparison_lines(comparison: Comparison) -> list[str]:
    """The lines to print, the worse incidents first, since they are the reason to compare."""
    worse = [change for change in comparison.changes if change.worse]
    better = [change for change in comparison.changes if change.better]
    other = [change for change in comparison.changes if not change.worse and not change.better]
    moves = Counter((change.before, change.after) for change in (*worse, *better))
    return [
        f"{comparison.shared} incidents in both",
        f"{len(better)} better, {len(worse)} worse (by luck alone p = {comparison.chance:.3f})",
        f"{len(other)} equally good, with another entity first",
        *(_missing(comparison)),
        *(f"  {count} × {before} → {after}" for (before, after), count in moves.most_common()),
        *(f"worse: {_line(change)}" for change in worse),
        *(f"better: {_line(change)}" for change in better),
        *(f"changed: {_line(change)}" for change in other),
    ]


def _missing(comparison: Comparison) -> Iterator[str]:
    if comparison.only_before or comparison.only_after:
        yield (
            f"not compared: {comparison.only_before} only in the first file,"
            f" {comparison.only_after} only in the second"
        )


def _line(change: Change) -> str:
    place = change.place
    return (
        f"{place.data_set} {place.incident_id} ({place.condition}):"
        f" {change.before}{_of(change.named_before)} → {change.after}{_of(change.named_after)}"
    )


def _of(name: str) -> str:
    return f" [{name}]" if name else ""


def _standings(value: JsonValue) -> dict[Place, Standing]:
    document = JsonFields(value, "", required=("format", "data_sets"), optional=None)
    if document.raw("format") != FORMAT:
        raise JsonInvalid("format", str(FORMAT), "another")
    return dict(pair for part in document.items("data_sets", _data_set) for pair in part)


def _data_set(value: JsonValue, place: str) -> tuple[tuple[Place, Standing], ...]:
    part = JsonFields(value, place, required=("data_set", "incidents"), optional=None)
    name = part.text("data_set")
    return part.items("incidents", lambda each, inner: _incident(each, inner, name))


def _incident(value: JsonValue, place: str, data_set: str) -> tuple[Place, Standing]:
    required = ("id", "condition", "standing", "causes", "candidates")
    entry = JsonFields(value, place, required=required, optional=None)
    standing = entry.text("standing")
    if standing not in RANK:
        raise JsonInvalid(entry.place("standing"), f"one of {', '.join(RANK)}", "another")
    named = (*entry.items("causes", _entity), *entry.items("candidates", _entity))
    return (
        Place(data_set, entry.text("id"), entry.text("condition")),
        Standing(standing, named[0] if named else ""),
    )


def _entity(value: JsonValue, place: str) -> str:
    return JsonFields(value, place, required=("entity",), optional=None).text("entity")
