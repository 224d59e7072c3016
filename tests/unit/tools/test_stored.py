"""Reading stored bytes is the exact inverse of projecting, and refuses whatever no projection wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.kernel.canonical import canonical_json
from diagnosis_harness.kernel.errors import StoredBytesInvalid
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.testing.evidence import WINDOW, cause_item, change_item
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind
from diagnosis_harness.tools.projection import project
from diagnosis_harness.tools.spec import ProjectionBounds, ToolFindings
from diagnosis_harness.tools.stored import read_stored

WIDE = ProjectionBounds(items=100, size_bytes=10**6)

words = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\n"), min_size=1, max_size=12
)
numbers = st.one_of(st.integers(-(10**9), 10**9), st.floats(allow_nan=False, allow_infinity=False))
instants = st.integers(0, 4_000_000_000_000).map(lambda millis: millis / 1000)
windows = st.tuples(instants, instants).map(lambda ends: TimeWindow(min(ends), max(ends)))


@st.composite
def items(draw: st.DrawFn, item_id: str) -> EvidenceItem:
    """Any item that can be built, with instants to the millisecond as bytes keep them."""
    return EvidenceItem(
        item_id=item_id,
        kind=draw(st.sampled_from(ItemKind)),
        line=draw(words),
        entity=draw(st.none() | words),
        peer=draw(st.none() | words),
        signal=draw(st.none() | words),
        value=draw(st.none() | numbers),
        baseline=draw(st.none() | numbers),
        unit=draw(st.none() | words),
        direction=draw(st.none() | st.sampled_from(Direction)),
        window=draw(st.none() | windows),
        onset_s=draw(st.none() | instants),
        score=draw(st.none() | numbers),
        points=tuple(draw(st.lists(st.none() | numbers, max_size=4))),
        attributes=draw(st.dictionaries(words, st.none() | st.booleans() | numbers | words, max_size=3)),
        source_rows=draw(st.integers(0, 10**9)),
    )


@st.composite
def findings(draw: st.DrawFn) -> ToolFindings:
    """Whatever a tool may hand over."""
    count = draw(st.integers(0, 5))
    return ToolFindings(
        items=tuple(draw(items(f"i{place}")) for place in range(count)),
        window=draw(st.none() | windows),
        looked_at=draw(st.integers(0, 10**6)),
        narrow=draw(st.none() | words),
        note=draw(st.none() | words),
    )


@given(findings(), words, words, st.integers(1, 5))
def test_reading_gives_back_what_was_projected(found: ToolFindings, tool: str, scope: str, most: int) -> None:
    """Tool, scope and the whole projection, left-out items counted."""
    projection = project(tool, scope, found, ProjectionBounds(items=most, size_bytes=10**6))

    read = read_stored(projection.stored)

    assert (read.tool_name, read.scope) == (tool, scope)
    assert read.projection == projection


def test_a_time_finer_than_a_millisecond_reads_as_it_is_written() -> None:
    """The bytes are what counts: writing what was read gives them again."""
    fine = ToolFindings(items=(), window=TimeWindow(1.00049, 2.00051))
    stored = project("look", "{}", fine, WIDE).stored

    read = read_stored(stored).projection

    assert read.window == TimeWindow(1.0, 2.001)
    assert project("look", "{}", ToolFindings(items=(), window=read.window), WIDE).stored == stored


def _form_in_store() -> dict[str, Any]:
    both = ToolFindings(items=(change_item(), cause_item()), window=WINDOW, looked_at=7, note="short")
    content: dict[str, Any] = json.loads(project("look", "{}", both, WIDE).stored)
    return content


def _set(path: str, value: object) -> Callable[[dict[str, Any]], None]:
    def change(content: dict[str, Any]) -> None:
        *steps, last = path.split(".")
        inner: Any = content
        for step in steps:
            inner = inner[int(step)] if step.isdigit() else inner[step]
        inner[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (_set("more", 1), ""),
        (lambda content: content.pop("note"), ""),
        (_set("tool", 3), "tool"),
        (_set("scope", None), "scope"),
        (_set("looked_at", -1), "looked_at"),
        (_set("looked_at", True), "looked_at"),
        (_set("omitted", 1.0), "omitted"),
        (_set("narrow", "Name an entity."), "narrow"),
        (_set("note", 1), "note"),
        (_set("window", ["2023-11-14T22:13:20Z"]), "window"),
        (_set("window", ["2023-11-14T22:13:20Z", "2023-11-14T22:13:19Z"]), "window"),
        (_set("window", ["2023-11-14T22:13:20.000Z", "2023-11-14T22:13:21Z"]), "window[0]"),
        (_set("window", ["2023-11-14 22:13:20", "soon"]), "window[0]"),
        (_set("items", {}), "items"),
        (_set("items.1.item_id", "i1"), "items"),
        (_set("items.0.more", 1), "items[0]"),
        (lambda content: content["items"][0].pop("line"), "items[0]"),
        (_set("items.0.line", "two\nlines"), "items[0]"),
        (_set("items.0.kind", "GUESS"), "items[0].kind"),
        (_set("items.0.value", "3.204"), "items[0].value"),
        (_set("items.0.value", True), "items[0].value"),
        (_set("items.0.entity", None), "items[0]"),
        (_set("items.0.direction", "SIDEWAYS"), "items[0].direction"),
        (_set("items.0.onset", 1_700_000_000.0), "items[0].onset"),
        (_set("items.0.points", []), "items[0]"),
        (_set("items.0.points", ["1"]), "items[0].points[0]"),
        (_set("items.0.source_rows", 0), "items[0]"),
        (_set("items.0.window", None), "items[0]"),
        (_set("items.0.attributes", []), "items[0].attributes"),
        (_set("items.0.attributes.kind", ["latency"]), "items[0].attributes.kind"),
    ],
)
def test_what_no_projection_writes_is_refused_at_its_place(
    change: Callable[[dict[str, Any]], None], place: str
) -> None:
    """Canonical JSON is not enough: every field must be there, known, of its type, and written as usual."""
    content = _form_in_store()
    change(content)

    with pytest.raises(StoredBytesInvalid) as refused:
        read_stored(canonical_json(content))

    assert refused.value.place == place


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b"null",
        b'{"tool":NaN}',
        b'{"tool":"\\ud800"}',
        b"[" * 100_000,
        json.dumps(_form_in_store(), sort_keys=True).encode(),
        json.dumps(dict(reversed(_form_in_store().items())), separators=(",", ":")).encode(),
        canonical_json(_form_in_store()) + b"\n",
        canonical_json(_form_in_store()).replace(b'"note":"short"', b'"note":"other","note":"short"'),
    ],
    ids=range(12),
)
def test_what_is_not_canonical_json_of_an_object_is_refused(stored: bytes) -> None:
    """Broken text, half characters, spaces, another order of keys, a key twice."""
    with pytest.raises(StoredBytesInvalid):
        read_stored(stored)
