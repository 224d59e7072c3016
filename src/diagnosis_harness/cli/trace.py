"""`diagnose trace`: what happened in a saved run, event by event, and how each phase ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from diagnosis_harness.cli.options import NoColorOption, RunLangOption, RunReferenceArgument, SettingsFile
from diagnosis_harness.kernel.language import Language

if TYPE_CHECKING:  # slow imports, made only when needed
    from diagnosis_harness.report.trace_line import TraceLine


def register(app: typer.Typer, settings_file: SettingsFile) -> None:
    """Add the command `trace`."""

    @app.command()
    def trace(
        run: RunReferenceArgument, *, lang: RunLangOption = None, no_color: NoColorOption = False
    ) -> None:
        """Show what happened in a saved run, event by event, and how each phase ended.

        Every row has the time since the start, the phase, the event, its status and its text. A second table
        shows how long each phase took. In a pipe every event is one line.
        """
        from diagnosis_harness.cli.run_file import read_run, unreadable_document
        from diagnosis_harness.kernel.errors import RunDocumentInvalid

        document, language = read_run(run, settings_file(), lang)
        try:
            print_timeline(document.trace, language, color=not no_color)
        except RunDocumentInvalid as error:
            raise unreadable_document(run, error) from error


def print_timeline(trace: Sequence[TraceLine], language: Language, *, color: bool) -> None:
    """Print the events and phases of a run, as two tables.

    Raises:
        RunDocumentInvalid: a time of the trace cannot be read.
    """
    from diagnosis_harness.cli.output import make_console
    from diagnosis_harness.cli.render.timeline import timeline_lines
    from diagnosis_harness.report.timeline import timeline_events
    from diagnosis_harness.trace.timeline import fold

    console = make_console(color=color)
    console.print_lines(timeline_lines(fold(timeline_events(trace)), language, width=console.table_width))
