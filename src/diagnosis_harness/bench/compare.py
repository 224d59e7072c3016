"""Two benches of the same incidents, incident by incident: what got better, and what got worse."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

from diagnosis_harness.bench.report import FORMAT
from diagnosis_harness.bench.scoring import FALSE_ALARM, FIRST, NOT_FIRST, QUIET, RIGHT, WRONG
from diagnosis_harness.kernel.errors import InvalidInput

RANK = {WRONG: 0, FALSE_ALARM: 0, NOT_FIRST: 1, QUIET: 1, FIRST: 2, RIGHT: 3}
"""What is worse stands lower: a wrong release is worse than none, and a right one better than a candidate."""


@dataclass(frozen=True, slots=True)
class Place:
    """One incident under one condition."""

    data_set: str
    incident_id: str
    condition: str


@dataclass(frozen=True, slots=True)
class Change:
    """How one incident stood in both benches, and what each named first."""

    place: Place
    before: str
    after: str
    named_before: str
    named_after: str

    @property
    def better(self) -> bool:
        """Whether it stands better than before; False also for what is equally good in another way."""
        return RANK[self.after] > RANK[self.before]

    @property
    def worse(self) -> bool:
        """Whether it stands worse than before."""
        return RANK[self.after] < RANK[self.before]


@dataclass(frozen=True, slots=True)
class Comparison:
    """All incidents that both benches hold, and how many only one of them holds."""

    shared: int
    changes: tuple[Change, ...]
    only_before: int
    only_after: int

    @property
    def chance(self) -> float:
        """How probable a difference at least as lopsided is by luck: the exact sign test, two-sided."""
        better = sum(change.better for change in self.changes)
        worse = sum(change.worse for change in self.changes)
        count = better + worse
        tail = sum(comb(count, k) for k in range(min(better, worse) + 1)) / 2.0**count
        return min(1.0, 2.0 * tail)


def compare_benches(before: Mapping[str, Any], after: Mapping[str, Any]) -> Comparison:
    """Hold two documents against each other; order is that of the second."""
    old, new = dict(_incidents(before)), dict(_incidents(after))
    changes = [
        Change(
            place=place,
            before=old[place]["standing"],
            after=entry["standing"],
            named_before=_first_name(old[place]),
            named_after=_first_name(entry),
        )
        for place, entry in new.items()
        if place in old
        and (old[place]["standing"], _first_name(old[place])) != (entry["standing"], _first_name(entry))
    ]
    shared = len(old.keys() & new.keys())
    return Comparison(shared, tuple(changes), len(old) - shared, len(new) - shared)


def read_document(file: Path) -> Mapping[str, Any]:
    """A document as `--json` wrote it.

    Raises:
        InvalidInput: it cannot be read, or is of another form.
    """
    try:
        held = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(
            str(file), "it cannot be read as JSON", "name a file that --json has written"
        ) from error
    try:
        whole = held["format"] == FORMAT and all(entry["standing"] in RANK for _, entry in _incidents(held))
    except (KeyError, TypeError):
        whole = False
    if not whole:
        raise InvalidInput(
            str(file), f"it is no document of a bench, format {FORMAT}", "write it anew with --json"
        )
    return dict(held)


def comparison_lines(comparison: Comparison) -> list[str]:
    """What to print: the worse ones first, since they are why one compares."""
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


def _incidents(document: Mapping[str, Any]) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    for part in document["data_sets"]:
        for entry in part["incidents"]:
            yield Place(part["data_set"], entry["id"], entry["condition"]), entry


def _first_name(entry: Mapping[str, Any]) -> str:
    named = [*entry["causes"], *entry["candidates"]]
    return str(named[0]["entity"]) if named else ""
