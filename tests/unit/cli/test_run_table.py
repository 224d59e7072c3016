"""Runs on a terminal: columns under each other, facts side by side, nothing wider than the screen."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from tests.unit.cli.shown_runs import (
    NOW_S,
    fallback_row,
    make_failed_row,
    make_queued_row,
    request,
    running_row,
)

from diagnosis_harness.application.callers.caller import ALERTS
from diagnosis_harness.application.runs.row import RunRow
from diagnosis_harness.cli.render.runs import age, cut, facts_lines, run_table, short_ids
from diagnosis_harness.cli.words import runs as words
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.server.run_view import RunView

ID = "run-{:032x}"
ROWS = (
    running_row(request(ID.format(1 << 124), question="为什么结账变慢？" * 20, age_s=45)),
    fallback_row(request(ID.format(2 << 124), question="why is\x1b[2J it\nslow?", age_s=3 * 3600)),
    make_queued_row(replace(request(ID.format(3 << 124), age_s=3), asked_by=ALERTS)),
)


def facts(row: RunRow) -> RunView:
    """The facts as a terminal reads them."""
    return RunView.read(RunView.of(row).body())


def table(width: int | None, language: Language = Language.EN) -> list[str]:
    """The table of the rows."""
    lines = run_table([facts(row) for row in ROWS], language, now_s=NOW_S, width=width)
    return [line.plain for line in lines]


def test_a_table_shows_the_status_of_each_run() -> None:
    """Status and outcome, intent, caller, age and duration; each id is cut to its shortest unique prefix."""
    assert table(120)[0] == "run           status   outcome   intent     asked by  age  took  question"
    assert table(120)[1].startswith(
        "run-10000000  RUNNING  -         -          local     45s  15 s  为什么结账变慢？为什"
    )
    assert table(120)[1].endswith("…")
    assert table(120)[2:] == [
        "run-20000000  SUCCESS  FALLBACK  DIAGNOSIS  local      3h  60 s  why is\\u001b[2J it slow?",
        "run-30000000  QUEUED   -         -          alerts     3s     -  why?",
    ]


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("width", [80, 100, 140])
def test_no_row_is_wider_than_the_terminal(width: int, language: Language) -> None:
    """In cells; where little is left, the question has a line of its own."""
    assert max(cell_len(line) for line in table(width, language)) <= width
    assert len(table(80, language)) == 7
    assert len(table(140, language)) == 4


def test_in_a_pipe_every_run_is_one_whole_line() -> None:
    """For other programs: whole ids, whole questions."""
    lines = table(None)

    assert len(lines) == 4
    assert ROWS[0].run_id in lines[1]
    assert lines[1].endswith("为什么结账变慢？" * 20)


@pytest.mark.parametrize("language", Language)
def test_without_runs_a_sentence_is_printed(language: Language) -> None:
    """And no empty table."""
    (line,) = run_table([], language, now_s=NOW_S, width=80)
    assert line.plain == words.NO_RUNS.in_(language)


@given(st.lists(st.text("0123456789abcdef", min_size=1, max_size=40), min_size=1, unique=True))
def test_short_ids_stay_distinct(ids: list[str]) -> None:
    """However alike they are, each begins as its run does."""
    shortened = short_ids(ids)

    assert len(set(shortened)) == len(ids)
    assert all(whole.startswith(short) for whole, short in zip(ids, shortened, strict=True))


@pytest.mark.parametrize(
    ("elapsed_s", "message"),
    [
        (-5, "0s"),
        (0, "0s"),
        (59.9, "59s"),
        (60, "1m"),
        (3599, "59m"),
        (3600, "1h"),
        (86_400, "1d"),
        (9e7, "1041d"),
    ],
)
def test_an_age_is_one_figure(elapsed_s: float, message: str) -> None:
    """Rounded down, in the largest unit that counts one; a clock that differs makes no negative age."""
    assert age(elapsed_s, Language.EN) == message


@given(st.text(st.sampled_from("a慢 ")), st.integers(2, 12))
def test_a_text_is_cut_by_cells(text: str, width: int) -> None:
    """Never wider, never half a wide character, whole where it fits."""
    shown = cut(text, width)

    assert cell_len(shown) <= width
    assert shown == text or (shown.endswith("…") and text.startswith(shown[:-1]))


@pytest.mark.parametrize("language", Language)
def test_the_facts_of_a_run_are_in_two_columns(language: Language) -> None:
    """Five that all say something else of the same end; none is left out and none read off another."""
    page = "\n".join(
        line.plain for line in facts_lines(facts(fallback_row()), language, now_s=NOW_S, width=100)
    )
    texts = {name: text.in_(language) for name, text in words.FACTS.items()}

    for name, value in {
        "status": "SUCCESS",
        "outcome": "FALLBACK",
        "state": "TIMED_OUT",
        "reason": "DEADLINE_EXCEEDED",
        "fallback": "INSUFFICIENT_EVIDENCE",
        "stop_reason": "-",
        "intent": "DIAGNOSIS",
        "steps": "5",
        "tool_calls": "12",
        "tokens": "34,567",
        "took": "60 s",
    }.items():
        assert re.search(rf"(^|  ){re.escape(texts[name])} +{re.escape(value)}( |$)", page, re.MULTILINE), (
            name
        )
    assert texts["cancel"] not in page


def test_a_failure_is_shown_with_control_characters_escaped() -> None:
    """In its own words, without what a terminal would obey."""
    lines = facts_lines(facts(make_failed_row()), Language.EN, now_s=NOW_S, width=80)

    assert lines[-1].plain == "failure      It broke \\u001b[2J."


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("width", [60, 72, 80, 100])
def test_the_facts_fit_the_terminal(width: int, language: Language) -> None:
    """One under the other where two columns do not fit."""
    for row in (fallback_row(), make_failed_row(), running_row(), make_queued_row()):
        lines = facts_lines(facts(row), language, now_s=NOW_S, width=width)
        assert max(cell_len(line.plain) for line in lines) <= width


@pytest.mark.parametrize("row", [fallback_row(), make_failed_row(), running_row(), make_queued_row()])
def test_the_facts_are_those_of_the_row(row: RunRow) -> None:
    """Field by field; what is not known yet is not there."""
    read, ending = facts(row), row.ending

    assert (read.run_id, read.session_id, read.question) == (row.run_id, "ses-1", "why?")
    assert (read.status, read.submitted_s, read.started_s) == (
        row.status,
        row.request.submitted_s,
        row.started_s,
    )
    assert read.outcome == (ending.outcome if ending else None)
    assert (read.termination and read.termination.reason) == (ending.termination.reason if ending else None)
    assert (read.spent and read.spent.duration_s) == (ending.spent.duration_s if ending else None)
    assert (read.failure and read.failure.message) == (
        ending.failure.message if ending and ending.failure else None
    )
    assert read.is_in_progress is (ending is None)


@pytest.mark.parametrize(
    "name", ["run_id", "question", "status", "submitted_at", "language", "spent", "outcome"]
)
def test_an_invalid_row_is_refused(name: str) -> None:
    """A field that is missing or of another type."""
    with pytest.raises(ValueError):  # noqa: PT011 - the message is for nobody
        RunView.read({**RunView.of(fallback_row()).body(), name: 5})
