"""Rechecks a saved run against its sources: repeats the recorded queries, and finds which facts still hold.

The queries pass the tool boundary in a separate run with its own budget and deadline, without a policy or a
conclusion. Comparing is pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from diagnosis_harness.audit.verification.records import restore_records
from diagnosis_harness.audit.verification.result import CheckName, check_of
from diagnosis_harness.diagnosis.claim import WHOLE_RECORD, Claim, EvidenceRef, Predicate
from diagnosis_harness.diagnosis.records import Records
from diagnosis_harness.guards.evidence_guard import check_draft
from diagnosis_harness.guards.support import objections
from diagnosis_harness.guards.verdict import FindingCode
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.errors import RunDocumentInvalid
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.report.restore import arguments_of, draft_of
from diagnosis_harness.report.restore_inquiry import inquiry_of
from diagnosis_harness.tools.boundary import ToolBoundary, ToolBoundaryResult
from diagnosis_harness.tools.evidence import EvidenceItem, InvocationStatus, ItemKind
from diagnosis_harness.tools.spec import ToolRequest

UNREADABLE = "UNREADABLE"
"""The code for a query that was not repeated, since no call can have its scope."""


class QueryStatus(StrEnum):
    """How the answer to a recorded query compares with the record."""

    SAME = "SAME"  # the same stored bytes, by digest
    DIFFERS = "DIFFERS"
    NOT_ASKED = "NOT_ASKED"  # refused, failed, or the run ended before


class FactStatus(StrEnum):
    """Whether the current answers support a published claim."""

    HOLDS = "HOLDS"
    CHANGED = "CHANGED"  # the same subject, with a different statement
    GONE = "GONE"  # nothing of this kind is found now
    NOT_ASKED = "NOT_ASKED"  # none of its queries was answered


@dataclass(frozen=True, slots=True)
class QueryAgain:
    """One recorded query, repeated. `code` says why there is no answer, if so."""

    tool_call_id: str
    tool: str
    scope: str
    status: QueryStatus
    code: str | None = None


@dataclass(frozen=True, slots=True)
class FactAgain:
    """One published claim against the current answers.

    Attributes:
        sentence: as published.
        codes: what the nearest current answer does not support; empty if the claim holds. old: the line of
            the saved record that it cites; None for an absence. new: the nearest current line; None if there
            is none.
    """

    claim_id: str
    sentence: str
    status: FactStatus
    codes: tuple[FindingCode, ...]
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class CauseAgain:
    """One published cause; it holds if EvidenceGuard would pass it on the current answers."""

    entity: str
    codes: tuple[FindingCode, ...]


@dataclass(frozen=True, slots=True)
class Recheck:
    """The result of a recheck. `state` is how the run that repeated the queries ended."""

    state: RunState
    queries: tuple[QueryAgain, ...]
    facts: tuple[FactAgain, ...]
    causes: tuple[CauseAgain, ...]

    @property
    def holding(self) -> int:
        """How many facts still hold."""
        return sum(fact.status is FactStatus.HOLDS for fact in self.facts)

    @property
    def holds(self) -> bool:
        """Whether every fact and every cause still holds."""
        return self.holding == len(self.facts) and not any(cause.codes for cause in self.causes)

    def as_json(self) -> dict[str, JsonValue]:
        """The comparison as plain JSON values."""
        return {
            "state": self.state.value,
            "holds": self.holds,
            "queries": [
                {
                    "tool_call_id": each.tool_call_id,
                    "tool": each.tool,
                    "scope": each.scope,
                    "status": each.status.value,
                    "code": each.code,
                }
                for each in self.queries
            ],
            "facts": [
                {
                    "claim_id": each.claim_id,
                    "sentence": each.sentence,
                    "status": each.status.value,
                    "codes": [code.value for code in each.codes],
                    "old": each.old,
                    "new": each.new,
                }
                for each in self.facts
            ],
            "causes": [
                {"entity": each.entity, "codes": [code.value for code in each.codes]} for each in self.causes
            ],
        }


async def ask_again(
    core: DiagnosisHarnessCore, ctx: RunContext, boundary: ToolBoundary, document: RunDocument, *, caller: str
) -> Recheck:
    """Repeat the queries of all READY records under their own ids, end the run, and compare.

    Raises:
        RunDocumentInvalid: a time of a claim is malformed; `verify` reports that first.
    """
    requests = _requests(document, caller)
    results = await boundary.invoke(ctx, requests)
    core.complete_success(ctx)
    return compare(document, results, run_id=ctx.run_id, state=ctx.lifecycle.state)


def _requests(document: RunDocument, caller: str) -> tuple[ToolRequest, ...]:
    found = []
    for number, entry in enumerate(document.records):
        if entry.status is not InvocationStatus.READY:
            continue
        try:
            arguments = arguments_of(entry, f"records[{number}]")
        except RunDocumentInvalid:
            continue
        found.append(ToolRequest(entry.tool_call_id, entry.tool, arguments, caller=caller))
    return tuple(found)


def compare(
    document: RunDocument, results: Sequence[ToolBoundaryResult], *, run_id: str, state: RunState
) -> Recheck:
    """Compare the saved run with the current answers to its queries.

    A claim is compared with all answers to its own queries, not with one place in a list that may have moved.
    Its quotes are not compared, since a line may say the same in other words.
    """
    draft = draft_of(document.report)
    restored = restore_records(document).records
    before = Records(restored)
    fresh = Records(
        result.record
        for result in results
        if result.record is not None and result.record.invocation is InvocationStatus.READY
    )
    anchored = tuple(_anchor(claim, fresh) for claim in draft.claims)
    findings = check_draft(
        replace(draft, claims=anchored), fresh, run_id=run_id, inquiry=inquiry_of(document, restored)
    ).findings
    codes: dict[str, list[FindingCode]] = {}
    for finding in findings:
        codes.setdefault(finding.claim_id, []).append(finding.code)
    return Recheck(
        state=state,
        queries=_queries(document, results, fresh),
        facts=tuple(
            _fact(
                claim,
                entry.sentence,
                tuple(
                    code for code in codes.get(claim.claim_id, ()) if check_of(code) is not CheckName.CAUSES
                ),
                before=before,
                fresh=fresh,
            )
            for claim, entry in zip(draft.claims, document.report.claims, strict=True)
        ),
        causes=tuple(
            CauseAgain(
                cause.entity,
                tuple(
                    code for code in codes.get(cause.claim_ids[0], ()) if check_of(code) is CheckName.CAUSES
                ),
            )
            for cause in draft.conclusion
        ),
    )


def _anchor(claim: Claim, fresh: Records) -> Claim:
    """The claim, citing the current answers that support it; else all of them, so that a guard objects."""
    answers = [
        fresh[call_id] for call_id in dict.fromkeys(r.tool_call_id for r in claim.refs) if call_id in fresh
    ]
    items = [
        (EvidenceRef(record.tool_call_id, item.item_id), item) for record in answers for item in record.items
    ]
    empty = tuple(EvidenceRef(r.tool_call_id, WHOLE_RECORD) for r in answers if not r.items)
    every = tuple(ref for ref, _ in items)
    supporting = tuple(ref for ref, item in items if not objections(claim, item))
    refs = (empty or every) if claim.predicate is Predicate.ABSENT else (supporting or every or empty)
    if claim.predicate is Predicate.ABSENT:
        # A query may search more now, so only the absence itself is compared.
        claim = replace(claim, value=None, unit=None)
    return replace(claim, refs=refs, quotes=())


def _fact(
    claim: Claim, sentence: str, codes: tuple[FindingCode, ...], *, before: Records, fresh: Records
) -> FactAgain:
    cited = _items(claim, before, refs=set(claim.refs))
    nearest = _nearest(claim, _items(claim, fresh), {item.kind for item in cited})
    if not codes:
        status = FactStatus.HOLDS
    elif not any(ref.tool_call_id in fresh for ref in claim.refs):
        status = FactStatus.NOT_ASKED
    else:
        status = FactStatus.CHANGED if nearest else FactStatus.GONE
    return FactAgain(
        claim_id=claim.claim_id,
        sentence=sentence,
        status=status,
        codes=codes,
        old=cited[0].line if cited else None,
        new=nearest.line if nearest else None,
    )


def _items(claim: Claim, records: Records, *, refs: set[EvidenceRef] | None = None) -> list[EvidenceItem]:
    """Items of the records that a claim cites; only the cited ones where `refs` are given."""
    return [
        item
        for call_id in dict.fromkeys(ref.tool_call_id for ref in claim.refs)
        if call_id in records
        for item in records[call_id].items
        if refs is None or EvidenceRef(call_id, item.item_id) in refs
    ]


def _nearest(claim: Claim, items: Sequence[EvidenceItem], kinds: set[ItemKind]) -> EvidenceItem | None:
    """The items of the same subject with the fewest objections; for an absence, all current items."""
    if claim.predicate is Predicate.ABSENT:
        return items[0] if items else None
    same = [item for item in items if item.kind in kinds and _speaks_of_the_same(claim, item)]
    return min(same, key=lambda item: len(objections(claim, item)), default=None)


def _speaks_of_the_same(claim: Claim, item: EvidenceItem) -> bool:
    if claim.predicate is Predicate.CALLS:
        return (claim.entity, claim.affected) == (item.peer, item.entity)
    named = claim.entity in (item.entity, item.attributes.get("owner"))
    return named and claim.signal in (None, item.signal)


def _queries(
    document: RunDocument, results: Sequence[ToolBoundaryResult], fresh: Records
) -> tuple[QueryAgain, ...]:
    without = {each.request.tool_call_id: _code(each) for each in results}
    found = []
    for entry in document.records:
        if entry.status is not InvocationStatus.READY:
            continue
        answer, code = fresh.get(entry.tool_call_id), None
        if answer is None:
            status, code = QueryStatus.NOT_ASKED, without.get(entry.tool_call_id, UNREADABLE)
        else:
            status = QueryStatus.SAME if answer.digest == entry.digest else QueryStatus.DIFFERS
        found.append(QueryAgain(entry.tool_call_id, entry.tool, entry.scope, status, code))
    return tuple(found)


def _code(result: ToolBoundaryResult) -> str | None:
    if result.refusal is not None:
        return result.refusal.code.value
    return result.record.error_code.value if result.record and result.record.error_code else None
