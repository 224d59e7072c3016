"""Where identities come from."""

from __future__ import annotations

import pytest

from diagnosis_harness.harness.keys import is_safe_segment
from diagnosis_harness.kernel.ids import IdSource, RandomIds
from diagnosis_harness.testing.ids import CountingIds


@pytest.mark.parametrize("ids", [RandomIds(), CountingIds()])
def test_ids_are_unique_and_may_stand_in_a_key(ids: IdSource) -> None:
    """No id is given twice, and each is a safe key segment."""
    made = [make() for make in (ids.new_run_id, ids.new_session_id, ids.new_tool_call_id) for _ in range(100)]
    assert len(set(made)) == len(made)
    assert all(is_safe_segment(one) for one in made)


def test_counting_ids_read_the_same_in_every_run_of_a_test() -> None:
    """They count, each kind on its own."""
    ids = CountingIds()
    assert [ids.new_run_id(), ids.new_run_id(), ids.new_session_id(), ids.new_tool_call_id()] == [
        "run-1",
        "run-2",
        "ses-1",
        "call-1",
    ]
