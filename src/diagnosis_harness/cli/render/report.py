"""A run document as a report on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.text import Text

from diagnosis_harness.cli.render.account import coverage_lines, footer, in_flight_lines
from diagnosis_harness.cli.render.evidence import footnotes, plot
from diagnosis_harness.cli.render.wrap import hang
from diagnosis_harness.diagnosis.claim import EvidenceRef
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report import words
from diagnosis_harness.report.citations import Citations, number
from diagnosis_harness.report.document import Candidate, ClaimEntry, RunDocument
from diagnosis_harness.report.excerpt import (
    CANDIDATES_SHOWN,
    CLAIMS_SHOWN,
    REFS_SHOWN,
    candidate_words,
    change_summary,
    refs_shown,
    source_words,
    split_claims,
    worth_showing,
)
from diagnosis_harness.report.missing import missing_phrases
from diagnosis_harness.report.objections import objection_words
from diagnosis_harness.report.resolved import describe_reading
from diagnosis_harness.report.timestamps import escape_line

_HEADLINE = {
    ReleaseOutcome.SUCCESS: "bold green",
    ReleaseOutcome.FALLBACK: "bold yellow",
    ReleaseOutcome.FAILED: "bold red",
    ReleaseOutcome.CANCELLED: "bold magenta",
}


_QUESTION_SHOWN = 400
"""Characters of a question that the report repeats: five terminal lines."""


def report_lines(document: RunDocument, *, width: int) -> tuple[Text, ...]:
    """The whole report, each line at most `width` cells wide and without trailing spaces."""
    return tuple(_lines(document, max(width, 40)))


def _lines(document: RunDocument, width: int) -> Iterator[Text]:
    language = document.run.language
    report, outcome = document.report, document.release.outcome
    cited = number(document, refs_shown(document))
    answered = outcome in (ReleaseOutcome.SUCCESS, ReleaseOutcome.FALLBACK)
    concluded = bool(report.causes)

    yield from hang(Text("? ", "dim"), Text(_shorten(document.run.question), "dim"), width)
    understood = describe_reading(document, language) if answered else None
    if understood is not None:
        yield from hang(Text("  "), Text(understood, "dim"), width)
    yield Text()
    for place, sentence in enumerate(report.summary):
        yield from hang(Text(), Text(sentence, _HEADLINE[outcome] if place == 0 else ""), width)
    for cause in report.causes[:1]:
        if cause.confidence is not None:
            sure = words.CONFIDENCE.render(language, share=f"{cause.confidence:.2f}")
            yield from hang(Text(), Text(sure, "dim"), width)
    yield from _section(words.HEADING_IN_FLIGHT.in_(language), in_flight_lines(document.run, width=width))
    why, nearby = split_claims(document)
    yield from _section(
        words.HEADING_WHY.in_(language) if concluded else words.HEADING_VERIFIED.in_(language),
        _claims(why, cited, language=language, width=width),
    )
    yield from _section(
        words.HEADING_NEARBY.in_(language),
        _claims(nearby, cited, language=language, width=width, first=min(len(why), CLAIMS_SHOWN) + 1),
    )
    yield from _section(
        words.HEADING_CONSIDERED.in_(language) if concluded else words.HEADING_CANDIDATES.in_(language),
        _candidates(document, cited, language, width),
    )
    yield from _section(
        words.HEADING_MISSING.in_(language), _bullet_lines(missing_phrases(report, language), width)
    )
    yield from _section(
        words.HEADING_LOOKED_AT.in_(language), coverage_lines(report, language=language, width=width)
    )
    yield from _section(words.HEADING_NEXT_CHECKS.in_(language), _bullet_lines(report.next_checks, width))
    if answered:
        yield from _section(
            words.HEADING_EVIDENCE.in_(language), footnotes(document, cited, language=language, width=width)
        )
    else:
        yield from _section(words.HEADING_KEPT.in_(language), _source_lines(document, language, width))
    yield Text()
    yield from footer(document, language=language, width=width)


def _shorten(question: str) -> str:
    """The question in a few lines; a long pasted alert is cut."""
    line = escape_line(" ".join(question.split()))
    return line if len(line) <= _QUESTION_SHOWN else f"{line[:_QUESTION_SHOWN]} …"


def _section(title: str, lines: Iterable[Text]) -> Iterator[Text]:
    """A titled section; nothing if it has no lines."""
    lines_of_section = list(lines)
    if lines_of_section:
        yield Text()
        yield Text(title, "bold")
        yield from lines_of_section


def _claims(
    claims: Sequence[ClaimEntry], cited: Citations, *, language: Language, width: int, first: int = 1
) -> Iterator[Text]:
    plotted: set[EvidenceRef] = set()
    for place, claim in enumerate(claims[:CLAIMS_SHOWN], start=first):
        prefix = f"  {place}. "
        body = Text(f"{claim.sentence}{change_summary(claim, cited, language=language)}")
        body.append(f" {cited.marks(claim.refs)}", "cyan")
        yield from hang(Text(prefix), body, width)
        for ref in claim.refs:
            item = cited.items.get(ref)
            line = plot(item, indent=len(prefix), width=width) if item and ref not in plotted else None
            if line is not None:
                plotted.add(ref)
                yield line
    yield from _more(len(claims) - CLAIMS_SHOWN, language, width)


def _more(count: int, language: Language, width: int) -> Iterator[Text]:
    if count > 0:
        yield from hang(Text("  "), Text(words.MORE_ITEMS.render(language, count=count), "dim"), width)


def _candidates(document: RunDocument, cited: Citations, language: Language, width: int) -> Iterator[Text]:
    candidates = worth_showing(document)
    for place, candidate in enumerate(candidates[:CANDIDATES_SHOWN], start=1):
        yield from hang(Text(f"  {place}. "), _candidate(candidate, cited, language), width)
        if place == 1 and (why_not := objection_words(document, language)):
            yield from hang(Text("     "), Text(why_not), width)
    yield from _more(len(candidates) - CANDIDATES_SHOWN, language, width)


def _candidate(candidate: Candidate, cited: Citations, language: Language) -> Text:
    body = Text(candidate_words(candidate, language=language))
    for label, refs in (
        (words.EVIDENCE_FOR.in_(language), candidate.evidence_for),
        (words.EVIDENCE_AGAINST.in_(language), candidate.evidence_against),
    ):
        if refs:
            body.append(f"{words.COMMA.in_(language)}{label} ")
            body.append(cited.marks(refs[:REFS_SHOWN]), "cyan")
    return body


def _source_lines(document: RunDocument, language: Language, width: int) -> Iterator[Text]:
    counts = {asked.tool_call_id: asked.items for asked in document.report.coverage.asked}
    for record in document.records:
        if record.digest:
            line = Text(source_words(record, language=language))
            line.append(
                words.COMMA.in_(language)
                + words.FINDING_COUNT.render(language, count=counts.get(record.tool_call_id, 0))
            )
            yield from hang(Text("  "), line, width)


def _bullet_lines(sentences: Iterable[str], width: int) -> Iterator[Text]:
    for sentence in sentences:
        yield from hang(Text("  - "), Text(escape_line(sentence)), width)
