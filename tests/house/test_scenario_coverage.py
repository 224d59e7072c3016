"""Every way in which a run can end has a scenario (tests/scenarios/*.txt)."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path

import pytest

from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome

SCENARIOS = sorted((Path(__file__).parents[1] / "scenarios").glob("*.txt"))
TOLD = {file.stem: file.read_text(encoding="utf-8").partition("\n----\n")[2] for file in SCENARIOS}


@pytest.mark.parametrize(
    ("label", "closed_set"),
    [
        ("state", set(RunState) - {RunState.RUNNING}),
        ("outcome", set(ReleaseOutcome)),
        ("fallback", set(FallbackType)),
        ("stop reason", set(DiagnosisStopReason)),
    ],
)
def test_every_member_of_a_closed_set_has_a_scenario(label: str, closed_set: set[StrEnum]) -> None:
    """Every state, outcome, fallback type and stop reason has a scenario that people can read."""
    words = {word for text in TOLD.values() for word in re.findall(rf"^{label} (\w+)$", text, re.MULTILINE)}

    assert words - {"none"} == closed_set


def test_every_scenario_ends_in_one_of_them() -> None:
    """A lower half that was never written, or was cut off, is refused."""
    assert SCENARIOS
    assert [name for name, text in TOLD.items() if len(re.findall("^state ", text, re.MULTILINE)) != 1] == []
