"""The timeline on a terminal: columns that stand under each other, whole lines in a pipe."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from diagnosis_harness.cli.render.timeline import timeline_lines
from diagnosis_harness.cli.words import run_file as words
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.trace.event import TraceEventStatus as Status
from diagnosis_harness.trace.event import TraceName as Name
from diagnosis_harness.trace.event import TracePhase as Phase
from diagnosis_harness.trace.timeline import TimelineEvent, fold

LONG = "tool=find_changed_signals tool_call_id=t4 scope={} invocation=READY evidence=EVIDENCE_FOUND items=30"
TIMELINE = fold(
    [
        TimelineEvent(100.0, Name.RUN_STARTED, Phase.RUN, Status.STARTED, "question=慢"),
        TimelineEvent(100.5, Name.TOOL_INVOCATION, Phase.TOOL, Status.STARTED, "tool=find_changed_signals"),
        TimelineEvent(1234.567, Name.TOOL_INVOCATION, Phase.TOOL, Status.SUCCEEDED, LONG),
        TimelineEvent(1234.567, Name.EVIDENCE_GUARD_INITIAL, Phase.GUARD, Status.REJECTED),
    ]
)


def lines(width: int | None, language: Language = Language.EN) -> list[str]:
    """The lines as plain text."""
    return [line.plain for line in timeline_lines(TIMELINE, language, width=width)]


def test_in_a_pipe_every_event_is_one_line() -> None:
    """Time since the start is right-aligned, a phase is on the first of its rows, no spaces at line ends."""
    assert lines(None)[:6] == [
        "         time  phase  event                   status     details",
        "      0.000 s  RUN    RUN_STARTED             STARTED    question=慢",
        "      0.500 s  TOOL   TOOL_INVOCATION         STARTED    tool=find_changed_signals",
        f"  1,134.567 s         TOOL_INVOCATION         SUCCEEDED  {LONG}",
        "  1,134.567 s  GUARD  EVIDENCE_GUARD_INITIAL  REJECTED",
        "",
    ]


@pytest.mark.parametrize("language", Language)
def test_each_phase_has_a_row(language: Language) -> None:
    """What it took, how many events, what it came to; in columns also where a character is two cells wide."""
    head, *rows = lines(None, language)[-4:]

    assert [row.split(maxsplit=4) for row in rows] == [
        ["0.500", "s", "RUN", "1", words.VERDICTS[TIMELINE.phases[0].verdict].in_(language)],
        ["1,134.067", "s", "TOOL", "2", words.VERDICTS[TIMELINE.phases[1].verdict].in_(language)],
        ["0.000", "s", "GUARD", "1", words.VERDICTS[TIMELINE.phases[2].verdict].in_(language)],
    ]
    starts = {
        cell_len(row[: row.index(phase)]) for row, phase in zip(rows, ("RUN", "TOOL", "GUARD"), strict=True)
    }
    assert starts == {cell_len(head[: head.index(words.PHASE.in_(language))])}


def test_on_a_terminal_details_wrap_below_themselves() -> None:
    """The columns before it stay free."""
    wide = lines(100)
    column = wide[0].index("details")

    assert max(cell_len(line) for line in wide) <= 100
    further = [line for line in wide[:-4] if line and not line[:column].strip()]
    assert further
    assert all(line[column] != " " for line in further)


def test_a_narrow_terminal_still_gets_a_column() -> None:
    """Twenty cells at least; the terminal breaks the line itself."""
    assert "tool=find_changed_" in "\n".join(lines(30))


def test_details_are_printed_with_control_characters_escaped() -> None:
    """It may quote what an agent sent."""
    moment = TimelineEvent(0.0, Name.RUN_STARTED, Phase.RUN, Status.STARTED, "question=\x1b[2J")
    shown = [line.plain for line in timeline_lines(fold([moment]), Language.EN, width=None)]

    assert "\x1b" not in "".join(shown)


@pytest.mark.parametrize("language", Language)
def test_without_a_trace_a_sentence_is_printed(language: Language) -> None:
    """Not an empty table."""
    (line,) = timeline_lines(fold(()), language, width=80)
    assert line.plain == words.NO_TRACE.in_(language)
