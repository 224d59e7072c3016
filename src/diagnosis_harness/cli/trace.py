"""`diagnose trace`: what happened in a saved run, line by line, and what each phase came to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from diagnosis_harness.kernel.language import Language


def register(app: typer.Typer) -> None:
    """Add the command `trace`."""

    @app.command()
    def trace(
        file: Annotated[
            Path, typer.Argument(metavar="RUN.json", help="A run document that --save or --json wrote.")
        ],
        *,
        lang: Annotated[
            Language | None, typer.Option("--lang", help="Language; the run's own when left out.")
        ] = None,
        no_color: Annotated[bool, typer.Option("--no-color", help="No colours, also on a terminal.")] = False,
    ) -> None:
        """Show what happened in a saved run, event by event, and what each phase came to.

        Every row has the time since the start, phase, event, status, and what it says. Below stands
        what each phase took. In a pipe every event is one line.
        """
        from diagnosis_harness.cli.output import make_console
        from diagnosis_harness.cli.render.timeline import timeline_lines
        from diagnosis_harness.cli.saved import damaged, read_saved
        from diagnosis_harness.kernel.errors import RunDocumentInvalid
        from diagnosis_harness.report.timeline import moments
        from diagnosis_harness.trace.timeline import fold

        document, language = read_saved(file, lang)
        try:
            timeline = fold(moments(document.trace))
        except RunDocumentInvalid as error:
            raise damaged(file, error) from error
        console = make_console(color=not no_color)
        width = console.width if console.is_terminal else None
        for line in timeline_lines(timeline, language, width=width):
            console.print(line, soft_wrap=True)
