"""The timeline of a run on a terminal: a row for each event, then a row for each phase."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from diagnosis_harness.cli.render.wrap import hang
from diagnosis_harness.cli.words import run_file as words
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.timestamps import escape_line
from diagnosis_harness.trace.event import TraceEventStatus
from diagnosis_harness.trace.timeline import PhaseVerdict, Timeline

_STATUS_STYLES = {
    TraceEventStatus.SUCCEEDED: "green",
    TraceEventStatus.FAILED: "red",
    TraceEventStatus.REJECTED: "yellow",
    TraceEventStatus.STARTED: "",
    TraceEventStatus.SKIPPED: "dim",
}
_VERDICT_STYLES = {
    PhaseVerdict.DONE: "green",
    PhaseVerdict.PARTLY: "yellow",
    PhaseVerdict.FAILED: "red",
    PhaseVerdict.REFUSED: "yellow",
    PhaseVerdict.OPEN: "dim",
}
_TEXT_LEAST = 20
"""The least width of an event's details; a narrower terminal wraps the line itself."""


def timeline_lines(timeline: Timeline, language: Language, *, width: int | None) -> tuple[Text, ...]:
    """The two tables. A phase is named only on the first of consecutive events.

    Args:
        width: of the terminal; None prints every event as one line.
    """
    if not timeline.stretches:
        return (Text(words.NO_TRACE.in_(language)),)
    return (*_event_rows(timeline, language, width), Text(), *_phase_rows(timeline, language))


def _event_rows(timeline: Timeline, language: Language, width: int | None) -> Iterator[Text]:
    head = [
        words.TIME.in_(language),
        words.PHASE.in_(language),
        words.NAME.in_(language),
        words.STATUS.in_(language),
    ]
    rows: list[tuple[list[str], str, str]] = []
    for stretch in timeline.stretches:
        for place, event in enumerate(stretch.moments):
            since = _seconds(event.at_s - timeline.started_s)
            phase = stretch.phase.value if place == 0 else ""
            cells = [since, phase, event.name.value, event.status.value]
            rows.append((cells, _STATUS_STYLES[event.status], escape_line(event.text)))
    columns = _columns([head, *(cells for cells, _, _ in rows)])
    yield from _wrap(_row(head, columns, "dim", "dim"), Text(words.TEXT.in_(language), "dim"), width)
    for cells, style, text in rows:
        yield from _wrap(_row(cells, columns, "", style), Text(text), width)


def _phase_rows(timeline: Timeline, language: Language) -> Iterator[Text]:
    head = [
        words.TOOK.in_(language),
        words.PHASE.in_(language),
        words.EVENTS.in_(language),
        words.CAME_TO.in_(language),
    ]
    rows = [
        [
            _seconds(account.duration_s),
            account.phase.value,
            str(account.moments),
            words.VERDICTS[account.verdict].in_(language),
        ]
        for account in timeline.phases
    ]
    columns = _columns([head, *rows])
    yield _strip(_row(head, columns, "dim", "dim"))
    for cells, account in zip(rows, timeline.phases, strict=True):
        yield _strip(_row(cells, columns, "", _VERDICT_STYLES[account.verdict]))


def _seconds(value_s: float) -> str:
    """Seconds with milliseconds, the precision of a document."""
    return f"{value_s:,.3f} s"


def _columns(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(cell_len(row[column]) for row in rows) for column in range(len(rows[0]))]


def _row(cells: Sequence[str], columns: Sequence[int], style: str, last: str) -> Text:
    """A row that ends in two spaces. The first cell is right-aligned; the last has its own style."""
    line = Text("  ")
    for place, (cell, width) in enumerate(zip(cells, columns, strict=True)):
        gap = " " * (width - cell_len(cell))
        line.append(
            f"{gap}{cell}" if place == 0 else f"{cell}{gap}", last if place == len(cells) - 1 else style
        )
        line.append("  ")
    return line


def _wrap(row: Text, text: Text, width: int | None) -> tuple[Text, ...]:
    if width is None:
        return (_strip(row + text),)
    return hang(row, text, max(width, cell_len(row.plain) + _TEXT_LEAST))


def _strip(line: Text) -> Text:
    line.rstrip()
    return line
