"""`diagnose runs mark`: records whether the answer of a run was right, in the service or on this machine."""

from __future__ import annotations

import sys
from pathlib import Path

from diagnosis_harness.application.callers.caller import LOCAL
from diagnosis_harness.application.runs.feedback import (
    Feedback,
    FeedbackVerdict,
    check_cause,
    check_gave_a_diagnosis,
    check_note,
    new_feedback,
)
from diagnosis_harness.cli.client.connect import has_stored_runs, is_server_named, with_run
from diagnosis_harness.cli.client.runs_client import RunsClient
from diagnosis_harness.cli.kept_runs import LATEST, find_kept, open_runs, store_errors
from diagnosis_harness.cli.options import RunsOptions
from diagnosis_harness.cli.output import print_json, write_line
from diagnosis_harness.cli.run_file import read_run
from diagnosis_harness.cli.words import runs as words
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.report.timestamps import escape_line
from diagnosis_harness.server.feedback_view import FeedbackView
from diagnosis_harness.server.run_view import WholeRunView


def mark_run(
    options: RunsOptions, run: str, verdict: str, *, cause: str | None, note: str, as_json: bool
) -> int:
    """Store the verdict, and print what is stored.

    Raises:
        InvalidInput: an argument cannot be used.
    """
    mark = read_verdict(verdict, options.language)
    check_cause(cause)
    check_note(note)
    if not has_stored_runs(options) or _is_kept(options, run):
        feedback, language = _mark_kept(options, run, mark, cause=cause, note=note)
        _print(FeedbackView.of(feedback).body(), language, as_json=as_json)
        return 0

    async def work(client: RunsClient, facts: WholeRunView) -> int:
        stored = await client.mark(facts.run_id, mark, cause=cause, note=note)
        _print(stored, options.lang or facts.language, as_json=as_json)
        return 0

    return with_run(options, run, work)


def read_verdict(text: str, language: Language) -> FeedbackVerdict:
    """The verdict that a person wrote.

    Raises:
        InvalidInput: it is neither right nor wrong.
    """
    try:
        return FeedbackVerdict(text.strip().upper())
    except ValueError:
        problem, remedy = words.NO_VERDICT, words.NO_VERDICT_REMEDY
        raise InvalidInput(escape_line(text), problem.in_(language), remedy.in_(language)) from None


def _is_kept(options: RunsOptions, reference: str) -> bool:
    """Whether the run is one of this machine, if a service also has runs.

    Raises:
        InvalidInput: it is the last one, and both have one.
    """
    if is_server_named(options):
        return False
    runs = open_runs(options.settings_file, options.language)
    with store_errors(runs, options.language):
        found = runs.latest() if reference == LATEST else runs.starting_with(reference)
    if found and reference == LATEST:
        problem, remedy = words.TWO_LASTS, words.TWO_LASTS_REMEDY
        raise InvalidInput(
            LATEST,
            problem.render(options.language, run=found[0].run_id),
            remedy.in_(options.language),
        )
    return bool(found)


def _mark_kept(
    options: RunsOptions, reference: str, verdict: FeedbackVerdict, *, cause: str | None, note: str
) -> tuple[Feedback, Language]:
    run = find_kept(reference, options.settings_file, options.language)
    check_gave_a_diagnosis(run.run_id, run.intent, run.outcome)
    now_s = SystemClock().now_s()
    feedback = new_feedback(run.run_id, LOCAL, verdict, cause=cause, note=note, given_s=now_s)
    runs = open_runs(options.settings_file, options.language)
    with store_errors(runs, options.language):
        runs.mark(feedback)
    _, language = read_run(run.run_id, options.settings_file, options.lang)
    return feedback, language


def lines_of_kept_mark(run_id: str, settings_file: Path | None, language: Language) -> list[str]:
    """This person's verdict on a kept run, in sentences.

    Raises:
        InvalidInput: the runs cannot be read.
    """
    runs = open_runs(settings_file, language)
    with store_errors(runs, language):
        feedback = runs.feedback(run_id)
    return [] if feedback is None else mark_lines(FeedbackView.of(feedback), language)


def mark_lines(view: FeedbackView, language: Language) -> list[str]:
    """A verdict in sentences."""
    lines = [words.MARKED[view.verdict].render(language, run=view.run_id)]
    if view.cause is not None:
        lines.append(words.MARKED_CAUSE.render(language, cause=display_name(view.cause)))
    if view.note:
        lines.append(words.MARKED_NOTE.render(language, note=escape_line(" ".join(view.note.split()))))
    return lines


def _print(stored: JsonValue, language: Language, *, as_json: bool) -> None:
    if as_json:
        print_json(stored, indent=2)
        return
    for line in mark_lines(FeedbackView.read(stored), language):
        write_line(line, sys.stdout)
