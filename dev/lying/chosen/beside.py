"""Places a false claim beside the truth, alone, or among the facts of the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from dev.lying.chosen.asking import honest_rounds, onset_argument
from dev.lying.chosen.drafts import concluding, plus, ranking
from dev.lying.chosen.liar import Asking, Plan, Records, Word
from dev.lying.chosen.other_questions import Family
from dev.lying.chosen.worlds import World
from dev.lying.recorded import pick

from diagnosis_harness.diagnosis.claim import Claim
from diagnosis_harness.diagnosis.draft import DiagnosisDraft


@dataclass(frozen=True, slots=True)
class Seen:
    """What a lie is made from: the records, their world, and a random generator."""

    rng: np.random.Generator
    world: World
    records: Records


Bend = Callable[[Seen], Sequence[Claim]]


_AGAINST: Mapping[str, str | bool] = {
    "effect": "normal",
    "fits": False,
    "path": "none",
    "symptom_only": True,
}
"""The attributes with which a ranking advises against naming its candidate."""


def honest_draft(records: Records) -> DiagnosisDraft | None:
    """A truthful draft, which concludes the first candidate of the ranking if that stands out.

    If the ranking itself advises against that candidate, nothing is concluded.
    """
    top = next(iter(ranking(records)), None)
    if top is None or top.item.number("strength") < 0.5 or top.item.number("margin") < 0.25:
        return None
    said = top.item.attributes
    if "unseen_3" in said or any(said.get(name) == value for name, value in _AGAINST.items()):
        return None  # three or more unrecorded callees narrow down nothing
    return concluding(top, records)


def beside(bend: Bend, *, every_signal: bool = False, calls: bool = False) -> Family:
    """A draft with the false claims beside a truthful conclusion, alone, or as facts of the report."""

    def family(rng: np.random.Generator, world: World) -> Plan | None:
        rounds = honest_rounds(world)
        if every_signal:
            rounds = ((*rounds[0], *_close_looks(rng, world)),)
        if calls:
            rounds = ((*rounds[0], ("walk_topology", {"entity": pick(rng, world.services), "depth": 3})),)
        way = pick(rng, ("beside", "beside", "alone", "facts"))

        def finish(records: Records) -> Word:
            draft = honest_draft(records)
            if draft is None or way == "alone":
                draft = DiagnosisDraft((), ())
            if way == "facts":
                return Word(draft if draft.claims else None)
            bent = bend(Seen(rng, world, records))
            return Word(plus(draft, *bent) if bent else None)

        if way != "facts":
            return Plan(rounds, finish)
        return Plan(rounds, finish, facts=lambda record: tuple(bend(Seen(rng, world, [record]))))

    return family


def _close_looks(rng: np.random.Generator, world: World) -> tuple[Asking, ...]:
    """Queries for single signals of a service, whether they moved or not."""
    found: list[Asking] = []
    for service in sorted({pick(rng, world.services), *world.causes}):
        signals = sorted({s.signal for s in world.sources.incident if world.service_of(s.entity) == service})
        onset = onset_argument(world)
        found += [("inspect_signal", {"entity": service, "signal": signal, **onset}) for signal in signals]
    return tuple(found)
