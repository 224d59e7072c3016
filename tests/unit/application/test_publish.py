"""The document of a run keeps why collecting stopped, beside outcome and state."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.inquiries import inquiry
from tests.support.scene import TIMEOUT_S, Scene
from tests.support.script import read

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.application.publish import RunFacts, publish
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason as Stop
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.toolbox.ports import AlertInfo, SourceSummary

FULL, SPENT = Stop.INFORMATION_SATURATED, Stop.BUDGET_LIMIT_REACHED
SCENARIOS = Path(__file__).parents[2] / "scenarios"


def facts(scene: Scene) -> RunFacts:
    """What else a document says of a run."""
    summary = SourceSummary(
        name="a test", alert=AlertInfo(), onset_s=None, incident=None, baseline=None, metric_series=0,
        log_lines=0, spans=0, edges=0, changes=0, entities=(), files=(),
    )  # fmt: skip
    return RunFacts(
        question=scene.task.question,
        language=Language.EN,
        started_s=scene.clock.now_s(),
        limit_s=TIMEOUT_S,
        inquiry=inquiry(),
        tools=("look",),
        summary=summary,
    )


def of(scenario: str) -> Scene:
    """The run of a scenario, not yet played."""
    script, _, _ = (SCENARIOS / f"{scenario}.txt").read_text(encoding="utf-8").partition("\n----\n")
    return read(script).scene(MemoryEvidenceStore())


@pytest.mark.parametrize(
    ("scenario", "state", "outcome", "reason"),
    [
        ("a-truthful-draft-is-released", RunState.SUCCESS, ReleaseOutcome.SUCCESS, None),
        ("a-draft-after-saturation-is-released", RunState.SUCCESS, ReleaseOutcome.SUCCESS, FULL),
        ("saturated-with-facts", RunState.SUCCESS, ReleaseOutcome.FALLBACK, FULL),
        ("saturated-without-facts", RunState.FAILED, ReleaseOutcome.FAILED, FULL),
        ("a-limit-reached-at-the-judge", RunState.BUDGET_EXHAUSTED, ReleaseOutcome.FAILED, SPENT),
        ("the-deadline-comes-in-the-judge", RunState.TIMED_OUT, ReleaseOutcome.FALLBACK, None),
        ("the-user-cancels-between-steps", RunState.CANCELLED, ReleaseOutcome.CANCELLED, None),
    ],
)  # fmt: skip
def test_the_document_keeps_the_stop_reason(
    scenario: str, state: RunState, outcome: ReleaseOutcome, reason: Stop | None
) -> None:
    """A draft that came after SATURATED is released, and its document still says why collecting stopped."""
    scene = of(scenario)
    end = scene.run()
    document = publish(scene.ctx, facts(scene), end, scene.events())
    assert (document.run.state, document.release.outcome) == (state, outcome)
    assert (document.release.stop_reason, end.stop_reason) == (reason, reason)
    assert (document.release.failure is not None) == (outcome is ReleaseOutcome.FAILED)


@pytest.mark.parametrize("file", sorted(SCENARIOS.glob("*.txt")), ids=lambda file: file.stem)
def test_every_ended_run_has_a_document(file: Path) -> None:
    """However the run ended; the document holds causes only after a success."""
    scene = of(file.stem)
    document = publish(scene.ctx, facts(scene), scene.run(), scene.events())
    assert bool(document.report.causes) == (document.release.outcome is ReleaseOutcome.SUCCESS)
    assert [record.tool_call_id for record in document.records] == list(
        dict.fromkeys(record.tool_call_id for record in document.records)
    )


def test_a_run_that_goes_on_has_no_document() -> None:
    """There is nothing to publish yet."""
    scene, ended = of("evidence-is-thin"), of("evidence-is-thin")
    with pytest.raises(ContractViolation, match="goes on"):
        publish(scene.ctx, facts(scene), ended.run(), ())
