"""Reads stored bytes: the exact inverse of `tools.projection`. Pure and strict.

It accepts only what a projection can have written: canonical JSON in which every field is present, none is
unknown, and each has the writer's form.
"""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.kernel.canonical import canonical_json
from diagnosis_harness.kernel.errors import ContractViolation, JsonInvalid, StoredBytesInvalid
from diagnosis_harness.kernel.json_fields import (
    JsonFields,
    any_object_at,
    instant_at,
    items_at,
    kind_of,
    number_at,
    place_in,
)
from diagnosis_harness.kernel.json_value import JsonValue, Scalar
from diagnosis_harness.kernel.strict_json import json_errors_as, parse_json
from diagnosis_harness.kernel.window import TimeWindow
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
    """The content of a record's bytes: the tool, its arguments, and the stored part of its answer.

    Times are stored to the millisecond, and read back to the millisecond.
    """

    tool_name: str
    scope: str
    projection: Projection


def read_stored(stored: bytes) -> StoredFindings:
    """The content of the bytes. Writing it again gives the same bytes.

    Raises:
        StoredBytesInvalid: no projection can have stored these bytes.
    """
    with json_errors_as(StoredBytesInvalid):
        value = parse_json(stored)
        if canonical_json(value) != stored:
            raise JsonInvalid("", "canonical JSON", "another form of it")
        fields = JsonFields(value, "", required=_STORED)
        items = fields.items("items", _item)
        if len({item.item_id for item in items}) != len(items):
            raise JsonInvalid("items", "each item_id once", "two items of one id")
        omitted, narrow = fields.count("omitted"), fields.maybe_text("narrow")
        if narrow is not None and not omitted:
            raise JsonInvalid("narrow", "null, since nothing was left out", "a text")
        return StoredFindings(
            tool_name=fields.text("tool"),
            scope=fields.text("scope"),
            projection=Projection(
                items=items,
                omitted=omitted,
                looked_at=fields.count("looked_at"),
                window=_window(fields.raw("window"), "window"),
                narrow=narrow,
                note=fields.maybe_text("note"),
                stored=stored,
            ),
        )


def _item(raw: JsonValue, place: str) -> EvidenceItem:
    fields = JsonFields(raw, place, required=_OF_EVERY_ITEM, optional=_OF_SOME_ITEMS)
    try:
        item = EvidenceItem(
            item_id=fields.text("item_id"),
            kind=fields.choice("kind", ItemKind),
            line=fields.text("line"),
            entity=fields.maybe_text("entity"),
            peer=fields.maybe_text("peer"),
            signal=fields.maybe_text("signal"),
            value=fields.maybe_number("value"),
            baseline=fields.maybe_number("baseline"),
            unit=fields.maybe_text("unit"),
            direction=fields.maybe_choice("direction", Direction),
            window=_window(fields.raw("window"), fields.place("window")),
            onset_s=instant_at(fields.raw("onset"), fields.place("onset")) if fields.has("onset") else None,
            score=fields.maybe_number("score"),
            points=fields.items("points", _point),
            attributes=_attributes(fields.raw("attributes"), fields.place("attributes")),
            source_rows=fields.count("source_rows") if fields.has("source_rows") else 0,
        )
    except ContractViolation as error:
        raise JsonInvalid(place, "an item of evidence", f"what is none ({error})") from None
    if item.as_json() != raw:
        raise JsonInvalid(place, "an item as it is written", "another form of it")
    return item


def _point(raw: JsonValue, place: str) -> float | None:
    return None if raw is None else number_at(raw, place)


def _attributes(raw: JsonValue, place: str) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
    for name, value in ({} if raw is None else any_object_at(raw, place)).items():
        if not isinstance(value, str | int | float | None):
            raise JsonInvalid(place_in(place, name), "a single value", kind_of(value))
        found[name] = value
    return found


def _window(raw: JsonValue, place: str) -> TimeWindow | None:
    if raw is None:
        return None
    ends = items_at(raw, place, instant_at)
    if len(ends) != 2:
        raise JsonInvalid(place, "a list of two instants", f"one of {len(ends)}")
    try:
        return TimeWindow(*ends)
    except ValueError as error:
        raise JsonInvalid(place, "a window", f"what is none ({error})") from None
