"""Whether a recorded tool call is about what was asked: its time, and the affected entity. Pure.

A policy chooses the arguments of its calls, so it may record a correct ranking of an older trouble, or of
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
"""Where the tools find the onset themselves: nobody stated it, or an alert did, which fires after it."""

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
"""Kinds that compare what came before an onset with what came after it, and so show which onset was used."""

_OWN_METHODS = frozenset({"stated", "alert", "estimated"})
"""How a tool knows an onset that no argument gave it."""


@dataclass(frozen=True, slots=True)
class QuestionScope:
    """What a tool call must be about to count for the question.

    Attributes:
        onset_s: the one time that everything is judged against, see `decide_onset`; None where the run has
            none.
        victims: whom a ranking may be of: the affected entities, and the services that those are a part of.
    """

    inquiry: Inquiry
    onset_s: float | None = None
    victims: frozenset[str] = frozenset()

    @property
    def is_stated(self) -> bool:
        """Whether somebody stated when it began, so that no estimate counts."""
        return self.inquiry.onset_origin not in _ESTIMATED

    def is_at_its_time(self, record: EvidenceRecord, item: EvidenceItem) -> bool:
        """Whether an item compares the time of the question with normal.

        A call that was given no onset took the tools' own, which need not be the question's: what compares
        must show that it is the same. What a platform reported has times of its own: it must have lasted when
        the question's trouble began.
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
        """Whether an item may show how far a cause is explained: observed at its time, or weighed for it.

        A change comes before the trouble. It counts as it was weighed for the question's time and victim, and
        by its own distance from that time.
        """
        if item.kind is not ItemKind.CHANGE_EVENT:
            return self.is_at_its_time(record, item)
        given = record.arguments.get("alert_entity")
        before_s, at_s = item.attributes.get("before_onset_s"), item.onset_s
        if not self._is_own_onset(record) or not isinstance(before_s, int | float) or at_s is None:
            return False
        return (given is None or given in self.victims) and self._is_one(at_s + before_s)

    def has_looked_at(self, entity: str, record: EvidenceRecord) -> bool:
        """Whether a call compared everything that telemetry holds of an entity, at the time of the question.

        Such a call shows when the entity began to differ, also by finding nothing. A call that was narrowed
        to other entities, or to a number of findings that may have cut some off, does not.
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
        """Whether a ranking is of this time and this affected entity, with the alert's own signal."""
        scored = [item for item in record.items if item.kind is ItemKind.CAUSE_SCORE]
        return bool(scored) and all(
            self.is_at_its_time(record, item) and self._is_affected(record, item) for item in scored
        )

    def service_of(self, name: str | None) -> str | None:
        """The service that an affected entity is an instance of; the name itself where it is none."""
        known = None if name is None else self.inquiry.inventory.entity(name)
        return name if known is None or known.owner is None else known.owner

    def may_support(self, claim: Claim, record: EvidenceRecord, item: EvidenceItem) -> bool:
        """Whether an item may support a claim: who caused it, or is affected, must be about the question.

        What was observed at another time is still a fact, and states its window.
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
        """Whether a call compared everything there is, up to the end of the question.

        A question without a time may be answered at any time that the claims then name.
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
        """Whether an item compares no more than the time of the question, and no part that a policy chose."""
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
        return item.peer in self.victims

    def _is_one(self, time_s: JsonValue) -> bool:
        at_s = self.onset_s
        return isinstance(time_s, int | float) and at_s is not None and is_same_time(time_s, at_s)


def question_scope(inquiry: Inquiry, records: Iterable[EvidenceRecord]) -> QuestionScope:
    """What looks of this run must be about."""
    victims = frozenset(inquiry.affected).union(_owners(inquiry))
    return QuestionScope(inquiry, decide_onset(inquiry, records), victims)


def decide_onset(inquiry: Inquiry, records: Iterable[EvidenceRecord]) -> float | None:
    """The one time of the question: as somebody stated it, else as the tools of the run found it themselves.

    The time of an alert is one that the tools look at: it counts where they keep it, and not beside an
    earlier one that they found. What a call was given is nobody's time, so no choice of calls chooses it;
    without any own look of the tools there is none.
    """
    if inquiry.onset_origin not in _ESTIMATED:
        return inquiry.onset_s
    nobody = inquiry.onset_origin is OnsetOrigin.NOBODY
    found = [
        item.onset_s
        for record in _own_looks(inquiry, records)
        for item in record.items
        if item.onset_s is not None and _is_own(item) and not (nobody and _is_searched(item))
    ]
    return min(found, default=None)


def _own_looks(inquiry: Inquiry, records: Iterable[EvidenceRecord]) -> list[EvidenceRecord]:
    """The calls that were left to find the onset themselves, of whom the question is about.

    Where nobody stated a time, whom the question names decides before the rest of the system: only what was
    asked of it, an estimate or a ranking, which says so itself where it shows no onset of its own.
    """
    own = [record for record in records if record.arguments.get("onset") is None]
    if inquiry.onset_origin is OnsetOrigin.ALERT:
        return own  # the tools have one answer then, whomever a call names
    named = next(iter(inquiry.affected), None)
    of_whom = {None, inquiry.alert_entity} if named in {None, inquiry.alert_entity} else {named}
    return [record for record in own if _entity_of(record) in of_whom]


def _entity_of(record: EvidenceRecord) -> JsonValue:
    """Whom a call asks about: an estimate names the entity, a ranking the affected one."""
    return record.arguments.get("entity", record.arguments.get("alert_entity"))


def _owners(inquiry: Inquiry) -> Iterator[str]:
    """The services whose instances are asked about: what a service shows, its instances show."""
    for name in inquiry.affected:
        known = inquiry.inventory.entity(name)
        if known is not None and known.owner is not None:
            yield known.owner


def own_onsets(records: Iterable[EvidenceRecord]) -> tuple[EvidenceItem, ...]:
    """The onsets that tools found without being given any, and use."""
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
    """Whether an item of a call without an onset shows which one the tools used; a ranking does too."""
    used = item.attributes.get("used") is True and item.attributes.get("method") in _OWN_METHODS
    return item.onset_s is not None and (item.kind is ItemKind.CAUSE_SCORE or used)


def _is_searched(item: EvidenceItem) -> bool:
    """Whether only a search of the whole recording found it; on a day without an incident too."""
    return item.attributes.get("shared") is True or item.attributes.get("onset_searched") is True


def _comparison_start(item: EvidenceItem) -> float | None:
    """From which instant on an item compares with normal."""
    if item.kind is ItemKind.CAUSE_SCORE:
        return item.onset_s
    return None if item.window is None else item.window.start_s
