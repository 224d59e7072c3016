"""`diagnose verify`: check a saved run again, and optionally repeat its queries on a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diagnosis_harness.cli.options import NoColorOption, RunLangOption, RunReferenceArgument, SettingsFile
from diagnosis_harness.kernel.language import Language

if TYPE_CHECKING:  # slow imports, made only when needed
    from diagnosis_harness.audit.verification.recheck import Recheck
    from diagnosis_harness.audit.verification.result import Verification
    from diagnosis_harness.cli.ports import OpenDiagnosis
    from diagnosis_harness.report.document import RunDocument

VERIFIED, NOT_VERIFIED = 0, 1


def register(app: typer.Typer, open_diagnosis: OpenDiagnosis, settings_file: SettingsFile) -> None:
    """Add the command `verify`."""

    @app.command()
    def verify(
        run: RunReferenceArgument,
        *,
        against: Annotated[
            Path | None,
            typer.Option(
                "--against",
                metavar="FOLDER",
                help="Repeat the recorded queries on this incident folder and report which facts still hold.",
            ),
        ] = None,
        baseline: Annotated[
            Path | None,
            typer.Option(
                "--baseline", metavar="FOLDER", help="With --against: the folder of normal operation."
            ),
        ] = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print every check and flaw as JSON.")] = False,
        lang: RunLangOption = None,
        no_color: NoColorOption = False,
    ) -> int:
        """Check a saved run again: bytes, digests, citations, numbers, sentences, outcome.

        Needs no network and no source. What it can and cannot prove: docs/explain/verify.md.
        Exit code 0 when everything holds, 1 when something does not.
        """
        from diagnosis_harness.audit.verification.verify import verify as verify_bytes
        from diagnosis_harness.cli.run_file import read_run_bytes

        _check_folders(baseline=baseline, against=against)
        saved = read_run_bytes(run, settings_file(), lang or Language.EN)
        verification = verify_bytes(saved.data, file=saved.name)
        document = verification.document
        language = lang or (document.run.language if document else Language.EN)
        recheck = None
        if against is not None and document is not None:
            recheck = _repeat_queries(
                document, (against, baseline), language, open_diagnosis, color=not no_color
            )
        print_verification(verification, recheck, language, as_json=as_json, color=not no_color)
        return exit_code_of(verification, recheck, wanted=against is not None)


def _check_folders(*, baseline: Path | None, against: Path | None) -> None:
    from diagnosis_harness.kernel.errors import InvalidInput

    if baseline is not None and against is None:
        raise InvalidInput("--baseline", "it is given without --against", "name the incident folder as well")


def _repeat_queries(
    document: RunDocument,
    folders: tuple[Path, Path | None],
    language: Language,
    open_diagnosis: OpenDiagnosis,
    *,
    color: bool,
) -> Recheck:
    """Repeat the recorded queries in a new run; after Ctrl+C, the cancelled run still has a result."""
    from diagnosis_harness.cli.folder_run import Folders, run_on_folders
    from diagnosis_harness.kernel.window import parse_utc

    onset_at = document.run.onset_at
    folder, baseline = folders
    return run_on_folders(
        Folders(folder, baseline, None if onset_at is None else parse_utc(onset_at)),
        open_diagnosis,
        lambda diagnosis: diagnosis.ask_again(document),
        language=language,
        color=color,
    )


def print_verification(
    verification: Verification, recheck: Recheck | None, language: Language, *, as_json: bool, color: bool
) -> None:
    """Print every check, for people or as JSON."""
    from diagnosis_harness.cli.output import make_console, print_json
    from diagnosis_harness.cli.render.verification import verification_lines

    if as_json:
        print_json({**verification.as_json(), "against": recheck.as_json() if recheck else None}, indent=2)
        return
    console = make_console(color=color)
    marks = console.is_terminal and not console.no_color
    console.print_lines(verification_lines(verification, recheck, language, width=console.width, marks=marks))


def exit_code_of(verification: Verification, recheck: Recheck | None, *, wanted: bool) -> int:
    """VERIFIED if everything holds; with `wanted` the repeated queries count too."""
    from diagnosis_harness.cli.interrupt import CANCELLED
    from diagnosis_harness.harness.termination import RunState

    if recheck is not None and recheck.state is RunState.CANCELLED:
        return CANCELLED
    holds = recheck.holds if recheck is not None else not wanted
    return VERIFIED if verification.verified and holds else NOT_VERIFIED
