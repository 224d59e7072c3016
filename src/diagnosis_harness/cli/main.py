"""The command line: options in, exit code out. Everything heavy is imported by the command that needs it."""

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

from diagnosis_harness.cli import bench, keys, knowledge, runs, serve, trace, verify, why, worker
from diagnosis_harness.cli.stopping import CANCELLED, leave, stopped_by_interrupt
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.language import Language

if TYPE_CHECKING:
    from diagnosis_harness.cli.output import Output
    from diagnosis_harness.cli.ports import Diagnosis, LoadProgress, OpenDiagnosis
    from diagnosis_harness.trace.sink import TraceSink

FAULTS = ("cpu", "memory-leak", "network-delay", "errors-after-deploy", "slow-dependency", "none")

_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)

DeadlineOption = Annotated[
    float | None,
    typer.Option(
        "--deadline",
        metavar="SECONDS",
        help="Time from the question to the answer, the configured time when left out; reading the folder "
        "comes before and is not in it.",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print the run document (docs/reference/run-document.schema.json).")
]
LangOption = Annotated[
    Language | None, typer.Option("--lang", help="Language of the report; the question's own when left out.")
]
NoColorOption = Annotated[bool, typer.Option("--no-color", help="No colours, also on a terminal.")]
SaveOption = Annotated[
    Path | None, typer.Option("--save", metavar="FILE", help="Write the run document to a file as well.")
]
FolderOption = Annotated[
    Path | None,
    typer.Option("--from", metavar="FOLDER", help="The incident folder (docs/reference/incident-folder.md)."),
]
BaselineOption = Annotated[
    Path | None,
    typer.Option(
        "--baseline", metavar="FOLDER", help="A folder of the same form, recorded in normal operation."
    ),
]
OnsetOption = Annotated[
    str | None,
    typer.Option(
        "--onset", metavar="TIME", help="When it began: ISO 8601, UTC without a zone, or epoch seconds."
    ),
]
SourceOption = Annotated[
    str | None,
    typer.Option("--source", metavar="NAME", help="With a server: the source to look into, of several."),
]
SessionOption = Annotated[
    str | None,
    typer.Option("--session", metavar="ID", help="With a server: the session to continue."),
]
BackgroundOption = Annotated[
    bool, typer.Option("--background", help="With a server: do not wait; print the run's id.")
]


class FolderOpener:
    """Opens incident folders with the real system behind them, which is imported when it is first needed."""

    def __init__(self) -> None:
        self.settings_file: Path | None = None

    def __call__(  # noqa: D102 - see OpenDiagnosis
        self,
        *,
        folder: Path,
        baseline: Path | None,
        onset_s: float | None,
        sink: TraceSink,
        progress: LoadProgress,
    ) -> Diagnosis:
        from diagnosis_harness.bootstrap.diagnosis import build_diagnosis
        from diagnosis_harness.settings import load_settings

        return build_diagnosis(
            folder=folder,
            baseline=baseline,
            onset_s=onset_s,
            sink=sink,
            progress=progress,
            settings=load_settings(self.settings_file),
        )


def main() -> None:
    """Run the command line of this process."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    code = run(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done and said; what is left are moments
    # A thread that is still inside a library's own code cannot be unwound: it would abort the process. And
    # an interrupt that went through `exec` makes the interpreter end by the signal, whatever the code.
    if code == CANCELLED or threading.active_count() > 1:
        leave(code)
    sys.exit(code)


def run(arguments: list[str], *, open_diagnosis: OpenDiagnosis | None = None) -> int:
    """Run one command line and give its exit code. Whatever goes wrong is one sentence on standard error."""
    _prepare_streams()
    app = build_app(open_diagnosis or FolderOpener())
    try:
        with stopped_by_interrupt():
            code = app(arguments or ["--help"], prog_name="diagnose", standalone_mode=False)
            sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        return _stopped(arguments)
    except BrokenPipeError:
        from diagnosis_harness.cli.output import drop_stdout

        drop_stdout()
        return 1
    except (TyperException, InvalidInput) as error:
        return _complain(error, arguments)
    except Exception as error:
        if "--debug" in arguments:
            raise
        if isinstance(error, OSError) and error.filename is None and error.errno in _UNWRITABLE:
            return _unwritten(error, arguments)
        return _apologise(error, arguments)
    return code if isinstance(code, int) else 0


def _prepare_streams() -> None:
    """Standard output and error that can be written to: nowhere, where the caller has closed them."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - open to the end
        elif isinstance(stream, TextIOWrapper):  # what a terminal cannot show is no reason to fail
            stream.reconfigure(errors="replace")


def build_app(open_diagnosis: OpenDiagnosis) -> typer.Typer:
    """The commands, over whatever reads an incident folder."""
    app = typer.Typer(
        name="diagnose",
        help="Diagnose incidents from evidence; release only what the evidence bears out.",
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
                "--settings", metavar="FILE", help="A settings file; what it leaves out is as shipped."
            ),
        ] = None,
        debug: Annotated[
            bool, typer.Option("--debug", help="Show where an unexpected error comes from.")
        ] = False,
    ) -> None:
        if settings is not None and isinstance(open_diagnosis, FolderOpener):
            open_diagnosis.settings_file = settings
        del version, debug  # the one has been shown by now; `run` reads the other, also where parsing fails

    def settings_file() -> Path | None:
        return open_diagnosis.settings_file if isinstance(open_diagnosis, FolderOpener) else None

    _add_ask(app, open_diagnosis, settings_file)
    _add_demo(app, open_diagnosis)
    verify.register(app, open_diagnosis)
    why.register(app)
    trace.register(app)
    bench.register(app, open_diagnosis)
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


def _add_ask(app: typer.Typer, open_diagnosis: OpenDiagnosis, settings_file: runs.SettingsFile) -> None:
    @app.command()
    def ask(  # noqa: PLR0913 - the options of a command
        question: Annotated[
            str, typer.Argument(metavar="QUESTION", help="What you want to know, in English or Chinese.")
        ],
        *,
        folder: FolderOption = None,
        baseline: BaselineOption = None,
        onset: OnsetOption = None,
        deadline: DeadlineOption = None,
        as_json: JsonOption = False,
        lang: LangOption = None,
        no_color: NoColorOption = False,
        save: SaveOption = None,
        server: runs.ServerOption = None,
        key: runs.KeyOption = None,
        source: SourceOption = None,
        session: SessionOption = None,
        background: BackgroundOption = False,
    ) -> int:
        """Ask why something broke: of the telemetry in a folder, or of a service.

        The report goes to standard output, progress to standard error. Ctrl+C cancels and keeps the evidence.
        """
        from diagnosis_harness.cli.answer import (
            Asking,
            checked_deadline,
            checked_question,
            chosen_language,
            parsed_onset,
        )
        from diagnosis_harness.cli.ask import Apart, checked_apart, run_ask

        asking = Asking(
            question=checked_question(question),
            folder=folder,
            baseline=baseline,
            onset_s=parsed_onset(onset),
            deadline_s=checked_deadline(deadline),
            language=chosen_language(lang, question),
        )
        output = _output(as_json=as_json, no_color=no_color, save=save)
        apart = checked_apart(asking, Apart(server, key, source, session, background))
        if asking.folder is not None:
            return run_ask(asking, output, open_diagnosis)
        from diagnosis_harness.cli.ask_server import ask_server

        return ask_server(asking, apart, output, settings_file())


def _add_demo(app: typer.Typer, open_diagnosis: OpenDiagnosis) -> None:
    @app.command()
    def demo(  # noqa: PLR0913 - the options of a command
        *,
        fault: Annotated[
            str, typer.Option("--fault", metavar="KIND", help=f"What to break: {', '.join(FAULTS)}.")
        ] = "cpu",
        seed: Annotated[
            int, typer.Option("--seed", metavar="N", help="Another number, another system and incident.")
        ] = 1,
        keep: Annotated[
            Path | None,
            typer.Option("--keep", metavar="FOLDER", help="Keep the incident folder below this one."),
        ] = None,
        deadline: DeadlineOption = None,
        as_json: JsonOption = False,
        lang: LangOption = None,
        no_color: NoColorOption = False,
        save: SaveOption = None,
    ) -> int:
        """Break a simulated system and watch it being diagnosed.

        The run sees only the folder. What had been injected, and whether it was found, is said after its end.
        Exit code 0 when that was right, a cause named first or rightly none; else that of the run.
        """
        from diagnosis_harness.cli.answer import checked_deadline
        from diagnosis_harness.cli.demo import Demo, run_demo

        wanted = Demo(
            fault=fault,
            seed=seed,
            keep=keep,
            language=lang or Language.EN,
            deadline_s=checked_deadline(deadline),
        )
        return run_demo(wanted, _output(as_json=as_json, no_color=no_color, save=save), open_diagnosis)


def _output(*, as_json: bool, no_color: bool, save: Path | None) -> Output:
    from diagnosis_harness.cli.answer import checked_save
    from diagnosis_harness.cli.output import Output

    return Output(as_json=as_json, color=not no_color, save=checked_save(save))


def _complain(error: TyperException | InvalidInput, arguments: list[str]) -> int:
    """What a person can put right: one sentence."""
    from diagnosis_harness.cli.answer import complaint
    from diagnosis_harness.cli.exit_codes import BAD_INPUT
    from diagnosis_harness.cli.phrases import language_of_command_line, phrases_of

    phrases = phrases_of(language_of_command_line(arguments))
    if isinstance(error, InvalidInput):
        sentence = complaint(error, phrases)
    else:
        sentence = phrases.usage_error(error.format_message())
    _say(sentence)
    return BAD_INPUT


def _stopped(arguments: list[str]) -> int:
    """Ctrl+C where there was no run to cancel."""
    from diagnosis_harness.cli.phrases import language_of_command_line, phrases_of

    _say(phrases_of(language_of_command_line(arguments)).stopped)
    return CANCELLED


def _unwritten(error: OSError, arguments: list[str]) -> int:
    """A full disk, most of all: no bug of ours, and nothing to report."""
    from diagnosis_harness.cli.exit_codes import UNEXPECTED
    from diagnosis_harness.cli.output import drop_stdout
    from diagnosis_harness.cli.phrases import language_of_command_line, phrases_of

    drop_stdout()
    phrases = phrases_of(language_of_command_line(arguments))
    _say(phrases.unwritten.format(problem=error.strerror))
    return UNEXPECTED


def _apologise(error: Exception, arguments: list[str]) -> int:
    """What a person cannot put right: one sentence, and how to see more."""
    from diagnosis_harness.cli.exit_codes import UNEXPECTED
    from diagnosis_harness.cli.phrases import language_of_command_line, phrases_of
    from diagnosis_harness.report.timestamps import shown

    phrases = phrases_of(language_of_command_line(arguments))
    message = shown(" ".join(str(error).split()))[:300]
    _say(phrases.unexpected.format(kind=type(error).__name__, message=message))
    _say(phrases.debug_hint)
    return UNEXPECTED


def _say(sentence: str) -> None:
    """One line on standard error; where that cannot be written either, the exit code is left to speak."""
    with suppress(OSError, ValueError):
        typer.echo(sentence, err=True)
