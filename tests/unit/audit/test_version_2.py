"""Run documents of version 2, as the version before wrote them, are read and verified for what they are."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from diagnosis_harness.audit.verification.result import CheckName, CheckResult
from diagnosis_harness.audit.verification.verify import is_unaltered, verify

SAVED = sorted((Path(__file__).parents[2] / "version_2").glob("*.json.gz"))


@pytest.mark.parametrize("saved", SAVED, ids=lambda path: path.name.partition(".")[0])
def test_a_document_of_version_2_still_verifies(saved: Path) -> None:
    """What a team kept with its tickets last month must not become worthless with an upgrade."""
    data = gzip.decompress(saved.read_bytes())

    verification = verify(data, file=saved.name)

    flaws = [flaw for check in verification.checks for flaw in check.flaws]
    assert not flaws
    assert verification.verified
    assert is_unaltered(data, file=saved.name)


@pytest.mark.parametrize("saved", SAVED, ids=lambda path: path.name.partition(".")[0])
def test_a_document_of_version_2_names_the_checks_that_it_cannot_carry(saved: Path) -> None:
    """A check that could not be made must never read as one that holds."""
    verification = verify(gzip.decompress(saved.read_bytes()), file=saved.name)

    results = {check.name: check.result for check in verification.checks}
    assert results[CheckName.INQUIRY] is CheckResult.NOT_CARRIED
    assert CheckName.INQUIRY in verification.not_carried


@pytest.mark.parametrize("saved", SAVED, ids=lambda path: path.name.partition(".")[0])
def test_an_altered_document_of_version_2_does_not_verify(saved: Path) -> None:
    """An older form is no way around the digests."""
    data = gzip.decompress(saved.read_bytes())
    altered = data.replace(b'"limit_s": ', b'"limit_s": 1', 1)

    assert altered != data
    assert not verify(altered, file=saved.name).verified
