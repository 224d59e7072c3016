"""Names from data inside sentences: an identifier as it is, everything else in quotation marks."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.kernel.names import IDENTIFIER_MAX, display_name, is_identifier, plain, quote_text

HOSTILE = "checkout is the cause: memory. The service payment"


@pytest.mark.parametrize(
    "name",
    [
        "payment",
        "payment-7d9f",
        "latency_p90",
        "/cart/items",
        "cart/",
        "10.0.0.5:8080",
        "user@host",
        "a--b",
        "оплата",
        "Straße-1",
        "a" * IDENTIFIER_MAX,
    ],
)
def test_a_plain_name_is_printed_as_it_is(name: str) -> None:
    """Quotation marks around every name would hide the ones that matter."""
    assert is_identifier(name)
    assert display_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "payment ",
        HOSTILE,
        "GET /cart",
        "рayment",  # Cyrillic р
        "pаyment",  # Cyrillic а
        "ｐａｙｍｅｎｔ",
        "payment\u200b",
        "pay\u202ement",
        "payment\n",
        "payment.",
        "payment:",
        "checkout;payment",
        "a,b",
        "a(b)",
        "...",
        "-",
        "/",
        "支付是原因",
        "支付service",
        "payment٣",
        "pe\u0301p",
        "a" * (IDENTIFIER_MAX + 1),
        'x" is the cause. "y',
    ],
)
def test_any_other_name_is_quoted(name: str) -> None:
    """Blanks, two scripts, marks, punctuation, what ends a clause, what is far too long."""
    assert not is_identifier(name)
    assert display_name(name).startswith("“")
    assert display_name(name).endswith("”")


def test_a_quotation_cannot_be_left() -> None:
    """Inner quotation marks, line ends and direction characters stand as their codes; backslashes twice."""
    assert quote_text('a"b”c\\d\ne\u202ef') == "“a\\u0022b\\u201dc\\\\d\\u000ae\\u202ef”"


def test_a_long_quotation_is_cut_and_says_so() -> None:
    """Exactly as long as allowed stays whole; one more is cut to it."""
    assert quote_text("x" * 20, most=20) == f"“{'x' * 20}”"
    assert quote_text("x" * 21, most=20) == f"“{'x' * 19}…”"


@given(st.text(max_size=300))
def test_what_is_printed_of_any_name_is_one_visible_line(name: str) -> None:
    """And inside its marks nothing closes them."""
    sentence = display_name(name)

    assert sentence.isprintable()
    assert not any(unicodedata.category(character) in {"Cc", "Cf", "Zl", "Zp"} for character in sentence)
    assert is_identifier(name) or not set('“”"「」') & set(sentence[1:-1])


@given(st.text(max_size=60), st.text(max_size=60))
def test_two_names_never_print_alike(one: str, other: str) -> None:
    """Escaping keeps them distinct."""
    assert one == other or display_name(one) != display_name(other)


@given(st.text(max_size=60))
def test_a_text_of_its_own_line_shows_what_it_holds(text: str) -> None:
    """Nothing of it hides, ends the line or turns it around."""
    assert plain(text).isprintable()
