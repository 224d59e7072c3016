"""`diagnose verify`: a saved run checked again, and asked again of a folder where one is given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diagnosis_harness.kernel.language import Language

if TYPE_CHECKING:
    from diagnosis_harness.audit.verification.recheck import Recheck
    from diagnosis_harness.audit.verification.result import Verification
    from diagnosis_harness.cli.ports import OpenDiagnosis
    from diagnosis_harness.report.document import RunDocument

VERIFIED, NOT_VERIFIED = 0, 1


def register(app: typer.Typer, open_diagnosis: OpenDiagnosis) -> None:
    """Add the command `verify`."""

    @app.command()
    def verify(
        file: Annotated[
            Path, typer.Argument(metavar="RUN.json", help="A run document that --save or --json wrote.")
        ],
        *,
        against: Annotated[
            Path | None,
            typer.Option(
                "--against",
                metavar="FOLDER",
                help="Ask the recorded queries again of this incident folder: which facts still hold.",
            ),
        ] = None,
        baseline: Annotated[
            Path | None,
            typer.Option(
                "--baseline", metavar="FOLDER", help="With --against: the folder of normal operation."
            ),
        ] = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print every check and flaw as JSON.")] = False,
        lang: Annotated[
            Language | None, typer.Option("--lang", help="Language; the run's own when left out.")
        ] = None,
        no_color: Annotated[bool, typer.Option("--no-color", help="No colours, also on a terminal.")] = False,
    ) -> int:
        """Check a saved run again: bytes, digests, citations, numbers, sentences, outcome.

        Needs no network and no source. What it proves, and what it cannot: docs/explain/verify.md.
        Exit code 0 when everything holds, 1 when something does not.
        """
        verification = _verified(file, baseline=baseline, against=against)
        document = verification.document
        language = lang or (document.run.language if document else Language.EN)
        recheck = None
        if against is not None and document is not None:
            recheck = _asked_again(
                document, (against, baseline), language, open_diagnosis, color=not no_color
            )
        print_verification(verification, recheck, language, as_json=as_json, color=not no_color)
        return exit_code_of(verification, recheck, wanted=against is not None)


def _verified(file: Path, *, baseline: Path | None, against: Path | None) -> Verification:
    from diagnosis_harness.audit.verification.verify import verify
    from diagnosis_harness.kernel.errors import InvalidInput

    if baseline is not None and against is None:
        raise InvalidInput("--baseline", "it is given without --against", "name the incident folder as well")
    try:
        data = file.read_bytes()
    except OSError as error:
        problem = f"it cannot be read ({error.strerror})"
        raise InvalidInput(str(file), problem, "give a file that --save or --json wrote") from error
    return verify(data, file=str(file))


def _asked_again(
    document: RunDocument,
    folders: tuple[Path, Path | None],
    language: Language,
    open_diagnosis: OpenDiagnosis,
    *,
    color: bool,
) -> Recheck:
    """The recorded queries in a run of their own; the first Ctrl+C cancels it and still gives the answer."""
    from diagnosis_harness.cli.answer import Sources, worked
    from diagnosis_harness.cli.phrases import phrases_of
    from diagnosis_harness.kernel.window import parse_utc

    onset_at = document.run.onset_at
    folder, baseline = folders
    return worked(
        Sources(folder, baseline, None if onset_at is None else parse_utc(onset_at)),
        open_diagnosis,
        lambda diagnosis: diagnosis.ask_again(document),
        phrases=phrases_of(language),
        color=color,
    )


def print_verification(
    verification: Verification, recheck: Recheck | None, language: Language, *, as_json: bool, color: bool
) -> None:
    """Every check on the standard output, for people or as JSON."""
    if as_json:
        _print_json(verification, recheck)
    else:
        _print_report(verification, recheck, language, color=color)


def _print_json(verification: Verification, recheck: Recheck | None) -> None:
    from diagnosis_harness.cli.output import tell_json

    held = {**verification.as_json(), "against": recheck.as_json() if recheck else None}
    tell_json(held, indent=2)


def _print_report(
    verification: Verification, recheck: Recheck | None, language: Language, *, color: bool
) -> None:
    from diagnosis_harness.cli.output import make_console
    from diagnosis_harness.cli.render.verification import verification_lines

    console = make_console(color=color)
    marks = console.is_terminal and not console.no_color
    for line in verification_lines(verification, recheck, language, width=console.width, marks=marks):
        console.print(line, soft_wrap=True)


def exit_code_of(verification: Verification, recheck: Recheck | None, *, wanted: bool) -> int:
    """0 where everything holds; with `wanted` also what was asked again."""
    from diagnosis_harness.cli.stopping import CANCELLED
    from diagnosis_harness.harness.termination import RunState

    if recheck is not None and recheck.state is RunState.CANCELLED:
        return CANCELLED
    holds = recheck.holds if recheck is not None else not wanted
    return VERIFIED if verification.verified and holds else NOT_VERIFIED
