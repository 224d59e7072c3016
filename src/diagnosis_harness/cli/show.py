"""`diagnose show`: the report of a run kept on this machine, or of one in a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from diagnosis_harness.cli.options import NoColorOption, RunLangOption, RunReferenceArgument, SettingsFile
from diagnosis_harness.kernel.language import Language

LISTED_MAX = 20


def register(app: typer.Typer, settings_file: SettingsFile) -> None:
    """Add the command `show`."""

    @app.command()
    def show(
        run: RunReferenceArgument = "last",
        *,
        listed: Annotated[
            bool, typer.Option("--list", help=f"List the {LISTED_MAX} latest kept runs instead.")
        ] = False,
        delete: Annotated[
            str | None,
            typer.Option(
                metavar="RUN",
                help="Delete a kept run instead: `last`, its id or the start of it, or `all`.",
            ),
        ] = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print the run document.")] = False,
        lang: RunLangOption = None,
        no_color: NoColorOption = False,
    ) -> None:
        """Show the report of an earlier run again: of the last one, unless another is named.

        Runs of `diagnose ask --from` are kept on this machine unless `--no-keep` or the setting
        retention.local says otherwise.
        """
        if delete is not None:
            from diagnosis_harness.cli.kept_runs import delete_kept
            from diagnosis_harness.cli.output import write_line
            from diagnosis_harness.cli.words import kept_runs as words

            language = lang or Language.EN
            count = delete_kept(delete, settings_file(), language)
            write_line(words.DELETED.render(language, count=str(count)), sys.stdout)
            return
        if listed:
            _list(settings_file(), lang or Language.EN, color=not no_color)
            return
        from diagnosis_harness.cli.output import make_console, write_json
        from diagnosis_harness.cli.render.report import report_lines
        from diagnosis_harness.cli.run_file import read_run, read_run_bytes

        if as_json:
            write_json(read_run_bytes(run, settings_file(), lang or Language.EN).data)
            return
        document, language = read_run(run, settings_file(), lang)
        console = make_console(color=not no_color)
        console.print_lines(report_lines(document, width=console.width))
        if not Path(run).is_file():
            from diagnosis_harness.cli.runs_mark import lines_of_kept_mark

            console.print_lines(lines_of_kept_mark(document.run.run_id, settings_file(), language))


def _list(settings_file: Path | None, language: Language, *, color: bool) -> None:
    from diagnosis_harness.cli.kept_runs import open_runs, store_errors
    from diagnosis_harness.cli.output import make_console
    from diagnosis_harness.cli.render.columns import column_lines
    from diagnosis_harness.cli.words import kept_runs as words
    from diagnosis_harness.kernel.window import parse_utc
    from diagnosis_harness.report.timestamps import display_time, escape_line

    runs = open_runs(settings_file, language)
    with store_errors(runs, language):
        found = runs.latest(LISTED_MAX)
    rows = [
        (
            escape_line(run.run_id),
            escape_line(run.session_id),
            display_time(int(parse_utc(run.started_at))),
            run.outcome.value,
            escape_line(" ".join(run.question.split())),
        )
        for run in found
    ]
    head = tuple(column.in_(language) for column in words.COLUMNS)
    console = make_console(color=color)
    console.print_lines(column_lines([head, *rows]) if rows else [words.NOTHING_LISTED.in_(language)])
