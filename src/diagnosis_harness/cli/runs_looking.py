"""The commands of `diagnose runs` that only look: list, show, trace, why."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.runs.row import RunStatus
from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.cli.at_desk import Where, at_desk
from diagnosis_harness.cli.output import make_console, tell, tell_json, write_json
from diagnosis_harness.cli.ports import RunsDesk
from diagnosis_harness.cli.render.report import report_lines
from diagnosis_harness.cli.render.runs import facts_lines, run_table
from diagnosis_harness.cli.render.timeline import timeline_lines
from diagnosis_harness.cli.run_reference import PAGE, meant
from diagnosis_harness.cli.runs_words import runs_words
from diagnosis_harness.cli.why import print_answers
from diagnosis_harness.harness.keys import is_safe_segment
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.errors import InvalidInput, ServiceFailure
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.document_file import parsed
from diagnosis_harness.report.reading import read_document
from diagnosis_harness.report.timeline import moments, timeline
from diagnosis_harness.report.timestamps import shown
from diagnosis_harness.server.run_view import RunView
from diagnosis_harness.trace.event import TraceEvent
from diagnosis_harness.trace.json_lines import lines_of
from diagnosis_harness.trace.timeline import fold

E = TypeVar("E", bound=StrEnum)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which runs are listed, as a person writes it."""

    status: str | None
    outcome: str | None
    intent: str | None
    session: str | None
    limit: int

    def query(self) -> RunQuery:
        """As the store takes it.

        Raises:
            InvalidInput: a word is not of its set, or the session is no id.
        """
        if self.session is not None and not is_safe_segment(self.session):
            raise InvalidInput("--session", "it is no id of a session", "copy one that `runs show` prints")
        return RunQuery(
            status=_word("--status", self.status, RunStatus),
            outcome=_word("--outcome", self.outcome, ReleaseOutcome),
            intent=_word("--intent", self.intent, IntentType),
            session_id=self.session,
            limit=min(self.limit, PAGE),
        )


def _word(option: str, text: str | None, kind: type[E]) -> E | None:
    if text is None:
        return None
    try:
        return kind(text.upper())
    except ValueError:
        known = ", ".join(kind)
        raise InvalidInput(option, f"'{shown(text)}' is not known", f"choose one of {known}") from None


def list_runs(where: Where, filters: Filters, *, as_json: bool, color: bool) -> int:
    """`diagnose runs list`."""
    query = filters.query()

    async def listed(desk: RunsDesk) -> int:
        rows, has_more = await _rows(desk, query, filters.limit)
        if as_json:
            for row in rows:
                tell_json(row)
        else:
            _print_table([RunView.read(row) for row in rows], where.language, color=color)
        if has_more:
            tell(where.words.more_runs, sys.stderr)
        return 0

    return at_desk(where, listed)


def _print_table(runs: list[RunView], language: Language, *, color: bool) -> None:
    console = make_console(color=color)
    width = console.width if console.is_terminal else None
    for line in run_table(runs, language, now_s=SystemClock().now_s(), width=width):
        console.print(line, soft_wrap=True)


async def _rows(desk: RunsDesk, query: RunQuery, limit: int) -> tuple[list[JsonValue], bool]:
    """So many rows, over as many pages as that takes, and whether there are more."""
    rows: list[JsonValue] = []
    before = None
    while True:
        page = await desk.page(_next(query, before, limit - len(rows)))
        rows += page.rows
        before = page.next
        if before is None or len(rows) >= limit:
            return rows[:limit], before is not None or len(rows) > limit


def _next(query: RunQuery, before: str | None, left: int) -> RunQuery:
    return replace(query, before=before, limit=min(left, PAGE))


def show_run(where: Where, run: str, *, lang: Language | None, as_json: bool, color: bool) -> int:
    """`diagnose runs show`."""

    async def shown_run(desk: RunsDesk) -> int:
        facts = await meant(desk, run, where.words)
        if as_json:
            tell_json(await desk.row(facts.run_id), indent=2)
            return 0
        console = make_console(color=color)
        language = lang or facts.language
        lines = facts_lines(facts, language, now_s=SystemClock().now_s(), width=console.width)
        for line in lines:
            console.print(line, soft_wrap=True)
        console.print()
        if facts.is_in_progress:
            console.print(_stands(facts, language), soft_wrap=True)
            _print_timeline(await desk.events(facts.run_id), language, color=color)
        elif facts.text is not None:
            console.print(shown_lines(facts.text), soft_wrap=True)
        else:
            document = read_document(parsed(await desk.document(facts.run_id), file=facts.run_id))
            for line in report_lines(document, width=console.width):
                console.print(line, soft_wrap=True)
        return 0

    return at_desk(where, shown_run)


def _stands(facts: RunView, language: Language) -> str:
    words = runs_words(language)
    return words.goes_on.get(facts.status, words.goes_on["RUNNING"])


def shown_lines(text: str) -> str:
    """A text of several lines, safe for a terminal."""
    return "\n".join(shown(line) for line in text.split("\n"))


def trace_run(where: Where, run: str, *, lang: Language | None, as_json: bool, color: bool) -> int:
    """`diagnose runs trace`."""

    async def traced(desk: RunsDesk) -> int:
        facts = await meant(desk, run, where.words)
        events = await desk.events(facts.run_id)
        if as_json:
            write_json(lines_of(events))
        else:
            _print_timeline(events, lang or facts.language, color=color)
        return 0

    return at_desk(where, traced)


def _print_timeline(events: tuple[TraceEvent, ...], language: Language, *, color: bool) -> None:
    console = make_console(color=color)
    width = console.width if console.is_terminal else None
    for line in timeline_lines(fold(moments(timeline(events))), language, width=width):
        console.print(line, soft_wrap=True)


def why_run(where: Where, run: str, *, lang: Language | None, as_json: bool, color: bool) -> int:
    """`diagnose runs why`."""

    async def explained(desk: RunsDesk) -> int:
        facts = await meant(desk, run, where.words)
        language = lang or facts.language
        answers = await desk.why(facts.run_id, language)
        try:
            print_answers(
                facts.run_id,
                answers if isinstance(answers, list) else [],
                language,
                as_json=as_json,
                color=color,
            )
        except ValueError as error:
            raise ServiceFailure(where.words.not_understood.format(host="-", problem=error)) from error
        return 0

    return at_desk(where, explained)
