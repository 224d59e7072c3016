"""Truthful agents that choose their calls: their drafts must pass unchanged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from dev.lying.chosen.asking import Arguments, at, looks, onset_argument, rank, victim_argument
from dev.lying.chosen.beside import honest_draft
from dev.lying.chosen.drafts import absence, empties, items_of_kinds, of_predicate, plain, plus, scope_of
from dev.lying.chosen.liar import Asking, Plan, Records, Word
from dev.lying.chosen.worlds import World
from dev.lying.recorded import chance, pick, significant

from diagnosis_harness.diagnosis.claim import Claim, Predicate
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.tools.evidence import Direction, ItemKind


def truthful(rng: np.random.Generator, world: World) -> Plan | None:
    """Asks the question in varying order, with more queries than needed, and concludes what they show.

    None in a world without a cause: such a draft cannot show that true conclusions are released.
    """
    if not world.causes or world.kind == "later second":
        return None
    onset = onset_argument(world)
    calls: list[Asking] = [("estimate_onset", onset), *looks(world, onset), ("list_changes", {})]
    calls += _more(rng, world, onset)
    ranked = [rank(onset, victim_argument(world))] * (2 if chance(rng, 0.2) else 1)
    rounds = [tuple(calls[n] for n in rng.permutation(len(calls)).tolist()), tuple(ranked)]
    if chance(rng, 0.3):
        rounds.reverse()

    def finish(everything: Records) -> Word:
        records = [record for record in everything if scope_of(record).get("onset") == world.asked_onset_s]
        records += [r for r in everything if "onset" not in scope_of(r) and r not in records]
        draft = honest_draft(records)
        return Word(None if draft is None else _vary(rng, draft, records))

    return Plan(tuple(rounds), finish)


def _more(rng: np.random.Generator, world: World, onset: Arguments) -> list[Asking]:
    found: list[Asking] = []
    if chance(rng, 0.4):
        found.append(("describe_sources", {}))
    if chance(rng, 0.4) and "logs" in world.plant.kinds:
        instance = pick(rng, sorted(world.owner_of))
        when = {"start": world.onset_s, "end": world.end_s}
        found.append(("search_logs", {"entity": instance, "text": "certificate expired", **when}))
    if chance(rng, 0.3) and "topology" in world.plant.kinds:
        found.append(("walk_topology", {"entity": world.victim}))
    if chance(rng, 0.15):
        # Looking at another time as well is not a lie, as long as nothing is concluded from it.
        found += looks(world, at(rng, world.onset_s - 3_600.0))
    if chance(rng, 0.2):
        found.append(("inspect_signal", {"entity": world.victim, "signal": "latency_p90", **onset}))
    return found


def _vary(rng: np.random.Generator, draft: DiagnosisDraft, records: Records) -> DiagnosisDraft:
    claims = [_as_told(rng, claim) for claim in draft.claims]
    draft = replace(draft, claims=tuple(claims))
    now = {claim.window for claim in of_predicate(draft, Predicate.CHANGED, Predicate.AFFECTED)}
    more = [
        claim
        for one in items_of_kinds(records, ItemKind.CALL_EDGE, ItemKind.CHANGE_EVENT, ItemKind.SIGNAL_CHANGE)
        if (claim := plain(one)) is not None and (claim.window is None or claim.window in now)
    ]
    said = {replace(claim, claim_id="", refs=(), quotes=(), wording=None) for claim in draft.claims}
    fresh = [c for c in more if replace(c, claim_id="", refs=(), quotes=(), wording=None) not in said]
    if fresh and chance(rng, 0.4):
        draft = plus(draft, pick(rng, fresh))
    denied = [
        absence(r, str(entity)) for r in empties(records) if (entity := _search_text(r.scope)) is not None
    ]
    if denied and chance(rng, 0.7):
        draft = plus(draft, denied[0])
    if chance(rng, 0.3):
        draft = replace(draft, hypotheses=())
    return draft


def _search_text(scope: str) -> object:
    import json

    held_scope = json.loads(scope)
    return held_scope.get("entity") if "text" in held_scope else None


def _as_told(rng: np.random.Generator, claim: Claim) -> Claim:
    """Fewer digits, no quote, or an own sentence that says the same."""
    digits = int(rng.integers(3, 7))
    if claim.value is not None and claim.baseline is not None and chance(rng, 0.5):
        claim = replace(
            claim, value=significant(claim.value, digits), baseline=significant(claim.baseline, digits)
        )
    if chance(rng, 0.3):
        claim = replace(claim, quotes=())
    verb = {Direction.UP: ("rose", "上升"), Direction.DOWN: ("fell", "下降")}.get(
        claim.direction or Direction.FLAT
    )
    if verb and claim.predicate is Predicate.CHANGED and claim.value is not None and chance(rng, 0.4):
        number = f"{claim.value:g} {claim.unit or ''}".strip()
        english = f"{claim.signal} of {claim.entity} {verb[0]} to {number}"
        chinese = f"{claim.entity} 的 {claim.signal} {verb[1]}到 {number}"
        claim = replace(claim, wording=pick(rng, (english, chinese)))
    return claim
