"""Tool call keys: three safe segments, exactly as they were given."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.harness.keys import ToolCallKeyFactory, is_safe_segment
from diagnosis_harness.kernel.errors import InvalidIdentity

SAFE = string.ascii_letters + string.digits + "._-"
UNSAFE = [
    "", " ", "a b", "a:b", "a/b", "a\nb", "a\n", "a\x00", "\u0430", "\u2024", "\uff0e",
    "a\u200b", "a\u00a0", "é", "１", "a*", "a{b}", "x" * 129,
]  # fmt: skip


@given(st.text(SAFE, min_size=1, max_size=128), st.text(SAFE, min_size=1, max_size=128))
def test_a_key_is_prefix_run_and_call_id(run_id: str, tool_call_id: str) -> None:
    """Nothing is made, rewritten or left out, and the longest safe segment fits."""
    assert ToolCallKeyFactory("diagnosis").key(run_id, tool_call_id) == f"diagnosis:{run_id}:{tool_call_id}"


@given(st.text(max_size=140))
def test_a_segment_is_safe_or_it_is_not(text: str) -> None:
    """Against a naive twin that counts characters."""
    assert is_safe_segment(text) is (1 <= len(text) <= 128 and set(text) <= set(SAFE))


def test_the_longest_segment_has_128_characters() -> None:
    """One more is refused."""
    assert ToolCallKeyFactory("p" * 128).key("r" * 128, "c" * 128) == f"{'p' * 128}:{'r' * 128}:{'c' * 128}"
    assert not is_safe_segment("x" * 129)


def test_the_key_has_the_frameworks_own_id() -> None:
    """Case, dots, dashes and all: the exact run id and the exact tool call id."""
    key = ToolCallKeyFactory("dx.evidence").key("run-7F.a", "call_Ab-9.Z")
    assert key == "dx.evidence:run-7F.a:call_Ab-9.Z"


@pytest.mark.parametrize("unsafe", UNSAFE)
def test_an_unsafe_id_is_refused_and_no_key_is_made(unsafe: str) -> None:
    """Blank, too long, a separator, a control, a space, a look-alike: in either place."""
    keys = ToolCallKeyFactory("diagnosis")
    with pytest.raises(InvalidIdentity):
        keys.key(unsafe, "call-1")
    with pytest.raises(InvalidIdentity):
        keys.key("run-1", unsafe)


@pytest.mark.parametrize("unsafe", UNSAFE)
def test_an_unsafe_prefix_is_refused_when_the_factory_is_made(unsafe: str) -> None:
    """It would spoil every key."""
    with pytest.raises(InvalidIdentity):
        ToolCallKeyFactory(unsafe)
