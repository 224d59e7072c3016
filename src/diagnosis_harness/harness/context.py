"""The context of a run: frozen, unique, and the first argument of every boundary."""

from __future__ import annotations

from dataclasses import InitVar, dataclass

from diagnosis_harness.harness.budget import RunBudget
from diagnosis_harness.harness.cancellation import RunCancellation
from diagnosis_harness.harness.handle import RunHandle
from diagnosis_harness.harness.keys import is_safe_segment
from diagnosis_harness.harness.lifecycle import RunLifecycle
from diagnosis_harness.harness.numbers import is_finite_number, short_repr
from diagnosis_harness.harness.retry_policy import HarnessRetryPolicies
from diagnosis_harness.kernel.errors import ContractViolation, InvalidIdentity


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RunContext(RunHandle):
    """One run. Always passed as the first argument, also across threads; never a context variable.

    Its structure is frozen; cancellation, budget and lifecycle are the run's live handles, shared by all who
    hold the context. Copying returns the same object, and `pickle` and `dataclasses.replace` raise, so that a
    run never has two states. Made by `DiagnosisHarnessCore.start_run` alone.

    Attributes:
        session_id: the conversation the run belongs to; not blank.
        run_id: the run; a safe key segment.
        deadline: when the run's time is up, in seconds since the epoch, UTC.
        cancellation: the signal that work must stop.
        budget: what the run may spend and has spent.
        retry_policies: who may try again.
        lifecycle: the state of the run.
    """

    session_id: str
    run_id: str
    deadline: float
    cancellation: RunCancellation
    budget: RunBudget
    retry_policies: HarnessRetryPolicies
    lifecycle: RunLifecycle
    # Not a field, so that only the code that opens a run can supply it; `dataclasses.replace` cannot.
    opened_by: InitVar[object]

    def __post_init__(self, opened_by: object) -> None:
        if opened_by is not OPENING:
            raise ContractViolation("a run is opened by DiagnosisHarnessCore.start_run")


OPENING = object()
"""The token that `start_run` passes to make a context."""


def require_identity(session_id: object, run_id: object) -> None:
    """Refuse invalid ids before anything of the run exists.

    Raises:
        InvalidIdentity: the session id is blank or over 128 characters, or the run id is no safe segment.
    """
    if not isinstance(session_id, str) or not session_id.strip() or len(session_id) > 128:
        raise InvalidIdentity("a session id is not blank and has at most 128 characters")
    if not is_safe_segment(run_id):
        raise InvalidIdentity("a run id is 1 to 128 of A-Z a-z 0-9 . _ -")


def require_instant(deadline_s: object) -> float:
    """Check that the deadline is a finite number.

    Raises:
        ContractViolation: it is not a finite number.
    """
    if not is_finite_number(deadline_s):
        raise ContractViolation(f"a deadline is a finite instant, not {short_repr(deadline_s)}")
    return float(deadline_s)
