"""Judges names without their own rows of the table, and counts: `python -m dev.names.measure`.

Three sets: every exporter of the table, judged by the rows of all others and by words; names of exporters
that the table does not hold (other_exporters.tsv), whose direction was written down before the rules; and the
names of two public pages (documented.tsv: Apache Pulsar, Grafana Loki), taken in order and judged by hand
when the rules were finished. The last set was not used to write the rules; one rule was corrected later
because of it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from diagnosis_harness.adapters.sources.incident_folder.names import unit_of_signal
from diagnosis_harness.analysis.conventions import Conventions, build_conventions, convention_rows
from diagnosis_harness.analysis.meaning import SignalKind
from diagnosis_harness.analysis.name_meaning import meaning_of

OTHERS = Path(__file__).with_name("other_exporters.tsv")
DOCUMENTED = Path(__file__).with_name("documented.tsv")
RIGHT_LEAST = 0.90
WRONG_SIGN_MOST = 0.02


@dataclass
class Figures:
    """Names by how they were judged: `right`, or the names that were not, with the wrong result."""

    right: int = 0
    wrong_sign: list[str] = field(default_factory=list)
    harm_where_none: list[str] = field(default_factory=list)
    unknown_or_missed: list[str] = field(default_factory=list)

    @property
    def names(self) -> int:
        """How many names were judged."""
        return self.right + len(self.wrong_sign) + len(self.harm_where_none) + len(self.unknown_or_missed)

    @property
    def right_share(self) -> float:
        """The share with the right harmful direction; an unknown kind is never right."""
        return self.right / self.names

    @property
    def wrong_sign_share(self) -> float:
        """The share whose rise was taken for harmful although their fall is, or vice versa."""
        return len(self.wrong_sign) / self.names

    def add(self, name: str, harmful: int, conventions: Conventions | None) -> None:
        """Judge one name."""
        found = meaning_of(name, unit_of_signal(name), conventions=conventions)
        if found.kind is not SignalKind.OTHER and found.harmful == harmful:
            self.right += 1
        elif found.harmful * harmful < 0:
            self.wrong_sign.append(name)
        elif found.harmful and not harmful:
            self.harm_where_none.append(name)
        else:
            self.unknown_or_missed.append(name)


def names_by_label() -> tuple[str, ...]:
    """Names of the table whose meaning a label decides; they are left out."""
    return tuple(sorted({row.name for row in convention_rows() if row.label}))


def leave_one_out() -> Figures:
    """Every exporter judged without its own rows."""
    rows = tuple(convention_rows())
    by_label = frozenset(names_by_label())
    figures = Figures()
    for source in sorted({row.source for row in rows}):
        rest = build_conventions(row for row in rows if row.source != source)
        for row in rows:
            if row.source == source and row.name not in by_label:
                figures.add(row.name, row.meaning.harmful, rest)
    return figures


def judge_names(path: Path) -> Figures:
    """Names of exporters that the table does not hold, by the whole table and by words."""
    figures = Figures()
    for name, harmful in read_names(path):
        figures.add(name, harmful, None)
    return figures


def read_names(path: Path) -> Iterable[tuple[str, int]]:
    """Names and their harmful direction."""
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            yield row["name"], int(row["harmful"])


def describe(title: str, figures: Figures) -> str:
    """The figures of one set, and the names that were judged wrongly."""
    shares = f"{figures.right_share:.3f} right, {figures.wrong_sign_share:.3f} with the wrong sign"
    return "\n".join(
        [
            f"{title}: {figures.names} names, {shares}",
            f"  wrong sign: {', '.join(figures.wrong_sign) or 'none'}",
            f"  harm where there is none: {', '.join(figures.harm_where_none) or 'none'}",
            f"  unknown, or harm not seen: {', '.join(figures.unknown_or_missed) or 'none'}",
        ]
    )


def main() -> None:
    """Print the figures of all sets."""
    print(describe("One exporter of the table left out at a time", leave_one_out()))
    print(describe("Exporters outside the table", judge_names(OTHERS)))
    print(describe("Two whole pages of documentation, after the rules", judge_names(DOCUMENTED)))
    print(f"Left out, since a label decides: {', '.join(names_by_label())}")


if __name__ == "__main__":
    main()
