"""Every line says exactly what its typed values hold, whatever the incident."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from tests.support.small_incident import (
    CPU_FAULT,
    ERROR_FAULT,
    NETWORK_FAULT,
    STORE_FAULT,
    SmallFault,
    small_incident,
)

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.toolbox.catalog import build_tools
from diagnosis_harness.toolbox.wording import digits, one_line, quantity, round4
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind
from diagnosis_harness.tools.projection import project
from diagnosis_harness.tools.spec import ArgumentValue

ARGUMENTS: dict[str, dict[str, ArgumentValue]] = {
    "inspect_signal": {"entity": "payment", "signal": "cpu_percent"},
    "walk_topology": {"entity": "payment", "direction": "callers", "depth": 3},
    "search_logs": {"text": "O"},
}
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w.-]*\w)")


def all_items(ctx: RunContext, fault: SmallFault | None) -> Iterator[EvidenceItem]:
    """What every tool says of an incident, through the projection."""
    for tool in build_tools(small_incident(fault).sources()):
        findings = tool.run(ctx, ARGUMENTS.get(tool.spec.name, {}))
        yield from project(tool.spec.name, "{}", findings, tool.spec.bounds).items


def words_in(item: EvidenceItem) -> set[str]:
    """Texts of an item's typed values."""
    texts = [item.entity, item.peer, item.signal, item.unit, *item.attributes.values()]
    return {one_line(text) for text in texts if isinstance(text, str)}


def numbers_in(item: EvidenceItem) -> set[str]:
    """Numbers of an item's typed values, as a line would print them."""
    numbers = [item.value, item.baseline, item.score, *item.attributes.values()]
    return {digits(abs(n)) for n in numbers if isinstance(n, int | float) and not isinstance(n, bool)}


def timestamps_in(item: EvidenceItem) -> set[str]:
    """Instants of an item's typed values."""
    instants = {utc_text(item.onset_s)} if item.onset_s is not None else set()
    if item.window is not None:
        instants |= {utc_text(item.window.start_s), utc_text(item.window.end_s)}
    return instants


@pytest.mark.parametrize("fault", [CPU_FAULT, NETWORK_FAULT, ERROR_FAULT, STORE_FAULT, None])
def test_every_number_and_time_of_a_line_is_typed(ctx: RunContext, fault: SmallFault | None) -> None:
    """A quote can be checked against the values beside it."""
    for item in all_items(ctx, fault):
        line = item.line
        assert set(INSTANT.findall(line)) <= timestamps_in(item), line
        line = INSTANT.sub("", line)
        for text in sorted(words_in(item), key=len, reverse=True):
            line = re.sub(rf"(?<!\w){re.escape(text)}(?!\w)", "", line)
        if item.item_id != "entities":  # a list of names, not numbers
            assert set(NUMBER.findall(line)) <= numbers_in(item), item.line


@pytest.mark.parametrize("fault", [CPU_FAULT, NETWORK_FAULT, ERROR_FAULT, STORE_FAULT])
def test_value_and_baseline_stand_in_the_line_with_their_unit(ctx: RunContext, fault: SmallFault) -> None:
    """Digits and unit are those of the typed values."""
    kinds = {ItemKind.SIGNAL_CHANGE, ItemKind.SELF_TIME, ItemKind.EDGE_GAP, ItemKind.SPAN_ERRORS}
    changes = [item for item in all_items(ctx, fault) if item.kind in kinds]
    assert changes
    for item in changes:
        assert item.value is not None
        assert item.baseline is not None
        assert quantity(item.value, item.unit) in item.line
        assert quantity(item.baseline, item.unit) in item.line


@pytest.mark.parametrize("fault", [CPU_FAULT, ERROR_FAULT])
def test_values_are_rounded_and_directions_agree_with_them(ctx: RunContext, fault: SmallFault) -> None:
    """Up means that the value lies above its baseline."""
    for item in all_items(ctx, fault):
        if item.value is None or item.baseline is None or item.direction is None:
            continue
        assert item.value == round4(item.value)
        sign = (item.value > item.baseline) - (item.value < item.baseline)
        assert item.direction.value in {1: ("UP", "FLAT"), -1: ("DOWN", "FLAT"), 0: ("FLAT",)}[sign], (
            item.line
        )


def test_lines_are_one_line_without_control_characters(ctx: RunContext) -> None:
    """Log text that tries to break out is shown as data."""
    lines = [item.line for item in all_items(ctx, CPU_FAULT)]
    assert all(line.isprintable() for line in lines)
    assert any("timeout after 3000 ms ignore this [31m" in line for line in lines)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.21, "0.21"),
        (1234567.0, "1235000"),
        (0.00001234, "0.00001234"),
        (0.0, "0"),
        (-2.50, "-2.5"),
        (3e-9, "3e-09"),
    ],
)
def test_digits_are_plain(value: float, text: str) -> None:
    """No exponent where people expect none."""
    assert digits(round4(value)) == text


def test_long_foreign_text_is_cut() -> None:
    """A log line of a megabyte stays a line."""
    assert len(one_line("x" * 10_000)) == 200


def test_a_line_of_a_move_says_how_often_normal_operation_moves_as_far(ctx: RunContext) -> None:
    """A quote of it cannot hide that the move is usual."""
    moves = [item for item in all_items(ctx, CPU_FAULT) if item.kind is ItemKind.SIGNAL_CHANGE]
    known = [item for item in moves if "as_far" in item.attributes and item.direction is not Direction.FLAT]
    assert known
    for item in known:
        as_far, windows = item.attributes["as_far"], item.attributes["normal_windows"]
        assert item.line.endswith(f", as far as {as_far} of {windows} windows of normal operation")


def test_a_ratio_has_no_word_of_its_own() -> None:
    """`from 0 to 0.28` reads as one."""
    assert (quantity(0.2812, "ratio"), quantity(2.0, "s"), quantity(2.0, None)) == ("0.2812", "2 s", "2")
