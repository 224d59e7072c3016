"""A run document as Markdown, for a ticket or a page: the parts of the terminal's report, with footnotes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from diagnosis_harness.diagnosis.claim import EvidenceRef
from diagnosis_harness.kernel.names import named
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.citations import Citations, number
from diagnosis_harness.report.document import ClaimEntry, RunDocument
from diagnosis_harness.report.excerpt import (
    CANDIDATES_SHOWN,
    CLAIMS_SHOWN,
    REFS_SHOWN,
    account_words,
    asked_for,
    candidate_words,
    change_summary,
    coverage_sentences,
    parted,
    quoted,
    quotes_of,
    refs_shown,
    source_words,
    worth_showing,
)
from diagnosis_harness.report.missing import missing_phrases
from diagnosis_harness.report.timestamps import shown
from diagnosis_harness.report.wording import words_of
from diagnosis_harness.report.words import Words

_SPECIAL = re.compile(r"[\\`*\[\]<>#|~&$@]|(?<!\w)_|_(?!\w)|:(?=//)|(?<=www)\.|^[-+=]", re.IGNORECASE)
_BULLET = "- "
_NUMBERED = re.compile(r"^(\d+)([.)])")


def markdown(document: RunDocument, *, answer: str | None = None, lists: bool = False) -> str:
    """The report, in the run's language.

    All that is not a word of ours is escaped: a name or a log line of the data makes no link, no heading, no
    image and no HTML.

    Args:
        answer: what a path without a report answered; it stands in the report's place.
        lists: whether its lines that begin with a bullet are list items of ours, and no words of the data.
    """
    paragraphs = [_paragraph(line, lists=lists) for line in answer.split("\n")] if answer else None
    return "\n".join(_lines(document, paragraphs)).strip("\n") + "\n"


def escaped(text: str) -> str:
    """A text as Markdown that shows exactly it, on one line."""
    return _NUMBERED.sub(r"\1\\\2", _SPECIAL.sub(r"\\\g<0>", shown(" ".join(text.split()))))


def _paragraph(line: str, *, lists: bool) -> str:
    if lists and line.startswith(_BULLET):
        return f"{_BULLET}{escaped(line.removeprefix(_BULLET))}"
    return escaped(line)


def _lines(document: RunDocument, answer: Sequence[str] | None) -> Iterator[str]:
    words = words_of(document.run.language)
    heads, report, release = words.headings, document.report, document.release
    concluded = release.outcome is ReleaseOutcome.SUCCESS
    cited = number(document, refs_shown(document))
    yield f"# {escaped(document.run.question)}"
    yield ""
    yield from _opening(document, answer, words)
    yield from _section(heads.in_flight, _listed(named(call.name) for call in document.run.in_flight))
    why, nearby = parted(document)
    yield from _section(heads.why if concluded else heads.verified, _claims(why, cited, words=words))
    yield from _section(heads.nearby, _claims(nearby, cited, words=words))
    yield from _section(
        heads.considered if concluded else heads.candidates, _candidates(document, cited, words)
    )
    yield from _section(heads.missing, _listed(missing_phrases(report, words)))
    if answer is None:
        yield from _section(heads.looked_at, _listed(coverage_sentences(report, words=words)))
    yield from _section(heads.next_checks, _listed(report.next_checks))
    yield from _section(heads.evidence, _footnotes(document, cited, words=words))
    yield ""
    yield "---"
    yield ""
    yield escaped(account_words(document, words=words))


def _opening(document: RunDocument, answer: Sequence[str] | None, words: Words) -> Iterator[str]:
    """What was found, in a sentence or two; else what was answered, or why there is nothing."""
    if answer:
        yield from answer
        return
    report, failure = document.report, document.release.failure
    for place, sentence in enumerate(report.summary):
        yield f"**{escaped(sentence)}**" if place == 0 else escaped(sentence)
        yield ""
    for cause in report.causes[:1]:
        if cause.confidence is not None:
            yield escaped(words.confidence.format(share=f"{cause.confidence:.2f}"))
            yield ""
    if not report.summary:
        yield escaped(failure or "")


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    """A titled part; nothing at all when it has no lines."""
    held = list(lines)
    if held:
        yield ""
        yield f"## {escaped(title)}"
        yield ""
        yield from held


def _listed(sentences: Iterable[str]) -> Iterator[str]:
    for sentence in sentences:
        yield f"- {escaped(sentence)}"


def _claims(claims: Sequence[ClaimEntry], cited: Citations, *, words: Words) -> Iterator[str]:
    for place, claim in enumerate(claims[:CLAIMS_SHOWN], start=1):
        sentence = escaped(f"{claim.sentence}{change_summary(claim, cited)}")
        yield f"{place}. {sentence} {_marks(claim.refs, cited)}"
    yield from _more(len(claims) - CLAIMS_SHOWN, words)


def _candidates(document: RunDocument, cited: Citations, words: Words) -> Iterator[str]:
    candidates = worth_showing(document)
    for place, candidate in enumerate(candidates[:CANDIDATES_SHOWN], start=1):
        line = escaped(candidate_words(candidate, words=words))
        for label, refs in (
            (words.evidence_for, candidate.evidence_for),
            (words.evidence_against, candidate.evidence_against),
        ):
            if refs:
                line += f"{words.comma}{escaped(label)} {_marks(refs[:REFS_SHOWN], cited)}"
        yield f"{place}. {line}"
    yield from _more(len(candidates) - CANDIDATES_SHOWN, words)


def _more(count: int, words: Words) -> Iterator[str]:
    if count > 0:
        yield f"- {escaped(words.more.format(count=count))}"


def _marks(refs: Iterable[EvidenceRef], cited: Citations) -> str:
    return "".join(f"[^{place}]" for place in dict.fromkeys(cited.numbers[ref] for ref in refs))


def _footnotes(document: RunDocument, cited: Citations, *, words: Words) -> Iterator[str]:
    """Every citation with its verbatim evidence, and which call it is from."""
    quotes = quotes_of(document)
    for ref, place in cited.numbers.items():
        record = cited.records[ref.tool_call_id]
        source = f"{source_words(record, words=words)}{words.comma}{asked_for(record, words=words)}"
        text = quoted(ref, quotes, cited, words=words)
        yield f"[^{place}]: {escaped(text)} ({escaped(source)})"
        yield ""
