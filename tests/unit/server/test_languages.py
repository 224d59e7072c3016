"""Accept-Language decides between our two languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.kernel.language import Language
from diagnosis_harness.server.languages import preferred_language


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", Language.EN),
        ("zh", Language.ZH),
        ("zh-CN,zh;q=0.9,en;q=0.8", Language.ZH),
        ("en-GB,en;q=0.9,zh;q=0.8", Language.EN),
        ("en;q=0.2, ZH-Hans;q=0.3", Language.ZH),
        ("zh;q=0", Language.EN),
        ("fr, de", Language.EN),
        ("zh;q=abc", Language.EN),
        ("zh;q=nan", Language.EN),
        ("zh,en", Language.EN),
    ],
)
def test_the_language_wanted_most_is_spoken(header: str, language: Language) -> None:
    """English where both are wanted alike, or none."""
    assert preferred_language(header) is language


@given(st.text(max_size=2_000))
def test_any_header_gives_a_language(header: str) -> None:
    """Nothing is refused."""
    assert preferred_language(header) in Language
