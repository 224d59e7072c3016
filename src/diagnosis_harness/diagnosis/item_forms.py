"""What an evidence item must hold to count as a move, a state, a count, or a finding in log lines."""

from __future__ import annotations

from diagnosis_harness.tools.evidence import Direction, EvidenceItem

LINE_UNIT = "lines"
"""The unit of a count of log lines."""
COUNTED_MAX = 2**53
"""Above it not every whole number is a float, so published digits could be wrong."""
_WAYS = {1: Direction.UP, -1: Direction.DOWN, 0: Direction.FLAT}


def has_moved(item: EvidenceItem) -> bool:
    """Whether it moved in one direction, and its numbers agree; either may be unknown."""
    if item.direction is None or item.direction is Direction.FLAT:
        return False
    if item.value is None or item.baseline is None:
        return True
    return item.value > item.baseline if item.direction is Direction.UP else item.value < item.baseline


def is_logged(item: EvidenceItem) -> bool:
    """A whole number of lines, and how many would be usual; it went the way that both say."""
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
    """A share of a line's occurrences that fell, and the line that used to follow."""
    shares = (item.value, item.baseline)
    known = all(share is not None and 0 <= share <= 1 for share in shares) and item.unit == "ratio"
    return known and bool(item.signal) and isinstance(item.attributes.get("next"), str) and has_moved(item)


def is_state(item: EvidenceItem) -> bool:
    """One value, a number or a text, that was seen in a window and does not begin after it.

    It has no peer: what was seen of one caller's calls may not be published as true of the entity.
    """
    if not item.entity or not item.signal or item.window is None or item.baseline is not None:
        return False
    if item.peer is not None:
        return False
    text = item.attributes.get("state")
    if (item.value is None) == (text is None) or not (
        text is None or (isinstance(text, str) and text.strip())
    ):
        return False
    return item.direction is None and (item.onset_s is None or item.onset_s <= item.window.end_s)


def is_count_of_things(item: EvidenceItem) -> bool:
    """A whole number of things seen in a window; the direction, where given, is that of the numbers.

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
    """Something of a known kind, seen in a window, that is either current or over; counted or only seen."""
    if not item.entity or not item.signal or item.window is None or item.peer is not None:
        return False
    if item.unit is not None or item.baseline is not None or item.direction is not None:
        return False
    if item.attributes.get("state") not in _STANDINGS:
        return False
    return item.value is None or (1 <= item.value <= COUNTED_MAX and float(item.value).is_integer())
