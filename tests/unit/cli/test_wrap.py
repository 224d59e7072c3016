"""Lines fit their width in cells, and no text is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from diagnosis_harness.cli.render.wrap import hang, wrap

TEXTS = st.text(alphabet=st.sampled_from("ab c，。（）延迟从 85ms[1]é"), max_size=120)


@given(text=TEXTS, width=st.integers(min_value=8, max_value=60))
def test_no_line_is_too_wide_and_nothing_is_lost(text: str, width: int) -> None:
    """Only spaces at the ends of lines go."""
    lines = [line.plain for line in wrap(Text(text), width)]

    assert all(cell_len(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


@given(text=TEXTS, width=st.integers(min_value=24, max_value=60))
def test_further_lines_are_indented_below_the_first(text: str, width: int) -> None:
    """The prefix is written once; further lines are indented by its width."""
    first, *others = [line.plain for line in hang(Text("  1. "), Text(text), width)]

    assert first.startswith("  1.")
    assert all(line[:5].strip() == "" and cell_len(line) <= width for line in others)


def test_chinese_breaks_between_characters_and_never_before_a_full_stop() -> None:
    """A line of Chinese is as long as it can be."""
    assert [line.plain for line in wrap(Text("延迟升高到。"), 10)] == ["延迟升高", "到。"]


def test_a_word_longer_than_the_line_is_split() -> None:
    """Nothing runs over the edge."""
    assert [line.plain for line in wrap(Text("checkout-service-v2 slow"), 8)] == [
        "checkout",
        "-service",
        "-v2 slow",
    ]
