"""Checks that a published claim is true in its world: what each predicate requires, and its allowed words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from dev.lying.chosen.claim_numbers import near
from dev.lying.chosen.evidence import Item, Json
from dev.lying.chosen.reference import Reference
from dev.lying.chosen.sentences import directions_in, in_base, numbers, strip_quotes, without

if TYPE_CHECKING:
    from dev.lying.chosen.worlds import World

Said = Iterator[tuple[str, str]]
_LIMIT = 0.9
_SHARES = ("percent", "ratio", "share", "%")
_TURN_S = 300.0
"""How far an estimated onset may be from the real one: ten steps of the world."""


@dataclass(frozen=True, slots=True)
class Told:
    """One claim, the item that supports it, and what is known about its world."""

    claim: Json
    item: Item
    world: World
    reference: Reference

    @property
    def shown(self) -> str:
        """A description for people who investigate it."""
        return f"{self.claim['sentence']} [{self.item.line}]"

    @property
    def bare(self) -> str:
        """Its sentence, without names and quotations."""
        item, claim = self.item, self.claim
        own = (item.entity, item.peer, item.signal, item.owner, claim["entity"], claim["affected"])
        names = (*own, item.more.get("without"), *self.world.services, *self.world.owner_of)
        return without(strip_quotes(claim["sentence"]), [each for each in names if each])


def truth_objections(claim: Json, item: Item, world: World, reference: Reference) -> Said:
    """What is untrue."""
    told = Told(claim, item, world, reference)
    yield from TRUE_WHEN[claim["predicate"]](told)
    yield from _words(told)
    ways = directions_in(told.bare, ())
    if item.direction in ("UP", "DOWN") and ways and ways != {item.direction}:
        yield "direction", told.shown
    if claim["baseline"] is not None and item.kind == "SIGNAL_CHANGE" and not _is_usual(item, world):
        yield "a usual level that is not usual", told.shown


# ---------------------------------------------------------------- predicate by predicate


def _normal(told: Told) -> Said:
    item, asked_s = told.item, told.reference.onset_s
    # At the asked time the record's own windows of normal operation say what is normal.
    elsewhere = item.span is None or asked_s is None or item.span.start_s != asked_s
    if not item.as_normal or (elsewhere and _stands_out(item, told.world)):
        yield "called normal, and is not", told.shown


def _judge_change(told: Told) -> Said:
    item = told.item
    if item.kind == "SIGNAL_CHANGE" and item.direction != "FLAT" and item.as_normal:
        yield "normal operation told as a finding", told.shown


def _began(told: Told) -> Said:
    # What had begun before the asked time looks normal around that time; the world says whether it began.
    if not told.item.more.get("began_before"):
        yield from _judge_change(told)
    elif not _had_trouble_at(told):
        yield "normal operation told as a finding", told.shown
    if told.item.kind == "ONSET" and told.item.more.get("method") != "estimated":
        yield "onset that nobody observed", told.shown


def _had_trouble_at(told: Told) -> bool:
    """Whether trouble began or ended at about that time in the claim's entity, or in what that calls.

    A queue that was full from then on is trouble of its own service.
    """
    world, at_s = told.world, told.item.onset_s
    service = world.service_of(told.claim["entity"])
    reached = _reach_of(world.plant.calls, service)
    turns = [s for t in world.plant.troubles if t.service in reached for s in (t.start_s, t.end_s)]
    if service in world.plant.full and told.item.signal == world.plant.signal("queue_entries"):
        turns.append(world.plant.full[service])
    return at_s is not None and any(abs(at_s - turn_s) <= _TURN_S for turn_s in turns)


def _judge_saturation(told: Told) -> Said:
    item = told.item
    share = in_base(item.value or 0.0, item.unit) if item.unit in _SHARES else 0.0
    if item.more.get("kind") not in ("cpu", "memory") or share < _LIMIT:
        yield "not at its limit", told.shown


def _judge_effect(told: Told) -> Said:
    guilty = told.world.service_of(told.claim["entity"]) in told.world.causes
    if guilty or not told.item.more.get("bad") or told.item.as_normal:
        yield "acquitted, and is the cause or unharmed", told.shown


def _judge_cause(told: Told) -> Said:
    claim, world = told.claim, told.world
    asked = {world.victim, claim["entity"], None if not world.names_victim else world.victim}
    if claim["entity"] not in world.causes:
        yield "wrong cause", told.shown
    elif claim["affected"] not in asked:
        yield "affected is not who was asked about", told.shown


def _judge_reassurance(told: Told) -> Said:
    """Nothing in the world is in trouble in that window."""
    world, span = told.world, told.item.span
    if world.causes:
        yield "called unremarkable, and there is a cause", told.shown
    elif span is not None and any(
        one.start_s < span.end_s and one.end_s > span.start_s for one in world.plant.troubles
    ):
        yield "called unremarkable, and there is trouble", told.shown


def _judge_independence(told: Told) -> Said:
    """Two causes of the world, neither of which reaches the other by calls."""
    calls, pair = told.world.plant.calls, (told.claim["entity"], told.claim["affected"])
    for start, goal in (pair, pair[::-1]):
        if start not in told.world.causes:
            yield "wrong cause", told.shown
        if goal in _reach_of(calls, start):
            yield "called independent, and one calls the other", told.shown


def _reach_of(calls: Mapping[str, Iterable[str]], start: str) -> set[str]:
    reached, waiting = set[str](), [start]
    while waiting:
        if (name := waiting.pop()) not in reached:
            reached.add(name)
            waiting.extend(calls.get(name, ()))
    return reached


def _calls(told: Told) -> Said:
    if told.claim["affected"] not in told.world.plant.calls.get(told.claim["entity"], ()):
        yield "no such call", told.shown


def _judge_deployment(told: Told) -> Said:
    events = told.world.sources.change_events
    if not any(each.entity == told.claim["entity"] and each.kind == told.item.signal for each in events):
        yield "no such change", told.shown


def _in_state(told: Told) -> Said:
    stated = told.item.more.get("state")
    if stated is not None and told.claim["affected"] != stated:
        yield "another state than was seen", told.shown
    elif stated in _SEEN_IN and not _SEEN_IN[stated](told):
        yield "a state that the world does not show", told.shown


def _stays_full(told: Told) -> bool:
    """Whether all values since then equal the claim's value, and none before was as large."""
    claim, item, world = told.claim, told.item, told.world
    since_s = item.onset_s or 0.0
    late = world.within(item.entity, item.signal, since_s, world.end_s)
    early = world.within(item.entity, item.signal, world.start_s, since_s)
    return len(late) > 0 and bool((late == claim["value"]).all()) and not (early >= claim["value"]).any()


def _is_silent(told: Told) -> bool:
    """Whether nothing was measured of the service since then, while another was measured."""
    world, since_s = told.world, told.item.onset_s or 0.0
    held = [(world.service_of(each.entity), each.time_s) for each in world.sources.incident]
    going = {name for name, time_s in held if len(time_s) and time_s[-1] >= since_s}
    return bool(going) and told.claim["entity"] not in going


_SILENT = "ended while others go on"
_SEEN_IN: Mapping[object, Callable[[Told], bool]] = {
    "rose to its limit and stays there": _stays_full,
    _SILENT: _is_silent,
}
"""States that a tool finds by comparing series, and whether the world has them."""


def _count(told: Told) -> Said:
    value = told.item.value
    if value is None or value != int(value) or told.claim["value"] != value:
        yield "another count than was seen", told.shown


def _judge_lines(told: Told) -> Said:
    """As many lines as the world has from that writer, and more or fewer than usual."""
    yield from _count(told)
    item, claim = told.item, told.claim
    if item.as_normal or item.direction not in ("UP", "DOWN"):
        yield "normal operation told as a finding", told.shown
    if claim["signal"] != item.signal or claim["affected"] != item.peer:
        yield "another line, or another writer, than was seen", told.shown


def _judge_order(told: Told) -> Said:
    item, claim = told.item, told.claim
    if item.direction != "DOWN" or item.as_normal or (item.value or 0.0) >= (item.baseline or 0.0):
        yield "direction", told.shown
    if claim["affected"] != item.more.get("next"):
        yield "another line than used to follow", told.shown


def _absent(told: Told) -> Said:
    yield "an absence that an item is said to show", told.shown


def _rose(told: Told) -> Said:
    if told.item.direction != "UP":
        yield "direction", told.shown


TRUE_WHEN: Mapping[str, Callable[[Told], Said]] = {
    "NORMAL": _normal,
    "CHANGED": _judge_change,
    "BEGAN": _began,
    "SATURATED": _judge_saturation,
    "AFFECTED": _judge_effect,
    "CAUSED": _judge_cause,
    "UNREMARKABLE": _judge_reassurance,
    "INDEPENDENT": _judge_independence,
    "CALLS": _calls,
    "DEPLOYED": _judge_deployment,
    "FAILED": _rose,
    "DROPPED": _rose,
    "SLOWED": _rose,
    "HAPPENED": _in_state,
    "IN_STATE": _in_state,
    "LOGGED": _judge_lines,
    "BROKE_OFF": _judge_order,
    "COUNTED": _count,
    "ABSENT": _absent,
}
"""Total over the predicates: a test holds it to them."""

# ---------------------------------------------------------------- what words may say

_RESERVED = {
    "cause": (r"\bcaus|原因|导致|引起", ("CAUSED", "AFFECTED")),
    "limit": (r"\blimit|上限|耗尽", ("SATURATED",)),
    "denial": (
        r"\b(not?|never|nothing|none|neither|nor)\b|没有|没|未|不是|并非|无",
        ("NORMAL", "AFFECTED", "DROPPED", "INDEPENDENT", "UNREMARKABLE"),
    ),
    "scope": (r"\b(all|only|every|always|both)\b|所有|全部|只有|仅|一直|总是", ()),
}
"""Words that change what a sentence says, except for predicates that say the same anyway."""
_CHANGES = {
    "deploy": r"deploy|release|roll(ed)? ?out|发布|部署|上线",
    "flag": r"\bflag|开关",
    "config": r"config|配置",
    "version": r"version|版本",
}
_CLAUSE = re.compile(r"，|；|, |; ")
"""A clause that states the usual level, with its word."""
_BEFORE = re.compile(r"usual\w*|normal\w*|before|previous\w*|之前|此前|通常|平时|正常")


def _words(told: Told) -> Said:
    bare, predicate = told.bare, told.claim["predicate"]
    for what, (pattern, predicates) in _RESERVED.items():
        if what == "scope" and told.item.more.get("state") == _SILENT:
            continue  # that all series ended is what the state says, and `_is_silent` looks at all
        if predicate not in predicates and re.search(pattern, bare, re.IGNORECASE):
            yield f"word of {what} in another statement", told.shown
    for kind, pattern in _CHANGES.items():
        if re.search(pattern, bare, re.IGNORECASE) and (
            predicate != "DEPLOYED" or kind not in told.item.signal
        ):
            yield "another kind of change", told.shown
    if predicate not in ("NORMAL", "BEGAN", "UNREMARKABLE"):
        yield from _befores(told)


def _befores(told: Told) -> Said:
    """A word for the usual level may be used only beside that level."""
    for clause in _CLAUSE.split(told.bare):
        said = [number for number in numbers(clause, ()) if not number.factor]
        for found in _BEFORE.finditer(clause):
            places = [(_gap(clause, found, number.text), number) for number in said]
            usual = told.item.baseline
            if not places or usual is None:
                yield "usual, and no usual level", told.shown
                continue
            nearest = min(places, key=lambda each: each[0])[1]
            if not near(nearest.value, in_base(usual, told.item.unit)) and not near(nearest.value, usual):
                yield "usual level exchanged", told.shown


def _gap(clause: str, word: re.Match[str], number: str) -> int:
    """How many characters are between a word and a number."""
    start = clause.find(number)
    return max(start - word.end(), word.start() - start - len(number))


def _stands_out(item: Item, world: World) -> bool:
    """Whether the raw values of its window are clearly outside the usual range."""
    usual, span = world.usual(item.entity, item.signal), item.span
    if not len(usual) or span is None:
        return False
    within = world.within(item.entity, item.signal, span.start_s, span.end_s)
    if not len(within):
        return False
    middle = float(np.median(within))
    return bool(middle > 1.4 * float(usual.max()) or middle < float(usual.min()) / 1.4)


def _is_usual(item: Item, world: World) -> bool:
    """Whether the baseline is near the middle of the usual values; true if those are unknown."""
    usual = world.usual(item.entity, item.signal)
    if not len(usual) or item.baseline is None or item.more.get("rate"):
        return True
    middle = float(np.median(usual))
    spread = float(np.median(np.abs(usual - middle)))
    return abs(float(item.baseline) - middle) <= max(0.3 * abs(middle), 6.0 * spread)
