"""The options that several commands share, each declared once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from diagnosis_harness.kernel.language import Language

SettingsFile: TypeAlias = Callable[[], Path | None]
"""The settings file of `diagnose --settings`, known once the command line is parsed."""

QuestionArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="QUESTION",
        help="What you want to know, in English or Chinese, with or without quotes; - reads it from standard "
        "input.",
    ),
]
BaselineOption = Annotated[
    Path | None,
    typer.Option(
        "--baseline", metavar="FOLDER", help="A folder in the same format, recorded in normal operation."
    ),
]
SourceFolderOption = Annotated[
    Path | None,
    typer.Option(
        "--from", metavar="FOLDER", help=("An incident folder to offer in addition to the configured ones.")
    ),
]
RunReferenceArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="`last`, the id of a run that is kept on this machine, the start of one, or a file that --save "
        "or --json wrote.",
    ),
]
RunLangOption = Annotated[
    Language | None, typer.Option("--lang", help=("Language; the run's language by default."))
]
OutputLangOption = Annotated[Language, typer.Option("--lang", help="Language of what the command prints.")]
NoColorOption = Annotated[bool, typer.Option("--no-color", help="No colours, also on a terminal.")]
ServerOption = Annotated[
    str | None,
    typer.Option(
        "--server", metavar="URL", help="Ask a server; by default the configured one, or the local database."
    ),
]
KeyOption = Annotated[
    str | None,
    typer.Option("--key", metavar="KEY", help="API key for the server; better in DIAGNOSE_API_KEY."),
]
DeadlineOption = Annotated[
    float | None,
    typer.Option(
        "--deadline",
        metavar="SECONDS",
        help="Time from the question to the answer, as configured by default; reading the folder comes first "
        "and does not count.",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print the run document (docs/reference/run-document.schema.json).")
]
LangOption = Annotated[
    Language | None,
    typer.Option("--lang", help=("Language of the report; the question's language by default.")),
]
SaveOption = Annotated[
    Path | None, typer.Option("--save", metavar="FILE", help="Also write the run document to a file.")
]
FolderOption = Annotated[
    Path | None,
    typer.Option("--from", metavar="FOLDER", help="The incident folder (docs/reference/incident-folder.md)."),
]
OnsetOption = Annotated[
    str | None,
    typer.Option(
        "--onset",
        metavar="TIME",
        help=(
            "When the incident began: ISO 8601, epoch seconds, or as in a question (14:05, 2:05 pm); "
            "in the folder's zone unless it has one."
        ),
    ),
]
ZoneOption = Annotated[
    str | None,
    typer.Option(
        "--zone",
        metavar="ZONE",
        help=(
            "Time zone of times in the question and in --onset that do not name one, such as Europe/Berlin "
            "or +02:00; by default the folder's zone for the question, else UTC."
        ),
    ),
]
SourceOption = Annotated[
    str | None,
    typer.Option("--source", metavar="NAME", help="With a server: which of its sources to diagnose."),
]
SessionOption = Annotated[
    str | None,
    typer.Option(
        "--session",
        metavar="ID",
        help="The session to continue: of a server, or of runs kept on this machine, where `last` is the "
        "latest and --from may be left out.",
    ),
]
NoKeepOption = Annotated[
    bool, typer.Option("--no-keep", help="Do not keep this run on this machine (see `diagnose show`).")
]
InteractiveOption = Annotated[
    bool,
    typer.Option("--interactive", "-i", help="On a terminal, ask for a further question after each answer."),
]
BackgroundOption = Annotated[
    bool, typer.Option("--background", help="With a server: do not wait; print the run's id.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsOptions:
    """Where the runs of a command are, and how it prints them.

    Attributes:
        server: URL of a server; None is the configured one, empty is the local database.
        key: API key for the server; None is the configured one.
        lang: None prints in the run's own language, and errors in English.
    """

    settings_file: Path | None = None
    server: str | None = None
    key: str | None = None
    lang: Language | None = None
    color: bool = True

    @property
    def language(self) -> Language:
        """The language of messages that concern no run."""
        return self.lang or Language.EN


_RUNS_OPTIONS = {
    "server": (ServerOption, None),
    "key": (KeyOption, None),
    "lang": (RunLangOption, None),
    "no_color": (NoColorOption, False),
}


def add_runs_command(
    group: typer.Typer, settings_file: SettingsFile, handler: Callable[..., int], *, name: str
) -> None:
    """Register `handler(options, …)` as a command with its own options and those of `RunsOptions`."""

    @wraps(handler)
    def command(
        *, server: str | None, key: str | None, lang: Language | None, no_color: bool, **own: object
    ) -> int:
        options = RunsOptions(
            settings_file=settings_file(), server=server, key=key, lang=lang, color=not no_color
        )
        return handler(options, **own)

    parameters = [
        *list(signature(handler, eval_str=True).parameters.values())[1:],
        *(
            Parameter(option, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
            for option, (annotation, default) in _RUNS_OPTIONS.items()
        ),
    ]
    # typer reads the options of a command from its signature and annotations
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # any function has the attribute
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    group.command(name)(command)
