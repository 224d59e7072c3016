"""The command line: from options to an exit code. Each command imports its slow libraries itself."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.exceptions import TyperException

from diagnosis_harness.cli import bench, keys, knowledge, look, runs, serve, show, trace, verify, why, worker
from diagnosis_harness.cli.interrupt import CANCELLED, exit_now, raise_on_interrupt
from diagnosis_harness.cli.options import (
    BackgroundOption,
    BaselineOption,
    DeadlineOption,
    FolderOption,
    InteractiveOption,
    JsonOption,
    KeyOption,
    LangOption,
    NoColorOption,
    NoKeepOption,
    OnsetOption,
    QuestionArgument,
    SaveOption,
    ServerOption,
    SessionOption,
    SettingsFile,
    SourceOption,
    ZoneOption,
)
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.language import Language

if TYPE_CHECKING:  # slow imports, made only when needed
    from diagnosis_harness.cli.ports import FolderDiagnosis, LoadProgress, OpenDiagnosis
    from diagnosis_harness.cli.publish import OutputOptions
    from diagnosis_harness.diagnosis.question import OnsetWords
    from diagnosis_harness.trace.sink import TraceSink

FAULTS = ("cpu", "memory-leak", "network-delay", "errors-after-deploy", "slow-dependency", "none")

_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


class FolderOpener:
    """Opens incident folders with the real system, which it imports at the first use."""

    def __init__(self) -> None:
        self.settings_file: Path | None = None

    def __call__(  # noqa: D102 - see OpenDiagnosis
        self,
        *,
        folder: Path,
        baseline: Path | None,
        onset: float | OnsetWords | None,
        sink: TraceSink,
        progress: LoadProgress,
    ) -> FolderDiagnosis:
        from diagnosis_harness.bootstrap.diagnosis import build_diagnosis
        from diagnosis_harness.settings import load_settings

        return build_diagnosis(
            folder=folder,
            baseline=baseline,
            onset=onset,
            sink=sink,
            progress=progress,
            settings=load_settings(self.settings_file),
        )


def main() -> None:
    """Run the command line of this process."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    code = run_command(sys.argv[1:])
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # the result is printed; ignore Ctrl+C while Python shuts down
    # A thread still inside a library's native code would abort the process at shutdown. And an interrupt
    # that went through `exec` makes the interpreter end by the signal instead of with the code.
    if code == CANCELLED or threading.active_count() > 1:
        exit_now(code)
    sys.exit(code)


def run_command(arguments: list[str], *, open_diagnosis: OpenDiagnosis | None = None) -> int:
    """Run one command line and return its exit code. Any error becomes one sentence on standard error."""
    _prepare_streams()
    app = build_app(open_diagnosis or FolderOpener())
    try:
        with raise_on_interrupt():
            code = app(arguments or ["--help"], prog_name="diagnose", standalone_mode=False)
            sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        return _report_stop(arguments)
    except BrokenPipeError:
        from diagnosis_harness.cli.output import drop_stdout

        drop_stdout()
        return 1
    except (TyperException, InvalidInput) as error:
        return _report_bad_input(error, arguments)
    except Exception as error:
        if "--debug" in arguments:
            raise
        if isinstance(error, OSError) and error.filename is None and error.errno in _UNWRITABLE:
            return _report_unwritable(error, arguments)
        return _report_unexpected(error, arguments)
    return code if isinstance(code, int) else 0


def _prepare_streams() -> None:
    """Make standard output and error writable; if the caller has closed them, discard what is written."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - open until exit
        elif isinstance(stream, TextIOWrapper):  # a character that the terminal cannot show must not fail
            stream.reconfigure(errors="replace")


def build_app(open_diagnosis: OpenDiagnosis) -> typer.Typer:
    """The commands. `open_diagnosis` reads an incident folder."""
    app = typer.Typer(
        name="diagnose",
        help="Diagnose incidents from evidence; publish only what the evidence supports.",
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )

    @app.callback()
    def options(
        *,
        version: Annotated[
            bool,
            typer.Option(
                "--version", help="Print the version and exit.", is_eager=True, callback=_show_version
            ),
        ] = False,
        settings: Annotated[
            Path | None,
            typer.Option(
                "--settings", metavar="FILE", help="A settings file; it overrides the shipped defaults."
            ),
        ] = None,
        debug: Annotated[
            bool, typer.Option("--debug", help="Show the traceback of an unexpected error.")
        ] = False,
    ) -> None:
        if settings is not None and isinstance(open_diagnosis, FolderOpener):
            open_diagnosis.settings_file = settings
        del version, debug  # version is printed by its callback; `run` reads debug, even if parsing fails

    def settings_file() -> Path | None:
        return open_diagnosis.settings_file if isinstance(open_diagnosis, FolderOpener) else None

    _add_ask(app, open_diagnosis, settings_file)
    _add_demo(app, open_diagnosis, settings_file)
    look.register(app, settings_file)
    show.register(app, settings_file)
    verify.register(app, open_diagnosis, settings_file)
    why.register(app, settings_file)
    trace.register(app, settings_file)
    bench.register(app, open_diagnosis, settings_file)
    runs.register(app, settings_file)
    keys.register(app, settings_file)
    knowledge.register(app, settings_file)
    serve.register(app, settings_file)
    worker.register(app, settings_file)
    return app


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    if wanted:
        from importlib.metadata import version

        typer.echo(f"diagnose {version('diagnosis-harness')}")
        raise typer.Exit


def _add_ask(app: typer.Typer, open_diagnosis: OpenDiagnosis, settings_file: SettingsFile) -> None:
    @app.command()
    def ask(  # noqa: PLR0913 - the options of a command
        words: QuestionArgument,
        *,
        folder: FolderOption = None,
        baseline: BaselineOption = None,
        onset: OnsetOption = None,
        zone: ZoneOption = None,
        deadline: DeadlineOption = None,
        as_json: JsonOption = False,
        lang: LangOption = None,
        no_color: NoColorOption = False,
        save: SaveOption = None,
        server: ServerOption = None,
        key: KeyOption = None,
        source: SourceOption = None,
        session: SessionOption = None,
        background: BackgroundOption = False,
        no_keep: NoKeepOption = False,
        interactive: InteractiveOption = False,
    ) -> int:
        """Ask why something broke: about the telemetry in a folder, or a service.

        The report goes to standard output, progress to standard error. Ctrl+C cancels and keeps the evidence.
        """
        from diagnosis_harness.cli import arguments as given
        from diagnosis_harness.cli.ask import (
            AskRequest,
            Handling,
            ServerOptions,
            check_server_options,
            find_asked,
            run_ask,
        )

        question = given.check_question_argument(given.join_question(words, sys.stdin))
        request = AskRequest(
            question=question,
            folder=folder,
            baseline=baseline,
            onset=given.read_onset(onset, zone, of_folder=folder is not None or session is not None),
            zone=zone,
            deadline_s=given.check_deadline(deadline),
            language=given.choose_language(lang, question),
        )
        handling = Handling(settings_file(), session, keep=not no_keep, interactive=interactive, lang=lang)
        output = _output_options(as_json=as_json, no_color=no_color, save=save)
        server_options = ServerOptions(server, key, source, session, background)
        check_server_options(request, server_options)
        if (found := find_asked(request, server_options, handling)) is not None:
            return run_ask(found, output, open_diagnosis, handling)
        from diagnosis_harness.cli.ask_server import ask_server

        given.check_question_to_service(question)
        return ask_server(request, server_options, output, settings_file())


def _add_demo(app: typer.Typer, open_diagnosis: OpenDiagnosis, settings_file: SettingsFile) -> None:
    @app.command()
    def demo(  # noqa: PLR0913 - the options of a command
        *,
        fault: Annotated[
            str,
            typer.Option(
                "--fault",
                metavar="KIND",
                help=f"What to break: {', '.join(FAULTS)}, or a hard kind such as lost-cache or two-faults.",
            ),
        ] = "cpu",
        seed: Annotated[
            int,
            typer.Option("--seed", metavar="N", help=("Each number gives a different system and incident.")),
        ] = 1,
        keep: Annotated[
            Path | None,
            typer.Option("--keep", metavar="FOLDER", help="Keep the incident folder, in this folder."),
        ] = None,
        deadline: DeadlineOption = None,
        as_json: JsonOption = False,
        lang: LangOption = None,
        no_color: NoColorOption = False,
        save: SaveOption = None,
        no_keep: NoKeepOption = False,
    ) -> int:
        """Break a simulated system and watch it being diagnosed.

        The run sees only the folder. After the run, the command prints what was injected, and whether it was
        found. The exit code is 0 if the diagnosis was right (also by naming no cause), else that of the run.
        """
        from diagnosis_harness.cli.arguments import check_deadline
        from diagnosis_harness.cli.ask import Handling
        from diagnosis_harness.cli.demo import Demo, run_demo

        options = Demo(
            fault=fault,
            seed=seed,
            keep=keep,
            language=lang or Language.EN,
            deadline_s=check_deadline(deadline),
        )
        handling = Handling(settings_file(), keep=not no_keep)
        output = _output_options(as_json=as_json, no_color=no_color, save=save)
        return run_demo(options, output, open_diagnosis, handling)


def _output_options(*, as_json: bool, no_color: bool, save: Path | None) -> OutputOptions:
    from diagnosis_harness.cli.arguments import check_save
    from diagnosis_harness.cli.publish import OutputOptions

    return OutputOptions(as_json=as_json, color=not no_color, save=check_save(save))


def _report_bad_input(error: TyperException | InvalidInput, arguments: list[str]) -> int:
    """Report an error that the person can correct."""
    from diagnosis_harness.cli.arguments import (
        bad_input_sentence,
        language_of_command_line,
        usage_error_sentence,
    )
    from diagnosis_harness.cli.exit_codes import BAD_INPUT

    language = language_of_command_line(arguments)
    if isinstance(error, InvalidInput):
        _print_error(bad_input_sentence(error, language))
    else:
        _print_error(usage_error_sentence(error.format_message(), language))
    return BAD_INPUT


def _report_stop(arguments: list[str]) -> int:
    """Report Ctrl+C when there was no run to cancel."""
    from diagnosis_harness.cli.arguments import language_of_command_line
    from diagnosis_harness.cli.words import phrases

    _print_error(phrases.STOPPED.in_(language_of_command_line(arguments)))
    return CANCELLED


def _report_unwritable(error: OSError, arguments: list[str]) -> int:
    """Report a full disk and the like, which is not a bug."""
    from diagnosis_harness.cli.arguments import language_of_command_line
    from diagnosis_harness.cli.exit_codes import UNEXPECTED
    from diagnosis_harness.cli.output import drop_stdout
    from diagnosis_harness.cli.words import phrases

    drop_stdout()
    _print_error(phrases.UNWRITTEN.render(language_of_command_line(arguments), problem=str(error.strerror)))
    return UNEXPECTED


def _report_unexpected(error: Exception, arguments: list[str]) -> int:
    """Report an error that the person cannot correct, and how to see more of it."""
    from diagnosis_harness.cli.arguments import language_of_command_line
    from diagnosis_harness.cli.exit_codes import UNEXPECTED
    from diagnosis_harness.cli.words import phrases
    from diagnosis_harness.report.timestamps import escape_line

    language = language_of_command_line(arguments)
    message = escape_line(" ".join(str(error).split()))[:300]
    _print_error(phrases.UNEXPECTED.render(language, kind=type(error).__name__, message=message))
    _print_error(phrases.DEBUG_HINT.in_(language))
    return UNEXPECTED


def _print_error(sentence: str) -> None:
    """Print one line on standard error; if that fails too, only the exit code reports the failure."""
    with suppress(OSError, ValueError):
        typer.echo(sentence, err=True)
