"""`diagnose knowledge`: index a folder of runbooks, and ask it without the service."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diagnosis_harness.cli.options import OutputLangOption, SettingsFile
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.names import display_name

if TYPE_CHECKING:  # slow imports, made only when needed
    from diagnosis_harness.cli.knowledge_search import KnowledgeSearch

NOTES_SHOWN = 20

RunbookFolderOption = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        metavar="FOLDER",
        help="Markdown, text and HTML files; the configured folder by default.",
    ),
]
SearchLangOption = Annotated[
    Language | None,
    typer.Option("--lang", help=("Language of the answer; the question's language by default.")),
]


def register(app: typer.Typer, settings_file: SettingsFile) -> None:
    """Add the commands `knowledge index` and `knowledge search`."""
    knowledge = typer.Typer(help="Runbooks and postmortems: index and search them.")
    app.add_typer(knowledge, name="knowledge")

    @knowledge.command()
    def index(folder: RunbookFolderOption = None, *, lang: OutputLangOption = Language.EN) -> int:
        """Update the index of the folder: only new and changed files are read.

        Prints which files are not used, and why. The service does the same when it starts.
        """
        with _open(settings_file(), folder, lang) as library:
            _print_changes(library, lang)
            library.check_files()
        return 0

    @knowledge.command()
    def search(
        question: Annotated[
            str, typer.Argument(metavar="QUESTION", help=("What to look for, in English or Chinese."))
        ],
        *,
        folder: RunbookFolderOption = None,
        lang: SearchLangOption = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
    ) -> int:
        """Search the runbooks, and print the passages that answer verbatim, with file and line.

        The exit code is also 0 if no passage answers.
        """
        from diagnosis_harness.cli.arguments import check_question_argument, choose_language

        question = check_question_argument(question)
        language = choose_language(lang, question)
        with _open(settings_file(), folder, language) as library:
            library.check_files()
            return _search(library, question, language, as_json=as_json)


def _open(settings_file: Path | None, folder: Path | None, language: Language) -> KnowledgeSearch:
    """The folder with its index; on a terminal, a progress bar appears if reading takes long."""
    from diagnosis_harness.cli.knowledge_search import KnowledgeSearch
    from diagnosis_harness.cli.live import LiveView
    from diagnosis_harness.cli.output import make_console
    from diagnosis_harness.kernel.clock import SystemClock
    from diagnosis_harness.settings import load_settings

    settings = load_settings(settings_file)
    console = make_console(color=True, stderr=True)
    with LiveView(console, clock=SystemClock(), language=language) as view:
        return KnowledgeSearch(settings, folder=folder, progress=view.show_loading)


def _print_changes(library: KnowledgeSearch, language: Language) -> None:
    import sys

    from diagnosis_harness.cli.output import write_line
    from diagnosis_harness.cli.words import knowledge as words
    from diagnosis_harness.kernel.errors import InvalidInput
    from diagnosis_harness.report.timestamps import escape_line

    changes = library.changes
    if changes is None:
        raise InvalidInput(
            "--folder", "no folder of runbooks is configured", "name one here or in the table [knowledge]"
        )
    for note in changes.notes[:NOTES_SHOWN]:
        write_line(
            words.NOTE.render(language, file=display_name(note.file), note=escape_line(note.note)), sys.stdout
        )
    if len(changes.notes) > NOTES_SHOWN:
        write_line(words.MORE_NOTES.render(language, count=len(changes.notes) - NOTES_SHOWN), sys.stdout)
    holdings = library.holdings
    write_line(
        words.INDEXED.render(
            language,
            documents=holdings.documents,
            passages=holdings.passages,
            read=changes.read,
            removed=changes.removed,
        ),
        sys.stdout,
    )


def _search(library: KnowledgeSearch, question: str, language: Language, *, as_json: bool) -> int:
    import asyncio
    import sys

    from diagnosis_harness.cli.exit_codes import UNEXPECTED
    from diagnosis_harness.cli.output import print_json, write_line
    from diagnosis_harness.cli.words import knowledge as words
    from diagnosis_harness.kernel.errors import RunAborted, TechnicalFailure
    from diagnosis_harness.report.timestamps import escape_line

    try:
        body = asyncio.run(library.ask(question, language)).body
    except (RunAborted, TechnicalFailure) as failure:
        write_line(words.FAILED.render(language, problem=escape_line(str(failure))), sys.stderr)
        return UNEXPECTED
    if as_json:
        print_json(body, indent=2)
    elif isinstance(body, dict):
        write_line(str(body["text"]), sys.stdout)
    return 0
