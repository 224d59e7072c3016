"""Numbers that cannot be reckoned with are refused in one sentence, before anything of a run exists."""

from __future__ import annotations

import asyncio

import pytest

from diagnosis_harness.harness.budget import RunBudgetLimits
from diagnosis_harness.harness.lease import TokenUsage
from diagnosis_harness.harness.retry_policy import RetryPolicy
from diagnosis_harness.harness.termination import CancellationReason, RunState, RunTermination
from diagnosis_harness.harness.waiting import WaitLimit
from diagnosis_harness.kernel.errors import (
    ContractViolation,
    InvalidLimits,
    InvalidRetryPolicy,
    TechnicalFailure,
)
from diagnosis_harness.testing.runs import AMPLE, Rig, limits

HUGE = 10**400
UNPRINTABLE = 10**5000  # Python refuses to write out a whole number of more than 4,300 digits
NO_SECONDS = [
    True,
    False,
    HUGE,
    -HUGE,
    UNPRINTABLE,
    float("inf"),
    float("-inf"),
    float("nan"),
    "1",
    b"1",
    [1.0],
]


@pytest.mark.parametrize(
    "value",
    NO_SECONDS,
    ids=lambda value: f"{type(value).__name__}-{str(value)[:6]}" if value != UNPRINTABLE else "unprintable",
)
@pytest.mark.parametrize("name", ["timeout_s", "deadline_s"])
def test_a_time_that_cannot_be_reckoned_with_is_refused(name: str, value: object) -> None:
    """True is no second, and a number that no float holds is no OverflowError of ours."""
    rig = Rig()

    with pytest.raises(ContractViolation, match="finite") as refused:
        rig.core.start_run(session_id="s", limits=AMPLE, **{name: value})  # type: ignore[arg-type]  # that is the fault

    assert len(str(refused.value)) < 200
    assert rig.sink.events() == ()


@pytest.mark.parametrize(
    "value", [0, -1, True, 1.0, "1", None, 2**63, HUGE, UNPRINTABLE], ids=lambda value: type(value).__name__
)
def test_a_limit_that_no_counter_can_hold_is_refused(value: object) -> None:
    """A store keeps a count in 64 bits: a limit beyond that limits nothing that could be kept."""
    for name in ("llm_calls", "tool_calls", "run_bytes"):
        with pytest.raises(InvalidLimits, match=name):
            limits(**{name: value})  # type: ignore[arg-type]  # that is the fault
    with pytest.raises(InvalidLimits, match="tool_calls_of"):
        RunBudgetLimits(
            llm_calls=1, tool_calls=1, tool_calls_per_tool=1, input_tokens=1, output_tokens=1, total_tokens=1,
            run_bytes=1, tool_calls_of={"look": value},  # type: ignore[dict-item]  # that is the fault
        )  # fmt: skip


def test_the_largest_limit_that_a_counter_holds_is_one() -> None:
    """The bound itself belongs to the numbers."""
    assert limits(run_bytes=2**63 - 1).run_bytes == 2**63 - 1


@pytest.mark.parametrize(
    "value", [True, HUGE, UNPRINTABLE, 0, -1.0, float("nan")], ids=lambda value: type(value).__name__
)
def test_a_limit_of_a_wait_is_positive_and_finite(value: float) -> None:
    """Also that of an attempt, and the pause between two."""
    with pytest.raises(ContractViolation, match="positive and finite"):
        WaitLimit(value, TechnicalFailure)
    with pytest.raises(InvalidRetryPolicy, match="attempt_timeout_s"):
        RetryPolicy(attempts_max=1, attempt_timeout_s=value)


@pytest.mark.parametrize(
    "value", [True, HUGE, float("nan"), float("inf")], ids=lambda value: type(value).__name__
)
def test_a_pause_is_finite(value: float) -> None:
    """A pause that never ends is a run that never goes on."""
    rig = Rig()
    ctx = rig.run()

    with pytest.raises(ContractViolation, match="a pause is a finite number"):
        asyncio.run(rig.core.pause(ctx, value))
    with pytest.raises(InvalidRetryPolicy, match="delay_s"):
        RetryPolicy(attempts_max=1, delay_s=value)


@pytest.mark.parametrize("value", [True, -1, HUGE, UNPRINTABLE, 1.5], ids=lambda value: type(value).__name__)
def test_usage_that_no_counter_can_hold_is_refused(value: int) -> None:
    """A provider that reports a number of 400 digits is wrong, and its call is charged as reserved."""
    with pytest.raises(ContractViolation, match="whole number"):
        TokenUsage(value, 0)


@pytest.mark.parametrize("at_s", [float("nan"), float("inf"), -1.0, 1e12, True, HUGE], ids=str)
def test_a_termination_has_a_time_that_can_be_written(at_s: float) -> None:
    """The last event names the time of the end: a player that ends its run at no time at all is refused."""
    with pytest.raises(ValueError, match="an instant that can be written"):
        RunTermination(RunState.CANCELLED, CancellationReason.USER_REQUESTED, at_s)
