"""A row for each predicate: its evidence, what a claim takes from it, and the words that may state it.

Guards and wordings read every decision about a predicate from here. A claim whose predicate has no row is
never supported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from diagnosis_harness.diagnosis.item_forms import (
    breaks_off,
    by_no_item,
    does_harm,
    fails,
    has_level,
    has_moved,
    is_at_limit,
    is_call,
    is_change,
    is_count_of_series,
    is_count_of_things,
    is_independent,
    is_logged,
    is_platform_event,
    is_state,
    leaves_out,
    names_entity,
    shows_beginning,
)
from diagnosis_harness.diagnosis.word_class import WordClass
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind


class Predicate(StrEnum):
    """What a claim states about its entity."""

    CHANGED = "CHANGED"  # a signal moved from `baseline` to `value`
    BEGAN = "BEGAN"  # a signal, or the incident, began to differ at `onset_s`
    NORMAL = "NORMAL"  # a signal moved no further than in normal operation
    FAILED = "FAILED"  # a share of operation `signal` failed; of calls from `affected` where given
    DROPPED = "DROPPED"  # the entity's operation `signal` ended without the call `affected` it usually makes
    CAUSED = "CAUSED"  # the entity is the cause of what `affected` shows
    UNREMARKABLE = "UNREMARKABLE"  # nothing unusual was found in anything that was examined
    INDEPENDENT = "INDEPENDENT"  # the entity failed independently of the first cause `affected`
    AFFECTED = "AFFECTED"  # the entity is affected, not the cause
    SATURATED = "SATURATED"  # a resource of the entity ran at its limit
    SLOWED = "SLOWED"  # time spent in the entity itself, or on the way to it, rose
    CALLS = "CALLS"  # the entity calls `affected`
    DEPLOYED = "DEPLOYED"  # a change to the entity at `onset_s`
    HAPPENED = "HAPPENED"  # a platform reported `signal` of the entity, which is current or over (`affected`)
    IN_STATE = "IN_STATE"  # the entity's attribute `signal` was `affected`, a text, or the number `value`
    LOGGED = "LOGGED"  # so many lines like `signal` were logged, by `affected` if that names the entity
    BROKE_OFF = "BROKE_OFF"  # the line `affected` follows the log line `signal` less often
    COUNTED = "COUNTED"  # so many of `signal` were counted of the entity in the window
    ABSENT = "ABSENT"  # nothing was seen in this scope and window, and no more than that


class Part(StrEnum):
    """A part of the item that the claim takes over."""

    SIGNAL = "SIGNAL"
    NUMBERS = "NUMBERS"  # value, baseline and unit
    DIRECTION = "DIRECTION"
    WINDOW = "WINDOW"
    ONSET = "ONSET"


class Subject(StrEnum):
    """Which end of the item the claim is about."""

    ITEM = "ITEM"  # the entity of the item
    CALLER = "CALLER"  # its peer


class Second(StrEnum):
    """Which other name of the item the claim stores as `affected`."""

    PEER = "PEER"  # the peer, if the item has one
    CALLEE = "CALLEE"  # the entity of the item, if the subject is the caller
    WITHOUT = "WITHOUT"  # the call that is no longer made
    NEXT = "NEXT"  # the log line that used to follow
    STATE = "STATE"  # the value of an attribute, if it is a text
    FIRST = "FIRST"  # the first cause, independently of which this one failed
    NONE = "NONE"


class Normality(StrEnum):
    """What a predicate requires of a move, compared with normal operation."""

    BEYOND = "BEYOND"  # it moved further, or no normal operation is known
    NOT_WITHIN = "NOT_WITHIN"  # the same, or it had moved further before the requested time
    WITHIN = "WITHIN"  # it moved no further
    ANY = "ANY"  # nothing moved, or the item has no normal operation of its own


class About(StrEnum):
    """What the tool call behind an item must have examined."""

    ITS_RANKING = "ITS_RANKING"  # the question's time and affected entity
    ITS_TIME = "ITS_TIME"
    ITS_ONSET = "ITS_ONSET"  # the question's time, if it estimated an onset
    ITSELF = "ITSELF"  # any time: the fact states its own window


@dataclass(frozen=True, slots=True)
class PredicateRule:
    """One predicate.

    Attributes:
        kinds: kinds of items that can support it; empty if only an empty record can.
        carries: what the published claim takes from the item.
        second: which name becomes `affected`.
        needs_second: whether leaving out a name that the item has would claim more than was seen.
        normality: how the item's move must compare with its normal operation.
        about: what the call behind the item must have examined.
        holds: a further test for items of the right kind.
        words: word classes allowed in a wording, besides plain words and the claim's own direction.
        required_words: classes of which a wording must contain one; empty if numbers are enough.
        direction: the way an item must have moved; None for any.
        of_incident: whether the item's window must be that of the incident.
        own_words: whether an agent's own wording may be shown at all.
    """

    kinds: frozenset[ItemKind]
    carries: frozenset[Part]
    second: Second
    normality: Normality
    about: About
    holds: Callable[[EvidenceItem], bool]
    words: frozenset[WordClass]
    required_words: frozenset[WordClass] = frozenset()
    needs_second: bool = False
    direction: Direction | None = None
    subject: Subject = Subject.ITEM
    of_incident: bool = True
    own_words: bool = True


def rule_of(predicate: Predicate) -> PredicateRule | None:
    """The rule of a predicate; without one (None) nothing supports it."""
    return RULES.get(predicate)


# ------------------------------------------------------------------ the table

_OF_A_SIGNAL = frozenset({Part.SIGNAL, Part.NUMBERS, Part.DIRECTION, Part.WINDOW})
_SIGNAL = frozenset({ItemKind.SIGNAL_CHANGE})
_ABOUT_A_SIGNAL = frozenset({WordClass.USUAL, WordClass.NOW, WordClass.CALL})

RULES: Mapping[Predicate, PredicateRule] = MappingProxyType(
    {
        Predicate.CHANGED: PredicateRule(
            kinds=_SIGNAL,
            carries=_OF_A_SIGNAL,
            second=Second.PEER,
            normality=Normality.BEYOND,
            about=About.ITSELF,
            holds=has_moved,
            words=_ABOUT_A_SIGNAL | {WordClass.TROUBLE, WordClass.CHANGE},
        ),
        Predicate.NORMAL: PredicateRule(
            kinds=_SIGNAL,
            carries=_OF_A_SIGNAL,
            second=Second.PEER,
            normality=Normality.WITHIN,
            about=About.ITSELF,
            holds=has_level,
            words=_ABOUT_A_SIGNAL | {WordClass.NO_MOVE},  # `flat` is checked by `guards.wording`
            required_words=frozenset({WordClass.NO_MOVE, WordClass.FLAT}),
        ),
        Predicate.BEGAN: PredicateRule(
            kinds=frozenset({ItemKind.ONSET, ItemKind.SIGNAL_CHANGE}),
            carries=frozenset({Part.SIGNAL, Part.DIRECTION, Part.ONSET}),
            second=Second.PEER,
            normality=Normality.NOT_WITHIN,
            about=About.ITS_ONSET,
            holds=shows_beginning,
            words=frozenset({WordClass.BEGIN, WordClass.TROUBLE, WordClass.CALL}),
            required_words=frozenset({WordClass.BEGIN}),
        ),
        Predicate.FAILED: PredicateRule(
            kinds=frozenset({ItemKind.SPAN_ERRORS}),
            carries=_OF_A_SIGNAL,
            second=Second.PEER,
            needs_second=True,
            normality=Normality.ANY,
            about=About.ITSELF,
            holds=fails,
            words=frozenset({WordClass.FAIL, WordClass.CALL, WordClass.NOUN, WordClass.USUAL, WordClass.NOW}),
            required_words=frozenset({WordClass.FAIL}),
            direction=Direction.UP,
        ),
        Predicate.DROPPED: PredicateRule(
            kinds=frozenset({ItemKind.SPAN_ERRORS}),
            carries=_OF_A_SIGNAL,
            second=Second.WITHOUT,
            needs_second=True,
            normality=Normality.ANY,
            about=About.ITSELF,
            holds=leaves_out,
            words=frozenset({WordClass.LACK, WordClass.NOUN, WordClass.USUAL, WordClass.NOW}),
            required_words=frozenset({WordClass.LACK}),
            direction=Direction.UP,
        ),
        Predicate.CAUSED: PredicateRule(
            kinds=frozenset({ItemKind.CAUSE_SCORE}),
            carries=frozenset({Part.ONSET}),
            second=Second.PEER,
            needs_second=True,
            normality=Normality.ANY,
            about=About.ITS_RANKING,
            holds=names_entity,
            words=frozenset({WordClass.CAUSE, WordClass.TROUBLE, WordClass.BEGIN}),
            required_words=frozenset({WordClass.CAUSE, WordClass.BEGIN}),
            of_incident=False,  # `guards.rankings` judges which ranking answers the question
        ),
        Predicate.UNREMARKABLE: PredicateRule(
            kinds=frozenset({ItemKind.OVERVIEW}),
            carries=frozenset({Part.NUMBERS, Part.WINDOW}),
            second=Second.NONE,
            normality=Normality.ANY,
            about=About.ITS_RANKING,
            holds=is_count_of_series,
            words=frozenset(),
            own_words=False,
        ),
        Predicate.INDEPENDENT: PredicateRule(
            kinds=frozenset({ItemKind.CAUSE_SCORE}),
            carries=frozenset(),
            second=Second.FIRST,
            needs_second=True,
            normality=Normality.ANY,
            about=About.ITS_RANKING,
            holds=is_independent,
            words=frozenset(),
            of_incident=False,  # as of CAUSED
            own_words=False,
        ),
        Predicate.AFFECTED: PredicateRule(
            kinds=_SIGNAL,
            carries=_OF_A_SIGNAL,
            second=Second.PEER,
            normality=Normality.BEYOND,
            about=About.ITS_TIME,
            holds=does_harm,
            words=_ABOUT_A_SIGNAL | {WordClass.AFFECT, WordClass.NO_CAUSE, WordClass.TROUBLE},
            required_words=frozenset({WordClass.AFFECT}),
        ),
        Predicate.SATURATED: PredicateRule(
            kinds=_SIGNAL,
            carries=_OF_A_SIGNAL,
            second=Second.PEER,
            normality=Normality.BEYOND,
            about=About.ITSELF,
            holds=is_at_limit,
            words=_ABOUT_A_SIGNAL | {WordClass.LIMIT},
            required_words=frozenset({WordClass.LIMIT}),
            direction=Direction.UP,
        ),
        Predicate.SLOWED: PredicateRule(
            kinds=frozenset({ItemKind.SELF_TIME, ItemKind.EDGE_GAP}),
            carries=_OF_A_SIGNAL,
            second=Second.PEER,
            needs_second=True,
            normality=Normality.ANY,
            about=About.ITSELF,
            holds=has_moved,
            words=frozenset({WordClass.SLOW, WordClass.CALL, WordClass.USUAL, WordClass.NOW}),
            direction=Direction.UP,
        ),
        Predicate.CALLS: PredicateRule(
            kinds=frozenset({ItemKind.CALL_EDGE}),
            carries=frozenset(),
            second=Second.CALLEE,
            needs_second=True,
            normality=Normality.ANY,
            about=About.ITSELF,
            holds=is_call,
            words=frozenset({WordClass.CALL}),
            required_words=frozenset({WordClass.CALL}),
            subject=Subject.CALLER,
            of_incident=False,  # that one service calls another is true at any time
        ),
        Predicate.DEPLOYED: PredicateRule(
            kinds=frozenset({ItemKind.CHANGE_EVENT}),
            carries=frozenset({Part.SIGNAL, Part.ONSET}),
            second=Second.NONE,
            normality=Normality.ANY,
            about=About.ITSELF,
            holds=is_change,
            words=frozenset({WordClass.CHANGE}),
            of_incident=False,  # a change that matters comes before the incident
        ),
        Predicate.HAPPENED: PredicateRule(
            kinds=frozenset({ItemKind.PLATFORM_EVENT}),
            carries=frozenset({Part.SIGNAL, Part.NUMBERS, Part.WINDOW}),
            second=Second.STATE,
            needs_second=True,
            normality=Normality.ANY,
            about=About.ITSELF,
            holds=is_platform_event,
            words=frozenset(),
            of_incident=False,  # it states when it was reported, and whether it is still current
            own_words=False,
        ),
        Predicate.IN_STATE: PredicateRule(
            kinds=frozenset({ItemKind.STATE}),
            carries=frozenset({Part.SIGNAL, Part.NUMBERS, Part.WINDOW, Part.ONSET}),
            second=Second.STATE,
            needs_second=True,
            normality=Normality.ANY,
            about=About.ITSELF,
            holds=is_state,
            words=frozenset(),
            own_words=False,
        ),
        Predicate.LOGGED: PredicateRule(
            kinds=frozenset({ItemKind.LOG_PATTERN}),
            carries=_OF_A_SIGNAL | {Part.ONSET},
            second=Second.PEER,
            needs_second=True,
            normality=Normality.BEYOND,
            about=About.ITSELF,
            holds=is_logged,
            words=frozenset(),
            own_words=False,
        ),
        Predicate.BROKE_OFF: PredicateRule(
            kinds=frozenset({ItemKind.LOG_ORDER}),
            carries=_OF_A_SIGNAL,
            second=Second.NEXT,
            needs_second=True,
            normality=Normality.BEYOND,
            about=About.ITSELF,
            holds=breaks_off,
            words=frozenset(),
            direction=Direction.DOWN,
            own_words=False,
        ),
        Predicate.COUNTED: PredicateRule(
            kinds=frozenset({ItemKind.COUNT}),
            carries=_OF_A_SIGNAL,
            second=Second.NONE,
            normality=Normality.ANY,
            about=About.ITSELF,
            holds=is_count_of_things,
            words=frozenset(),
            own_words=False,
        ),
        Predicate.ABSENT: PredicateRule(
            kinds=frozenset(),
            carries=frozenset({Part.WINDOW}),
            second=Second.NONE,
            normality=Normality.ANY,
            about=About.ITSELF,
            holds=by_no_item,
            words=frozenset(),
            of_incident=False,  # it names the window that was searched
            own_words=False,
        ),
    }
)

OF_A_SIGNAL = frozenset(
    predicate for predicate, rule in RULES.items() if ItemKind.SIGNAL_CHANGE in rule.kinds
)
"""Predicates about a signal: `affected` is the caller that measured it, if any."""
