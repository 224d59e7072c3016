"""One measured figure, and the table that figures make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, its target, and a note.

    Attributes:
        topic: the group it is in.
        name: what was measured.
        measured: the number; None when it could not be measured, and `note` says why.
        unit: of both numbers; `×` for a ratio.
        at_most: the target of the design; None if the number only explains others.
        note: what else a reader needs to know about this number.
    """

    topic: str
    name: str
    measured: float | None
    unit: str
    at_most: float | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        """`ok`, `over`, `not measured`, or nothing when there is no target."""
        if self.measured is None:
            return "not measured"
        if self.at_most is None:
            return ""
        return "ok" if self.measured <= self.at_most else "over"

    def cells(self) -> tuple[str, str, str, str, str]:
        """Its row of the table: name, measured, target, verdict, note."""
        measured = "" if self.measured is None else f"{_short(self.measured)} {self.unit}".strip()
        target = "" if self.at_most is None else f"≤ {self.at_most:g} {self.unit}".strip()
        return self.name, measured, target, self.verdict, self.note


HEAD = ("figure", "measured", "target", "", "note")


def as_text(figures: Sequence[Figure]) -> str:
    """A table for the terminal, group by group."""
    rows = [figure.cells() for figure in figures]
    widths = [max(len(row[place]) for row in (HEAD, *rows)) for place in range(4)]
    lines = [_align(HEAD, widths)]
    topic = ""
    for figure, row in zip(figures, rows, strict=True):
        if figure.topic != topic:
            topic = figure.topic
            lines += ["", topic]
        lines.append(_align(row, widths))
    return "\n".join(lines)


def as_markdown(figures: Sequence[Figure]) -> str:
    """The same as a page's tables, one for each topic."""
    parts: list[str] = []
    topic = ""
    for figure in figures:
        if figure.topic != topic:
            topic = figure.topic
            parts += [f"\n**{topic}**\n", f"| {' | '.join(HEAD)} |", "|---|--:|--:|---|---|"]
        parts.append(f"| {' | '.join(figure.cells())} |")
    return "\n".join(parts).strip()


def _align(row: Sequence[str], widths: Sequence[int]) -> str:
    name, measured, target, verdict, note = row
    return (
        f"  {name:{widths[0]}}  {measured:>{widths[1]}}  {target:>{widths[2]}}  {verdict:{widths[3]}}  {note}"
    ).rstrip()


def _short(value: float) -> str:
    """Three significant digits, and never an exponent."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{float(f'{value:.3g}'):g}"
