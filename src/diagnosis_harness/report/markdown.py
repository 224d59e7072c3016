"""A run document as Markdown, for a ticket or a page: the parts of the terminal report, with footnotes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from diagnosis_harness.diagnosis.claim import EvidenceRef
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.report import words
from diagnosis_harness.report.citations import Citations, number
from diagnosis_harness.report.document import ClaimEntry, RunDocument
from diagnosis_harness.report.excerpt import (
    CANDIDATES_SHOWN,
    CLAIMS_SHOWN,
    REFS_SHOWN,
    account_words,
    candidate_words,
    change_summary,
    coverage_sentences,
    describe_scope,
    quotation,
    quotes_of,
    refs_shown,
    source_words,
    split_claims,
    worth_showing,
)
from diagnosis_harness.report.missing import missing_phrases
from diagnosis_harness.report.objections import objection_words
from diagnosis_harness.report.resolved import describe_reading
from diagnosis_harness.report.timestamps import escape_line

_SPECIAL = re.compile(r"[\\`*\[\]<>#|~&$@]|(?<!\w)_|_(?!\w)|:(?=//)|(?<=www)\.|^[-+=]", re.IGNORECASE)
_BULLET = "- "
_NUMBERED = re.compile(r"^(\d+)([.)])")


def markdown(document: RunDocument, *, answer: str | None = None, lists: bool = False) -> str:
    """The report, in the run's language.

    All foreign text is escaped, so that a name or a log line of the data makes no link, heading, image or
    HTML.

    Args:
        answer: the text of a path without a report, instead of the report. lists: whether its lines that
            begin with a bullet are our own list items and not text of the data.
    """
    paragraphs = [_paragraph(line, lists=lists) for line in answer.split("\n")] if answer else None
    return "\n".join(_lines(document, paragraphs)).strip("\n") + "\n"


def escape(text: str) -> str:
    """A text as Markdown that shows exactly this text, on one line."""
    return _NUMBERED.sub(r"\1\\\2", _SPECIAL.sub(r"\\\g<0>", escape_line(" ".join(text.split()))))


def _paragraph(line: str, *, lists: bool) -> str:
    if lists and line.startswith(_BULLET):
        return f"{_BULLET}{escape(line.removeprefix(_BULLET))}"
    return escape(line)


def _lines(document: RunDocument, answer: Sequence[str] | None) -> Iterator[str]:
    language = document.run.language
    report = document.report
    concluded = bool(report.causes)
    cited = number(document, refs_shown(document))
    yield f"# {escape(document.run.question)}"
    yield ""
    yield from _opening(document, answer, language)
    yield from _section(
        words.HEADING_IN_FLIGHT.in_(language),
        _bullets(display_name(call.name) for call in document.run.in_flight),
    )
    why, nearby = split_claims(document)
    yield from _section(
        words.HEADING_WHY.in_(language) if concluded else words.HEADING_VERIFIED.in_(language),
        _claims(why, cited, language=language),
    )
    yield from _section(words.HEADING_NEARBY.in_(language), _claims(nearby, cited, language=language))
    yield from _section(
        words.HEADING_CONSIDERED.in_(language) if concluded else words.HEADING_CANDIDATES.in_(language),
        _candidates(document, cited, language),
    )
    yield from _section(words.HEADING_MISSING.in_(language), _bullets(missing_phrases(report, language)))
    if answer is None:
        yield from _section(
            words.HEADING_LOOKED_AT.in_(language), _bullets(coverage_sentences(report, language=language))
        )
    yield from _section(words.HEADING_NEXT_CHECKS.in_(language), _bullets(report.next_checks))
    yield from _section(words.HEADING_EVIDENCE.in_(language), _footnotes(document, cited, language=language))
    yield ""
    yield "---"
    yield ""
    yield escape(account_words(document, language=language))


def _opening(document: RunDocument, answer: Sequence[str] | None, language: Language) -> Iterator[str]:
    """The findings in a sentence or two; else the answer's text, or why there is none."""
    if answer:
        yield from answer
        return
    report, failure = document.report, document.release.failure
    for place, sentence in enumerate(report.summary):
        yield f"**{escape(sentence)}**" if place == 0 else escape(sentence)
        yield ""
    understood = describe_reading(document, language)
    if understood is not None:
        yield escape(understood)
        yield ""
    for cause in report.causes[:1]:
        if cause.confidence is not None:
            yield escape(words.CONFIDENCE.render(language, share=f"{cause.confidence:.2f}"))
            yield ""
    if not report.summary:
        yield escape(failure or "")


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    """A part with its title; empty if it has no lines."""
    body = list(lines)
    if body:
        yield ""
        yield f"## {escape(title)}"
        yield ""
        yield from body


def _bullets(sentences: Iterable[str]) -> Iterator[str]:
    for sentence in sentences:
        yield f"- {escape(sentence)}"


def _claims(claims: Sequence[ClaimEntry], cited: Citations, *, language: Language) -> Iterator[str]:
    for place, claim in enumerate(claims[:CLAIMS_SHOWN], start=1):
        sentence = escape(f"{claim.sentence}{change_summary(claim, cited, language=language)}")
        yield f"{place}. {sentence} {_marks(claim.refs, cited)}"
    yield from _more(len(claims) - CLAIMS_SHOWN, language)


def _candidates(document: RunDocument, cited: Citations, language: Language) -> Iterator[str]:
    candidates = worth_showing(document)
    for place, candidate in enumerate(candidates[:CANDIDATES_SHOWN], start=1):
        line = escape(candidate_words(candidate, language=language))
        for label, refs in (
            (words.EVIDENCE_FOR.in_(language), candidate.evidence_for),
            (words.EVIDENCE_AGAINST.in_(language), candidate.evidence_against),
        ):
            if refs:
                line += f"{words.COMMA.in_(language)}{escape(label)} {_marks(refs[:REFS_SHOWN], cited)}"
        yield f"{place}. {line}"
        if place == 1 and (why_not := objection_words(document, language)):
            yield f"   {escape(why_not)}"
    yield from _more(len(candidates) - CANDIDATES_SHOWN, language)


def _more(count: int, language: Language) -> Iterator[str]:
    if count > 0:
        yield f"- {escape(words.MORE_ITEMS.render(language, count=count))}"


def _marks(refs: Iterable[EvidenceRef], cited: Citations) -> str:
    return "".join(f"[^{place}]" for place in dict.fromkeys(cited.numbers[ref] for ref in refs))


def _footnotes(document: RunDocument, cited: Citations, *, language: Language) -> Iterator[str]:
    """Every citation with its verbatim evidence and its call."""
    quotes = quotes_of(document)
    for ref, place in cited.numbers.items():
        record = cited.records[ref.tool_call_id]
        parts = (source_words(record, language=language), describe_scope(record, language=language))
        source = words.COMMA.in_(language).join(parts)
        text = quotation(ref, quotes, cited, language=language)
        yield f"[^{place}]: {escape(text)} ({escape(source)})"
        yield ""
