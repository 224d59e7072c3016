"""What an evidence item must hold to support a predicate, such as a move, a state or a count."""

from __future__ import annotations

from diagnosis_harness.kernel.quantity import convert
from diagnosis_harness.tools.evidence import LIMIT_HELD, SERIES_ENDED, Direction, EvidenceItem, ItemKind

LINE_UNIT = "lines"
"""The unit of a count of log lines."""
COUNTED_MAX = 2**53
"""Above it, floats cannot represent every whole number, so published digits could be wrong."""
LIMIT_SHARE = 0.9
"""A resource with at least this share used is at its limit."""
_RESOURCES = frozenset({"cpu", "memory"})
_WAYS = {1: Direction.UP, -1: Direction.DOWN, 0: Direction.FLAT}


def has_moved(item: EvidenceItem) -> bool:
    """Whether it moved in one direction and its numbers agree; either may be missing."""
    if item.direction is None or item.direction is Direction.FLAT:
        return False
    if item.value is None or item.baseline is None:
        return True
    return item.value > item.baseline if item.direction is Direction.UP else item.value < item.baseline


def is_logged(item: EvidenceItem) -> bool:
    """A whole number of lines and the usual number; the direction agrees with both."""
    if (
        not item.entity
        or not item.signal
        or item.window is None
        or item.unit != LINE_UNIT
        or not has_moved(item)
    ):
        return False
    whole = item.value is not None and 0 <= item.value <= COUNTED_MAX and float(item.value).is_integer()
    return whole and item.baseline is not None and item.baseline >= 0


def breaks_off(item: EvidenceItem) -> bool:
    """A share that fell, of a line's occurrences, and the line that used to follow."""
    shares = (item.value, item.baseline)
    known = all(share is not None and 0 <= share <= 1 for share in shares) and item.unit == "ratio"
    return known and bool(item.signal) and isinstance(item.attributes.get("next"), str) and has_moved(item)


def is_state(item: EvidenceItem) -> bool:
    """One value, number or text, seen in a window and not beginning after it.

    It has no peer: an observation of one caller's calls must not be published as true of the entity.
    """
    if not item.entity or not item.signal or item.window is None or item.baseline is not None:
        return False
    if item.peer is not None:
        return False
    text = item.attributes.get("state")
    both = text == LIMIT_HELD and item.value is not None
    if ((item.value is None) == (text is None) and not both) or not (
        text is None or (isinstance(text, str) and text.strip())
    ):
        return False
    return item.direction is None and (item.onset_s is None or item.onset_s <= item.window.end_s)


def is_observed_trouble(item: EvidenceItem) -> bool:
    """A state that was found by comparing series: something stopped reporting, or is full.

    Any other state is what a tool reports of an entity.
    """
    text = item.attributes.get("state")
    return item.kind is ItemKind.STATE and (text == LIMIT_HELD or (item.signal, text) == SERIES_ENDED)


def is_count_of_things(item: EvidenceItem) -> bool:
    """A whole number of things seen in a window; a direction, if given, agrees with the numbers.

    It has no peer, as a state has none.
    """
    if not item.entity or not item.signal or item.window is None or item.unit is not None or item.peer:
        return False
    if item.value is None or not 0 <= item.value <= COUNTED_MAX or not float(item.value).is_integer():
        return False
    if item.baseline is None:
        return item.direction is None
    moved = (item.value > item.baseline) - (item.value < item.baseline)
    return item.baseline >= 0 and (item.direction is None or item.direction is _WAYS[moved])


_STANDINGS = frozenset({"current", "over"})


def is_platform_event(item: EvidenceItem) -> bool:
    """An event of a known kind, seen in a window, either current or over, with or without a count."""
    if not item.entity or not item.signal or item.window is None or item.peer is not None:
        return False
    if item.unit is not None or item.baseline is not None or item.direction is not None:
        return False
    if item.attributes.get("state") not in _STANDINGS:
        return False
    return item.value is None or (1 <= item.value <= COUNTED_MAX and float(item.value).is_integer())


def names_entity(item: EvidenceItem) -> bool:
    """Accept every item of the right kind."""
    return item.entity is not None


def does_harm(item: EvidenceItem) -> bool:
    """Whether it moved in a harmful way."""
    return bool(item.attributes.get("bad")) and has_moved(item)


def has_level(item: EvidenceItem) -> bool:
    """Whether it has a value in the window; without one a signal cannot be called normal."""
    return item.value is not None


def shows_beginning(item: EvidenceItem) -> bool:
    """Whether its time was computed: a stated time is not an observation."""
    if item.onset_s is None:
        return False
    if item.kind is ItemKind.ONSET:
        return item.attributes.get("method") == "estimated"
    return has_moved(item)


def fails(item: EvidenceItem) -> bool:
    """Whether the share of failing spans moved."""
    return "without" not in item.attributes and has_moved(item)


def leaves_out(item: EvidenceItem) -> bool:
    """Whether a call that is usually made is left out more often."""
    return isinstance(item.attributes.get("without"), str) and has_moved(item)


def is_at_limit(item: EvidenceItem) -> bool:
    """Whether it is a share of a resource near 100%; for any other unit the limit is unknown."""
    if item.attributes.get("kind") not in _RESOURCES or item.value is None or not has_moved(item):
        return False
    share = convert(item.value, item.unit, "ratio")
    return share is not None and share >= LIMIT_SHARE


def is_call(item: EvidenceItem) -> bool:
    """Whether it names both ends of a call."""
    return item.entity is not None and item.peer is not None


def is_change(item: EvidenceItem) -> bool:
    """Whether it names the changed entity and the time of the change."""
    return item.entity is not None and item.onset_s is not None


def is_count_of_series(item: EvidenceItem) -> bool:
    """A whole number of examined series, at least one, with the entity and the window."""
    whole = item.value is not None and 1 <= item.value <= COUNTED_MAX and float(item.value).is_integer()
    return whole and item.unit is None and item.window is not None and bool(item.entity)


def is_independent(item: EvidenceItem) -> bool:
    """Whether a ranking says that this candidate failed independently of the first."""
    return isinstance(item.attributes.get("independent_of"), str)


def by_no_item(item: EvidenceItem) -> bool:
    """Accept no item."""
    del item  # an absence is supported by a record that found nothing
    return False
