"""The capacity counter: atomic, exact, and unchanged by what it refuses."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.harness.capacity import RunCapacity
from diagnosis_harness.harness.lifecycle import RunState
from diagnosis_harness.kernel.errors import CapacityRefused, ContractViolation, RunAborted
from diagnosis_harness.testing.runs import Rig, limits


@given(limit_bytes=st.integers(1, 1000), sizes=st.lists(st.integers(1, 400), max_size=30))
def test_reservations_are_granted_up_to_the_limit_and_refusals_change_nothing(
    limit_bytes: int, sizes: list[int]
) -> None:
    """Against a naive twin: a grant adds exactly its size, and a refusal adds nothing."""
    capacity = RunCapacity(threading.RLock(), limit_bytes)
    used_bytes = 0
    for size_bytes in sizes:
        if used_bytes + size_bytes > limit_bytes:
            with pytest.raises(CapacityRefused) as refused:
                capacity.reserve(size_bytes)
            assert refused.value.asked_bytes == size_bytes
            assert (refused.value.used_bytes, refused.value.limit_bytes) == (used_bytes, limit_bytes)
        else:
            capacity.reserve(size_bytes)
            used_bytes += size_bytes
        assert capacity.used_bytes == used_bytes <= limit_bytes


def test_the_limit_itself_may_be_reached() -> None:
    """Equal is not over."""
    capacity = RunCapacity(threading.RLock(), 10)
    capacity.reserve(10)
    assert capacity.used_bytes == 10


@pytest.mark.parametrize("size_bytes", [0, -1, True, 1.5, "8"])
def test_a_size_that_is_not_a_positive_whole_number_is_refused(size_bytes: object) -> None:
    """A reservation of nothing is a mistake of the caller."""
    with pytest.raises(ContractViolation):
        RunCapacity(threading.RLock(), 10).reserve(size_bytes)  # type: ignore[arg-type]  # the refusal is tested


def test_a_refused_reservation_retains_earlier_usage_and_the_core_ends_the_run() -> None:
    """The counter only refuses; the gate then ends the run BUDGET_EXHAUSTED."""
    rig = Rig()
    ctx = rig.run(limits=limits(run_bytes=100))
    rig.core.reserve_bytes(ctx, 60)
    with pytest.raises(CapacityRefused):
        ctx.budget.capacity.reserve(41)
    assert ctx.lifecycle.termination is None
    with pytest.raises(RunAborted):
        rig.core.reserve_bytes(ctx, 41)
    assert ctx.budget.usage().run_bytes == 60
    assert ctx.lifecycle.state is RunState.BUDGET_EXHAUSTED
