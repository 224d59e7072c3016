"""Plays whole runs by family, and counts released lies, true remainders, and refusals."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from dev.lying.chosen import left_out, nothing_there, other_questions, own_words, untested
from dev.lying.chosen.house import House, verifies
from dev.lying.chosen.liar import Liar
from dev.lying.chosen.other_questions import Family
from dev.lying.chosen.outcome import ANALYST, HONEST, TOLD, TRUTH, Choosing
from dev.lying.chosen.tally import Tally
from dev.lying.chosen.tampered import EDITS, Held, as_told, by_form_alone, objections_to
from dev.lying.chosen.truthful import truthful
from dev.lying.chosen.witness import Witness
from dev.lying.chosen.worlds import KINDS, make_world
from dev.lying.recorded import pick

from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.kernel.errors import ContractViolation, DiagnosisHarnessError
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.players.embedded.analyst import EmbeddedAnalyst
from diagnosis_harness.report.document import RunDocument

LIES: Mapping[str, Family] = {
    **other_questions.FAMILIES,
    **left_out.FAMILIES,
    **nothing_there.FAMILIES,
    **own_words.FAMILIES,
    **untested.FAMILIES,
}
FAMILIES = (*LIES, HONEST, ANALYST)
FORGED = (TOLD, *EDITS, TRUTH)
_TRIES = 60
_VERIFIED_EACH = 12
_FORGED_EACH = 10
"""One in this many documents is verified, and one is forged: each takes longer than the run."""


@dataclass(frozen=True, slots=True)
class Place:
    """A world, the product over it, and the witness who knows the truth about it."""

    house: House
    witness: Witness


@dataclass(frozen=True, slots=True)
class Played:
    """One draft, and the document of its run."""

    place: Place
    policy: Liar | EmbeddedAnalyst
    language: Language
    document: RunDocument

    @property
    def draft(self) -> DiagnosisDraft | None:
        """What the agent submitted, if it was one of ours."""
        return self.policy.word.draft if isinstance(self.policy, Liar) else None

    @property
    def untrue(self) -> tuple[str, ...]:
        """Sentences in it that are known to be false."""
        return self.policy.word.untrue if isinstance(self.policy, Liar) else ()

    @property
    def prose(self) -> tuple[str, ...]:
        """Texts written by the agent."""
        return self.policy.word.prose if isinstance(self.policy, Liar) else ()


async def places(seed: int, *, each: int) -> tuple[list[Place], int]:
    """Worlds of every kind in which the embedded analyst names no wrong cause, and the number of others.

    This measures what is released because of a lie; the quality of the ranking is measured elsewhere.
    """
    found, left = [], 0
    for kind in KINDS:
        for number in range(each):
            world = make_world(kind, number, seed)
            house = House(world)
            document = await house.run(EmbeddedAnalyst(), Language.EN)
            if {cause.entity for cause in document.report.causes} <= world.causes:
                found.append(Place(house, Witness(world, house.reference())))
            else:
                house.close()
                left += 1
    return found, left


async def play_families(
    seed: int, at: Sequence[Place], *, families: Sequence[str], each: int
) -> tuple[list[Tally], list[Tally]]:
    """Play drafts of every family, the same for a seed and the same worlds, and forge documents."""
    tallies: list[Tally] = []
    forged = {name: Tally(name, is_lie=name != TRUTH) for name in FORGED}
    for family in families:
        rng = np.random.default_rng([seed, 11, FAMILIES.index(family)])
        tally = Tally(family, is_lie=family in LIES)
        tries = 0
        while tally.drafts < each:
            tries += 1
            if tries > _TRIES * (tally.drafts + 1):
                raise ContractViolation(f"the worlds give too few drafts of the family {family!r}")
            one = await run_once(rng, at, tally)
            if one is not None:
                _count(tally, one)
                _forge(rng, forged, tally, one)
        tallies.append(tally)
    return tallies, list(forged.values())


async def run_once(rng: np.random.Generator, at: Sequence[Place], tally: Tally) -> Played | None:
    """Play one draft of a family in one world; None if it does not apply there, or the run crashed."""
    place = pick(rng, at)
    language = Language.ZH if rng.random() < 1 / 3 else Language.EN
    policy: Liar | EmbeddedAnalyst = EmbeddedAnalyst()
    if tally.family != ANALYST:
        plan = (truthful if tally.family == HONEST else LIES[tally.family])(rng, place.witness.world)
        if plan is None:
            return None
        policy = Liar(plan)
    try:
        document = await place.house.run(policy, language)
    except (DiagnosisHarnessError, ValueError, LookupError, TypeError, AttributeError, RuntimeError) as error:
        tally.crash(f"{type(error).__name__}: {error}")
        return None
    one = Played(place, policy, language, document)
    speechless = isinstance(policy, Liar) and one.draft is None and not policy.refused
    return None if speechless else one


def _count(tally: Tally, one: Played) -> None:
    objections = one.place.witness.objections(one.document.as_json(), one.untrue, one.prose)
    tally.count(one.document, objections, world=one.place.witness.world.kind)
    if tally.family == HONEST:
        tally.count_truth(one.document, claims=len(one.draft.claims) if one.draft else 0)
    if tally.drafts % _VERIFIED_EACH == 0 and not verifies(one.document):
        tally.unverified += 1
        tally.examples.setdefault("verify fails", str(one.document.report.summary))


def _forge(rng: np.random.Generator, forged: Mapping[str, Tally], tally: Tally, one: Played) -> None:
    """Sometimes forge the document as the agent wrote it, or edit an honest one; `verify` must reject it.

    As a control, an honest document is rewritten unchanged and must verify.
    """
    told: Held | None
    if tally.is_lie and tally.drafts % _FORGED_EACH:
        return
    held: Held = dict(one.document.as_json())
    name = TOLD if tally.is_lie else TRUTH if one.draft and rng.random() < 1 / 4 else pick(rng, tuple(EDITS))
    if name in EDITS:
        told = EDITS[name](rng, copy.deepcopy(held))
        told = None if told == held else told
    else:
        told = held if name == TRUTH else as_told(held, one.draft, one.language) if one.draft else None
    if told is None:
        return
    if name == TOLD and not one.place.witness.objections(told, one.untrue, one.prose):
        return  # by chance a truth
    found, failed = objections_to(told)
    forged[name].count_forged(objected=found, by_form=by_form_alone(failed), text=f"{tally.family}: {failed}")


async def _all_of_it(seed: int, worlds_each: int, each: int, families: Sequence[str]) -> Choosing:
    at, left = await places(seed, each=worlds_each)
    try:
        tallies, documents = await play_families(seed, at, families=families, each=each)
    finally:
        for place in at:
            place.house.close()
    return Choosing(seed, len(at), left, tuple(tallies), tuple(documents))


def play(seed: int, *, worlds_each: int, each: int, families: Sequence[str] = FAMILIES) -> Choosing:
    """Play this many drafts of every family, in this many worlds of every kind."""
    return asyncio.run(_all_of_it(seed, worlds_each, each, families))
