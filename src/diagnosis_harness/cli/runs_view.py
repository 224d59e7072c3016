"""The commands of `diagnose runs` that show something: list, show, trace, why."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.runs.row import RunStatus
from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.cli.client.connect import with_run, with_runs_client
from diagnosis_harness.cli.client.find_run import PAGE
from diagnosis_harness.cli.client.runs_client import RunsClient
from diagnosis_harness.cli.options import RunsOptions
from diagnosis_harness.cli.output import escape_lines, make_console, print_json, write_json, write_line
from diagnosis_harness.cli.render.report import report_lines
from diagnosis_harness.cli.render.runs import facts_lines, run_table
from diagnosis_harness.cli.trace import print_timeline
from diagnosis_harness.cli.why import print_answers
from diagnosis_harness.cli.words import runs as words
from diagnosis_harness.harness.keys import is_safe_segment
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.errors import InvalidInput, ServiceFailure
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.document_file import parse_document
from diagnosis_harness.report.reading import read_document
from diagnosis_harness.report.timeline import timeline
from diagnosis_harness.report.timestamps import escape_line
from diagnosis_harness.server.run_view import RunView, WholeRunView
from diagnosis_harness.trace.json_lines import lines_of

E = TypeVar("E", bound=StrEnum)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which runs to list, as written on the command line."""

    status: str | None
    outcome: str | None
    intent: str | None
    session: str | None
    limit: int

    def query(self) -> RunQuery:
        """The filters as a query of the store.

        Raises:
            InvalidInput: a value is not one of its enum, or the session is not a valid id.
        """
        if self.session is not None and not is_safe_segment(self.session):
            raise InvalidInput(
                "--session", "it is not a valid session id", "copy one that `runs show` prints"
            )
        return RunQuery(
            status=_member("--status", self.status, RunStatus),
            outcome=_member("--outcome", self.outcome, ReleaseOutcome),
            intent=_member("--intent", self.intent, IntentType),
            session_id=self.session,
            limit=min(self.limit, PAGE),
        )


def _member(option: str, text: str | None, kind: type[E]) -> E | None:
    if text is None:
        return None
    try:
        return kind(text.upper())
    except ValueError:
        known = ", ".join(kind)
        raise InvalidInput(option, f"'{escape_line(text)}' is not known", f"choose one of {known}") from None


def list_runs(options: RunsOptions, filters: Filters, *, as_json: bool) -> int:
    """`diagnose runs list`."""
    query = filters.query()

    async def work(client: RunsClient) -> int:
        rows, has_more = await _fetch_rows(client, query, filters.limit)
        if as_json:
            for row in rows:
                print_json(row)
        else:
            console = make_console(color=options.color)
            runs = [RunView.read(row) for row in rows]
            language = options.lang or Language.EN
            table = run_table(runs, language, now_s=SystemClock().now_s(), width=console.table_width)
            console.print_lines(table)
        if has_more:
            write_line(words.MORE_RUNS.in_(options.language), sys.stderr)
        return 0

    return with_runs_client(options, work)


async def _fetch_rows(client: RunsClient, query: RunQuery, limit: int) -> tuple[list[JsonValue], bool]:
    """Up to `limit` rows, from as many pages as needed, and whether there are more."""
    rows: list[JsonValue] = []
    before = None
    while True:
        page = await client.page(replace(query, before=before, limit=min(limit - len(rows), PAGE)))
        rows += page.rows
        before = page.next
        if before is None or len(rows) >= limit:
            return rows[:limit], before is not None or len(rows) > limit


def show_run(options: RunsOptions, run: str, *, as_json: bool) -> int:
    """`diagnose runs show`."""

    async def work(client: RunsClient, facts: WholeRunView) -> int:
        if as_json:
            print_json(await client.row(facts.run_id), indent=2)
            return 0
        console = make_console(color=options.color)
        language = options.lang or facts.language
        console.print_lines(facts_lines(facts, language, now_s=SystemClock().now_s(), width=console.width))
        console.print()
        if facts.is_in_progress:
            states = words.IN_PROGRESS
            state = states.get(facts.status, states["RUNNING"])
            console.print(state.in_(language), soft_wrap=True)
            print_timeline(timeline(await client.events(facts.run_id)), language, color=options.color)
        elif facts.text is not None:
            console.print(escape_lines(facts.text), soft_wrap=True)
        else:
            document = read_document(parse_document(await client.document(facts.run_id), file=facts.run_id))
            console.print_lines(report_lines(document, width=console.width))
        return 0

    return with_run(options, run, work)


def trace_run(options: RunsOptions, run: str, *, as_json: bool) -> int:
    """`diagnose runs trace`."""

    async def work(client: RunsClient, facts: WholeRunView) -> int:
        events = await client.events(facts.run_id)
        if as_json:
            write_json(lines_of(events))
        else:
            print_timeline(timeline(events), options.lang or facts.language, color=options.color)
        return 0

    return with_run(options, run, work)


def explain_run(options: RunsOptions, run: str, *, as_json: bool) -> int:
    """`diagnose runs why`."""

    async def work(client: RunsClient, facts: WholeRunView) -> int:
        language = options.lang or facts.language
        answers = await client.why(facts.run_id, language)
        try:
            print_answers(
                facts.run_id,
                answers if isinstance(answers, list) else [],
                language,
                as_json=as_json,
                color=options.color,
            )
        except ValueError as error:
            problem = words.NOT_UNDERSTOOD.render(options.language, host="-", problem=str(error))
            raise ServiceFailure(problem) from error
        return 0

    return with_run(options, run, work)
