"""A diagnosis whose evidence store does not work ends by that, whatever its policy makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest
from tests.support.scene import Scene

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, PolicyAnswer, WantedCall
from diagnosis_harness.kernel.errors import FailureKind, StoreFailure
from diagnosis_harness.kernel.store_trouble import StoreTrouble
from diagnosis_harness.release.decision import WorkEnd
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.testing.scripted_policy import ScriptedPolicy
from diagnosis_harness.testing.scripted_tool import ScriptedTool
from diagnosis_harness.tools.invocation import EvidenceRecord

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext


class AwayStore(MemoryEvidenceStore):
    """Takes no record, or begins it and does not keep what was found."""

    def __init__(self, *, begins: bool) -> None:
        super().__init__()
        self._begins = begins

    async def begin(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        """Begin it, if it does so."""
        return await super().begin(ctx, record) if self._begins else _away()

    async def finish(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        """No."""
        return _away()


def _away() -> bool:
    raise StoreFailure("away", kind=FailureKind.TRANSPORT, trouble=StoreTrouble.EVIDENCE_AWAY)


CALL = AskTools((WantedCall("t1", "look", {"entity": "checkout"}),))
ENDS: dict[str, Sequence[PolicyAnswer]] = {
    "no draft": (CALL, GiveDraft(None)),
    "a draft of nothing": (CALL, GiveDraft(DiagnosisDraft((), ()))),
    "a draft that lacks something": (
        CALL,
        GiveDraft(DiagnosisDraft((), (), missing_info=(MissingInfo.LOGS,))),
    ),
}


@pytest.mark.parametrize("begins", [False, True])
@pytest.mark.parametrize("name", ENDS)
def test_the_effects_of_an_unavailable_store_are_not_the_analysts_fault(name: str, *, begins: bool) -> None:
    """Nor is it a question that lacks something: there was everything, and no place to keep it."""
    scene = Scene(policy=ScriptedPolicy(*ENDS[name]), store=AwayStore(begins=begins), tools=(ScriptedTool(),))

    end = scene.run()

    assert (end.outcome, end.failure) == (ReleaseOutcome.FAILED, WorkEnd.EVIDENCE_STORE_UNAVAILABLE)


def test_without_a_failure_of_the_store_an_empty_draft_is_the_analyst_s() -> None:
    """The other side: it had its evidence, and made nothing of it."""
    scene = Scene(
        policy=ScriptedPolicy(*ENDS["no draft"]), store=MemoryEvidenceStore(), tools=(ScriptedTool(),)
    )

    assert scene.run().failure is WorkEnd.DRAFT_ILLEGAL
