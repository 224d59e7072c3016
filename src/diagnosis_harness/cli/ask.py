"""`diagnose ask`: one question about an incident folder."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from diagnosis_harness.cli.exit_codes import exit_code
from diagnosis_harness.cli.folder_run import Folders, run_on_folders
from diagnosis_harness.cli.output import tell
from diagnosis_harness.cli.ports import OpenDiagnosis
from diagnosis_harness.cli.publish import OutputOptions, write_answer
from diagnosis_harness.cli.words import phrases
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.document import RunDocument


@dataclass(frozen=True, slots=True)
class AskRequest:
    """A question about a folder, or without one to a service.

    `deadline_s` None is the configured time.
    """

    question: str
    folder: Path | None
    baseline: Path | None = None
    onset_s: float | None = None
    deadline_s: float | None = None
    language: Language = Language.EN
    zone: str | None = None


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Options of `ask` that apply only with a server. `server` None is the configured one."""

    server: str | None
    key: str | None
    source: str | None
    session: str | None
    background: bool


def run_ask(request: AskRequest, folder: Path, output: OutputOptions, open_diagnosis: OpenDiagnosis) -> int:
    """Ask about the folder, print the report or the text of another path, and give the exit code.

    Raises:
        InvalidInput: an argument, the folder or a file in it cannot be used.
    """
    answer = run_on_folders(
        Folders(folder, request.baseline, request.onset_s),
        open_diagnosis,
        lambda diagnosis: diagnosis.ask(
            request.question,
            language=request.language,
            deadline_s=request.deadline_s,
            zone=request.zone,
        ),
        language=request.language,
        color=output.color,
    )
    write_answer(answer.document, answer.text, output)
    if output.save is not None:
        tell(phrases.SAVED.render(request.language, file=str(output.save)), sys.stderr)
    return exit_code(answer.document.release.outcome, answer.document.run.state)


def diagnose_folder(
    request: AskRequest, folder: Path, open_diagnosis: OpenDiagnosis, *, color: bool
) -> RunDocument:
    """Read the folder, ask, and give the document; Ctrl+C cancels the run, which still gives it.

    Raises:
        InvalidInput: an argument, the folder or a file in it cannot be used.
        KeyboardInterrupt: Ctrl+C while the folder was read, before there was a run.
    """
    return run_on_folders(
        Folders(folder, request.baseline, request.onset_s),
        open_diagnosis,
        lambda diagnosis: diagnosis.run(
            request.question,
            language=request.language,
            deadline_s=request.deadline_s,
            zone=request.zone,
        ),
        language=request.language,
        color=color,
    )


def check_server_options(request: AskRequest, options: ServerOptions) -> None:
    """Refuse options that exclude each other.

    Raises:
        InvalidInput: a folder is given together with an option for a server, or a baseline without a folder.
    """
    if request.folder is None:
        if request.zone is not None:
            raise InvalidInput("--zone", "it is given without --from", "write the zone into the question")
        if request.baseline is not None:
            raise InvalidInput("--baseline", "it is given without --from", "name the incident folder as well")
        return
    values = {
        "--server": options.server,
        "--key": options.key,
        "--source": options.source,
        "--session": options.session,
        "--background": options.background,
    }
    for option, value in values.items():
        if value:
            raise InvalidInput(option, "it is given with --from", "ask about a folder or a service, not both")
