"""Names of a question are compared with those of the telemetry; unknown ones are reported."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.diagnosis.names import (
    KnownNames,
    NameReading,
    edit_distance,
    read_name,
    read_names,
)

SHOP = KnownNames.of(
    [
        "checkout",
        "payments",
        "payments-db",
        "cart",
        "catalog",
        "order-service",
        "node-11",
        "node-12",
        "预订",
        "productcatalogservice",
    ],
    {"结账": "checkout", "till": "checkout", "nowhere": "nothing"},
)
TRAIN = KnownNames.of(["ts-food-service", "ts-order-service", "ts-user-service"])
EXACT, ALIAS, VARIANT = NameReading.EXACT, NameReading.ALIAS, NameReading.VARIANT
KIND, CLOSE, UNKNOWN = NameReading.KIND, NameReading.CLOSE, NameReading.UNKNOWN


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("why is Checkout slow?", [("checkout", EXACT)]),
        ("is payments-db the reason that payments fails?", [("payments-db", EXACT), ("payments", EXACT)]),
        ("the order_service is slow", [("order-service", EXACT)]),
        ("Why is 预订 slow since 09:30?", [("预订", EXACT)]),
        ("结账为什么慢", [("checkout", ALIAS)]),
        ("the till is down", [("checkout", ALIAS)]),
        ("payment is slow", [("payments", VARIANT)]),
        ("why are the orders slow?", [("order-service", VARIANT)]),
        ("why is productcatalog failing", [("productcatalogservice", VARIANT)]),
        ("and the database?", [("payments-db", KIND)]),
        ("数据库呢", [("payments-db", KIND)]),
        ("why is chekout slow?", [("checkout", CLOSE)]),
        ("is chekcout healthy?", [("checkout", CLOSE)]),
        ("why is carg failing?", [("cart", CLOSE)]),
        ("what happened to catalgo?", [(None, UNKNOWN)]),
        ("why is node-13 slow?", [(None, UNKNOWN)]),
        ("Why is loyalty failing since 09:30?", [(None, UNKNOWN)]),
        ("Why is the shipping service slow?", [(None, UNKNOWN)]),
        ("为什么物流服务变慢", [(None, UNKNOWN)]),
        ("为什么 loyalty 变慢", [(None, UNKNOWN)]),
        ("ALERT p95 service=search value=2.4s", [(None, UNKNOWN)]),
        ("is checkout or loyalty-svc slow?", [("checkout", EXACT), (None, UNKNOWN)]),
    ],
)
def test_a_name_is_read_as_it_was_meant(question: str, read: list[tuple[str | None, NameReading]]) -> None:
    """Case, joints, plurals, aliases, kinds and one slip; another figure is another instance, and no slip."""
    assert [(each.name, each.how) for each in read_names(question, SHOP)] == read


@pytest.mark.parametrize(
    "question",
    [
        "hello",
        "why is everything slow?",
        "why are users seeing errors?",
        "which part is slow?",
        "is the network ok?",
        "any idea why the service is down?",
        "为什么系统变慢？",
        "为什么用户下单失败？",
        "整体还正常吗",
        "cpu of the host is at 100 percent",
        "who is hammering /search?",
    ],
)
def test_an_ordinary_word_is_not_a_name(question: str) -> None:
    """A question about everything is not answered that no service is called `everything`."""
    assert read_names(question, TRAIN) == ()


def test_what_all_names_share_may_be_left_out() -> None:
    """`food` is `ts-food-service`; `user`, an ordinary word, is left alone."""
    read = read_names("why are food and users slow?", TRAIN)

    assert [(each.written, each.name) for each in read] == [("food", "ts-food-service")]


def test_a_slip_that_fits_two_names_is_offered_both() -> None:
    """Nobody guesses which was meant."""
    known = KnownNames.of(["cart", "card", "care"])

    (read,) = read_names("why is carp failing?", known)

    assert read.name is None
    assert set(read.nearest) == {"cart", "card", "care"}


@pytest.mark.parametrize(
    ("written", "name"),
    [("checkou", "checkout"), ("chckot", None), ("productcatlogservic", "productcatalogservice")],
)
def test_two_slips_are_read_in_a_long_name_alone(written: str, name: str | None) -> None:
    """Below eight letters one is the most."""
    assert read_name(written, SHOP).name == name


@given(st.text(max_size=300))
def test_any_text_is_read(question: str) -> None:
    """Nothing raises; every name that is read as known is known, and each appears once."""
    read = read_names(question, SHOP)

    known = [each.name for each in read if each.name is not None]
    assert set(known) <= set(SHOP.names)
    assert len(known) == len(set(known))


@given(st.text("abc", max_size=8), st.text("abc", max_size=8))
def test_the_distance_is_that_of_the_plain_table(one: str, other: str) -> None:
    """Cut off at the limit, it is the same number below it."""
    table = {(0, at): at for at in range(len(other) + 1)}
    table |= {(at, 0): at for at in range(len(one) + 1)}
    for row in range(1, len(one) + 1):
        for column in range(1, len(other) + 1):
            change = table[row - 1, column - 1] + (one[row - 1] != other[column - 1])
            table[row, column] = min(table[row - 1, column] + 1, table[row, column - 1] + 1, change)
    exact = table[len(one), len(other)]

    assert min(edit_distance(one, other, 2), 3) == min(exact, 3)
