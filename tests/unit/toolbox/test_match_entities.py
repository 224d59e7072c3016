"""Names in a text: whole words, the longest of nested ones, in the order of the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.kernel.name_match import names_in

KNOWN = (
    "cart",
    "checkout",
    "order-service",
    "order-service-db",
    "payments",
    "payments-db",
    "db",
    "ts_food.api",
)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("why is checkout slow?", ("checkout",)),
        ("why is Checkout slow?", ("checkout",)),
        ("checkout为什么变慢", ("checkout",)),
        ("结账(checkout)与cart都慢", ("checkout", "cart")),
        ("is payments-db the reason that payments fails?", ("payments-db", "payments")),
        ("why is payments-db slow?", ("payments-db",)),
        ("the order service is slow", ("order-service",)),
        ("the order service db is slow", ("order-service-db",)),
        ("ts food api", ("ts_food.api",)),
        ("checkouts are down", ()),
        ("mycart is full", ()),
        ("the db is slow", ()),
        ("why did the printer jam?", ()),
        ("", ()),
    ],
)
def test_a_name_is_found_as_a_whole_word(text: str, named: tuple[str, ...]) -> None:
    """However it is joined or cased; never inside another word, and not when it has two letters."""
    assert names_in(text, KNOWN) == named


@given(st.text(), st.lists(st.text(max_size=20), max_size=5))
def test_any_names_in_any_text(text: str, known: list[str]) -> None:
    """Nothing raises, and only known names come back, each once."""
    found = names_in(text, known)
    assert set(found) <= set(known)
    assert len(found) == len(set(found))


@given(
    st.sampled_from([name for name in KNOWN if len(name) > 2]), st.sampled_from(["?", " is slow", "，慢", ""])
)
def test_a_known_name_is_always_found(name: str, after: str) -> None:
    """Whatever follows it."""
    assert name in names_in(f"why {name}{after}", KNOWN)
