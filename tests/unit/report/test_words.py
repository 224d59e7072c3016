"""The tables of a report's words are total over their enums."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import pytest

from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.language import Text
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.report import words


@pytest.mark.parametrize(
    ("table", "members"),
    [
        (words.OUTCOME, ReleaseOutcome),
        (words.FALLBACK, FallbackType),
        (words.STOP_REASON, DiagnosisStopReason),
        (words.RUN_STATE, RunState),
        (words.FAULT, FaultKind),
    ],
)
def test_every_member_of_a_closed_set_has_its_words(
    table: Mapping[StrEnum, Text], members: type[StrEnum]
) -> None:
    """A new member cannot leave a report without words."""
    assert set(table) == set(members)
