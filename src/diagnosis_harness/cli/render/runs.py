"""Runs on a terminal: a table of many, or the facts of one in two columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from diagnosis_harness.cli.render.wrap import hang
from diagnosis_harness.cli.words import runs as words
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.measure import measure
from diagnosis_harness.report.timestamps import display_time, escape_line
from diagnosis_harness.server.run_view import RunView

_STYLES = {
    "QUEUED": "dim",
    "RUNNING": "cyan",
    "SUCCESS": "green",
    "FALLBACK": "yellow",
    "FAILED": "red",
    "CANCELLED": "magenta",
}
_ID_LEAST = 12
_QUESTION_LEAST = 30
_STYLED = (1, 2)
"""Columns of status and outcome."""
_RIGHT = (5, 6)
"""Columns of numbers."""


def run_table(
    runs: Sequence[RunView], language: Language, *, now_s: float, width: int | None
) -> tuple[Text, ...]:
    """A header and a row for each run.

    Args:
        width: of the terminal. Ids are shortened as long as they stay distinct; a question is cut, or gets
                its own line if little width is left. None prints every row as one complete line.
    """
    if not runs:
        return (Text(words.NO_RUNS.in_(language)),)
    ids = [run.run_id for run in runs] if width is None else short_ids([run.run_id for run in runs])
    rows = [_cells(run, run_id, language, now_s=now_s) for run, run_id in zip(runs, ids, strict=True)]
    head = [column.in_(language) for column in words.COLUMNS]
    columns = [max(cell_len(row[place]) for row in (head, *rows)) for place in range(len(head) - 1)]
    used = sum(columns) + 2 * len(columns)
    has_own_line = width is not None and width - used < _QUESTION_LEAST
    return tuple(_table(head, rows, columns, has_own_line=has_own_line, width=width))


def short_ids(ids: Sequence[str]) -> list[str]:
    """The shortest distinct prefixes of the ids; at least `run-` and 8 digits."""
    length = _ID_LEAST
    whole = len(set(ids))
    longest = max(map(len, ids))
    while length < longest and len({each[:length] for each in ids}) < whole:
        length += 1
    return [each[:length] for each in ids]


def _cells(run: RunView, run_id: str, language: Language, *, now_s: float) -> list[str]:
    took_s = _took_s(run, now_s)
    return [
        escape_line(run_id),
        escape_line(run.status),
        escape_line(run.outcome or "-"),
        escape_line(run.intent or "-"),
        escape_line(run.asked_by),
        age(now_s - run.submitted_s, language),
        "-" if took_s is None else measure(took_s, "s"),
        escape_line(" ".join(run.question.split())),
    ]


def _table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    columns: Sequence[int],
    *,
    has_own_line: bool,
    width: int | None,
) -> Iterator[Text]:
    line = _row(head, columns, styled=False)
    if not has_own_line:
        line.append(head[-1])
    line.stylize("dim")
    yield _strip(line)
    indent = 2 if has_own_line else sum(columns) + 2 * len(columns)
    for row in rows:
        question = row[-1] if width is None else cut(row[-1], max(width - indent, 8))
        line = _row(row, columns, styled=True)
        if has_own_line:
            yield _strip(line)
            yield Text(f"  {question}", "dim")
        else:
            yield _strip(line.append(question))


def _row(cells: Sequence[str], columns: Sequence[int], *, styled: bool) -> Text:
    line = Text()
    for place, width in enumerate(columns):
        cell = cells[place]
        gap = " " * (width - cell_len(cell))
        style = _STYLES.get(cell, "") if styled and place in _STYLED else ""
        line.append(f"{gap}{cell}" if place in _RIGHT else f"{cell}{gap}", style)
        line.append("  ")
    return line


def age(elapsed_s: float, language: Language) -> str:
    """`42s`, `7m`, `3h`, `12d`: rounded down; never negative, even if clocks differ."""
    elapsed_s = max(elapsed_s, 0.0)
    for form, size_s, limit in zip(words.AGES, (1, 60, 3600, 86_400), (60, 60, 24, None), strict=True):
        count = int(elapsed_s // size_s)
        if limit is None or count < limit:
            return form.render(language, n=count)
    return "-"


def cut(text: str, width: int) -> str:
    """The text in at most `width` cells; a cut text ends in `…`."""
    if cell_len(text) <= width:
        return text
    return f"{set_cell_size(text, width - 1).rstrip()}…"


def facts_lines(run: RunView, language: Language, *, now_s: float, width: int) -> tuple[Text, ...]:
    """The facts of a run: its ids, then in two columns its status and what it used.

    Status, outcome, run state and stop reason are all shown; none follows from another.
    """
    ids = [("run_id", run.run_id), ("session_id", run.session_id)]
    stands = [
        ("status", run.status),
        ("outcome", run.outcome),
        ("state", run.state),
        ("reason", run.termination.reason if run.termination else None),
        ("fallback", run.fallback_type),
        ("stop_reason", run.stop_reason),
        ("cancel", run.cancel.reason if run.cancel else None),
    ]
    took_s, spent = _took_s(run, now_s), run.spent
    took = [
        ("intent", run.intent),
        ("kind", run.kind),
        ("asked_by", run.asked_by),
        ("submitted", display_time(run.submitted_s)),
        ("took", None if took_s is None else measure(took_s, "s")),
        ("steps", f"{spent.agent_steps:,}" if spent else None),
        ("tool_calls", f"{spent.tool_calls:,}" if spent else None),
        ("tokens", f"{spent.total_tokens:,}" if spent else None),
    ]
    left = _label_facts(stands, language)
    longest = max(cell_len(name) for name, _ in left)
    lines = [_fact(name, value, longest) for name, value in _label_facts(ids, language)]
    lines += _pairs(left, _label_facts(took, language), width)
    if run.failure:
        prefix = _fact(words.FACTS["failure"].in_(language), "", longest)
        lines += hang(prefix, Text(escape_line(run.failure.message), "red"), width)
    return tuple(lines)


def _label_facts(facts: Sequence[tuple[str, str | None]], language: Language) -> list[tuple[str, str]]:
    """Names and values; without a cancellation, none is listed."""
    return [
        (words.FACTS[name].in_(language), escape_line(value or "-"))
        for name, value in facts
        if value is not None or name != "cancel"
    ]


def _pairs(left: Sequence[tuple[str, str]], right: Sequence[tuple[str, str]], width: int) -> Iterator[Text]:
    names = [max(cell_len(name) for name, _ in side) for side in (left, right)]
    values = max(cell_len(value) for _, value in left)
    widest = max(cell_len(value) for _, value in right)
    if sum(names) + values + widest + 8 > width:  # too narrow for two columns
        for name, value in (*left, *right):
            yield _fact(name, value, max(names))
        return
    nothing = ("", "")
    for (name, value), (beside, its_value) in zip_longest(left, right, fillvalue=nothing):
        line = _fact(name, value, names[0])
        line.append(" " * (values - cell_len(value) + 4))
        yield _strip(line + _fact(beside, its_value, names[1]))


def _fact(name: str, value: str, width: int) -> Text:
    line = Text(f"{name}{' ' * (width - cell_len(name))}  ", "dim")
    return line.append(value, _STYLES.get(value, ""))


def _took_s(run: RunView, now_s: float) -> float | None:
    """How long the run took, or has taken so far."""
    if run.spent is not None:
        return run.spent.duration_s
    return None if run.started_s is None else max(now_s - run.started_s, 0.0)


def _strip(line: Text) -> Text:
    line.rstrip()
    return line
