"""A run document as a report on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.text import Text

from diagnosis_harness.cli.render.account import coverage_lines, footer, in_flight_lines
from diagnosis_harness.cli.render.evidence import footnotes, plot
from diagnosis_harness.cli.render.wrap import hang
from diagnosis_harness.diagnosis.claim import EvidenceRef
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.citations import Citations, number
from diagnosis_harness.report.document import Candidate, ClaimEntry, RunDocument
from diagnosis_harness.report.excerpt import (
    CANDIDATES_SHOWN,
    CLAIMS_SHOWN,
    REFS_SHOWN,
    candidate_words,
    change_summary,
    parted,
    refs_shown,
    source_words,
    worth_showing,
)
from diagnosis_harness.report.missing import missing_phrases
from diagnosis_harness.report.timestamps import shown
from diagnosis_harness.report.wording import words_of
from diagnosis_harness.report.words import Words

_HEADLINE = {
    ReleaseOutcome.SUCCESS: "bold green",
    ReleaseOutcome.FALLBACK: "bold yellow",
    ReleaseOutcome.FAILED: "bold red",
    ReleaseOutcome.CANCELLED: "bold magenta",
}


def report_lines(document: RunDocument, *, width: int) -> tuple[Text, ...]:
    """The whole report, each line at most `width` cells wide and without spaces at its end."""
    return tuple(_lines(document, max(width, 40)))


def _lines(document: RunDocument, width: int) -> Iterator[Text]:
    words = words_of(document.run.language)
    heads, report, outcome = words.headings, document.report, document.release.outcome
    cited = number(document, refs_shown(document))
    answered = outcome in (ReleaseOutcome.SUCCESS, ReleaseOutcome.FALLBACK)
    concluded = outcome is ReleaseOutcome.SUCCESS

    yield from hang(Text("? ", "dim"), Text(shown(" ".join(document.run.question.split())), "dim"), width)
    yield Text()
    for place, sentence in enumerate(report.summary):
        yield from hang(Text(), Text(sentence, _HEADLINE[outcome] if place == 0 else ""), width)
    for cause in report.causes[:1]:
        if cause.confidence is not None:
            sure = words.confidence.format(share=f"{cause.confidence:.2f}")
            yield from hang(Text(), Text(sure, "dim"), width)
    yield from _section(heads.in_flight, in_flight_lines(document.run, width=width))
    why, nearby = parted(document)
    yield from _section(
        heads.why if concluded else heads.verified, _claims(why, cited, words=words, width=width)
    )
    yield from _section(
        heads.nearby, _claims(nearby, cited, words=words, width=width, first=min(len(why), CLAIMS_SHOWN) + 1)
    )
    yield from _section(
        heads.considered if concluded else heads.candidates, _candidates(document, cited, words, width)
    )
    yield from _section(heads.missing, _listed(missing_phrases(report, words), width))
    yield from _section(heads.looked_at, coverage_lines(report, words=words, width=width))
    yield from _section(heads.next_checks, _listed(report.next_checks, width))
    if answered:
        yield from _section(heads.evidence, footnotes(document, cited, words=words, width=width))
    else:
        yield from _section(heads.kept, _kept(document, words, width))
    yield Text()
    yield from footer(document, words=words, width=width)


def _section(title: str, lines: Iterable[Text]) -> Iterator[Text]:
    """A titled part; nothing at all when it has no lines."""
    held = list(lines)
    if held:
        yield Text()
        yield Text(title, "bold")
        yield from held


def _claims(
    claims: Sequence[ClaimEntry], cited: Citations, *, words: Words, width: int, first: int = 1
) -> Iterator[Text]:
    plotted: set[EvidenceRef] = set()
    for place, claim in enumerate(claims[:CLAIMS_SHOWN], start=first):
        prefix = f"  {place}. "
        body = Text(f"{claim.sentence}{change_summary(claim, cited)}")
        body.append(f" {cited.marks(claim.refs)}", "cyan")
        yield from hang(Text(prefix), body, width)
        for ref in claim.refs:
            item = cited.items.get(ref)
            line = plot(item, indent=len(prefix), width=width) if item and ref not in plotted else None
            if line is not None:
                plotted.add(ref)
                yield line
    yield from _more(len(claims) - CLAIMS_SHOWN, words, width)


def _more(count: int, words: Words, width: int) -> Iterator[Text]:
    if count > 0:
        yield from hang(Text("  "), Text(words.more.format(count=count), "dim"), width)


def _candidates(document: RunDocument, cited: Citations, words: Words, width: int) -> Iterator[Text]:
    candidates = worth_showing(document)
    for place, candidate in enumerate(candidates[:CANDIDATES_SHOWN], start=1):
        yield from hang(Text(f"  {place}. "), _candidate(candidate, cited, words), width)
    yield from _more(len(candidates) - CANDIDATES_SHOWN, words, width)


def _candidate(candidate: Candidate, cited: Citations, words: Words) -> Text:
    body = Text(candidate_words(candidate, words=words))
    for label, refs in (
        (words.evidence_for, candidate.evidence_for),
        (words.evidence_against, candidate.evidence_against),
    ):
        if refs:
            body.append(f"{words.comma}{label} ")
            body.append(cited.marks(refs[:REFS_SHOWN]), "cyan")
    return body


def _kept(document: RunDocument, words: Words, width: int) -> Iterator[Text]:
    counts = {asked.tool_call_id: asked.items for asked in document.report.coverage.asked}
    for record in document.records:
        if record.digest:
            line = Text(source_words(record, words=words))
            line.append(words.comma + words.items.format(count=counts.get(record.tool_call_id, 0)))
            yield from hang(Text("  "), line, width)


def _listed(sentences: Iterable[str], width: int) -> Iterator[Text]:
    for sentence in sentences:
        yield from hang(Text("  - "), Text(shown(sentence)), width)
