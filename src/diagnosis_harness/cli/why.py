"""`diagnose why`: the seven questions about a saved run, answered in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from diagnosis_harness.cli.options import NoColorOption, RunLangOption, RunReferenceArgument, SettingsFile
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language


def register(app: typer.Typer, settings_file: SettingsFile) -> None:
    """Add the command `why`."""

    @app.command()
    def why(
        run: RunReferenceArgument,
        *,
        as_json: Annotated[bool, typer.Option("--json", help="Print the answers as JSON.")] = False,
        lang: RunLangOption = None,
        no_color: NoColorOption = False,
    ) -> None:
        """Explain why a saved run went as it did, with the lines and records that show it.

        Why a fallback, why no more tool calls, why no evidence, time or budget, why a status without a
        conclusion, why no end of a stream, why no context for the next turn.
        """
        from diagnosis_harness.audit.why.stored import why_of_document
        from diagnosis_harness.cli.run_file import read_run

        document, language = read_run(run, settings_file(), lang)
        answers = [each.as_json(language) for each in why_of_document(document)]
        print_answers(document.run.run_id, answers, language, as_json=as_json, color=not no_color)


def print_answers(
    run_id: str, answers: Sequence[JsonValue], language: Language, *, as_json: bool, color: bool
) -> None:
    """Print the seven answers, for people or as JSON.

    Raises:
        ValueError: one of them is malformed.
    """
    if as_json:
        from diagnosis_harness.cli.output import print_json

        print_json({"run_id": run_id, "answers": [*answers]}, indent=2)
        return
    from diagnosis_harness.cli.output import make_console
    from diagnosis_harness.cli.render.why import read_answer, why_lines

    console = make_console(color=color)
    console.print_lines(why_lines([read_answer(each) for each in answers], language, width=console.width))
