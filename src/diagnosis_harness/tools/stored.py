"""From stored bytes back to what they hold: the exact inverse of `tools.projection`. Pure and strict.

Whatever this module reads is what some projection wrote: the bytes are canonical JSON, every field is there,
none is unknown, and each is written as the writer writes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from diagnosis_harness.kernel.canonical import canonical_json
from diagnosis_harness.kernel.errors import ContractViolation, StoredBytesInvalid
from diagnosis_harness.kernel.json_value import JsonValue, Scalar
from diagnosis_harness.kernel.window import TimeWindow, parse_utc, utc_text
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import Projection

_STORED = ("tool", "scope", "window", "looked_at", "items", "omitted", "narrow", "note")
_OF_EVERY_ITEM = ("item_id", "kind", "line")
_OF_SOME_ITEMS = (
    "entity", "peer", "signal", "value", "baseline", "unit", "direction", "window", "onset", "score",
    "points", "attributes", "source_rows",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StoredFindings:
    """What a record's bytes say: who was asked, what was asked for, and what is kept of the answer.

    Instants are kept to the millisecond, so that is how they come back.
    """

    tool_name: str
    scope: str
    projection: Projection


def read_stored(stored: bytes) -> StoredFindings:
    """What the bytes hold. Writing it again gives the same bytes.

    Raises:
        StoredBytesInvalid: no projection can have stored these bytes.
    """
    held = _object(_parse(stored), "", required=_STORED)
    items = tuple(_item(raw, f"items[{place}]") for place, raw in enumerate(_list(held["items"], "items")))
    if len({item.item_id for item in items}) != len(items):
        raise StoredBytesInvalid("items", "two items share an id")
    omitted, narrow = _count(held["omitted"], "omitted"), _maybe_text(held["narrow"], "narrow")
    if narrow is not None and not omitted:
        raise StoredBytesInvalid("narrow", "says how to narrow, and nothing was left out")
    return StoredFindings(
        tool_name=_text(held["tool"], "tool"),
        scope=_text(held["scope"], "scope"),
        projection=Projection(
            items=items,
            omitted=omitted,
            looked_at=_count(held["looked_at"], "looked_at"),
            window=_window(held["window"], "window"),
            narrow=narrow,
            note=_maybe_text(held["note"], "note"),
            stored=stored,
        ),
    )


def _parse(stored: bytes) -> JsonValue:
    try:
        value: JsonValue = json.loads(stored.decode("utf-8"))
        again = canonical_json(value)
    except (ValueError, RecursionError):
        raise StoredBytesInvalid("", "not JSON in UTF-8") from None
    if again != stored:
        raise StoredBytesInvalid("", "not canonical JSON")
    return value


def _item(raw: JsonValue, place: str) -> EvidenceItem:
    held = _object(raw, place, required=_OF_EVERY_ITEM, optional=_OF_SOME_ITEMS)

    def text(name: str) -> str | None:
        return _text(held[name], f"{place}.{name}") if name in held else None

    def number(name: str) -> float | None:
        return _number(held[name], f"{place}.{name}") if name in held else None

    try:
        item = EvidenceItem(
            item_id=text("item_id") or "",
            kind=ItemKind(text("kind") or ""),
            line=text("line") or "",
            entity=text("entity"),
            peer=text("peer"),
            signal=text("signal"),
            value=number("value"),
            baseline=number("baseline"),
            unit=text("unit"),
            direction=Direction(text("direction") or "") if "direction" in held else None,
            window=_window(held.get("window"), f"{place}.window"),
            onset_s=_instant(held["onset"], f"{place}.onset") if "onset" in held else None,
            score=number("score"),
            points=_points(held.get("points", []), f"{place}.points"),
            attributes=_attributes(held.get("attributes", {}), f"{place}.attributes"),
            source_rows=_count(held.get("source_rows", 0), f"{place}.source_rows"),
        )
    except (ContractViolation, ValueError) as error:
        raise StoredBytesInvalid(place, str(error)) from None
    if item.as_json() != held:
        raise StoredBytesInvalid(place, "not as an item is written")
    return item


def _object(
    raw: JsonValue, place: str, *, required: Iterable[str], optional: Iterable[str] = ()
) -> dict[str, JsonValue]:
    if not isinstance(raw, dict):
        raise StoredBytesInvalid(place, "not an object")
    if missing := [name for name in required if name not in raw]:
        raise StoredBytesInvalid(place, f"lacks {', '.join(missing)}")
    if unknown := set(raw).difference(required, optional):
        raise StoredBytesInvalid(place, f"has unknown fields: {', '.join(sorted(unknown))}")
    return raw


def _list(raw: JsonValue, place: str) -> list[JsonValue]:
    if not isinstance(raw, list):
        raise StoredBytesInvalid(place, "not a list")
    return raw


def _text(raw: JsonValue, place: str) -> str:
    if not isinstance(raw, str):
        raise StoredBytesInvalid(place, "not a text")
    return raw


def _maybe_text(raw: JsonValue, place: str) -> str | None:
    return None if raw is None else _text(raw, place)


def _number(raw: JsonValue, place: str) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise StoredBytesInvalid(place, "not a number")
    return raw


def _count(raw: JsonValue, place: str) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int) or raw < 0:
        raise StoredBytesInvalid(place, "not a count")
    return raw


def _points(raw: JsonValue, place: str) -> tuple[float | None, ...]:
    return tuple(None if point is None else _number(point, place) for point in _list(raw, place))


def _attributes(raw: JsonValue, place: str) -> dict[str, Scalar]:
    if not isinstance(raw, dict):
        raise StoredBytesInvalid(place, "not an object")
    found: dict[str, Scalar] = {}
    for name, value in raw.items():
        if isinstance(value, dict | list):
            raise StoredBytesInvalid(f"{place}.{name}", "not a single value")
        found[name] = value
    return found


def _window(raw: JsonValue, place: str) -> TimeWindow | None:
    if raw is None:
        return None
    ends = _list(raw, place)
    if len(ends) != 2:
        raise StoredBytesInvalid(place, "not two instants")
    try:
        return TimeWindow(_instant(ends[0], place), _instant(ends[1], place))
    except ValueError as error:
        raise StoredBytesInvalid(place, str(error)) from None


def _instant(raw: JsonValue, place: str) -> float:
    text = _text(raw, place)
    try:
        time_s = parse_utc(text)
        written = utc_text(time_s)
    except (ValueError, OverflowError):
        raise StoredBytesInvalid(place, "not an instant") from None
    if written != text:
        raise StoredBytesInvalid(place, "not an instant as it is written, in UTC to the millisecond")
    return time_s
