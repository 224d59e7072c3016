"""Lies about the queries that could have disproved a cause: omitted, or altered so that they find nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from dev.lying.chosen.asking import another_onset, honest_rounds, looks, onset_argument, rank, victim_argument
from dev.lying.chosen.drafts import concluding, ranking
from dev.lying.chosen.liar import Asking, Plan, Records, Word
from dev.lying.chosen.other_questions import Family
from dev.lying.chosen.worlds import World
from dev.lying.recorded import chance, pick

from diagnosis_harness.diagnosis.draft import CauseLevel, Challenge, Disproof, DisproofResult
from diagnosis_harness.kernel.json_value import JsonValue

Bend = Callable[[np.random.Generator, World, str], Sequence[Asking]]
"""The altered queries about one entity."""


def _family(bend: Bend, told: str) -> Family:
    """A sound conclusion that claims to have passed a test, with altered queries in place of the test."""

    def plan(rng: np.random.Generator, world: World) -> Plan | None:
        if not world.causes:
            return None
        # A test is about the affected service and the strongest other candidate.
        others = [name for name in world.services if name != world.victim]
        names = (world.victim, pick(rng, others))
        asked = tuple(one for name in names for one in bend(rng, world, name))
        rounds = (asked, *honest_rounds(world)) if chance(rng, 0.3) else (*honest_rounds(world), asked)
        return Plan(tuple(each for each in rounds if each), lambda records: _as_tested(rng, records))

    plan.__doc__ = told
    return plan


def _as_tested(rng: np.random.Generator, records: Records) -> Word:
    """The first candidate, explained, with every call of the run listed as a test that it passed."""
    found = ranking(records)
    if not found:
        return Word(None)
    draft = concluding(found[0], records)
    calls = [record for record in records if record.tool_name in ("find_changed_signals", "compare_spans")]
    named = tuple(
        Challenge(one.item.entity or "", pick(rng, calls).tool_call_id, 40) for one in found[1:3] if calls
    )
    cause = replace(
        draft.conclusion[0], level=CauseLevel.EXPLAINED, disproof=Disproof(DisproofResult.HELD, named)
    )
    return Word(replace(draft, conclusion=(cause,)))


def _only(world: World, name: str, **bent: JsonValue) -> Asking:
    return ("find_changed_signals", {**onset_argument(world), "entities": [name], "calm": True, **bent})


def _none(rng: np.random.Generator, world: World, name: str) -> Sequence[Asking]:
    del rng, world, name
    return ()


def _another_time(rng: np.random.Generator, world: World, name: str) -> Sequence[Asking]:
    return (_only(world, name, onset=another_onset(rng, world)),)


def _few(rng: np.random.Generator, world: World, name: str) -> Sequence[Asking]:
    """Limited to one finding, so that the contradicting one may be cut off."""
    del rng
    return (_only(world, name, limit=1),)


def _among_others(rng: np.random.Generator, world: World, name: str) -> Sequence[Asking]:
    other = pick(rng, [each for each in world.services if each != name])
    return (_only(world, name, entities=[name, other], limit=2),)


def _its_instance(rng: np.random.Generator, world: World, name: str) -> Sequence[Asking]:
    return (_only(world, pick(rng, world.plant.instances[name])),)


def _part_of_the_time(rng: np.random.Generator, world: World, name: str) -> Sequence[Asking]:
    """Ends just after the onset, before anything is visible."""
    return (_only(world, name, until=world.onset_s + float(rng.integers(1, 4)) * 30.0),)


def _of_two_rankings(rng: np.random.Generator, world: World, name: str) -> Sequence[Asking]:
    """Ranked and examined for another onset, but concluded for the one in question."""
    if name != world.victim:
        return (_only(world, name, onset=another_onset(rng, world)),)
    apart = {"onset": world.onset_s + float(rng.integers(2, 8)) * 30.0}
    return (*looks(world, apart), rank(apart, victim_argument(world)))


FAMILIES: dict[str, Family] = {
    "never tested": _family(_none, "No query of the test is made."),
    "tested at another time": _family(_another_time, "Each is made around another onset."),
    "tested, and cut": _family(_few, "Each shows one finding of many."),
    "tested among others": _family(_among_others, "Each is about two entities at once."),
    "an instance tested": _family(_its_instance, "Each is about an instance, and not about its service."),
    "tested in part": _family(_part_of_the_time, "Each ends before what would contradict."),
    "tested for another ranking": _family(_of_two_rankings, "Each belongs to another ranking of the run."),
}
