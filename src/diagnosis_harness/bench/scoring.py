"""Compares one finished run with the truth.

Ties count against us. The place of the right answer is its place in the list of released causes followed by
the unproven candidates, without entities that the data set leaves out and without repeats. If several
entities are at fault, the best place of any of them counts; how many of them were released is scored
separately.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

from diagnosis_harness.bench.case import BenchRun, Ranked, Truth
from diagnosis_harness.bench.changes import SUCCESS, TRIGGER, ChangeOutcome, judge_changes
from diagnosis_harness.diagnosis.claim import BROADER

ANSWERS = frozenset({SUCCESS, "FALLBACK"})
SCOPE_MAX = 3  # a scoped answer that names more entities narrows down nothing
RIGHT, WRONG, FALSE_ALARM = "released, right", "released, wrong", "false alarm"
FIRST, NOT_FIRST, QUIET = "candidate, first", "not first", "nothing released"
WORD = re.compile(r"\w+")
SCOPED = "SCOPED"
LEVELS_IN_ORDER = ("NONE", SCOPED, "LOCALISED", "EXPLAINED", TRIGGER)
"""The levels of a truth, from nothing upwards, which include those of `CauseLevel`."""
EXPLAINING = frozenset({"EXPLAINED", TRIGGER})


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run compared with its truth. None means that this data set, or this answer, does not provide it.

    Attributes:
        place: counts from 1; None when nothing at fault was named, or nothing was wrong.
        released: the run ended in SUCCESS, with a cause, a scoped cause or a statement that there is none.
        right: a release whose causes were all at fault; if nothing was, a release that says so, by a
            claim of the truth's kind or by the statement that nothing unusual was found. None for a fallback.
        wrong: a release that names an innocent entity as a cause, the only one or one of several, or a
            cause where nothing was wrong. A success without any such statement is neither.
        first: the entity that the answer names first, proven or not.
        kind_right: the first named entity that counts is at fault, and its kind of fault is one of those that
            the truth names or one that is right as well.
        kind_as_frozen: the same, by the kinds of the truth alone.
        region_right: the first named entity that counts is at fault, and the place in it that is named is the
            right one.
        named_or_scoped: what was at fault is named first, or is in the scope of a scoped release.
        level_right: a right release claims exactly the level that the data allow.
        level_overstated: a right release claims more than the data allow.
        explained: a release is right, and claims that what happened is explained. None without a fault.
        scoped_right: of a scoped release, at most three entities are named, among them one at fault or at
            which the answer may stop, since what lies beyond leaves no telemetry.
        changes: which changes the answer names and concludes.
        decoy_first: an innocent entity that looks guilty is named first.
        decoy_concluded: an innocent entity that looks guilty is a released cause.
        precision: with several causes, the share of the released ones that are at fault.
        recall: with several causes, the share of those at fault that were released.
        mechanism: the conclusion contains the words of the mechanism and no forbidden one.
        mechanism_words: the whole answer contains the words of the mechanism.
        false_alarm: a cause was released though nothing was wrong. None where something was.
        broken: a tool call failed, or the run gave no answer; so its place says little about the analysis.
        chance: the probability that a random order has the right entity among its first 1, 3 and 5.
        alert_right: the alert's own entity is at fault; None if no alert names an entity.
        loudest_right: the entity whose metrics changed most is at fault.
    """

    run: BenchRun
    truth: Truth
    place: int | None
    released: bool
    right: bool | None
    wrong: bool
    first: Ranked | None
    kind_right: bool | None
    kind_as_frozen: bool | None
    region_right: bool | None
    named_or_scoped: bool | None
    level_right: bool | None
    level_overstated: bool | None
    explained: bool | None
    scoped_right: bool | None
    changes: ChangeOutcome
    decoy_first: bool | None
    decoy_concluded: bool | None
    precision: float | None
    recall: float | None
    mechanism: bool | None
    mechanism_words: bool | None
    false_alarm: bool | None
    broken: bool
    chance: Mapping[int, float]
    alert_right: bool | None
    loudest_right: bool | None

    @property
    def confidence(self) -> float | None:
        """The released confidence of the first cause."""
        return self.first.confidence if self.released and self.first is not None else None

    @property
    def standing(self) -> str:
        """The result, in the words of files and comparisons."""
        if self.released and (self.right or self.wrong):
            return FALSE_ALARM if self.false_alarm else WRONG if self.wrong else RIGHT
        if not self.truth.entities:
            return QUIET
        return FIRST if self.place == 1 else NOT_FIRST

    @property
    def decided_by(self) -> str:
        """The kind of evidence that put the first named entity there."""
        return (self.first.decided_by if self.first is not None else "") or "nothing"


def judge(run: BenchRun, truth: Truth) -> Outcome:
    """Compare a finished run with its truth."""
    result = run.result
    released = result.outcome == SUCCESS
    named = [*result.causes, *result.candidates]
    first = named[0] if named else None
    right = _is_right(run, truth) if released else None
    faulty = bool(truth.entities)
    wrong = right is False and (faulty or bool(result.causes))
    place = _best_place(truth, run)
    counted = next((one for one in named if owner_of(one.entity, run) not in run.case.left_out), None)
    first_right = place == 1 and counted is not None
    names_mechanism = _names_mechanism(result.concluded, truth)
    scoped_right = _scope_is_right(run, truth) if released and faulty and _scope(run) else None
    decoys = {owner_of(entity, run) for entity in truth.decoy_entities}
    blamed = {owner_of(cause.entity, run) for cause in result.causes}
    level = _level_of(result.causes) if right and faulty else ""
    return Outcome(
        run=run,
        truth=truth,
        place=place,
        released=released,
        right=right,
        wrong=wrong,
        first=first,
        kind_right=_kind_right(counted, truth.kinds | truth.also_kinds) if first_right else None,
        kind_as_frozen=_kind_right(counted, truth.kinds) if first_right else None,
        region_right=_region_right(counted, truth) if first_right else None,
        named_or_scoped=(place == 1 or scoped_right is True) if faulty else None,
        level_right=level == truth.level if level and truth.level else None,
        level_overstated=_is_above(level, truth.level) if level and truth.level else None,
        explained=right is True and level in EXPLAINING if faulty else None,
        scoped_right=scoped_right,
        changes=judge_changes(result, truth),
        decoy_first=counted is not None and owner_of(counted.entity, run) in decoys if decoys else None,
        decoy_concluded=not decoys.isdisjoint(blamed) if decoys else None,
        precision=_precision(run, truth),
        recall=_recall(run, truth),
        mechanism=None if names_mechanism is None else names_mechanism and released,
        mechanism_words=_names_mechanism(result.said, truth),
        false_alarm=None if faulty else wrong,
        broken=bool(result.failed_tools) or result.outcome not in ANSWERS,
        chance={k: _chance(run, truth, k) for k in (1, 3, 5)} if faulty and run.entities else {},
        alert_right=_alert_right(run, truth) if faulty else None,
        loudest_right=_loudest_right(run, truth) if faulty else None,
    )


def place_of(entity: str, run: BenchRun) -> int | None:
    """The place of an entity, the worst one among equal scores; None if it was not named."""
    named = _merge_named(run)
    names = [name for name, _ in named]
    if entity not in names:
        return None
    place = names.index(entity)
    tie = named[place][1]
    return max(index for index, (_, other) in enumerate(named) if index == place or _ties(tie, other)) + 1


def owner_of(entity: str, run: BenchRun) -> str:
    """The service that an entity represents."""
    return run.case.owners.get(entity, entity)


Rung = tuple[bool, float | None]
"""Proven or not, and the score."""


def _ties(one: Rung, other: Rung) -> bool:
    return one == other and one[1] is not None


def _merge_named(run: BenchRun) -> list[tuple[str, Rung]]:
    """Causes, then candidates; instances stand for their service, without repeats and left-out entities."""
    merged: dict[str, Rung] = {}
    for proven, group in ((True, run.result.causes), (False, run.result.candidates)):
        for ranked in group:
            name = owner_of(ranked.entity, run)
            if name not in run.case.left_out:
                merged.setdefault(name, (proven, ranked.score))
    return list(merged.items())


def _at_fault(run: BenchRun, truth: Truth) -> frozenset[str]:
    return frozenset(owner_of(entity, run) for entity in truth.entities)


def _best_place(truth: Truth, run: BenchRun) -> int | None:
    places = [place for entity in _at_fault(run, truth) if (place := place_of(entity, run)) is not None]
    return min(places, default=None)


def _is_right(run: BenchRun, truth: Truth) -> bool:
    """Whether a release is right; without a fault, it says so, or names a kind that is not a fault.

    Every cause that it names must be at fault: an innocent one beside the guilty one is wrong as well.
    """
    causes = run.result.causes
    if not truth.entities:
        if causes:
            return all(_is_of_kind(cause.fault_kind, truth.kinds) for cause in causes)
        return run.result.nothing_unusual
    if not causes:
        return False
    if _scope(run):
        return _scope_is_right(run, truth)
    return all(owner_of(cause.entity, run) in _at_fault(run, truth) for cause in causes)


def _scope(run: BenchRun) -> tuple[str, ...]:
    """All entities in the scope of a release, if any of its causes is scoped; else empty."""
    causes = run.result.causes
    if not any(cause.scope for cause in causes):
        return ()
    return tuple(dict.fromkeys(name for cause in causes for name in (cause.entity, *cause.scope)))


def _scope_is_right(run: BenchRun, truth: Truth) -> bool:
    """Whether at most three are named, and for each cause at least one of them is at fault or allowed."""
    wanted = _at_fault(run, truth) | {owner_of(entity, run) for entity in truth.scope}
    named = [
        {owner_of(entity, run) for entity in (cause.entity, *cause.scope)} for cause in run.result.causes
    ]
    return len(frozenset().union(*named)) <= SCOPE_MAX and all(one & wanted for one in named)


def _kind_right(first: Ranked | None, kinds: frozenset[str]) -> bool | None:
    return None if first is None or not kinds else _is_of_kind(first.fault_kind, kinds)


def _is_of_kind(fault_kind: str, kinds: frozenset[str]) -> bool:
    """A kind that is more specific than the truth is also right."""
    broader = {kind.value: wide.value for kind, wide in BROADER.items()}
    return not kinds.isdisjoint({fault_kind, broader.get(fault_kind)})


def _region_right(first: Ranked | None, truth: Truth) -> bool | None:
    """Whether the named place is the right one, contains it, or is part of it.

    An instance that is named instead of its service also counts as a place.
    """
    if first is None or truth.region is None:
        return None
    wanted = _words(truth.region)
    named = [_words(name) for name in (first.region, first.entity) if name and name not in truth.entities]
    return any(_holds(one, wanted) or _holds(wanted, one) for one in named)


def _words(name: str) -> tuple[str, ...]:
    return tuple(WORD.findall(name.casefold()))


def _holds(whole: tuple[str, ...], part: tuple[str, ...]) -> bool:
    """Whether one sequence of words occurs in another."""
    return bool(part) and any(whole[at : at + len(part)] == part for at in range(len(whole)))


def _level_of(causes: Sequence[Ranked]) -> str:
    """The level of a release; a scoped one is below LOCALISED. Empty if it has no level."""
    if not causes or not causes[0].level:
        return ""
    return SCOPED if causes[0].scope else causes[0].level


def _is_above(claimed: str, allowed: str) -> bool:
    return LEVELS_IN_ORDER.index(claimed) > LEVELS_IN_ORDER.index(allowed)


def _names_mechanism(text: str, truth: Truth) -> bool | None:
    """Whether a text contains a word of each group, and none of the forbidden ones."""
    if not truth.mechanism:
        return None
    whole = all(any(_has_word(text, word) for word in group) for group in truth.mechanism)
    return whole and not any(_has_word(text, word) for word in truth.forbidden)


def _has_word(text: str, word: str) -> bool:
    """Whether a text has a word with this beginning: "throttl" in "throttled", but not "ttl"."""
    begins = r"(?<![^\W_])" if word[:1].isalnum() else ""  # also a word of a name such as `cache_hit_ratio`
    return re.search(begins + re.escape(word), text, re.IGNORECASE) is not None


def _precision(run: BenchRun, truth: Truth) -> float | None:
    named = {owner_of(cause.entity, run) for cause in run.result.causes}
    if len(truth.entities) < 2 or not named:
        return None
    return len(named & _at_fault(run, truth)) / len(named)


def _recall(run: BenchRun, truth: Truth) -> float | None:
    if len(truth.entities) < 2:
        return None
    named = {owner_of(cause.entity, run) for cause in run.result.causes}
    return len(named & _at_fault(run, truth)) / len(_at_fault(run, truth))


def _chance(run: BenchRun, truth: Truth, k: int) -> float:
    """Probability that the first `k` of a random order include something at fault."""
    able = set(run.entities) - run.case.left_out
    right = len(able & _at_fault(run, truth))
    if not able or not right:
        return 0.0
    k = min(k, len(able))
    return 1.0 - comb(len(able) - right, k) / comb(len(able), k)


def _alert_right(run: BenchRun, truth: Truth) -> bool | None:
    entity = run.case.alert_entity
    return None if entity is None else owner_of(entity, run) in _at_fault(run, truth)


def _loudest_right(run: BenchRun, truth: Truth) -> bool:
    """Whether all of the loudest are at fault; in a set of events, those with most events."""
    loud = _count_events(run) or [
        (owner_of(each.entity, run), (each.widths, each.together)) for each in run.loudest
    ]
    counted = [(name, size) for name, size in loud if name not in run.case.left_out]
    most = max((size for _, size in counted), default=None)
    best = {name for name, size in counted if size == most}
    return bool(best) and best <= _at_fault(run, truth)


def _count_events(run: BenchRun) -> list[tuple[str, tuple[float, ...]]]:
    counts = Counter[str]()
    for entity, count in run.case.events.items():
        counts[owner_of(entity, run)] += count
    return [(name, (float(count),)) for name, count in counts.items()]
