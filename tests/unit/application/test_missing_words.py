"""What a draft says was missing decides only where it is a thing, and was."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from tests.support.inquiries import inquiry
from tests.support.scene import Scene

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.diagnosis.agent import DiagnosisTask
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.diagnosis.policy import GiveDraft
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.testing.scripted_policy import ScriptedPolicy


@pytest.mark.parametrize("message", ["the moon", "which service?", "logs", "", MissingInfo.ENTITY])
def test_a_word_of_its_own_is_nothing_missing(message: str) -> None:
    """Any word at all would turn a draft that says nothing into an answer, as would what was there."""
    draft = DiagnosisDraft((), (), missing_info=(cast("MissingInfo", message),), missing_names=("moon",))
    run = Scene(policy=ScriptedPolicy(GiveDraft(draft)), store=MemoryEvidenceStore(), tools=())

    end = run.run()

    assert (run.ctx.lifecycle.state, end.outcome) == (RunState.FAILED, ReleaseOutcome.FAILED)
    assert (end.content.missing_info, end.content.missing_names) == ((), ())


def test_a_baseline_alone_is_not_a_required_context() -> None:
    """A draft that says nothing does not become an answer by a remark that no baseline was recorded."""
    asked = replace(inquiry(), inventory=replace(inquiry().inventory, baseline=None))
    draft = DiagnosisDraft((), (), missing_info=(MissingInfo.BASELINE,))
    run = Scene(
        policy=ScriptedPolicy(GiveDraft(draft)),
        store=MemoryEvidenceStore(),
        tools=(),
        task=DiagnosisTask("why?", asked),
    )

    end = run.run()

    assert (run.ctx.lifecycle.state, end.outcome) == (RunState.FAILED, ReleaseOutcome.FAILED)
    assert end.content.missing_info == (MissingInfo.BASELINE,)


@pytest.mark.parametrize("each", MissingInfo)
def test_whatever_is_missing_but_a_baseline_is_required(each: MissingInfo) -> None:
    """Closed: a new thing that can be missing is required until somebody says otherwise."""
    assert each.is_required == (each is not MissingInfo.BASELINE)


def test_an_unknown_service_is_reported_even_if_the_policy_does_not() -> None:
    """Else what is found about another service reads as an answer about this one."""
    run = Scene(
        policy=ScriptedPolicy(GiveDraft(DiagnosisDraft((), (), missing_info=()))),
        store=MemoryEvidenceStore(),
        tools=(),
        task=DiagnosisTask("why is moon-service slow?", inquiry()),
    )

    assert run.run().content.missing_names == ("moon-service",)
