"""`diagnose runs`: stored runs, in the local database or on a server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from diagnosis_harness.cli.options import RunsOptions, SettingsFile, add_runs_command

RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="A run id, the start of one, or `last` for the latest.")
]


def register(app: typer.Typer, settings_file: SettingsFile) -> None:
    """Add the commands of `runs`."""
    runs = typer.Typer(help="Stored runs: list, reread, audit, export, cancel, mark.")
    app.add_typer(runs, name="runs")
    for name, handler in _HANDLERS.items():
        add_runs_command(runs, settings_file, handler, name=name)


def _list(  # noqa: PLR0913 - the options of a command
    options: RunsOptions,
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
        str | None, typer.Option("--session", metavar="ID", help="Only runs of this session.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="The most runs to list.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON Lines, one run each.")] = False,
) -> int:
    """List runs, the latest first. In a pipe every run is one line."""
    from diagnosis_harness.cli.runs_view import Filters, list_runs

    filters = Filters(status=status, outcome=outcome, intent=intent, session=session, limit=limit)
    return list_runs(options, filters, as_json=as_json)


def _show(
    options: RunsOptions,
    run: RunArgument,
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help=("Print everything known about the run as JSON."))
    ] = False,
) -> int:
    """Show a run's status and report; of a run in progress, what happened so far."""
    from diagnosis_harness.cli.runs_view import show_run

    return show_run(options, run, as_json=as_json)


def _trace(
    options: RunsOptions,
    run: RunArgument,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the events as JSON Lines.")] = False,
) -> int:
    """Show what happened in a run, event by event, and how each phase ended."""
    from diagnosis_harness.cli.runs_view import trace_run

    return trace_run(options, run, as_json=as_json)


def _why(
    options: RunsOptions,
    run: RunArgument,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answers as JSON.")] = False,
) -> int:
    """Explain why a run went as it did: seven questions, answered in words."""
    from diagnosis_harness.cli.runs_view import explain_run

    return explain_run(options, run, as_json=as_json)


def _verify(
    options: RunsOptions,
    run: RunArgument,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print every check and flaw as JSON.")] = False,
) -> int:
    """Check a stored run again. Exit code 0 when everything holds, 1 when something does not."""
    from diagnosis_harness.cli.runs_manage import verify_run

    return verify_run(options, run, as_json=as_json)


def _export(
    options: RunsOptions,
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
        Path | None, typer.Option("--out", metavar="FILE", help="The file; standard output by default.")
    ] = None,
) -> int:
    """Write a run to a file: for `diagnose verify`, for other programs, or for OpenTelemetry."""
    from diagnosis_harness.cli.runs_manage import export_run

    return export_run(options, run, form=form, out=out)


def _cancel(
    options: RunsOptions,
    run: RunArgument,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    """Cancel a run, and report what was stopped and what was still in flight."""
    from diagnosis_harness.cli.runs_manage import cancel_run

    return cancel_run(options, run, as_json=as_json)


def _mark(
    options: RunsOptions,
    run: RunArgument,
    verdict: Annotated[
        str, typer.Argument(metavar="VERDICT", help="right or wrong: whether the answer was.")
    ],
    *,
    cause: Annotated[
        str | None,
        typer.Option("--cause", metavar="NAME", help="What the cause was, as the telemetry calls it."),
    ] = None,
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Anything else worth keeping.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print what is stored as JSON.")] = False,
) -> int:
    """Say whether the answer of a run was right; a later verdict of yours replaces it.

    A fallback is right if no conclusion was warranted. Without a server and without a database, this is
    about the runs of `diagnose ask` that are kept on this machine.
    """
    from diagnosis_harness.cli.runs_mark import mark_run

    return mark_run(options, run, verdict, cause=cause, note=note, as_json=as_json)


_HANDLERS: dict[str, Callable[..., int]] = {
    "list": _list,
    "show": _show,
    "trace": _trace,
    "why": _why,
    "verify": _verify,
    "export": _export,
    "cancel": _cancel,
    "mark": _mark,
}
