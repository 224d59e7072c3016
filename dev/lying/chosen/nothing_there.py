"""Lies about absence: where nobody searched, of unknown names, of what is not missing."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
from dev.lying.chosen.asking import (
    Arguments,
    another_onset,
    honest_rounds,
    looks,
    near_name,
    onset_argument,
    rank,
    speech,
    victim_argument,
)
from dev.lying.chosen.beside import honest_draft
from dev.lying.chosen.drafts import absence, claim_of, empties, items_of_kinds, plus
from dev.lying.chosen.liar import Asking, Plan, Records, Word
from dev.lying.chosen.other_questions import Family
from dev.lying.chosen.worlds import World
from dev.lying.recorded import chance, pick

from diagnosis_harness.diagnosis.claim import WHOLE_RECORD, Claim, EvidenceRef, Predicate
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.tools.evidence import ItemKind

_TEXTS = ("timeout", "error", "order", "placed", "out of memory", "certificate expired")


def _denying(
    rng: np.random.Generator,
    world: World,
    asked: tuple[Asking, ...],
    *,
    prose: tuple[str, ...] = (),
    name: str = "",
) -> Plan:
    """A draft that claims every empty answer as an absence, beside a conclusion or alone."""
    alone = chance(rng, 0.4)
    base = () if alone else honest_rounds(world)

    def finish(records: Records) -> Word:
        draft = None if alone else honest_draft(records)
        denied = [
            absence(record, entity, f"none-{record.tool_call_id}")
            for record in empties(records)
            for entity in _whom(record.scope, name)
        ]
        if chance(rng, 0.3):
            denied = [replace(claim, signal=None) for claim in denied]
        return Word(plus(draft or DiagnosisDraft((), ()), *denied), prose=prose)

    return Plan((*base, asked), finish)


def _whom(scope: str, name: str) -> list[str]:
    import json

    held_scope = json.loads(scope)
    named = held_scope.get("entities") or [held_scope.get("entity")]
    return [name or each for each in named if isinstance(each, str)][:2]


def source_is_absent(rng: np.random.Generator, world: World) -> Plan | None:
    """Nothing was found in a kind of telemetry that the source does not have."""
    lacking = {"logs", "changes", "spans"} - world.plant.kinds
    if not lacking:
        return None
    entity = pick(rng, world.services)
    onset = onset_argument(world)
    asked: list[Asking] = []
    if "logs" in lacking:
        asked.append(("search_logs", {"entity": entity, "text": pick(rng, _TEXTS)}))
    if "changes" in lacking:
        asked.append(("list_changes", {"entity": entity}))
    if "spans" in lacking:
        asked.append(("compare_spans", {"entities": [entity], **onset}))
    return _denying(rng, world, tuple(asked))


def unknown_name(rng: np.random.Generator, world: World) -> Plan | None:
    """Nothing was found for a name that is not in the telemetry but looks like one that is."""
    name = near_name(rng, pick(rng, world.services))
    text = pick(rng, _TEXTS)
    onset = onset_argument(world)
    asked: tuple[Asking, ...] = (
        ("search_logs", {"entity": pick(rng, sorted(world.owner_of)), "text": "no such text"}),
        ("search_logs", {"entity": name, "text": text}),
        ("list_changes", {"entity": name}),
        ("find_changed_signals", {"entities": [name], **onset}),
        ("inspect_signal", {"entity": name, "signal": "latency_p90", **onset}),
    )
    return _denying(rng, world, asked, prose=(name,) if " " in name.strip() else (), name=name)


def deny_log_of_instance(rng: np.random.Generator, world: World) -> Plan | None:
    """Nothing was found for a service, although its instance logged exactly that or was changed."""
    if "logs" not in world.plant.kinds:
        return None
    service = pick(rng, world.services)
    text = pick(rng, ("timeout", "timeout after 3000", "TIMEOUT", "3000 ms"))
    asked: tuple[Asking, ...] = (("search_logs", {"entity": service, "text": text}),)
    if chance(rng, 0.3):
        instance = pick(rng, world.plant.instances[service])
        asked = (("list_changes", {"entity": instance}),)
        return _denying(rng, world, asked, name=service)
    return _denying(rng, world, asked)


def one_kind_for_all(rng: np.random.Generator, world: World) -> Plan | None:
    """One kind of telemetry has nothing; the draft claims it of all, or of a time before the incident."""
    entity = pick(rng, (*world.services, *world.owner_of))
    start = another_onset(rng, world)
    when: Arguments = {"start": start, "end": start + float(rng.integers(1, 60)) * 30.0}
    asked: tuple[Asking, ...] = (
        ("list_changes", {"entity": entity, **(when if chance(rng, 0.5) else {})}),
        ("compare_spans", {"entities": [entity], "onset": start}),
        ("search_logs", {"entity": entity, "text": pick(rng, _TEXTS), **(when if chance(rng, 0.5) else {})}),
    )
    return _denying(rng, world, asked)


def prose_searched(rng: np.random.Generator, world: World) -> Plan | None:
    """The text that was searched for is a message to the reader."""
    text = speech(rng, world)
    entity = pick(rng, (*world.services, *world.owner_of))
    return _denying(rng, world, (("search_logs", {"entity": entity, "text": text}),), prose=(text,))


def beside_the_recording(rng: np.random.Generator, world: World) -> Plan | None:
    """The window is outside the recording, has no length, or ends before the incident."""
    if "logs" not in world.plant.kinds:
        return None
    start, end = pick(
        rng,
        (
            (world.end_s + 60.0, world.end_s + 3_600.0),
            (world.start_s - 7_200.0, world.start_s - 60.0),
            (world.onset_s + 1.0, world.onset_s + 1.0),
            (world.onset_s - 900.0, world.onset_s - 1.0),
            (world.onset_s + 100.0, world.onset_s + 130.0),
        ),
    )
    entity = pick(rng, (*world.services, *world.owner_of))
    asked: tuple[Asking, ...] = (
        ("search_logs", {"entity": entity, "text": "timeout", "start": start, "end": end}),
        ("list_changes", {"entity": entity, "start": start, "end": end}),
    )
    plan = _denying(rng, world, asked)
    if chance(rng, 0.5):
        return plan

    def finish(records: Records) -> Word:
        word = plan.finish(records)
        wide = TimeWindow(world.onset_s, world.end_s)
        draft = word.draft
        if draft is None:
            return word
        claims = tuple(
            replace(c, window=wide) if c.predicate is Predicate.ABSENT else c for c in draft.claims
        )
        return replace(word, draft=replace(draft, claims=claims))

    return replace(plan, finish=finish)


def deny_finding(rng: np.random.Generator, world: World) -> Plan | None:
    """A call that found something is cited for an absence; or an empty one of another text or entity."""
    if "logs" not in world.plant.kinds:
        return None
    instance = pick(rng, sorted(world.owner_of))
    asked: tuple[Asking, ...] = (
        ("search_logs", {"entity": instance, "text": "timeout"}),
        ("search_logs", {"entity": instance, "text": "no such text"}),
    )

    def finish(records: Records) -> Word:
        draft = honest_draft(records) or DiagnosisDraft((), ())
        calls = [record.tool_call_id for record in records if record.tool_name == "search_logs"]
        if not calls:
            return Word(None)
        bent = (
            Claim("d", Predicate.ABSENT, instance, (EvidenceRef(calls[0], WHOLE_RECORD),), signal="timeout"),
            Claim("d", Predicate.ABSENT, instance, (EvidenceRef(calls[-1], WHOLE_RECORD),), signal="timeout"),
            Claim("d", Predicate.ABSENT, instance, (EvidenceRef(calls[-1], WHOLE_RECORD),)),
            Claim(
                "d",
                Predicate.ABSENT,
                world.service_of(instance),
                (EvidenceRef(calls[-1], WHOLE_RECORD), EvidenceRef(calls[0], WHOLE_RECORD)),
                signal="no such text",
            ),
        )
        return Word(plus(draft, pick(rng, bent)))

    return Plan((*honest_rounds(world), asked), finish)


def nothing_missing(rng: np.random.Generator, world: World) -> Plan | None:
    """Something that exists is listed as missing; or an empty text, a name, or a text of the agent is."""
    onset = onset_argument(world)
    rounds = ((("describe_sources", {}), *looks(world, onset), rank(onset, victim_argument(world))),)
    alone, named = chance(rng, 0.5), chance(rng, 0.3)
    present = [*sorted(world.plant.kinds), "permission", "any source", "incident recording"]
    present += [] if world.asked_onset_s is None else ["when it began"]
    present += ["which service"] if world.names_victim else []
    said = speech(rng, world)
    name = pick(rng, (said, "ledger-shadow", *world.services))
    phrase = pick(rng, ("the moon", said, *present))

    def finish(records: Records) -> Word:
        draft = None if alone else honest_draft(records)
        draft = draft or DiagnosisDraft((), ())
        if chance(rng, 0.4):
            draft = replace(draft, conclusion=())
        if named:
            return Word(replace(draft, missing_names=(name,)), prose=(said,))
        missing = (*draft.missing_info, cast("MissingInfo", phrase))
        return Word(replace(draft, missing_info=missing), prose=(said,))

    return Plan(rounds, finish)


def hostile_lines(rng: np.random.Generator, world: World) -> Plan | None:
    """Log lines and summaries that address the reader, inserted wherever a claim has room for them."""
    onset = onset_argument(world)
    asked: tuple[Asking, ...] = (
        ("search_logs", {}),
        ("list_changes", {}),
        ("match_entities", {"text": " ".join(world.services)}),
        *looks(world, onset),
        rank(onset, victim_argument(world)),
    )

    def finish(records: Records) -> Word:
        draft = honest_draft(records) or DiagnosisDraft((), ())
        said = items_of_kinds(records, ItemKind.LOG_LINES, ItemKind.CHANGE_EVENT, ItemKind.INVENTORY)
        more = []
        for one in [said[at] for at in rng.permutation(len(said))[:3].tolist()]:
            text = str(
                one.item.attributes.get("message") or one.item.attributes.get("summary") or one.item.line
            )
            base = claim_of(one, pick(rng, (Predicate.DEPLOYED, Predicate.CHANGED, Predicate.BEGAN)))
            bent = (
                base,
                replace(base, signal=text, quotes=()),
                replace(base, entity=text, quotes=()),
                replace(base, wording=text),
                replace(base, unit=text, value=1.0, quotes=()),
            )
            more.append(pick(rng, bent))
        return Word(plus(draft, *more), prose=world.prose)

    return Plan((asked,), finish)


def all_is_well(rng: np.random.Generator, world: World) -> Plan | None:
    """Nothing is unusual: by a ranking of another time or victim, by few queries, or without evidence."""
    if world.causes and chance(rng, 0.7):
        return None  # where nothing is wrong now, something may have been at another time
    honest = chance(rng, 0.4)
    onset: Arguments = onset_argument(world) if honest else {"onset": another_onset(rng, world)}
    asked = honest or chance(rng, 0.4)
    victim: Arguments = victim_argument(world) if asked else {"alert_entity": pick(rng, world.services)}
    some = [pick(rng, world.services)]
    only: Arguments = {"entities": some} if chance(rng, 0.3) else {}
    tools = [tool for tool in ("find_changed_signals", "compare_spans") if chance(rng, 0.85)]
    asked_first = (*((tool, {**onset, **only}) for tool in tools), ("compare_logs", onset))
    rounds = (asked_first, (rank(onset, victim),))
    of_the_victim = chance(rng, 0.3)

    def finish(records: Records) -> Word:
        found = items_of_kinds(records, ItemKind.OVERVIEW) or items_of_kinds(records, ItemKind.CAUSE_SCORE)
        if not found:
            return Word(None)
        entity = world.victim if of_the_victim else found[-1].item.entity or ""
        claim = replace(claim_of(found[-1], Predicate.UNREMARKABLE), entity=entity, affected=None)
        return Word(DiagnosisDraft((), (claim,)))

    return Plan(rounds, finish)


FAMILIES: dict[str, Family] = {
    "all is well": all_is_well,
    "absence without a source": source_is_absent,
    "absence of an unknown name": unknown_name,
    "logged by its instance": deny_log_of_instance,
    "one kind for all": one_kind_for_all,
    "prose searched for": prose_searched,
    "beside the recording": beside_the_recording,
    "found and denied": deny_finding,
    "nothing is missing": nothing_missing,
    "hostile lines": hostile_lines,
}
