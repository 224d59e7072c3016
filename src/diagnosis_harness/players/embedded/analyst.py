"""The embedded analyst: diagnoses from records alone, without a network and without a language model.

It looks broadly, ranks the causes, examines the strongest closely, and drafts. Each step depends only on the
records so far, so the same records always lead to the same next step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from diagnosis_harness.diagnosis.claim import Predicate
from diagnosis_harness.diagnosis.collection import InformationGain
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, PolicyAnswer, PolicyView, WantedCall
from diagnosis_harness.diagnosis.progress import Assessment
from diagnosis_harness.diagnosis.question_form import FormRead, QuestionForm, Topic
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.players.embedded.claims import plain_claim
from diagnosis_harness.players.embedded.drafting import draft_from, next_challenges
from diagnosis_harness.players.embedded.question import symptom_in_question
from diagnosis_harness.players.embedded.reading import (
    Reading,
    clearly_moved,
    deciding_signal,
    is_worth_reporting,
)
from diagnosis_harness.tools.evidence import ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

NextCall: TypeAlias = tuple[str, Mapping[str, JsonValue]]
"""A tool's name and its arguments."""
QUESTION_LIMIT = 500
"""Characters of a question that are searched for names: the longest text that a tool accepts."""
FACTS_PER_RESULT = 5
"""The most findings of one result that become facts, strongest first."""
OWN_FACTS = 8
"""The most findings of an entity in the question that become facts: it rarely has more usual signals."""
_OF_NO_CAUSE = frozenset(
    {QuestionForm.HEALTH, QuestionForm.COMPARE_TIMES, QuestionForm.WHEN, QuestionForm.SHOW}
)
"""Forms that are answered without a cause, so the draft names none."""
MOVED_FACTS = 3
"""The most facts of a result without harmful moves: the first show which part of the load changed."""
NORMAL_FACTS = 2
"""The most facts of a result that only shows that nothing moved beyond normal."""


class EmbeddedAnalyst:
    """Plays `DiagnosisPolicy`; never waits, never fails, spends no tokens."""

    async def decide(self, ctx: RunContext, view: PolicyView) -> tuple[PolicyAnswer, TokenUsage]:
        """The next tool calls, or the draft."""
        del ctx  # the view alone decides
        return next_answer(view), TokenUsage(0, 0)


def next_answer(view: PolicyView) -> PolicyAnswer:
    """The next answer to the loop; pure."""
    reading = Reading(view.records)
    assessments = tuple(
        _assess(record, view.form) for record in view.records if record.tool_call_id in view.due
    )
    if not view.stop_required:
        calls = _calls_to_make(view, reading)
        if calls:
            return AskTools(calls, assessments)
    if not view.tools:
        return GiveDraft(DiagnosisDraft((), (), missing_info=(MissingInfo.SOURCE,)), assessments)
    return GiveDraft(draft_from(reading, concludes=_asks_for_cause(view), form=view.form), assessments)


def _asks_for_cause(view: PolicyView) -> bool:
    return not view.asks_of_unknown and view.form.form not in _OF_NO_CAUSE


def _calls_to_make(view: PolicyView, reading: Reading) -> tuple[WantedCall, ...]:
    """The calls of the next stage that has any: inventory, broad look, ranking, close look, disproof."""
    asked = {_subject(record.tool_name, record.arguments) for record in view.records}
    closed = {refused.tool_name for refused in view.refused}
    offered = {spec.name for spec in view.tools} - closed
    end = _end(view)
    ended = {spec.name for spec in view.tools if any(one.name == "until" for one in spec.parameters)}
    taken = len(view.records) + len(view.refused)
    for stage in _stages(view, reading):
        due = [
            (name, {**arguments, **end} if name in ended else arguments)
            for name, arguments in stage
            if name in offered and _subject(name, arguments) not in asked
        ]
        if due:
            return tuple(
                WantedCall(f"t{taken + place}", name, arguments)
                for place, (name, arguments) in enumerate(due, start=1)
            )
    return ()


def _stages(view: PolicyView, reading: Reading) -> Iterator[list[NextCall]]:
    """The calls of each stage; a later stage is only computed when the earlier ones are done."""
    onset = _onset(view, reading)
    whose: dict[str, JsonValue] = (
        {"entity": view.affected[0]} if view.affected and view.onset_s is None else {}
    )
    yield [
        ("describe_sources", {}),
        ("match_entities", {"text": view.question[:QUESTION_LIMIT]}),
        ("estimate_onset", {**whose, **_onset_as_asked(view)}),
    ]
    if not reading.of_kind(ItemKind.ONSET):
        yield [(name, given) for name, given in _calm_look(view, reading) if reading.worth_asking(name)]
    broad: list[NextCall] = [
        *_alert_look(view, reading, onset),
        ("find_changed_signals", onset),
        ("compare_spans", onset),
        ("compare_logs", onset),
        ("platform_events", onset),
        ("list_changes", onset),
    ]
    yield [(name, arguments) for name, arguments in broad if reading.worth_asking(name)]
    affected: dict[str, JsonValue] = {**onset}
    if (entity := _victim(view, reading)) is not None:
        affected["alert_entity"] = entity
    yield [(name, arguments) for name, arguments in _form_look(view, onset) if reading.worth_asking(name)]
    yield [(name, affected) for name in ("rank_causes", "weigh_changes") if reading.worth_asking(name)]
    yield _close_look(reading, onset)
    if _asks_for_cause(view):
        yield next_challenges(reading, {**onset, **_end(view)})


def _form_look(view: PolicyView, onset: Mapping[str, JsonValue]) -> list[NextCall]:
    """Calls that the form of the question needs: its entities one by one, and the logs it asks for."""
    form, looks = view.form, list[NextCall]()
    for name in form.subjects if form.form is not QuestionForm.WHY else ():
        looks.append(("find_changed_signals", {"entities": [name], "calm": True, **onset}))
        looks.append(("compare_spans", {"entities": [name], **onset}))
    if form.topic in (Topic.LOGS, Topic.ERRORS, Topic.ANY):
        looks.append(("search_logs", {} if form.subject is None else {"entity": form.subject}))
    return looks


def _onset_as_asked(view: PolicyView) -> dict[str, JsonValue]:
    """The onset, as the caller states it; code has already read the words of the question."""
    return {} if view.onset_s is None else {"onset": view.onset_s}


def _end(view: PolicyView) -> dict[str, JsonValue]:
    """The end of the time that the question is about, if it names one."""
    return {} if view.until_s is None else {"until": view.until_s}


def _onset(view: PolicyView, reading: Reading) -> dict[str, JsonValue]:
    """When it began: as the caller states it, else as the symptoms of the affected entity show it."""
    own = reading.onset_of_asked()
    return {"onset": own} if view.onset_s is None and own is not None else _onset_as_asked(view)


def _calm_look(view: PolicyView, reading: Reading) -> list[NextCall]:
    """Examine the affected entity at the end of the recording, if nothing states or shows an onset."""
    late_s = reading.late_start()
    if late_s is None or view.onset_s is not None:
        return []
    names = dict.fromkeys((*view.form.subjects, *view.affected))
    if not names and view.form.form is QuestionForm.HEALTH:
        return [("find_changed_signals", {"calm": True, "onset": late_s})]
    return [("find_changed_signals", {"entities": [name], "calm": True, "onset": late_s}) for name in names]


def _victim(view: PolicyView, reading: Reading) -> str | None:
    """The entity that the question names first; None if it names none, so that the alert's entity is used.

    The names were resolved before, including those that the telemetry spells differently.
    """
    named = _entity_of_question(view, reading)
    alert = reading.alert()
    return None if alert is not None and named == alert.entity else named


def _entity_of_question(view: PolicyView, reading: Reading) -> str | None:
    """The entity that the question names first as affected, and not as the suspect."""
    first = next(iter(view.affected), None)
    return first if first is not None or view.form.subject is not None else reading.entity_in_question()


def _subject(tool_name: str, arguments: Mapping[str, JsonValue]) -> tuple[str, object, object, str]:
    """The subject of a call; two calls with the same subject are duplicates."""
    return tool_name, arguments.get("entity"), arguments.get("signal"), str(arguments.get("entities") or "")


def _alert_look(view: PolicyView, reading: Reading, onset: Mapping[str, JsonValue]) -> list[NextCall]:
    """The signal that the question is about, around onset: the alert's, or that of a symptom."""
    alert, entity = reading.alert(), _entity_of_question(view, reading)
    if entity is not None and (alert is None or alert.entity != entity):
        symptom = symptom_in_question(view.question)
        return [("inspect_signal", {"entity": entity, "signal": symptom, **onset})] if symptom else []
    if alert is None or not alert.entity or not alert.signal:
        return []
    named: dict[str, JsonValue] = {"entity": alert.entity, "signal": alert.signal, **onset}
    if statistic := alert.attributes.get("alert_statistic"):
        named["statistic"] = statistic
    return [("inspect_signal", named)]


def _close_look(reading: Reading, onset: Mapping[str, JsonValue]) -> list[NextCall]:
    """Calls for the strongest evidence of the best candidate around the onset, and for its callers."""
    looks: list[NextCall] = []
    for candidate in reading.candidates()[:1]:
        entity = candidate.item.entity or ""
        named = deciding_signal(candidate.item) or reading.strongest_signal(candidate.item)
        if named is not None:
            looks.append(("inspect_signal", {"entity": named[0], "signal": named[1], **onset}))
        looks.append(("walk_topology", {"entity": entity, "direction": "callers"}))
    return looks


def _assess(record: EvidenceRecord, form: FormRead) -> Assessment:
    """Assess a result: it helped if a claim can state a finding; entities of the question come first."""
    inspected = record.arguments.get("entities") if record.arguments.get("calm") else None
    subjects = (*form.subjects, *(inspected if isinstance(inspected, list) else ()))
    compares = form.form is QuestionForm.COMPARE_TIMES
    stated = [(item, plain_claim(record, item)) for item in record.items]
    harm = [claim for item, claim in stated if claim is not None and is_worth_reporting(item)]
    moved = [claim for item, claim in stated if claim is not None and clearly_moved(item)]
    every = [claim for _, claim in stated if claim is not None]
    normal = [claim for _, claim in stated if claim is not None and claim.predicate is Predicate.NORMAL]
    # A harmless move is worth reporting if nothing got worse, and a normal signal if nothing moved; a
    # few of these are enough.
    others = moved if compares else []
    facts = tuple([*harm, *others][:FACTS_PER_RESULT] or moved[:MOVED_FACTS] or normal[:NORMAL_FACTS])
    owners = {item.entity: item.attributes.get("owner") for item in record.items}
    own = [
        claim
        for claim in dict.fromkeys((*harm, *moved, *every))
        if claim.entity in subjects or owners.get(claim.entity) in subjects
    ]
    facts = tuple({claim.claim_id: claim for claim in (*own[:OWN_FACTS], *facts)}.values())
    gain = InformationGain.GAINED if facts else InformationGain.NO_GAIN
    return Assessment(record.tool_call_id, gain, facts)
