"""Decides whether a recorded tool call is about the question: its time and the affected entity. Pure.

A policy chooses the arguments of its calls, so it may record a correct ranking of an earlier problem or of
another affected entity. Such a ranking supports no conclusion about the question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from diagnosis_harness.diagnosis.claim import Claim
from diagnosis_harness.diagnosis.inquiry import Inquiry, OnsetOrigin
from diagnosis_harness.diagnosis.predicate_rule import About, rule_of
from diagnosis_harness.guards.absence_rule import absence_rule
from diagnosis_harness.guards.incident_time import is_same_time, lasts_into
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

_ESTIMATED = frozenset({OnsetOrigin.ALERT, OnsetOrigin.NOBODY})
"""Cases in which the tools find the onset themselves: no time was stated, or an alert stated it, which
fires after the onset."""

COMPARING_KINDS = frozenset(
    {
        ItemKind.CAUSE_SCORE,
        ItemKind.SIGNAL_CHANGE,
        ItemKind.SELF_TIME,
        ItemKind.EDGE_GAP,
        ItemKind.SPAN_ERRORS,
        ItemKind.LOG_PATTERN,
        ItemKind.LOG_ORDER,
    }
)
"""Item kinds that compare the time before an onset with the time after it, and so show which onset was
used."""

_OWN_METHODS = frozenset({"stated", "alert", "estimated"})
"""Onset origins of a tool that was given no onset argument."""


@dataclass(frozen=True, slots=True)
class QuestionScope:
    """What a tool call must be about to count for the question.

    Attributes:
        onset_s: the one time that everything is judged against, see `decide_onset`; None if the run has
            none.
        affected: the entities that a ranking may be about: the affected entities and the services they
            belong to.
    """

    inquiry: Inquiry
    onset_s: float | None = None
    affected: frozenset[str] = frozenset()

    @property
    def is_stated(self) -> bool:
        """Whether the onset was stated by the caller, so that no estimate counts."""
        return self.inquiry.onset_origin not in _ESTIMATED

    def is_at_its_time(self, record: EvidenceRecord, item: EvidenceItem) -> bool:
        """Whether an item compares the time of the question with normal operation.

        A call without an onset argument used the tool's own onset, which may differ from the question's, so
        a comparison must show that they are equal. A platform report has its own times: the trouble must
        have been present when the question's trouble began.
        """
        if item.kind is ItemKind.PLATFORM_EVENT:
            return self._is_own_onset(record) and self.onset_s is not None and lasts_into(item, self.onset_s)
        if not self.ends_with_it(record, item):
            return False
        compares = self.onset_s is not None and item.kind in COMPARING_KINDS
        if self.is_stated or compares:
            looked_s = _comparison_start(item)
            return looked_s is not None and self._is_one(looked_s)
        return self._is_own_onset(record)

    def is_evidence_of_it(self, record: EvidenceRecord, item: EvidenceItem) -> bool:
        """Whether an item may show how far a cause is explained: observed then, or weighed for that time.

        A change comes before the trouble. It counts if it was weighed for the time and affected entity of
        the question, and with its own distance from that time.
        """
        if item.kind is not ItemKind.CHANGE_EVENT:
            return self.is_at_its_time(record, item)
        given = record.arguments.get("alert_entity")
        before_s, at_s = item.attributes.get("before_onset_s"), item.onset_s
        if not self._is_own_onset(record) or not isinstance(before_s, int | float) or at_s is None:
            return False
        return (given is None or given in self.affected) and self._is_one(at_s + before_s)

    def has_looked_at(self, entity: str, record: EvidenceRecord) -> bool:
        """Whether a call compared all telemetry of an entity at the time of the question.

        Such a call shows when the entity began to differ, even if it found nothing. A call restricted to
        other entities, or to a number of findings that may have cut some off, does not.
        """
        rule, found, given = absence_rule(record.tool_name), record.projection, record.arguments
        if rule is None or not rule.compares or found is None or found.looked_at <= 0:
            return False
        limit = given.get("limit")
        is_cut = limit is not None and (found.omitted > 0 or limit == len(found.items))
        if is_cut or given.keys() - {"onset", "until", "limit", "calm", rule.entity}:
            return False
        if not _is_same_end(given.get("until"), self.inquiry.until_s):
            return False
        named = given.get(rule.entity)
        if named is not None and not (isinstance(named, list) and entity in named):
            return False
        if self.onset_s is not None:
            return found.window is not None and self._is_one(found.window.start_s)
        return given.get("onset") is None

    def is_ranking_of_it(self, record: EvidenceRecord) -> bool:
        """Whether a ranking is about this time, this affected entity and the alert's own signal."""
        scored = [item for item in record.items if item.kind is ItemKind.CAUSE_SCORE]
        return bool(scored) and all(
            self.is_at_its_time(record, item) and self._is_affected(record, item) for item in scored
        )

    def service_of(self, name: str | None) -> str | None:
        """The service that an affected entity is an instance of; the name itself if it is not an instance."""
        known = None if name is None else self.inquiry.inventory.entity(name)
        return name if known is None or known.owner is None else known.owner

    def may_support(self, claim: Claim, record: EvidenceRecord, item: EvidenceItem) -> bool:
        """Whether an item may support a claim. Claims of CAUSED and AFFECTED must be about the question.

        An observation at another time is still a fact, and states its window.
        """
        rule = rule_of(claim.predicate)
        match None if rule is None else rule.about:
            case About.ITS_RANKING:
                return self.is_ranking_of_it(record)
            case About.ITS_TIME:
                return self.is_at_its_time(record, item)
            case About.ITS_ONSET:
                return item.kind is not ItemKind.ONSET or self._is_own_onset(record)
            case About.ITSELF:
                return True
            case _:
                return False

    def has_looked_at_all(self, record: EvidenceRecord) -> bool:
        """Whether a call compared everything, up to the end of the question's time.

        A question without a time may be answered for any time, which the claims then name.
        """
        rule, found, given = absence_rule(record.tool_name), record.projection, record.arguments
        if rule is None or not rule.compares or found is None or found.looked_at <= 0:
            return False
        if given.keys() & {rule.entity, "limit"} or not _is_same_end(
            given.get("until"), self.inquiry.until_s
        ):
            return False
        return self.onset_s is None or (found.window is not None and self._is_one(found.window.start_s))

    def ends_with_it(self, record: EvidenceRecord, item: EvidenceItem) -> bool:
        """Whether an item compares exactly the time of the question, not a part chosen by a policy."""
        given, asked_s = record.arguments.get("until"), self.inquiry.until_s
        if given is None and asked_s is not None and item.window is not None:
            return item.window.end_s <= asked_s
        return _is_same_end(given, asked_s)

    def _is_own_onset(self, record: EvidenceRecord) -> bool:
        given = record.arguments.get("onset")
        return given is None or self._is_one(given)

    def _is_affected(self, record: EvidenceRecord, item: EvidenceItem) -> bool:
        inquiry, given = self.inquiry, record.arguments
        signal = given.get("alert_signal")
        if signal is not None and (signal != inquiry.alert_signal or item.peer != inquiry.alert_entity):
            return False
        if not inquiry.affected:
            return given.get("alert_entity") is None
        return item.peer in self.affected

    def _is_one(self, time_s: JsonValue) -> bool:
        at_s = self.onset_s
        return isinstance(time_s, int | float) and at_s is not None and is_same_time(time_s, at_s)


def question_scope(inquiry: Inquiry, records: Iterable[EvidenceRecord]) -> QuestionScope:
    """The scope that the tool calls of this run must match."""
    affected = frozenset(inquiry.affected).union(_owners(inquiry))
    return QuestionScope(inquiry, decide_onset(inquiry, records), affected)


def decide_onset(inquiry: Inquiry, records: Iterable[EvidenceRecord]) -> float | None:
    """Decide the onset of the question: the time the caller stated, otherwise the one that tools found.

    The tools check the time of an alert: it counts if they confirm it and found no earlier one. An onset
    passed as a call argument does not count, so a policy cannot choose the onset through its calls. Without
    a call that searched for the onset there is none.
    """
    if inquiry.onset_origin not in _ESTIMATED:
        return inquiry.onset_s
    is_unstated = inquiry.onset_origin is OnsetOrigin.NOBODY
    found = [
        item.onset_s
        for record in _own_searches(inquiry, records)
        for item in record.items
        if item.onset_s is not None and _is_own(item) and not (is_unstated and _is_searched(item))
    ]
    return min(found, default=None)


def _own_searches(inquiry: Inquiry, records: Iterable[EvidenceRecord]) -> list[EvidenceRecord]:
    """The calls about the question's entities that had to find the onset themselves.

    If no time was stated, calls about the entity named in the question take precedence over the rest of the
    system: only estimates or rankings of that entity count, and these report themselves if they found no
    onset.
    """
    own = [record for record in records if record.arguments.get("onset") is None]
    if inquiry.onset_origin is OnsetOrigin.ALERT:
        return own  # the tools then find one onset for all entities
    named = next(iter(inquiry.affected), None)
    entities = {None, inquiry.alert_entity} if named in {None, inquiry.alert_entity} else {named}
    return [record for record in own if _entity_of(record) in entities]


def _entity_of(record: EvidenceRecord) -> JsonValue:
    """The entity a call is about: an estimate names the entity, a ranking the affected entity."""
    return record.arguments.get("entity", record.arguments.get("alert_entity"))


def _owners(inquiry: Inquiry) -> Iterator[str]:
    """The services whose instances the question is about; an instance shares the symptoms of its service."""
    for name in inquiry.affected:
        known = inquiry.inventory.entity(name)
        if known is not None and known.owner is not None:
            yield known.owner


def own_onsets(records: Iterable[EvidenceRecord]) -> tuple[EvidenceItem, ...]:
    """The onsets that tools found, and used, without an onset argument."""
    return tuple(
        item
        for record in records
        if record.arguments.get("onset") is None
        for item in record.items
        if item.kind is ItemKind.ONSET and _is_own(item)
    )


def _is_same_end(given: JsonValue, asked_s: float | None) -> bool:
    if asked_s is None or given is None:
        return given is None and asked_s is None
    return isinstance(given, int | float) and is_same_time(given, asked_s)


def _is_own(item: EvidenceItem) -> bool:
    """Whether an item of a call without an onset argument shows which onset the tools used.

    A ranking does too.
    """
    used = item.attributes.get("used") is True and item.attributes.get("method") in _OWN_METHODS
    return item.onset_s is not None and (item.kind is ItemKind.CAUSE_SCORE or used)


def _is_searched(item: EvidenceItem) -> bool:
    """Whether only a search of the whole recording found the onset; it finds one on a healthy day too."""
    return item.attributes.get("shared") is True or item.attributes.get("onset_searched") is True


def _comparison_start(item: EvidenceItem) -> float | None:
    """The time from which an item compares with normal operation."""
    if item.kind is ItemKind.CAUSE_SCORE:
        return item.onset_s
    return None if item.window is None else item.window.start_s
