"""The commands of `diagnose runs` that check, write or stop something: verify, export, cancel."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

from diagnosis_harness.audit.verification.verify import verify
from diagnosis_harness.cli.answer import checked_save
from diagnosis_harness.cli.at_desk import Where, at_desk
from diagnosis_harness.cli.output import save_bytes, tell, tell_json, write_json
from diagnosis_harness.cli.ports import RunsDesk
from diagnosis_harness.cli.run_reference import meant
from diagnosis_harness.cli.runs_words import RunsWords, runs_words
from diagnosis_harness.cli.verify import exit_code_of, print_verification
from diagnosis_harness.kernel.errors import InvalidInput, RunGoesOn
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.names import named
from diagnosis_harness.report.timestamps import shown
from diagnosis_harness.server.run_view import RunView
from diagnosis_harness.settings import load_settings
from diagnosis_harness.trace.json_lines import lines_of
from diagnosis_harness.trace.otlp import otlp_json
from diagnosis_harness.trace.spans import spans_of

FORMS = ("document", "jsonl", "otlp")


def verify_run(where: Where, run: str, *, lang: Language | None, as_json: bool, color: bool) -> int:
    """`diagnose runs verify`: the checks of `diagnose verify` over the kept run's document."""

    async def verified(desk: RunsDesk) -> int:
        facts = await meant(desk, run, where.words)
        verification = verify(await desk.document(facts.run_id), file=facts.run_id)
        print_verification(verification, None, lang or facts.language, as_json=as_json, color=color)
        return exit_code_of(verification, None, wanted=False)

    return at_desk(where, verified)


def export_run(where: Where, run: str, *, form: str, out: Path | None) -> int:
    """`diagnose runs export`.

    Raises:
        InvalidInput: the form is not known, or the file cannot be written.
    """
    if form not in FORMS:
        raise InvalidInput("--format", f"'{shown(form)}' is not known", f"choose one of {', '.join(FORMS)}")
    if out is not None:
        checked_save(out)

    async def exported(desk: RunsDesk) -> int:
        facts = await meant(desk, run, where.words)
        data = await _exported(desk, facts, form, where)
        if out is None:
            write_json(data)
            return 0
        save_bytes(data, out)
        tell(where.words.written.format(file=out), sys.stderr)
        return 0

    return at_desk(where, exported)


async def _exported(desk: RunsDesk, facts: RunView, form: str, where: Where) -> bytes:
    if form == "document":
        return await desk.document(facts.run_id)
    events = await desk.events(facts.run_id)
    if form == "jsonl":
        return lines_of(events)
    if not events:
        raise RunGoesOn(facts.run_id)
    service = load_settings(where.settings_file).telemetry.service_name
    spans = spans_of(events, session_id=facts.session_id)
    return otlp_json(spans, service=service, version=version("diagnosis-harness"))


def cancel_run(where: Where, run: str, *, lang: Language | None, as_json: bool) -> int:
    """`diagnose runs cancel`: what it came to is no failure, also where the run had ended before."""

    async def cancelled(desk: RunsDesk) -> int:
        facts = await meant(desk, run, where.words)
        held = await desk.cancel(facts.run_id)
        if as_json:
            tell_json(held, indent=2)
        else:
            for line in cancel_lines(held, runs_words(lang or facts.language)):
                tell(line, sys.stdout)
        return 0

    return at_desk(where, cancelled)


def cancel_lines(held: JsonValue, words: RunsWords) -> list[str]:
    """What was stopped, and what was in flight, in sentences."""
    if not isinstance(held, dict):
        return []
    effect = str(held.get("effect"))
    status = RunView.read(held.get("run")).status
    lines = [words.effects.get(effect, shown(effect)).format(status=status)]
    answer = held.get("answer")
    if effect == "STOPPED" and isinstance(answer, dict):
        in_flight = _calls(answer.get("in_flight"), words)
        lines.append(words.in_flight.format(calls=in_flight) if in_flight else words.nothing_in_flight)
        if never := _calls(answer.get("never_started"), words):
            lines.append(words.never_started.format(calls=never))
    return lines


def _calls(several: JsonValue, words: RunsWords) -> str:
    calls = [each for each in several if isinstance(each, dict)] if isinstance(several, list) else []
    return words.comma.join(
        words.call.format(name=named(str(call.get("name"))), id=named(str(call["tool_call_id"])))
        if call.get("tool_call_id")
        else named(str(call.get("name")))
        for call in calls
    )
