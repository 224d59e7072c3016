"""The account of a run: what was examined, what it cost, how it ended."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from diagnosis_harness.cli.render.wrap import hang
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.report.document import Report, Run, RunDocument
from diagnosis_harness.report.excerpt import account_words, coverage_sentences

_INDENT = Text("  ")


def coverage_lines(report: Report, *, language: Language, width: int) -> Iterator[Text]:
    """Which queries returned findings, nothing, or failed; what was not queried or not used."""
    for sentence in coverage_sentences(report, language=language):
        yield from hang(_INDENT, Text(sentence), width)


def in_flight_lines(run: Run, *, width: int) -> Iterator[Text]:
    """Calls that had started and not returned."""
    for call in run.in_flight:
        name = display_name(call.name) + (
            f" ({display_name(call.tool_call_id)})" if call.tool_call_id else ""
        )
        yield from hang(_INDENT, Text(name), width)


def footer(document: RunDocument, *, language: Language, width: int) -> Iterator[Text]:
    """Run id, state, outcome, time and budget, on one line if it fits."""
    yield from hang(Text(""), Text(account_words(document, language=language), "dim"), width)
