"""The account of a run: what was looked at, what it cost, how it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.text import Text

from diagnosis_harness.cli.render.evidence import window_words
from diagnosis_harness.cli.render.wrap import hang
from diagnosis_harness.kernel.window import parse_utc
from diagnosis_harness.release.document import Asked, OnsetUsed, Report, Run, RunDocument
from diagnosis_harness.release.measure import measure
from diagnosis_harness.release.moment import instant, shown
from diagnosis_harness.release.words import Words

_INDENT = Text("  ")


def coverage_lines(report: Report, *, words: Words, width: int) -> Iterator[Text]:
    """What was asked and came back with findings, empty or not at all; what was never asked or not used."""
    say, coverage = words.coverage, report.coverage
    sentences = []
    if report.window:
        sentences.append(words.window.format(window=window_words(report.window, words=words)))
    if report.onset:
        sentences.append(_onset(report.onset, words=words))
    for template, calls in (
        (say.found, coverage.asked),
        (say.empty, coverage.empty),
        (say.failed, coverage.failed),
    ):
        if calls:
            sentences.append(template.format(count=len(calls), tools=_tools(calls, words=words)))
    if not (coverage.asked or coverage.empty or coverage.failed):
        sentences.append(say.nothing_asked)
    if coverage.never_asked:
        sentences.append(say.never_asked.format(tools=words.comma.join(coverage.never_asked)))
    sentences += [
        say.not_compared.format(name=shown(each.name), note=shown(each.note))
        for each in coverage.not_compared
    ]
    sentences += [
        say.not_used.format(name=shown(each.name), note=shown(each.note)) for each in coverage.not_used
    ]
    for sentence in sentences:
        yield from hang(_INDENT, Text(sentence), width)


def in_flight_lines(run: Run, *, width: int) -> Iterator[Text]:
    """What had been started and not come back."""
    for call in run.in_flight:
        name = f"{call.name} ({call.tool_call_id})" if call.tool_call_id else call.name
        yield from hang(_INDENT, Text(name), width)


def footer(document: RunDocument, *, words: Words, width: int) -> Iterator[Text]:
    """Run id, state, outcome, time and budget, on one line where it fits."""
    run = document.run
    parts = [
        words.footer.format(
            run_id=run.run_id,
            state=run.state.value,
            outcome=document.release.outcome.value,
            duration=measure(run.duration_s, "s"),
            limit=measure(run.limit_s, "s"),
        )
    ]
    for counter in run.usage:
        template = words.spent.get(counter.name)
        if template and counter.tool is None and counter.used and counter.limit:
            parts.append(template.format(used=f"{counter.used:,}", limit=f"{counter.limit:,}"))
    yield from hang(Text(""), Text(words.comma.join(parts), "dim"), width)


def _onset(onset: OnsetUsed, *, words: Words) -> str:
    """`Onset: 2024-01-01 20:13:30 UTC, estimated from the indicators, alert at 2024-01-01 20:14 UTC`."""
    say = words.coverage
    method = say.onset_method.get(onset.method, shown(onset.method))
    line = say.onset.format(at=instant(parse_utc(onset.at)), method=method)
    if onset.alert_at is None:
        return line
    return line + words.comma + say.alert_at.format(at=instant(parse_utc(onset.alert_at)))


def _tools(calls: Sequence[Asked], *, words: Words) -> str:
    """`inspect_signal ×3, rank_causes`; failures with their code."""
    counts = Counter(f"{call.tool} ({call.error_code})" if call.error_code else call.tool for call in calls)
    return words.comma.join(name if count == 1 else f"{name} ×{count}" for name, count in counts.items())
