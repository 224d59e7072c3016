"""The rankings of a run in its document: which counted, and why others did not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.diagnosis.draft import SetAside, SetAsideReason
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.guards.asked import question_scope
from diagnosis_harness.guards.rankings import rankings_of
from diagnosis_harness.tools.evidence import ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord


class RankingStanding(StrEnum):
    """Whether a ranking is about the question."""

    COUNTS = "COUNTS"
    SET_ASIDE = "SET_ASIDE"  # it is about the question, but does not count for the given reason
    ANOTHER_QUESTION = "ANOTHER_QUESTION"  # it is about another time or another affected entity


@dataclass(frozen=True, slots=True)
class RankingEntry:
    """One ranking of causes. `reason` exists exactly with SET_ASIDE."""

    tool_call_id: str
    standing: RankingStanding
    reason: SetAsideReason | None = None


def ranking_entries(
    records: Sequence[EvidenceRecord], inquiry: Inquiry, set_aside: Iterable[SetAside]
) -> tuple[RankingEntry, ...]:
    """Every ranking of the run, in the order of their calls."""
    of_it = {ranking.tool_call_id for ranking in rankings_of(records, question_scope(inquiry, records))}
    reasons = {each.tool_call_id: each.reason for each in set_aside}
    return tuple(
        _entry(record.tool_call_id, reasons.get(record.tool_call_id), counts=record.tool_call_id in of_it)
        for record in records
        if any(item.kind is ItemKind.CAUSE_SCORE for item in record.items)
    )


def set_aside_of(entries: Iterable[RankingEntry]) -> tuple[SetAside, ...]:
    """The rankings that were set aside, with their reasons."""
    return tuple(SetAside(each.tool_call_id, each.reason) for each in entries if each.reason is not None)


def _entry(tool_call_id: str, reason: SetAsideReason | None, *, counts: bool) -> RankingEntry:
    if not counts:
        return RankingEntry(tool_call_id, RankingStanding.ANOTHER_QUESTION)
    if reason is None:
        return RankingEntry(tool_call_id, RankingStanding.COUNTS)
    return RankingEntry(tool_call_id, RankingStanding.SET_ASIDE, reason)
