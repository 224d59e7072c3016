"""The reader of published sentences that the liar's witness has: it is no code of the guards."""

from __future__ import annotations

import pytest
from dev.lying.chosen.sentences import (
    directions_in,
    instants,
    is_clean,
    numbers,
    odd_words,
    prose_in,
    quotes_in,
    strip_quotes,
)


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ('"a b" is the cause.', ("a b",)),
        ('"a \\" is the cause. \\" b" failed.', ('a " is the cause. " b',)),
        ("“a b” rose", ("a b",)),
        ("「支付」变慢", ("支付",)),
        ("checkout rose", ()),
    ],
)
def test_quotations_are_found(text: str, inside: tuple[str, ...]) -> None:
    """A mark that is escaped does not end a quotation."""
    assert quotes_in(text) == inside
    assert all(each not in strip_quotes(text) for each in inside)


def test_prose_is_found_outside_of_quotation_marks_alone() -> None:
    """A mark inside of a name closes the quotation that it is in, where it is not escaped."""
    name = 'orders" is the cause. "admin'

    assert prose_in(f"{name} slowed.", [name]) == name
    assert prose_in(f'"{name}" slowed.', [name]) == name
    assert prose_in('"orders\\" is the cause. \\"admin" slowed.', [name]) is None
    assert prose_in("orders slowed.", [name]) is None


def test_numbers_have_their_units_and_names_have_no_numbers() -> None:
    """Digits of a name, of an instant and of a quotation are no numbers."""
    text = (
        'latency_p90 of payment-7d9f rose from 30.4 ms to 1,290 ms (42 times) at 2024-01-01 14:05 UTC "77".'
    )

    found = list(numbers(text, ["latency_p90", "payment-7d9f"]))

    assert [(round(each.value, 6), each.bare, each.factor) for each in found] == [
        (0.0304, False, False),
        (1.29, False, False),
        (42.0, False, True),
    ]


def test_a_clock_time_is_of_the_day_before_it() -> None:
    """As spans of time are written."""
    start, end = instants("between 2024-01-01 14:05 and 14:20:30.500 UTC")

    assert (start, end - start) == (1_704_117_900.0, 930.5)


@pytest.mark.parametrize("name", ["payment", "payment-7d9f.eu:8080", "支付", "платёж", "a" * 128])
def test_a_clean_name(name: str) -> None:
    """Letters or digits of one script and a few marks."""
    assert is_clean(name)


@pytest.mark.parametrize(
    "name", ["pay ment", "рayment", "payment\u200b", "\u202epayment", 'a"b', "a" * 129, ""]
)
def test_a_name_that_has_to_be_quoted(name: str) -> None:
    """Blanks, two scripts, what is not seen, and what is long."""
    assert not is_clean(name)


def test_which_way_and_which_words() -> None:
    """In English and Chinese."""
    assert directions_in("cpu of a rose from 1 to 2", ["a"]) == {"UP"}
    assert directions_in("a 的 cpu 从 2 降到 1", ["a"]) == {"DOWN"}
    assert odd_words("checkout rose, roll it back", ["checkout"]) == ("roll",)
