"""`diagnose knowledge`: index a folder of runbooks, and ask it without the service."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.names import named

if TYPE_CHECKING:
    from diagnosis_harness.bootstrap.knowledge import LibraryDesk

NOTES_SHOWN = 20

FolderOption = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        metavar="FOLDER",
        help="Markdown, text and HTML files; the configured folder when left out.",
    ),
]
LangOption = Annotated[Language | None, typer.Option("--lang", help="Language of what is printed.")]


def register(app: typer.Typer, settings_file: Callable[[], Path | None]) -> None:
    """Add the commands `knowledge index` and `knowledge search`."""
    knowledge = typer.Typer(help="Runbooks and postmortems: index them, and search them.")
    app.add_typer(knowledge, name="knowledge")

    @knowledge.command()
    def index(folder: FolderOption = None, *, lang: LangOption = None) -> int:
        """Bring the index up to the folder: only files that are new or changed are read.

        Says what is not used and why. The service does the same when it starts.
        """
        from diagnosis_harness.bootstrap.knowledge import checked_files

        language = lang or Language.EN
        with _opened(settings_file(), folder, language) as desk:
            _print_changes(desk, language)
            checked_files(desk.folder, desk.holdings)
        return 0

    @knowledge.command()
    def search(
        question: Annotated[str, typer.Argument(metavar="QUESTION", help="In English or Chinese.")],
        *,
        folder: FolderOption = None,
        lang: LangOption = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
    ) -> int:
        """Ask the runbooks, and print what they say, word for word, with the place of each quotation.

        That nothing answers is an answer as well: exit code 0.
        """
        from diagnosis_harness.bootstrap.knowledge import checked_files
        from diagnosis_harness.cli.answer import checked_question, chosen_language

        asked = checked_question(question)
        language = chosen_language(lang, asked)
        with _opened(settings_file(), folder, language) as desk:
            checked_files(desk.folder, desk.holdings)
            return _asked(desk, asked, language, as_json=as_json)


def _opened(settings_file: Path | None, folder: Path | None, language: Language) -> LibraryDesk:
    """The folder with its index; a bar on a terminal when reading takes longer than two seconds."""
    from diagnosis_harness.bootstrap.knowledge import LibraryDesk
    from diagnosis_harness.cli.live import LiveView
    from diagnosis_harness.cli.output import make_console
    from diagnosis_harness.cli.phrases import phrases_of
    from diagnosis_harness.kernel.clock import SystemClock
    from diagnosis_harness.settings import load_settings

    settings = load_settings(settings_file)
    console = make_console(color=True, stderr=True)
    with LiveView(console, clock=SystemClock(), phrases=phrases_of(language)) as view:
        return LibraryDesk(settings, folder=folder, progress=view.loading)


def _print_changes(desk: LibraryDesk, language: Language) -> None:
    import sys

    from diagnosis_harness.cli.knowledge_words import knowledge_words
    from diagnosis_harness.cli.output import tell
    from diagnosis_harness.kernel.errors import InvalidInput
    from diagnosis_harness.report.timestamps import shown

    words = knowledge_words(language)
    changes = desk.changes
    if changes is None:
        raise InvalidInput(
            "--folder", "no folder of runbooks is configured", "name one here or in the table [knowledge]"
        )
    for note in changes.notes[:NOTES_SHOWN]:
        tell(words.note.format(file=named(note.file), note=shown(note.note)), sys.stdout)
    if len(changes.notes) > NOTES_SHOWN:
        tell(words.more_notes.format(count=len(changes.notes) - NOTES_SHOWN), sys.stdout)
    held = desk.holdings
    tell(
        words.indexed.format(
            documents=held.documents, passages=held.passages, read=changes.read, removed=changes.removed
        ),
        sys.stdout,
    )


def _asked(desk: LibraryDesk, question: str, language: Language, *, as_json: bool) -> int:
    import asyncio
    import sys

    from diagnosis_harness.cli.exit_codes import UNEXPECTED
    from diagnosis_harness.cli.knowledge_words import knowledge_words
    from diagnosis_harness.cli.output import tell, tell_json
    from diagnosis_harness.kernel.errors import RunAborted, TechnicalFailure
    from diagnosis_harness.report.timestamps import shown

    try:
        body = asyncio.run(desk.ask(question, language)).body
    except (RunAborted, TechnicalFailure) as failure:
        tell(knowledge_words(language).failed.format(problem=shown(str(failure))), sys.stderr)
        return UNEXPECTED
    if as_json:
        tell_json(body, indent=2)
    elif isinstance(body, dict):
        tell(str(body["text"]), sys.stdout)
    return 0
