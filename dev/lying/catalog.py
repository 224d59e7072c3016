"""Every class of drafts by name: lies, truthful drafts, and wrong causes on true facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from dev.lying import (
    lies_absence,
    lies_citations,
    lies_conclusion,
    lies_names,
    lies_values,
    lies_wording,
    lies_words,
    truths,
)
from dev.lying.forged import Told
from dev.lying.recorded import Case, RecordedRun, pick

from diagnosis_harness.kernel.errors import ContractViolation

Teller = Callable[[np.random.Generator, Case], Told | None]

TRUTHFUL = "truthful"
WRONG_CAUSE = "wrong cause on true facts"
_TRIES = 400


@dataclass(frozen=True, slots=True)
class Sample:
    """One draft of a class, and its run."""

    kind: str
    run: RecordedRun
    told: Told


def _single_lies() -> Mapping[str, Teller]:
    return {
        "invented call": lies_citations.invent_call,
        "invented item": lies_citations.invent_item,
        "another run's finding": lies_citations.other_runs_finding,
        "unfit reference": lies_citations.unfit_reference,
        "invented quote": lies_citations.invent_quote,
        "altered quote": lies_citations.alter_quote,
        "verbatim quote, wrong record": lies_citations.quote_of_another,
        "value, near": lies_values.value_near,
        "value, far": lies_values.value_far,
        "unit": lies_values.unit,
        "window": lies_values.window,
        "onset": lies_values.onset,
        "direction": lies_values.direction,
        "right number, wrong entity": lies_names.number_of_another,
        "right number, wrong signal": lies_names.number_of_another_signal,
        "invented entity": lies_names.invent_entity,
        "control characters": lies_names.control_characters,
        "second entity": lies_names.second_entity,
        "predicate": lies_names.predicate,
        "absence": lies_absence.absence,
        "smuggled conclusion": lies_conclusion.smuggle_conclusion,
    }


def _whole_lies() -> Mapping[str, Teller]:
    return {
        "cause and victim swapped": lies_conclusion.cause_and_victim,
        "invented cause": lies_conclusion.invent_cause,
        "fault kind": lies_conclusion.fault_kind,
        "region": lies_conclusion.region,
        "score": lies_conclusion.score,
        "support of another": lies_conclusion.borrow_support,
        "candidate": lies_conclusion.hypothesis,
        "draft window": lies_values.draft_window,
        "missing information": lies_words.missing_info,
        "extra sentence": lies_wording.extra_sentence,
        "free wording": lies_wording.free_wording,
        "altered wording": lies_wording.alter_wording,
        "claim ids": lies_words.claim_ids,
        "oversized": lies_words.oversize,
        "from nothing": lies_words.from_nothing,
        "true mixed with false": true_with_false,
    }


def tellers() -> Mapping[str, Teller]:
    """Every class by name, in the order in which the figures list them."""
    return {
        **_single_lies(),
        **_whole_lies(),
        WRONG_CAUSE: lies_conclusion.wrong_cause,
        TRUTHFUL: truths.truthful,
    }


def true_with_false(rng: np.random.Generator, case: Case) -> Told | None:
    """Several lies of different classes among the true claims of one draft."""
    wanted = int(rng.integers(2, 5))
    names = list(_single_lies())
    told: Told | None = None
    for at in rng.permutation(len(names))[:wanted].tolist():
        told = _both(told, _single_lies()[names[at]](rng, case), at)
    return told


def _both(told: Told | None, more: Told | None, at: int) -> Told | None:
    """A draft with the false claims of two; where one replaced a true claim, the other's copy of it stays."""
    if told is None or more is None:
        return told or more
    held = set(told.draft.claims)
    added = {
        c.claim_id: replace(c, claim_id=f"{c.claim_id}-{at}") for c in more.draft.claims if c not in held
    }
    draft = replace(told.draft, claims=(*told.draft.claims, *added.values()))
    return Told(draft, (*told.forged, *more.forged), (*told.facts, *more.facts))


def samples(seed: int, runs: Sequence[RecordedRun], *, each: int) -> Iterator[Sample]:
    """`each` drafts of every class, always the same for a seed and the same runs.

    Raises:
        ContractViolation: the runs give no draft of a class, or of too few.
    """
    for number, (kind, teller) in enumerate(tellers().items()):
        rng = np.random.default_rng([seed, 2, number])
        made = tries = 0
        while made < each:
            case = Case(pick(rng, runs), pick(rng, runs))
            told = None if case.run is case.other else teller(rng, case)
            tries += 1
            if told is not None:
                made += 1
                yield Sample(kind, case.run, told)
            elif tries > _TRIES * (made + 1):
                raise ContractViolation(f"the recorded runs give too few drafts of the class {kind!r}")
