"""`diagnose ask`: questions about an incident folder."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from diagnosis_harness.cli.arguments import bad_input_sentence, check_question_argument, choose_language
from diagnosis_harness.cli.exit_codes import exit_code
from diagnosis_harness.cli.folder_run import AskFolder, Folders, open_folders, run_on_folders
from diagnosis_harness.cli.kept_runs import AskedOf, find_session, keep_run, turn_after
from diagnosis_harness.cli.output import write_line
from diagnosis_harness.cli.ports import OpenDiagnosis
from diagnosis_harness.cli.publish import OutputOptions, write_answer
from diagnosis_harness.cli.words import kept_runs as kept_words
from diagnosis_harness.cli.words import phrases
from diagnosis_harness.diagnosis.question import OnsetWords
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.document import RunDocument

if TYPE_CHECKING:  # slow imports, made only when needed
    from diagnosis_harness.application.kept_run import KeptRun
    from diagnosis_harness.application.previous_turn import Turn
    from diagnosis_harness.application.routed_question import RoutedAnswer


@dataclass(frozen=True, slots=True)
class AskRequest:
    """A question about a folder, or without one to a service.

    `deadline_s` None is the configured time. `turn` continues a session of kept runs.
    """

    question: str
    folder: Path | None
    baseline: Path | None = None
    onset: float | OnsetWords | None = None
    deadline_s: float | None = None
    language: Language = Language.EN
    zone: str | None = None
    turn: Turn | None = None


@dataclass(frozen=True, slots=True)
class Handling:
    """How a run on this machine is kept, and whether the command prompts for further questions.

    Attributes:
        session: a session of kept runs to continue; `last` is the latest.
        lang: the requested language; None is that of each question.
    """

    settings_file: Path | None = None
    session: str | None = None
    keep: bool = True
    interactive: bool = False
    lang: Language | None = None


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Options of `ask` that apply only with a server. `server` None is the configured one."""

    server: str | None
    key: str | None
    source: str | None
    session: str | None
    background: bool


def run_ask(
    request: AskRequest, output: OutputOptions, open_diagnosis: OpenDiagnosis, handling: Handling
) -> int:
    """Ask about the folder, print the report or the text of another path, and give the exit code.

    On a terminal it prompts for further questions if `handling` says so; the exit code is that of the last.

    Raises:
        InvalidInput: an argument, the folder or a file in it cannot be used.
    """
    prompts, code = _prompts(output, handling), 0
    asked_of = AskedOf(request.folder, request.baseline, request.zone)
    session: tuple[KeptRun, ...] = ()
    with open_folders(
        _folders(request), open_diagnosis, language=request.language, color=output.color
    ) as ask:
        following: AskRequest | None = request
        while following is not None:
            answer = _ask(ask, following)
            document, language = answer.document, following.language
            write_answer(document, answer.text, output)
            if output.save is not None:
                write_line(phrases.SAVED.render(language, file=str(output.save)), sys.stderr)
            code = exit_code(document.release.outcome, document.run.state)
            if handling.keep and answer.text is None:  # an answer in words has no evidence to examine further
                keep_run(document, asked_of, handling.settings_file, language)
            following = None
            if prompts:
                session = (asked_of.run_of(document), *session)
                turn = turn_after(session, request.folder)
                following = _next_question(replace(request, turn=turn), handling)
    return code


def diagnose_folder(
    request: AskRequest, folder: Path, open_diagnosis: OpenDiagnosis, *, color: bool
) -> RunDocument:
    """Read the folder, ask, and return the document; after Ctrl+C, that of the cancelled run.

    Raises:
        InvalidInput: an argument, the folder or a file in it cannot be used.
        KeyboardInterrupt: Ctrl+C while the folder was read, before there was a run.
    """
    return run_on_folders(
        Folders(folder, request.baseline, request.onset),
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


def find_asked(request: AskRequest, options: ServerOptions, handling: Handling) -> AskRequest | None:
    """The request about a folder on this machine, with its session; None for a question to a service.

    Without a folder and a server, the folder is that of the session of kept runs.

    Raises:
        InvalidInput: there is no such session, or its folder is gone.
    """
    if request.folder is not None and options.server:
        return None  # the request is sent to the server
    if handling.session is None or (request.folder is None and _has_server(options, handling)):
        return None if request.folder is None else request
    runs = find_session(handling.session, handling.settings_file, request.language)
    if request.folder is None:
        latest, place = runs[0], f"--session {handling.session}"
        if latest.folder is None or not Path(latest.folder).is_dir():
            problem = kept_words.FOLDER_UNKNOWN.in_(request.language)
            if latest.folder is not None:
                problem = kept_words.FOLDER_GONE.render(request.language, folder=latest.folder)
            raise InvalidInput(place, problem, kept_words.FOLDER_REMEDY.in_(request.language))
        baseline = request.baseline or (Path(latest.baseline) if latest.baseline else None)
        folder, zone = Path(latest.folder), request.zone or latest.zone
        request = replace(request, folder=folder, baseline=baseline, zone=zone)
    return replace(request, turn=turn_after(runs, request.folder))


def _has_server(options: ServerOptions, handling: Handling) -> bool:
    from diagnosis_harness.settings import load_settings

    if options.server is not None:
        return bool(options.server)
    return bool(load_settings(handling.settings_file).remote.url)


def _folders(request: AskRequest) -> Folders:
    if request.folder is None:
        raise InvalidInput("--from", "it is missing", "name an incident folder")
    return Folders(request.folder, request.baseline, request.onset)


def _ask(ask: AskFolder, request: AskRequest) -> RoutedAnswer:
    return ask(
        lambda diagnosis: diagnosis.ask(
            request.question,
            language=request.language,
            deadline_s=request.deadline_s,
            zone=request.zone,
            turn=request.turn,
        )
    )


def _prompts(output: OutputOptions, handling: Handling) -> bool:
    """Whether to prompt for further questions: only if a person reads the answer and can type.

    Raises:
        InvalidInput: `--interactive` is given with `--json` or `--save`, which hold one run.
    """
    from diagnosis_harness.settings import load_settings

    for_one_run = "--json" if output.as_json else "--save" if output.save is not None else None
    if handling.interactive and for_one_run is not None:
        raise InvalidInput("--interactive", f"it is given with {for_one_run}", "leave one of them out")
    wanted = handling.interactive or load_settings(handling.settings_file).terminal.interactive
    return wanted and for_one_run is None and sys.stdin.isatty() and sys.stdout.isatty()


def _next_question(
    request: AskRequest, handling: Handling, *, read_line: Callable[[str], str] = input
) -> AskRequest | None:
    """The next question that the person types; None for an empty line, end of input and Ctrl+C."""
    with suppress(ImportError):
        import readline  # noqa: F401 - with it the line can be edited; not every Python has it
    while True:
        try:
            line = read_line(kept_words.PROMPT.in_(request.language))
        except (EOFError, KeyboardInterrupt):
            write_line("", sys.stdout)
            return None
        if not line.strip():
            return None
        try:
            question = check_question_argument(line)
        except InvalidInput as error:
            write_line(bad_input_sentence(error, request.language), sys.stderr)
            continue
        return replace(request, question=question, language=choose_language(handling.lang, question))


def check_server_options(request: AskRequest, options: ServerOptions) -> None:
    """Refuse options that exclude each other.

    Raises:
        InvalidInput: a folder with an option that only applies to a server, an option of a local folder with
                a server, or a baseline without a folder.
    """
    if request.folder is None:
        if options.session is not None:
            return  # the session may name the folder
        if request.zone is not None:
            raise InvalidInput("--zone", "it is given without --from", "write the zone into the question")
        if request.baseline is not None:
            raise InvalidInput("--baseline", "it is given without --from", "name the incident folder as well")
        return
    if options.source:
        raise InvalidInput("--source", "it is given with --from", "ask about a folder or a source, not both")
    if options.server:
        _check_options_of_sent_folder(request)
        return
    for option, value in {"--key": options.key, "--background": options.background}.items():
        if value:
            raise InvalidInput(
                option, "it is given with --from", "name with --server where to send the folder"
            )


def _check_options_of_sent_folder(request: AskRequest) -> None:
    if request.baseline is not None:
        remedy = "put the baseline into the folder, and name it under [baseline] in incident.toml"
        raise InvalidInput("--baseline", "it is given with --server", remedy)
    if request.zone is not None:
        raise InvalidInput("--zone", "it is given with --server", "write the zone into the question")
