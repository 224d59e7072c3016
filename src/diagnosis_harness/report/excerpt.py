"""Selects and orders the parts of a run document that people see, on a terminal and as Markdown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from diagnosis_harness.diagnosis.claim import WHOLE_RECORD, EvidenceRef, Predicate, Quote
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.kernel.names import quote_text as quoted_text
from diagnosis_harness.kernel.window import TimeWindow, parse_utc, utc_text
from diagnosis_harness.report import words
from diagnosis_harness.report.change_words import CHANGE_VERDICTS
from diagnosis_harness.report.citations import Citations
from diagnosis_harness.report.compose import fault_words
from diagnosis_harness.report.document import (
    Asked,
    Candidate,
    ClaimEntry,
    OnsetUsed,
    RecordEntry,
    Report,
    RunDocument,
)
from diagnosis_harness.report.measure import measure
from diagnosis_harness.report.timestamps import display_time, escape_line, span
from diagnosis_harness.report.window import Window

CLAIMS_SHOWN = 10
CANDIDATES_SHOWN = 3
REFS_SHOWN = 2
SUMMARY_SHOWN = 80
_MARK, _MARK_CODE = '"', "\\u0022"
"""Lines of our own tools hold none, since they quote every foreign text."""
_DIGEST_SHOWN = len("sha256:") + 12
# The years 2000 to 2100 in epoch seconds: a number in this range in a scope is a time.
_INSTANTS_S = (946_684_800.0, 4_102_444_800.0)


def refs_shown(document: RunDocument) -> Iterator[EvidenceRef]:
    """The references of what is shown, in reading order."""
    why, nearby = split_claims(document)
    for claim in (*why[:CLAIMS_SHOWN], *nearby[:CLAIMS_SHOWN]):
        yield from claim.refs
    for candidate in worth_showing(document)[:CANDIDATES_SHOWN]:
        yield from candidate.evidence_for[:REFS_SHOWN]
        yield from candidate.evidence_against[:REFS_SHOWN]


def split_claims(document: RunDocument) -> tuple[tuple[ClaimEntry, ...], tuple[ClaimEntry, ...]]:
    """Split the claims into reasons, and nearby changes that no released cause rests on."""
    report = document.report
    if not report.causes:
        return report.claims, ()
    of_causes = {claim_id for cause in report.causes for claim_id in cause.claim_ids}
    nearby = tuple(
        claim
        for claim in report.claims
        if claim.predicate is Predicate.DEPLOYED and claim.claim_id not in of_causes
    )
    return tuple(claim for claim in report.claims if claim not in nearby), nearby


def worth_showing(document: RunDocument) -> tuple[Candidate, ...]:
    """Candidates with evidence for them; a score of zero means that there is none."""
    return tuple(candidate for candidate in document.report.candidates if candidate.score > 0)


def change_summary(claim: ClaimEntry, found: Citations, *, language: Language) -> str:
    """What was changed, quoted from its record, and its verdict; empty for other claims."""
    if claim.predicate is not Predicate.DEPLOYED:
        return ""
    for ref in claim.refs:
        attributes = found.items.get(ref, {}).get("attributes")
        if not isinstance(attributes, dict):
            continue
        summary, verdict = attributes.get("summary"), attributes.get("verdict")
        quoted = quoted_text(summary, most=SUMMARY_SHOWN) if isinstance(summary, str) and summary else ""
        weighed = CHANGE_VERDICTS.get(verdict) if isinstance(verdict, str) else None
        parts = [quoted, "" if weighed is None else weighed.in_(language)]
        if any(parts):
            return " " + words.COLON.in_(language).join(part for part in parts if part)
    return ""


def candidate_words(candidate: Candidate, *, language: Language) -> str:
    """`payment: out of CPU, score 3.2`."""
    fault = fault_words(candidate.fault_kind, candidate.region, language=language)
    score = words.SCORE.render(language, score=f"{candidate.score:.3g}")
    entity = display_name(candidate.entity)
    return f"{entity}{words.COLON.in_(language)}{fault}{words.COMMA.in_(language)}{score}"


# ---------------------------------------------------------------- evidence


def source_words(record: RecordEntry, *, language: Language) -> str:
    """The source of a piece of evidence: tool, window, and the digest of the stored bytes."""
    parts = [display_name(record.tool)]
    if record.window:
        parts.append(window_words(record.window, language=language))
    if record.digest:
        parts.append(record.digest[:_DIGEST_SHOWN])
    return words.COMMA.in_(language).join(parts)


def describe_scope(record: RecordEntry, *, language: Language) -> str:
    """The arguments of the call, in words."""
    scope = scope_words(record.scope, language=language)
    return f"{words.SCOPE.in_(language)}{words.COLON.in_(language)}{scope}"


def scope_words(scope: str, *, language: Language) -> str:
    """A normalised request as `name=value` pairs; times in UTC."""
    arguments = json.loads(scope) if scope else {}
    if not isinstance(arguments, dict) or not arguments:
        return words.EVERYTHING.in_(language)
    return words.COMMA.in_(language).join(
        f"{display_name(name)}={_argument(value)}" for name, value in arguments.items()
    )


def window_words(window: Window, *, language: Language) -> str:
    """A window in words."""
    start, end = span(TimeWindow(parse_utc(window.start), parse_utc(window.end)))
    return words.INTERVAL.render(language, start=start, end=end)


def quotes_of(document: RunDocument) -> dict[EvidenceRef, Quote]:
    """The first quote of each reference among the released claims, by reference."""
    found: dict[EvidenceRef, Quote] = {}
    for claim in document.report.claims:
        for quote in claim.quotes:
            found.setdefault(quote.ref, quote)
    return found


def quotation(
    ref: EvidenceRef, quotes: dict[EvidenceRef, Quote], found: Citations, *, language: Language
) -> str:
    """The claim's own quote, else the item's line: both verbatim from the stored bytes."""
    if ref.item_id == WHOLE_RECORD:
        return words.NOTHING_FOUND.in_(language)
    text = quotes[ref].text if ref in quotes else str(found.items.get(ref, {}).get("line", ""))
    return f'"{escape_line(text).replace(_MARK, _MARK_CODE)}"'


def _argument(value: JsonValue) -> str:
    if isinstance(value, list):
        return "+".join(_argument(each) for each in value)
    if isinstance(value, float) and _INSTANTS_S[0] <= value <= _INSTANTS_S[1]:
        return utc_text(value)
    return f"{value:g}" if isinstance(value, float) else display_name(str(value))


# ---------------------------------------------------------------- the account


def coverage_sentences(report: Report, *, language: Language) -> list[str]:
    """Queries with findings, without any, and failed; tools that were not called and files not used."""
    coverage = report.coverage
    sentences = []
    if report.window:
        sentences.append(words.WINDOW.render(language, window=window_words(report.window, language=language)))
    if report.onset:
        sentences.append(_onset(report.onset, language=language))
    for template, calls in (
        (words.FOUND, coverage.asked),
        (words.EMPTY, coverage.empty),
        (words.FAILED, coverage.failed),
    ):
        if calls:
            sentences.append(
                template.render(language, count=len(calls), tools=_tools(calls, language=language))
            )
    if not (coverage.asked or coverage.empty or coverage.failed):
        sentences.append(words.NOTHING_ASKED.in_(language))
    if coverage.never_asked:
        sentences.append(
            words.NEVER_ASKED.render(
                language, tools=words.COMMA.in_(language).join(map(display_name, coverage.never_asked))
            )
        )
    sentences += [
        words.NOT_COMPARED.render(language, name=display_name(each.name), note=escape_line(each.note))
        for each in coverage.not_compared
    ]
    sentences += [
        words.NOT_USED.render(language, name=display_name(each.name), note=escape_line(each.note))
        for each in coverage.not_used
    ]
    return sentences


def account_words(document: RunDocument, *, language: Language) -> str:
    """Run id, state, outcome, time and budget."""
    run = document.run
    parts = [
        words.FOOTER.render(
            language,
            run_id=run.run_id,
            state=run.state.value,
            outcome=document.release.outcome.value,
            duration=measure(run.duration_s, "s"),
            limit=measure(run.limit_s, "s"),
        )
    ]
    for counter in run.usage:
        template = words.SPENT.get(counter.name)
        if template and counter.tool is None and counter.used and counter.limit:
            parts.append(template.render(language, used=f"{counter.used:,}", limit=f"{counter.limit:,}"))
    return words.COMMA.in_(language).join(parts)


def _onset(onset: OnsetUsed, *, language: Language) -> str:
    """`Onset: 2024-01-01 20:13:30 UTC, estimated from the indicators, alert at 2024-01-01 20:14 UTC`."""
    known = words.ONSET_METHOD.get(onset.method)
    method = display_name(onset.method) if known is None else known.in_(language)
    line = words.ONSET.render(language, at=display_time(parse_utc(onset.at)), method=method)
    if onset.alert_at is None:
        return line
    return (
        line
        + words.COMMA.in_(language)
        + words.ALERT_AT.render(language, at=display_time(parse_utc(onset.alert_at)))
    )


def _tools(calls: Sequence[Asked], *, language: Language) -> str:
    """`inspect_signal ×3, rank_causes`; failures with their code."""
    counts = Counter(
        f"{display_name(call.tool)} ({call.error_code})" if call.error_code else display_name(call.tool)
        for call in calls
    )
    return words.COMMA.in_(language).join(
        name if count == 1 else f"{name} ×{count}" for name, count in counts.items()
    )
