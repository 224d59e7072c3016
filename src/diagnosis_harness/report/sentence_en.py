"""The published sentences in English, one small function for each predicate."""

from __future__ import annotations

from collections.abc import Callable

from diagnosis_harness.analysis.platform_event import EventKind, EventStanding
from diagnosis_harness.diagnosis.claim import Claim, Looked, Predicate
from diagnosis_harness.diagnosis.predicate_rule import OF_A_SIGNAL
from diagnosis_harness.kernel.names import display_name, quote_text
from diagnosis_harness.report.event_words import EVENT_WORDS
from diagnosis_harness.report.measure import count_text, exact_measure, measure, measures, times
from diagnosis_harness.report.timestamps import SOUGHT_MAX, display_time, span
from diagnosis_harness.tools.evidence import LIMIT_HELD, SERIES_ENDED, Direction

_MOVED = {Direction.UP: "rose", Direction.DOWN: "fell", Direction.FLAT: "stayed level"}
_MOVE = {Direction.UP: "rise", Direction.DOWN: "fall", Direction.FLAT: "level out"}


def english_sentence(claim: Claim, *, scoped: bool = False) -> str:
    """The claim in one English sentence; `scoped` means that a cause may lie in what its entity calls."""
    text = _cause(claim, " or in what it calls") if scoped else _SENTENCES[claim.predicate](claim)
    return f"{text}."


def _change(claim: Claim) -> str:
    return f"{_subject(claim)} {_movement(claim)}{_when(claim)}"


def _began(claim: Claim) -> str:
    move = _MOVE[claim.direction] if claim.direction else "differ from normal"
    return f"{_subject(claim)} began to {move}{_when(claim)}"


def _normal(claim: Claim) -> str:
    return f"{_subject(claim)} moved no further than it normally does{_when(claim)}{_level(claim)}"


def _failure(claim: Claim) -> str:
    return f"{_failing(claim)}{_from_to(claim)}{_when(claim)}"


def _drop(claim: Claim) -> str:
    without = display_name(claim.affected or "?")
    share = f"The share of {_subject(claim)} that ends without {without} rose"
    return f"{share}{_from_to(claim)}{_when(claim)}"


def _cause(claim: Claim, scope: str = "") -> str:
    """States where it starts; the report adds, by the level, whether that is explained."""
    where = f"starts at {display_name(claim.entity)}{scope}"
    if claim.affected not in (None, claim.entity):
        return f"What {display_name(claim.affected or '')} shows{_when(claim)} {where}{_detail(claim)}"
    when = _when(claim) if claim.onset_s is None else f", from {display_time(claim.onset_s)} on"
    return f"It {where}{when}{_detail(claim)}"


def _reassurance(claim: Claim) -> str:
    """How many series were compared, all together: of many some always seem to move."""
    found = f"What {display_name(claim.entity)} shows{_when(claim)} is as usual"
    return f"{found}, and of {count_text(claim.value or 0)} metric series compared none stands out"


def _independence(claim: Claim) -> str:
    first, other = display_name(claim.affected or "?"), display_name(claim.entity)
    return f"{other} broke by itself, beside {first}: no recorded call leads from one of them to the other"


def _effect(claim: Claim) -> str:
    return f"{display_name(claim.entity)} is affected{_when(claim)}, not the cause{_detail(claim)}"


def _saturation(claim: Claim) -> str:
    return f"{_subject(claim)} ran at its limit{_when(claim)}{_level(claim)}"


def _slowdown(claim: Claim) -> str:
    return f"{_slow_part(claim)}{_from_to(claim)}{_when(claim)}"


def _calls(claim: Claim) -> str:
    return f"{display_name(claim.entity)} calls {display_name(claim.affected or '?')}"


def _deployment(claim: Claim) -> str:
    kind = f" ({display_name(claim.signal)})" if claim.signal else ""
    return f"{display_name(claim.entity)} was changed{kind}{_when(claim)}"


def _happening(claim: Claim) -> str:
    """The platform's name for it, what that means, and whether it still lasts."""
    kind, name = claim.signal or "?", display_name(claim.entity)
    often = (
        "" if claim.value is None else f" {count_text(claim.value)} {'time' if claim.value == 1 else 'times'}"
    )
    meaning = EVENT_WORDS[EventKind(kind)].en if kind in _EVENT_KINDS else ""
    means = f": {meaning}" if meaning else ""
    lasts = _STANDING.get(claim.affected or "", "whether it lasts is unknown")
    return f"{display_name(kind)} was reported of {name}{often}{_when(claim)}{means}; {lasts}"


_EVENT_KINDS = frozenset(EventKind)
_STANDING: dict[str, str] = {
    EventStanding.CURRENT: "it still lasts",
    EventStanding.OVER: "it is over",
    "": "whether it lasts is unknown",
}


def _in_state(claim: Claim) -> str:
    """Attribute and state are quoted, since embedders' own tools choose them freely."""
    if (claim.signal, claim.affected) == SERIES_ENDED:
        return f"All series of {display_name(claim.entity)} ended while those of others go on{_when(claim)}"
    if claim.affected == LIMIT_HELD and claim.value is not None:
        signal = f"{display_name(claim.signal or '?')} of {display_name(claim.entity)}"
        limit = exact_measure(claim.value, claim.unit)
        return f"{signal} rose to {limit} and stays at exactly that{_when(claim)}"
    state = quote_text(claim.affected) if claim.affected else exact_measure(claim.value or 0, claim.unit)
    return f"{quote_text(claim.signal or '?')} of {display_name(claim.entity)} was {state}{_when(claim)}"


def _log_pattern(claim: Claim) -> str:
    """For lines that name the entity, `affected` is who wrote them."""
    writer = display_name(claim.affected or claim.entity)
    naming = f", naming {display_name(claim.entity)}," if claim.affected else ""
    usual = "" if claim.baseline is None else f", usually {count_text(claim.baseline)}"
    lines = f"{count_text(claim.value or 0)} log lines like {quote_text(claim.signal or '?')}"
    return f"{writer} wrote {lines}{naming}{_when(claim)}{usual}"


def _break_in_order(claim: Claim) -> str:
    line, following = quote_text(claim.signal or "?"), quote_text(claim.affected or "?")
    share = f"The share of log lines {line} of {display_name(claim.entity)} that {following} follows fell"
    return f"{share}{_from_to(claim)}{_when(claim)}"


def _count(claim: Claim) -> str:
    usual = "" if claim.baseline is None else f" ({count_text(claim.baseline)} in normal operation)"
    what = (
        f"{count_text(claim.value or 0)} {display_name(claim.signal or '?')} of {display_name(claim.entity)}"
    )
    return f"{what} were counted{_when(claim)}{usual}"


def _absent(claim: Claim) -> str:
    """What was searched, and how much of it; the sentence says nothing about anything else."""
    say = _NOTHING.get(claim.unit or "")
    if say is None:
        return f"Whether anything was found for {display_name(claim.entity)} is not known"
    return say(claim, display_name(claim.entity), _when(claim), f"{claim.value or 0:,.0f}")


def _no_lines(claim: Claim, name: str, when: str, count: str) -> str:
    text = f" that contains {quote_text(claim.signal, most=SOUGHT_MAX)}" if claim.signal else ""
    return f"No log line{text} was found for {name}{when} ({count} log lines searched)"


def _no_changes(claim: Claim, name: str, when: str, count: str) -> str:
    del claim
    return f"No recorded change was found for {name}{when} ({count} changes of any service looked through)"


def _no_spans(claim: Claim, name: str, when: str, count: str) -> str:
    del claim
    found = "No time, failure or missing call beyond normal operation was found in the spans"
    return f"{found} of {name}{when} ({count} spans compared)"


def _no_series(claim: Claim, name: str, when: str, count: str) -> str:
    del claim
    return f"No metric of {name} moved beyond normal operation{when} ({count} metric series compared)"


def _subject(claim: Claim) -> str:
    """The signal or operation of the entity; if one caller measured it, that of this caller's calls."""
    name = display_name(claim.entity)
    if claim.affected and claim.predicate in OF_A_SIGNAL:
        name = f"calls from {display_name(claim.affected)} to {name}"
    return f"{display_name(claim.signal)} of {name}" if claim.signal else name


def _slow_part(claim: Claim) -> str:
    """What took longer; without a second entity or a signal, it is unknown where the time went."""
    name, signal = display_name(claim.entity), f"{display_name(claim.signal)} of " if claim.signal else ""
    if claim.affected:
        return f"The way from {display_name(claim.affected)} to {signal}{name} slowed"
    return f"{signal}{name} slowed" if claim.signal else f"Time in {name}, or on the way to it, rose"


def _failing(claim: Claim) -> str:
    """Whose failures increased: the entity's own, or those of calls on the way to it."""
    if claim.affected:
        return f"The share of calls from {display_name(claim.affected)} to {_subject(claim)} that fail rose"
    return f"The share of {_subject(claim)} that fails rose"


def _movement(claim: Claim) -> str:
    moved = _MOVED[claim.direction] if claim.direction else "changed"
    return f"{moved}{_from_to(claim)}"


def _from_to(claim: Claim) -> str:
    if claim.value is None:
        return "" if claim.baseline is None else f" from {measure(claim.baseline, claim.unit)}"
    if claim.baseline is None:
        preposition = "at" if claim.direction is Direction.FLAT else "to"
        return f" {preposition} {measure(claim.value, claim.unit)}"
    before, now = measures(claim.baseline, claim.value, claim.unit)
    if claim.direction is Direction.FLAT:
        return f" at {now}" if before == now else f" ({before} before, {now} then)"
    if before == now:
        return ""
    factor = times(claim.baseline, claim.value)
    return f" from {before} to {now}" + (f" ({factor} times)" if factor else "")


def _detail(claim: Claim) -> str:
    if claim.signal is None:
        return ""
    called = claim.affected and claim.predicate in OF_A_SIGNAL
    caller = f" of calls from {display_name(claim.affected or '')}" if called else ""
    return f": its {display_name(claim.signal)}{caller} {_movement(claim)}"


def _level(claim: Claim) -> str:
    if claim.value is None:
        return ""
    if claim.baseline is None:
        return f": at {measure(claim.value, claim.unit)}"
    before, now = measures(claim.baseline, claim.value, claim.unit)
    return f": at {now}, against {before} before"


def _when(claim: Claim) -> str:
    if claim.onset_s is not None:
        at = claim.predicate in (Predicate.BEGAN, Predicate.DEPLOYED)
        seen = _observation(claim) if claim.predicate is Predicate.IN_STATE else ""
        return f" {'at' if at else 'since'} {display_time(claim.onset_s)}{seen}"
    if claim.window is None:
        return ""
    start, end = span(claim.window)
    return f" between {start} and {end}"


def _observation(claim: Claim) -> str:
    """The window of a state; one that began earlier was seen only during the queried time."""
    if claim.window is None:
        return ""
    start, end = span(claim.window)
    return f", seen between {start} and {end}"


_NOTHING: dict[str, Callable[[Claim, str, str, str], str]] = {
    Looked.LOG_LINES: _no_lines,
    Looked.CHANGES: _no_changes,
    Looked.SPANS: _no_spans,
    Looked.SERIES: _no_series,
}
_SENTENCES: dict[Predicate, Callable[[Claim], str]] = {
    Predicate.CHANGED: _change,
    Predicate.BEGAN: _began,
    Predicate.NORMAL: _normal,
    Predicate.FAILED: _failure,
    Predicate.DROPPED: _drop,
    Predicate.CAUSED: _cause,
    Predicate.UNREMARKABLE: _reassurance,
    Predicate.INDEPENDENT: _independence,
    Predicate.AFFECTED: _effect,
    Predicate.SATURATED: _saturation,
    Predicate.SLOWED: _slowdown,
    Predicate.CALLS: _calls,
    Predicate.DEPLOYED: _deployment,
    Predicate.HAPPENED: _happening,
    Predicate.IN_STATE: _in_state,
    Predicate.LOGGED: _log_pattern,
    Predicate.BROKE_OFF: _break_in_order,
    Predicate.COUNTED: _count,
    Predicate.ABSENT: _absent,
}
