"""What commands of the service say when they start without a source."""

from __future__ import annotations

from diagnosis_harness.cli.words import service as words
from diagnosis_harness.kernel.language import Language


def test_without_a_source_a_service_says_that_callers_may_send_one() -> None:
    """It does not say that every diagnosis lacks a source: that is not true of sources that are sent."""
    for language in Language:
        assert "POST /v1/sources" in words.NO_SOURCE.in_(language)
    assert "every diagnosis" not in words.NO_SOURCE.in_(Language.EN)
    assert "callers sent" in words.NO_SOURCE_HERE.in_(Language.EN)
    assert "上传" in words.NO_SOURCE_HERE.in_(Language.ZH)
