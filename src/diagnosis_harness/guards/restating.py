"""From a claim that stands to the one that is published: what its evidence says, and which evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, Predicate, Quote
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.guards.absence import stated_absence
from diagnosis_harness.guards.bearing import objections, time_objections
from diagnosis_harness.guards.citing import cited_items
from diagnosis_harness.guards.stated import stated
from diagnosis_harness.tools.evidence import EvidenceItem
from diagnosis_harness.tools.invocation import EvidenceRecord


def restated(claim: Claim, records: Mapping[str, EvidenceRecord], inquiry: Inquiry) -> Claim | None:
    """The claim as it is published; None where nothing that it cites bears it.

    Every field is that of the first cited item that bears it. References stay that bear what is then said,
    each once; of a quote its reference stays, and the text is the whole line, from which nothing that
    qualifies it can be cut.
    """
    if claim.predicate is Predicate.ABSENT:
        return stated_absence(claim, records, inquiry)
    bearing = bearers(claim, records, inquiry)
    if not bearing:
        return None
    first = stated(claim.predicate, bearing[0][1], claim_id=claim.claim_id, refs=(bearing[0][0],))
    kept = {ref: item for ref, item in bearing if not objections(first, item)}
    quoted = dict.fromkeys(quote.ref for quote in claim.quotes if quote.ref in kept)
    return stated(
        claim.predicate,
        bearing[0][1],
        claim_id=claim.claim_id,
        refs=tuple(kept),
        quotes=tuple(Quote(ref, kept[ref].line) for ref in quoted),
        wording=claim.wording,
    )


def restate_all(
    claims: Iterable[Claim], records: Iterable[EvidenceRecord], inquiry: Inquiry
) -> tuple[Claim, ...]:
    """The claims as they are published, in their order; what nothing bears is left out."""
    by_id = {record.tool_call_id: record for record in records}
    found = (restated(claim, by_id, inquiry) for claim in claims)
    return tuple(claim for claim in found if claim is not None)


def bearers(
    claim: Claim, records: Mapping[str, EvidenceRecord], inquiry: Inquiry
) -> tuple[tuple[EvidenceRef, EvidenceItem], ...]:
    """The cited items that bear a claim in all its parts and speak of the incident, where it has to."""
    return tuple(
        (ref, item)
        for ref, item in cited_items(claim, records)
        if not objections(claim, item) and not time_objections(claim, item, inquiry)
    )
