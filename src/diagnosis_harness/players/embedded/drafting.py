"""The analyst's draft: a conclusion if one candidate stands out, and the facts in reading order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from diagnosis_harness.diagnosis.claim import Claim, Predicate
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft, Hypothesis
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.diagnosis.question_form import NO_FORM, FormRead, QuestionForm, Topic
from diagnosis_harness.guards.disproof import DISPROVING_TOOLS, challengers_of, is_challenge
from diagnosis_harness.guards.harm import is_harm
from diagnosis_harness.guards.levels import scope_of
from diagnosis_harness.guards.rankings import fault_kind_of
from diagnosis_harness.guards.weaknesses import stands_beside, stands_out
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.players.embedded.claims import claim_of, plain_claim, sound_claim
from diagnosis_harness.players.embedded.reading import (
    OBSERVED_KINDS,
    Found,
    Reading,
    is_fitting_change,
    is_recent_change,
)
from diagnosis_harness.tools.evidence import ItemKind

DIRECT_CLAIMS = 3  # of one entity: a reader takes in three findings before the next heading
HYPOTHESES = 5  # as many as a reader may be asked to look at (`guards.candidates`)


def draft_from(
    reading: Reading, *, concludes: bool = True, form: FormRead = NO_FORM
) -> DiagnosisDraft | None:
    """The draft from the records; None when they hold no findings.

    Args:
        concludes: False to name no cause, whatever the records show.
        form: names the entities of the question; the draft reports what was seen of them.
    """
    candidates = reading.candidates()
    named = _causes_to_name(reading) if concludes else ()
    conclusions = [_conclusion_of(reading, found) for found in named]
    claims = _conclusion_claims(reading, named, conclusions) if named else _open_claims(reading)
    claims = tuple({each.claim_id: each for each in (*claims, *_claims_about(reading, form))}.values())
    missing = _missing(reading)
    if not claims and not missing and not candidates:
        return None
    return DiagnosisDraft(
        conclusion=tuple(_cause(found, *own) for found, own in zip(named, conclusions, strict=True)),
        claims=claims,
        hypotheses=tuple(_hypothesis(reading, found) for found in candidates[:HYPOTHESES]),
        missing_info=missing,
        window=candidates[0].item.window if candidates else None,
    )


def _causes_to_name(reading: Reading) -> tuple[Found, ...]:
    """The candidates that may be named as causes: the first, and one that broke by itself beside it."""
    candidates = reading.candidates()
    if not candidates or not stands_out(candidates[0].item) or not _direct_claims(reading, candidates[0]):
        return ()
    first = candidates[0]
    beside = (each for each in candidates[1:] if stands_beside(each.item, first.item))
    return (first, *(each for each in beside if _direct_claims(reading, each)))


def next_challenges(
    reading: Reading, time: Mapping[str, JsonValue]
) -> list[tuple[str, Mapping[str, JsonValue]]]:
    """The queries that could disprove the causes about to be concluded, one for each challenger.

    Metrics come first, since they show what began first; if they hold nothing of the challenger, the next
    kind of telemetry is queried.

    Args:
        time: the onset and the end that were passed to the ranking.
    """
    ranked = [each.item for each in reading.candidates()]
    names = (name for each in _causes_to_name(reading) for name in challengers_of(each.item, ranked))
    wanted = ((name, _tool_to_ask(reading, name, time)) for name in dict.fromkeys(names))
    return [(tool, {"entities": [name], **time}) for name, tool in wanted if tool is not None]


def _tool_to_ask(reading: Reading, entity: str, time: Mapping[str, JsonValue]) -> str | None:
    """The next tool that can compare the entity by itself; None once a tool has done so."""
    if any(is_challenge(record, entity, time) for record in reading.records):
        return None
    asked = {each.tool_name for each in reading.records if each.arguments.get("entities") == [entity]}
    return next((tool for tool in DISPROVING_TOOLS if tool not in asked and reading.worth_asking(tool)), None)


def _cause(found: Found, caused: Claim, direct: tuple[Claim, ...]) -> Cause:
    item = found.item
    region = item.attributes.get("region")
    return Cause(
        entity=item.entity or "",
        fault_kind=fault_kind_of(item),
        claim_ids=(caused.claim_id, *(claim.claim_id for claim in direct)),
        region=str(region) if region else None,
        score=item.score,
    )


def _direct_claims(reading: Reading, found: Found) -> tuple[Claim, ...]:
    """Observations of the candidate itself, one claim for each kind of finding, the deciding kind first."""
    claims: dict[tuple[ItemKind, object], Claim] = {}
    for each in reading.harms(found.item):
        key = (each.item.kind, each.item.attributes.get("kind"))
        if key not in claims and (claim := plain_claim(each.record, each.item)) is not None:
            claims[key] = claim
    return tuple(claims.values())[:DIRECT_CLAIMS]


def _conclusion_of(reading: Reading, found: Found) -> tuple[Claim, tuple[Claim, ...]]:
    """The claim that a candidate is a cause, and the observations of it."""
    return claim_of(found.record, found.item, Predicate.CAUSED), _direct_claims(reading, found)


def _conclusion_claims(
    reading: Reading, named: Sequence[Found], conclusions: Sequence[tuple[Claim, tuple[Claim, ...]]]
) -> tuple[Claim, ...]:
    """Causes, what was observed of them, what the affected entity shows, when it began, changes that fit."""
    affected, causes = named[0].item.peer, [found.item.entity for found in named]
    effects: list[Claim | None] = []
    if affected and affected not in causes:
        shows = [each for each in reading.about(affected, ItemKind.SIGNAL_CHANGE) if is_harm(each.item)]
        # The alerting signal is more informative than the signal that moved most.
        shows.sort(key=lambda each: (each.record.tool_name != "inspect_signal", each.item.entity != affected))
        hit = (sound_claim(each.record, each.item, Predicate.AFFECTED) for each in shows)
        effects.append(next(filter(None, hit), None))
    effects += [plain_claim(each.record, each.item) for each in reading.of_kind(ItemKind.ONSET)]
    beside = [
        claim
        for found in named
        for name in dict.fromkeys((found.item.entity or "", *scope_of(found.item)))
        for claim in _steps_of(reading, name)
    ]
    own = [claim for caused, direct in conclusions for claim in (caused, *direct)]
    own += (claim_of(each.record, each.item, Predicate.INDEPENDENT) for each in named[1:])
    every = (*own, *beside, *effects, *_states(reading), *_changes_before(reading))
    stated = (claim for claim in every if claim is not None)
    return tuple({claim.claim_id: claim for claim in stated}.values())


def _steps_of(reading: Reading, entity: str) -> tuple[Claim, ...]:
    """The other signals of an entity that clearly moved and, if any did, the changes made to it.

    A fall to zero, or a count with an unknown name, may be more informative than known harm.
    """
    steps = _state_all(reading.steps(entity))
    return (*steps, *_state_all(reading.recent_changes(entity))) if steps else ()


def _states(reading: Reading) -> tuple[Claim, ...]:
    """The states that tools found, such as an entity whose series ended while others continue."""
    return _state_all(reading.of_kind(ItemKind.STATE))


def _changes_before(reading: Reading) -> tuple[Claim, ...]:
    """Changes shortly before the onset, reported without concluding any.

    Those that fit in time, place and words come first, likeliest first; then the others, nearest first, so
    that a reader need not ask for them.
    """
    weighed = [each for each in reading.of_kind(ItemKind.CHANGE_EVENT) if "verdict" in each.item.attributes]
    recent = [each for each in weighed if is_recent_change(each.item)]
    others = [each for each in recent if not is_fitting_change(each.item)]
    others.sort(key=lambda each: each.item.number("before_onset_s"))
    return _state_all([*(each for each in recent if is_fitting_change(each.item)), *others])


def _claims_about(reading: Reading, form: FormRead) -> tuple[Claim, ...]:
    """Observations of the entities in the question: what moved most, when, and changes to them."""
    if form.form is QuestionForm.SHOW and form.topic is Topic.CHANGES:
        every = reading.of_kind(ItemKind.CHANGE_EVENT)
        return _state_all(
            every if form.subject is None else reading.about(form.subject, ItemKind.CHANGE_EVENT)
        )
    claims: list[Claim] = []
    for name in form.subjects:
        moved = reading.about(name, *OBSERVED_KINDS)
        harmful = sorted(moved, key=lambda each: not is_harm(each.item))
        changes = reading.about(name, ItemKind.CHANGE_EVENT)
        recent = [each for each in changes if is_recent_change(each.item)]
        claims += (
            *_state_all([*harmful, *recent]),
            *_state_all(reading.about(name, ItemKind.ONSET, ItemKind.COUNT)),
        )
    if form.form is QuestionForm.WHEN:
        claims += _state_all(reading.of_kind(ItemKind.ONSET))
    return tuple(claims)


def _state_all(found: Sequence[Found]) -> tuple[Claim, ...]:
    stated = (plain_claim(each.record, each.item) for each in found)
    return tuple(claim for claim in stated if claim is not None)[:DIRECT_CLAIMS]


def _open_claims(reading: Reading) -> tuple[Claim, ...]:
    """Claims of a draft without a conclusion: the alerting signal, then evidence for the first candidate."""
    alert = reading.alert()
    shown = [
        plain_claim(each.record, each.item)
        for each in (reading.about(alert.entity, ItemKind.SIGNAL_CHANGE) if alert and alert.entity else ())
        if each.record.tool_name == "inspect_signal"
    ]
    suspected: list[Claim] = []
    for found in reading.candidates()[:1]:
        name = found.item.entity or ""
        suspected += (
            *_direct_claims(reading, found),
            *_state_all(reading.recent_changes(name)),
            *(claim for each in (name, *scope_of(found.item)) for claim in _steps_of(reading, each)),
        )
    stated = (claim for claim in shown if claim is not None)
    sound = (
        sound_claim(each.record, each.item, Predicate.UNREMARKABLE)
        for each in reading.of_kind(ItemKind.OVERVIEW)
    )
    return (*filter(None, sound), *stated, *_states(reading), *suspected, *_changes_before(reading))


def _hypothesis(reading: Reading, found: Found) -> Hypothesis:
    item = found.item
    explained_by = item.attributes.get("explained_by")
    against = reading.about(str(explained_by), *OBSERVED_KINDS)[:1] if explained_by else ()
    region = item.attributes.get("region")
    return Hypothesis(
        entity=item.entity or "",
        fault_kind=fault_kind_of(item),
        score=item.score or 0.0,
        evidence_for=(found.ref, *(each.ref for each in reading.harms(item)[:DIRECT_CLAIMS])),
        evidence_against=tuple(each.ref for each in against),
        region=str(region) if region else None,
    )


def _missing(reading: Reading) -> tuple[MissingInfo, ...]:
    """Missing telemetry, according to the inventory, that would have helped.

    A separate baseline is not missing if the recording itself reaches well back before the onset.
    """
    lacking = {found.item.attributes.get("missing") for found in reading.of_kind(ItemKind.INVENTORY)}
    known = {MissingInfo.BASELINE} if reading.has_normal_before() else set()
    return tuple(each for each in MissingInfo if each.value in lacking and each not in known)
