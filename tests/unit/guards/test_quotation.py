"""A quote is verbatim only where it is cut as a reader would cut it."""

from __future__ import annotations

import pytest

from diagnosis_harness.guards.quotation import is_verbatim

LINE = "api-gateway latency_p90 rose from -0.21 s to 3,204 ms at 14:05 in GET /cart.v2: 超时 (15 times)"


@pytest.mark.parametrize(
    "quote",
    [
        LINE,
        "api-gateway",
        "rose from -0.21 s to 3,204 ms",
        "3,204 ms",
        "14:05 in GET /cart.v2",
        "/cart.v2:",
        "超",
        "(15 times)",
        "15 times",
    ],
)
def test_whole_words_numbers_and_identifiers_may_be_quoted(quote: str) -> None:
    """Any part of the line between two of their borders; Chinese may be cut anywhere."""
    assert is_verbatim(quote, LINE)


@pytest.mark.parametrize(
    "quote",
    [
        "",
        " ",
        "gateway latency_p90",
        "api",
        "p90",
        "0.21 s",
        "-0.2",
        "21 s",
        "3",
        "204 ms",
        "3,20",
        "14",
        "cart",
        "v2",
        "5 times",
        "rise",
        "API-gateway",
    ],
)
def test_a_cut_inside_changes_what_a_line_says(quote: str) -> None:
    """Verbatim characters, and another number or name than the line holds; or not in the line at all."""
    assert not is_verbatim(quote, LINE)


def test_one_sound_place_is_enough() -> None:
    """A number that stands alone may be quoted, even if it also occurs inside an earlier one."""
    assert is_verbatim("12", "from 112 to 12")
