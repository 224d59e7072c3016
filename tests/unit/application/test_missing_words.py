"""What a draft says was missing decides only where it is a thing, and was."""

from __future__ import annotations

from typing import cast

import pytest

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.diagnosis.policy import GiveDraft
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.testing.scene import Scene
from diagnosis_harness.testing.scripted_policy import ScriptedPolicy


@pytest.mark.parametrize("said", ["the moon", "which service?", "logs", "", MissingInfo.ENTITY])
def test_a_word_of_its_own_is_nothing_missing(said: str) -> None:
    """Any word at all would turn a draft that says nothing into an answer, as would what was there."""
    draft = DiagnosisDraft((), (), missing_info=(cast("MissingInfo", said),), missing_names=("moon",))
    run = Scene(policy=ScriptedPolicy(GiveDraft(draft)), store=MemoryEvidenceStore(), tools=())

    end = run.run()

    assert (run.ctx.lifecycle.state, end.outcome) == (RunState.FAILED, ReleaseOutcome.FAILED)
    assert (end.missing_info, end.missing_names) == ((), ())
