"""Writes the reference pages that are generated from the code; `--check` only lists the stale ones."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent

from typer.main import get_command
from typer.testing import CliRunner

from diagnosis_harness.analysis import meaning, word_meaning
from diagnosis_harness.analysis.conventions import Convention, convention_rows
from diagnosis_harness.analysis.platform_event import CATALOGUE, EventRule
from diagnosis_harness.analysis.platform_history import RETRY_S
from diagnosis_harness.bootstrap.service import open_service
from diagnosis_harness.cli import exit_codes
from diagnosis_harness.cli.main import FolderOpener, build_app
from diagnosis_harness.diagnosis.claim import Predicate
from diagnosis_harness.diagnosis.predicate_rule import RULES, Part, PredicateRule, Second
from diagnosis_harness.diagnosis.question_form import QuestionForm
from diagnosis_harness.diagnosis.wire_schema import answer_schema
from diagnosis_harness.kernel import errors
from diagnosis_harness.release import form_table
from diagnosis_harness.release.form_table import FORM_TABLE, FormResult, FormRow
from diagnosis_harness.report.event_words import EVENT_WORDS
from diagnosis_harness.report.resolved import FORM_WORDS
from diagnosis_harness.report.schema import document_schema
from diagnosis_harness.server.app import make_app
from diagnosis_harness.settings import load_settings
from diagnosis_harness.simulator.hard.catalog import HARD_KINDS
from diagnosis_harness.simulator.hard.kind import Origin
from diagnosis_harness.testing.sources import InMemorySources
from diagnosis_harness.toolbox.catalog import build_tools
from diagnosis_harness.toolbox.ports import Sources
from diagnosis_harness.tools.evidence import ItemKind
from diagnosis_harness.tools.spec import Parameter, ToolSpec

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script, it finds the other files of dev
from dev.parameters import ROOMS, ParameterRow, parameter_rows

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
MADE = "<!-- Made by dev/docs.py from the code; do not edit. -->"


def command_line() -> str:
    """Every command with its help, as a terminal shows it."""
    app = build_app(FolderOpener())
    pages = map(_help, _commands(get_command(app), []))
    return f"# The command line\n\n{MADE}\n\n" + "\n".join(pages)


def _commands(command: object, words: list[str]) -> Iterator[list[str]]:
    """The command and all its subcommands, each as it is typed."""
    yield words
    for name, below in sorted(getattr(command, "commands", {}).items()):
        yield from _commands(below, [*words, name])


def _help(words: list[str]) -> str:
    """One command: a heading, and its help 100 columns wide."""
    app = build_app(FolderOpener())
    shown = CliRunner().invoke(app, [*words, "--help"], prog_name="diagnose", terminal_width=100)
    title = " ".join(["diagnose", *words])
    return f"## `{title}`\n\n```text\n{shown.output.strip()}\n```\n"


def exit_code_page() -> str:
    """The table of exit codes."""
    rows = "\n".join(f"| {code} | {meaning} |" for code, meaning in exit_codes.MEANINGS.items())
    return f"# Exit codes\n\n{MADE}\n\n| code | meaning |\n|---|---|\n{rows}\n"


def form_page() -> str:
    """What is published for each kind of question and each result."""
    parts = [f"# Forms of a question\n\n{MADE}\n\n{dedent(form_table.__doc__ or '').strip()}\n"]
    for form in QuestionForm:
        rows = "\n".join(_form_row(result, FORM_TABLE[form, result]) for result in FormResult)
        head = "| result | outcome | fallback | exit code | next turn |\n|---|---|---|---|---|"
        parts.append(f"## `{form}`: {FORM_WORDS[form].en}\n\n{head}\n{rows}\n")
    return "\n".join(parts)


def _form_row(result: FormResult, row: FormRow) -> str:
    fallback = f"`{row.fallback}`" if row.fallback else "-"
    enters = "takes it up" if row.enters_next_turn else "is not shown it"
    return f"| `{result}` | `{row.outcome}` | {fallback} | {row.exit_code} | {enters} |"


def error_page() -> str:
    """The tree of errors."""
    text = (errors.__doc__ or "").strip()
    parts = (
        f"```text\n{dedent(part)}\n```" if part.startswith("    ") else part for part in text.split("\n\n")
    )
    return f"# Errors\n\n{MADE}\n\n" + "\n\n".join(parts) + "\n"


def hard_kind_page() -> str:
    """Every hard kind of simulated incident, one line each."""
    intro = (
        "`diagnose bench hard-kinds --seeds N` simulates and scores all of them, "
        "`diagnose demo --fault KIND` shows one. Even seeds are for development. Odd ones are for the "
        "published score only: `--first-seed 1001` takes them, and `diagnose demo` never does. *Usual fault* "
        "stands for a processor that is taken away, a slow network and a slow dependency, in turn."
    )
    heads = {
        Origin.REVIEW: "Kinds that the first five do not show",
        Origin.FIELD: "Kinds from the field",
        Origin.HEALTHY: "Nothing is wrong",
    }
    parts = []
    for origin, head in heads.items():
        rows = "\n".join(
            f"| `{kind.name}` | {kind.summary} |" for kind in HARD_KINDS.values() if kind.origin is origin
        )
        parts.append(
            f"## {head}\n\n| kind | what is broken, or what the recording lacks |\n|---|---|\n{rows}\n"
        )
    return f"# Hard kinds of simulated incidents\n\n{MADE}\n\n{intro}\n\n" + "\n".join(parts)


def signal_page() -> str:
    """How signal names are judged: kinds, rules and the table of conventions."""
    kinds = (meaning.__doc__ or "").split("\n\n")[1]
    rules = (word_meaning.__doc__ or "").split("\n\n", maxsplit=1)[1].strip()
    rows = "".join(f"{_convention(row)}\n" for row in convention_rows())
    return _SIGNALS.format(made=MADE, kinds=kinds, rules=rules, rows=rows)


_SIGNALS = """# What names of signals mean

{made}

A signal is judged by what `[signals]` in `incident.toml` says of it (see
[the incident folder](incident-folder.md)), else by the table of conventions below, else by the words of its
name. The meaning decides which way of moving is harm, and which kind of fault it speaks for. A signal that
moves and does no harm is shown, and blamed for nothing; so is a signal of the machine beneath (side `host`),
which its tenants share. How often names without a row of their own are judged rightly stands in
[Benchmarks](../benchmarks.md).

## Kinds

{kinds}

## Words

Where the table does not know a name, the first rule that fits its words decides:

{rules}

## The table of conventions

Names are found in any style of writing, with what tools append to them (`_bucket`, `_count`, `_p99`,
`_average`, `_per_second`, unit, `_total`) and with up to two words of a namespace before them. The count of a
histogram is traffic. A row with a label holds for series with that label; the row without one for all others.

| source | name | label | form | kind | side | unit | harmful |
|---|---|---|---|---|---|---|---|
{rows}"""
_HARMFUL = {1: "up", -1: "down", 0: "neither"}


def _convention(row: Convention) -> str:
    said = row.meaning
    form = said.form.value if said.form is not None else ""
    label = f"`{row.label.replace('|', ' or ')}`" if row.label else ""
    return (
        f"| {row.source} | `{row.name}` | {label} | {form} | {said.kind.value} | {said.side.value} "
        f"| {said.unit or ''} | {_HARMFUL[said.harmful]} |"
    )


PARAMETERS_TEXT = """\
Every named number that can change an answer, with the reason that stands beside it in the code.
`A, B` are set together. No hand writes the page: a number without a reason is refused when it is made."""


def parameter_page() -> str:
    """The numbers of the rooms that decide an answer."""
    parts = [f"# Parameters of the analysis\n\n{MADE}\n\n{PARAMETERS_TEXT}\n"]
    for room, what in ROOMS.items():
        rows = "".join(map(_parameter, parameter_rows(room)))
        head = "| file | name | value | reason |\n|---|---|---|---|"
        parts.append(f"## `{room}`: {what[0].lower()}{what[1:]}\n\n{head}\n{rows}")
    return "\n".join(parts)


def _parameter(row: ParameterRow) -> str:
    reason = row.reason.replace("|", "\\|")
    return f"| `{row.file}` | `{row.name}` | {row.value} | {reason} |\n"


def tool_page() -> str:
    """Every tool with its parameters and bounds."""
    tools = build_tools(Sources(summary=InMemorySources()))
    intro = "Read-only tools, in the order in which an investigation usually asks them."
    return f"# Tools\n\n{MADE}\n\n{intro}\n\n" + "\n".join(_tool(tool.spec) for tool in tools)


def _tool(spec: ToolSpec) -> str:
    scopes = ", ".join(f"`{name}`" for name in spec.scope_names)
    bounds = f"{spec.bounds.items} items, {spec.bounds.size_bytes:,} bytes"
    text = f"## `{spec.name}`\n\n{spec.description}\n\n"
    text += f"Needs {scopes}. At most {spec.limit_s:g} s a call; keeps at most {bounds}.\n"
    if spec.parameters:
        text += "\n| argument | kind | required | |\n|---|---|---|---|\n"
        text += "".join(f"{_argument(parameter)}\n" for parameter in spec.parameters)
    return text


def _argument(parameter: Parameter) -> str:
    says = parameter.description
    if parameter.choices:
        says += f" One of {', '.join(parameter.choices)}."
    bounds = [
        f"{word} {bound:g}"
        for word, bound in (("from", parameter.least), ("to", parameter.most))
        if bound is not None
    ]
    if bounds:
        says += f" ({' '.join(bounds)})"
    return (
        f"| `{parameter.name}` | {parameter.kind.value} | {'yes' if parameter.required else 'no'} | {says} |"
    )


def predicate_page() -> str:
    """Which kind of evidence item supports which predicate of a claim."""
    intro = (
        "A claim stands only where one cited item supports it in all its parts. The table says which kinds of"
        " items can support which predicate; a kind without one can be cited, but not stated. For facts of"
        " your own tools there are `STATE` and `COUNT` (see `EvidenceItem`): claims about them are checked"
        " like all others."
    )
    rows = "".join(
        f"| `{kind.value}` | {_list_names(p.value for p, rule in RULES.items() if kind in rule.kinds)} |\n"
        for kind in ItemKind
    )
    table = "".join(f"{_predicate(predicate, rule)}\n" for predicate, rule in RULES.items())
    return (
        f"# Items and predicates\n\n{MADE}\n\n{intro}\n\n| item kind | supports |\n|---|---|\n{rows}\n"
        "| predicate | supported by | the claim takes over | `affected` is | an agent's own words |\n"
        f"|---|---|---|---|---|\n{table}"
    )


def _predicate(predicate: Predicate, rule: PredicateRule) -> str:
    kinds = (
        _list_names(kind.value for kind in ItemKind if kind in rule.kinds)
        if rule.kinds
        else "an empty record"
    )
    parts = ", ".join(part.value.lower() for part in Part if part in rule.carries) or "its names"
    second = "" if rule.second is Second.NONE else f"its {rule.second.value.lower()}"
    own = "where grounded" if rule.own_words else "never"
    return f"| `{predicate.value}` | {kinds} | {parts} | {second} | {own} |"


def _list_names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def schema_page() -> str:
    """The JSON Schema of a run document."""
    return json.dumps(document_schema(), indent=2, ensure_ascii=False) + "\n"


def answer_page() -> str:
    """The JSON Schema of a policy's answer."""
    return json.dumps(answer_schema(), indent=2, ensure_ascii=False) + "\n"


def settings_page() -> str:
    """Every setting with its default, from the product's own file."""
    shipped = files("diagnosis_harness").joinpath("settings.toml").read_text(encoding="utf-8")
    intro = "The values that are shipped. A file of the same shape wins over them, the environment over both."
    return f"# Settings\n\n{MADE}\n\n{intro}\n\n```toml\n{shipped.strip()}\n```\n"


def http_page() -> str:
    """The OpenAPI document, as the service serves it."""
    return json.dumps(asyncio.run(_openapi()), indent=2, ensure_ascii=False) + "\n"


async def _openapi() -> dict[str, object]:
    with TemporaryDirectory() as folder:
        settings = load_settings()
        database = settings.database.model_copy(update={"url": f"{folder}/runs.db"})
        async with open_service(
            settings.model_copy(update={"database": database}), accept_background_runs=False
        ) as service:
            return make_app(service, settings.server, needs_key=True).openapi()


EVENTS_TEXT = """\
What [`platform_events`](tools.md) knows of Kubernetes and of managed databases. A *fault* is broken by
itself, a *symptom* shows a fault that lies elsewhere, a *note* is something that was done. An event is
recognised by its reason or by its text, and is over when the newest snapshot of its object shows that it
works or is being taken away, or as the last column says."""


def platform_event_page() -> str:
    """Every kind of platform event that is known, and how it is recognised."""
    rows = [
        f"| `{kind.value}` | {EVENT_WORDS[kind].en} | {rule.severity.value} | {rule.fault_kind} | "
        f"{', '.join(f'`{each}`' for each in sorted(rule.reasons)) or '–'} | {_recovery(rule)} |"
        for kind, rule in CATALOGUE.items()
    ]
    head = (
        "| kind | what it means | severity | kind of fault | reasons | over when |\n|---|---|---|---|---|---|"
    )
    return "\n".join(("# Events of a platform", "", MADE, "", EVENTS_TEXT, "", head, *rows, ""))


def _recovery(rule: EventRule) -> str:
    if rule.lasts:
        return "an event ends it"
    held = f", and `{rule.held_by.value}` is over" if rule.held_by is not None else ""
    return f"not repeated for {RETRY_S / 60:g} minutes, or twice its usual pause{held}"


PAGES: dict[str, Callable[[], str]] = {
    "cli.md": command_line,
    "exit-codes.md": exit_code_page,
    "question-forms.md": form_page,
    "errors.md": error_page,
    "tools.md": tool_page,
    "signals.md": signal_page,
    "hard-kinds.md": hard_kind_page,
    "predicates.md": predicate_page,
    "platform-events.md": platform_event_page,
    "parameters.md": parameter_page,
    "settings.md": settings_page,
    "openapi.json": http_page,
    "run-document.schema.json": schema_page,
    "policy-answer.schema.json": answer_page,
}


def stale(folder: Path) -> list[str]:
    """Names of pages that differ from the code."""
    return [
        name
        for name, make in PAGES.items()
        if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != make()
    ]


def main() -> int:
    """Write the stale pages; with `--check` only name them and fail."""
    names = stale(REFERENCE)
    if "--check" in sys.argv[1:]:
        for name in names:
            print(f"stale: docs/reference/{name}; run `python dev/docs.py`")
        return 1 if names else 0
    for name in names:
        (REFERENCE / name).write_text(PAGES[name](), encoding="utf-8")
        print(f"written: docs/reference/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
