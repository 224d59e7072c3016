"""What a foreign error says."""

from __future__ import annotations

from tests.support.unspeakable import UNSPEAKABLE

from diagnosis_harness.kernel.faults import SAID_MAX, error_text


def test_what_an_error_says_is_bounded_and_kept() -> None:
    """The beginning of a long text; the whole of a short one."""
    assert error_text(ValueError("no such table")) == "no such table"
    assert error_text(ValueError("a" * SAID_MAX)) == "a" * SAID_MAX
    assert error_text(ValueError("a" * 10 * SAID_MAX)) == "a" * (SAID_MAX - 1) + "…"
    assert [error_text(error()) for error in UNSPEAKABLE] == [""] * len(UNSPEAKABLE)
