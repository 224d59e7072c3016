"""`diagnose runs`: the runs that are kept, in this machine's database or on a server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diagnosis_harness.kernel.language import Language

if TYPE_CHECKING:
    from diagnosis_harness.cli.at_desk import Where

SettingsFile = Callable[[], Path | None]

RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="An id, how one begins, or `last` for the latest.")
]
ServerOption = Annotated[
    str | None,
    typer.Option(
        "--server", metavar="URL", help="Ask a server; the configured one, or this machine's database."
    ),
]
KeyOption = Annotated[
    str | None,
    typer.Option("--key", metavar="KEY", help="API key for the server; better in DIAGNOSE_API_KEY."),
]
LangOption = Annotated[
    Language | None, typer.Option("--lang", help="Language; that of the run when left out.")
]
NoColorOption = Annotated[bool, typer.Option("--no-color", help="No colours, also on a terminal.")]


def register(app: typer.Typer, settings_file: SettingsFile) -> None:
    """Add the commands of `runs`."""
    runs = typer.Typer(help="Runs that are kept: list, reread, audit, export, cancel.")
    app.add_typer(runs, name="runs")
    _add_list(runs, settings_file)
    _add_show(runs, settings_file)
    _add_trace(runs, settings_file)
    _add_why(runs, settings_file)
    _add_verify(runs, settings_file)
    _add_export(runs, settings_file)
    _add_cancel(runs, settings_file)


def _add_list(runs: typer.Typer, settings_file: SettingsFile) -> None:
    @runs.command("list")
    def list_(  # noqa: PLR0913 - the options of a command
        *,
        status: Annotated[
            str | None,
            typer.Option("--status", metavar="STATUS", help="QUEUED, RUNNING, SUCCESS, FAILED or CANCELLED."),
        ] = None,
        outcome: Annotated[
            str | None,
            typer.Option("--outcome", metavar="OUTCOME", help="SUCCESS, FALLBACK, FAILED or CANCELLED."),
        ] = None,
        intent: Annotated[
            str | None,
            typer.Option("--intent", metavar="INTENT", help="DIAGNOSIS, KNOWLEDGE_QUERY or SYSTEM_CHAT."),
        ] = None,
        session: Annotated[
            str | None, typer.Option("--session", metavar="ID", help="Runs of this session.")
        ] = None,
        limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="So many at most.")] = 20,
        as_json: Annotated[bool, typer.Option("--json", help="Print JSON Lines, one run each.")] = False,
        server: ServerOption = None,
        key: KeyOption = None,
        lang: LangOption = None,
        no_color: NoColorOption = False,
    ) -> int:
        """List runs, the latest first. In a pipe every run is one line."""
        from diagnosis_harness.cli.runs_looking import Filters, list_runs

        where = _where(settings_file, server, key, lang)
        filters = Filters(status=status, outcome=outcome, intent=intent, session=session, limit=limit)
        return list_runs(where, filters, as_json=as_json, color=not no_color)


def _add_show(runs: typer.Typer, settings_file: SettingsFile) -> None:
    @runs.command()
    def show(
        run: RunArgument,
        *,
        as_json: Annotated[bool, typer.Option("--json", help="Print what is known of it as JSON.")] = False,
        server: ServerOption = None,
        key: KeyOption = None,
        lang: LangOption = None,
        no_color: NoColorOption = False,
    ) -> int:
        """Show how a run stands, and its report; of one that goes on, what happened so far."""
        from diagnosis_harness.cli.runs_looking import show_run

        where = _where(settings_file, server, key, lang)
        return show_run(where, run, lang=lang, as_json=as_json, color=not no_color)


def _add_trace(runs: typer.Typer, settings_file: SettingsFile) -> None:
    @runs.command()
    def trace(
        run: RunArgument,
        *,
        as_json: Annotated[bool, typer.Option("--json", help="Print the events as JSON Lines.")] = False,
        server: ServerOption = None,
        key: KeyOption = None,
        lang: LangOption = None,
        no_color: NoColorOption = False,
    ) -> int:
        """Show what happened in a run, event by event, and what each phase came to."""
        from diagnosis_harness.cli.runs_looking import trace_run

        where = _where(settings_file, server, key, lang)
        return trace_run(where, run, lang=lang, as_json=as_json, color=not no_color)


def _add_why(runs: typer.Typer, settings_file: SettingsFile) -> None:
    @runs.command()
    def why(
        run: RunArgument,
        *,
        as_json: Annotated[bool, typer.Option("--json", help="Print the answers as JSON.")] = False,
        server: ServerOption = None,
        key: KeyOption = None,
        lang: LangOption = None,
        no_color: NoColorOption = False,
    ) -> int:
        """Say why a run went as it did: seven questions, answered in words."""
        from diagnosis_harness.cli.runs_looking import why_run

        where = _where(settings_file, server, key, lang)
        return why_run(where, run, lang=lang, as_json=as_json, color=not no_color)


def _add_verify(runs: typer.Typer, settings_file: SettingsFile) -> None:
    @runs.command()
    def verify(
        run: RunArgument,
        *,
        as_json: Annotated[bool, typer.Option("--json", help="Print every check and flaw as JSON.")] = False,
        server: ServerOption = None,
        key: KeyOption = None,
        lang: LangOption = None,
        no_color: NoColorOption = False,
    ) -> int:
        """Check what is kept of a run again. Exit code 0 when everything holds, 1 when something does not."""
        from diagnosis_harness.cli.runs_acting import verify_run

        where = _where(settings_file, server, key, lang)
        return verify_run(where, run, lang=lang, as_json=as_json, color=not no_color)


def _add_export(runs: typer.Typer, settings_file: SettingsFile) -> None:
    @runs.command()
    def export(
        run: RunArgument,
        *,
        form: Annotated[
            str,
            typer.Option(
                "--format",
                metavar="FORM",
                help="document (the run document), jsonl (its trace), otlp (its spans, OTLP/JSON).",
            ),
        ] = "document",
        out: Annotated[
            Path | None,
            typer.Option("--out", metavar="FILE", help="The file; standard output when left out."),
        ] = None,
        server: ServerOption = None,
        key: KeyOption = None,
        lang: LangOption = None,
    ) -> int:
        """Write a run to a file: for `diagnose verify`, for other programs, or for OpenTelemetry."""
        from diagnosis_harness.cli.runs_acting import export_run

        return export_run(_where(settings_file, server, key, lang), run, form=form, out=out)


def _add_cancel(runs: typer.Typer, settings_file: SettingsFile) -> None:
    @runs.command()
    def cancel(
        run: RunArgument,
        *,
        as_json: Annotated[bool, typer.Option("--json", help="Print what it came to as JSON.")] = False,
        server: ServerOption = None,
        key: KeyOption = None,
        lang: LangOption = None,
    ) -> int:
        """Cancel a run, and say what was stopped and what was still in flight."""
        from diagnosis_harness.cli.runs_acting import cancel_run

        return cancel_run(_where(settings_file, server, key, lang), run, lang=lang, as_json=as_json)


def _where(settings_file: SettingsFile, server: str | None, key: str | None, lang: Language | None) -> Where:
    from diagnosis_harness.cli.at_desk import Where

    return Where(settings_file(), server, key, lang or Language.EN)
