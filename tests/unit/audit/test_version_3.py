"""Run documents of version 3, whose runs asked nothing to disprove a cause, verify under their own rules."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.forgery import seal
from tests.unit.audit.test_verify import codes, holds

from diagnosis_harness.audit.verification.result import CheckName, CheckResult, FlawCode
from diagnosis_harness.audit.verification.verify import is_unaltered, verify

SAVED = sorted((Path(__file__).parents[2] / "version_3").glob("*.json.gz"))
Saved = Callable[..., Any]


@pytest.mark.parametrize("kept", SAVED, ids=lambda path: path.name.partition(".")[0])
def test_a_document_of_version_3_still_verifies(kept: Path) -> None:
    """All checks but one; a check that could not be made must never read as one that holds."""
    data = gzip.decompress(kept.read_bytes())

    verification = verify(data, file=kept.name)

    assert [flaw for check in verification.checks for flaw in check.flaws] == []
    assert verification.not_carried == (CheckName.DISPROOF,)
    assert verification.verified
    assert is_unaltered(data, file=kept.name)


def test_an_altered_document_of_version_3_does_not_verify() -> None:
    """Its own rules apply, whatever else is recomputed."""
    content = json.loads(gzip.decompress(SAVED[0].read_bytes()))
    content["report"]["causes"][0]["level"] = "TRIGGER"
    assert FlawCode.LEVEL_NOT_SUPPORTED.value in codes(seal(content))


def without_test(saved: Saved) -> dict[str, Any]:
    """A document of this version whose cause says nothing of a test."""
    content: dict[str, Any] = json.loads(saved().data)
    (cause,) = content["report"]["causes"]
    del cause["disproof"]
    content["report"]["summary"] = [each for each in content["report"]["summary"] if "disprove" not in each]
    return content


@pytest.mark.parametrize("left", [{}, {"disproof": None}], ids=["nothing", "null"])
def test_no_document_of_this_version_lacks_what_was_asked_to_disprove_its_cause(
    saved: Saved, left: dict[str, Any]
) -> None:
    """Removing the test and recomputing every digest does not loosen the rules."""
    content = without_test(saved)
    content["report"]["causes"][0].update(left)
    assert not holds(seal(content))


def test_a_document_of_this_version_says_how_its_question_was_read(saved: Saved) -> None:
    """So that its question cannot pass for one that an earlier version read."""
    content = json.loads(saved().data)
    content["inquiry"]["question"] = None
    assert FlawCode.INQUIRY_DIFFERS.value in codes(seal(content))


def test_a_document_that_takes_the_version_before_names_the_check_that_was_not_made(saved: Saved) -> None:
    """So a reader sees that its cause was not tested."""
    content = without_test(saved)
    content["schema_version"] = "3"
    for part, names in (
        (content["inquiry"]["question"], ("other", "topic")),
        (content["inquiry"], ("carried",)),
    ):
        for name in names:
            assert part.pop(name) is None
    verification = verify(seal(content), file="run.json")
    assert verification.verified
    results = {check.name: check.result for check in verification.checks}
    assert results[CheckName.DISPROOF] is CheckResult.NOT_CARRIED
