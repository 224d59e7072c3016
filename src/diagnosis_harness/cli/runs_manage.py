"""The commands of `diagnose runs` that do something: verify, export, cancel."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

from diagnosis_harness.audit.verification.verify import verify
from diagnosis_harness.cli.arguments import check_save
from diagnosis_harness.cli.client.connect import with_run
from diagnosis_harness.cli.client.runs_client import RunsClient
from diagnosis_harness.cli.options import RunsOptions
from diagnosis_harness.cli.output import print_json, save_bytes, write_json, write_line
from diagnosis_harness.cli.verify import exit_code_of, print_verification
from diagnosis_harness.cli.words import runs as words
from diagnosis_harness.kernel.errors import InvalidInput, RunGoesOn
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.report.timestamps import escape_line
from diagnosis_harness.server.run_view import RunView, WholeRunView
from diagnosis_harness.settings import load_settings
from diagnosis_harness.trace.json_lines import lines_of
from diagnosis_harness.trace.otlp import otlp_json
from diagnosis_harness.trace.spans import spans_of

EXPORT_FORMS = ("document", "jsonl", "otlp")


def verify_run(options: RunsOptions, run: str, *, as_json: bool) -> int:
    """`diagnose runs verify`: the checks of `diagnose verify` on the stored run's document."""

    async def work(client: RunsClient, facts: WholeRunView) -> int:
        verification = verify(await client.document(facts.run_id), file=facts.run_id)
        language = options.lang or facts.language
        print_verification(verification, None, language, as_json=as_json, color=options.color)
        return exit_code_of(verification, None, wanted=False)

    return with_run(options, run, work)


def export_run(options: RunsOptions, run: str, *, form: str, out: Path | None) -> int:
    """`diagnose runs export`.

    Raises:
        InvalidInput: the form is not known, or the file cannot be written.
    """
    if form not in EXPORT_FORMS:
        raise InvalidInput(
            "--format", f"'{escape_line(form)}' is not known", f"choose one of {', '.join(EXPORT_FORMS)}"
        )
    if out is not None:
        check_save(out)

    async def work(client: RunsClient, facts: WholeRunView) -> int:
        data = await _export(client, facts, form, options)
        if out is None:
            write_json(data)
            return 0
        save_bytes(data, out)
        write_line(words.WRITTEN.render(options.language, file=str(out)), sys.stderr)
        return 0

    return with_run(options, run, work)


async def _export(client: RunsClient, facts: WholeRunView, form: str, options: RunsOptions) -> bytes:
    if form == "document":
        return await client.document(facts.run_id)
    events = await client.events(facts.run_id)
    if form == "jsonl":
        return lines_of(events)
    if not events:
        raise RunGoesOn(facts.run_id)
    service = load_settings(options.settings_file).telemetry.service_name
    spans = spans_of(events, session_id=facts.session_id)
    return otlp_json(spans, service=service, version=version("diagnosis-harness"))


def cancel_run(options: RunsOptions, run: str, *, as_json: bool) -> int:
    """`diagnose runs cancel`. Cancelling a run that had already ended is not an error."""

    async def work(client: RunsClient, facts: WholeRunView) -> int:
        result = await client.cancel(facts.run_id)
        if as_json:
            print_json(result, indent=2)
        else:
            for line in cancel_lines(result, options.lang or facts.language):
                write_line(line, sys.stdout)
        return 0

    return with_run(options, run, work)


def cancel_lines(result: JsonValue, language: Language) -> list[str]:
    """Sentences about what was stopped and what was in flight."""
    if not isinstance(result, dict):
        return []
    effect = str(result.get("effect"))
    status = RunView.read(result.get("run")).status
    text = words.EFFECTS.get(effect)
    lines = [text.render(language, status=status) if text else escape_line(effect)]
    answer = result.get("answer")
    if effect == "STOPPED" and isinstance(answer, dict):
        in_flight = _calls(answer.get("in_flight"), language)
        lines.append(
            words.IN_FLIGHT.render(language, calls=in_flight)
            if in_flight
            else words.NOTHING_IN_FLIGHT.in_(language)
        )
        if never := _calls(answer.get("never_started"), language):
            lines.append(words.NEVER_STARTED.render(language, calls=never))
    return lines


def _calls(several: JsonValue, language: Language) -> str:
    calls = [each for each in several if isinstance(each, dict)] if isinstance(several, list) else []
    return words.COMMA.in_(language).join(
        words.CALL.render(
            language, name=display_name(str(call.get("name"))), id=display_name(str(call["tool_call_id"]))
        )
        if call.get("tool_call_id")
        else display_name(str(call.get("name")))
        for call in calls
    )
