"""What was asked to disprove a released cause is computed again from the records of its document."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.forgery import seal
from tests.unit.audit.test_verify import codes

from diagnosis_harness.audit.verification.result import FlawCode

Saved = Callable[..., Any]


@pytest.mark.parametrize(
    ("field", "other"),
    [("entity", "cart"), ("tool_call_id", "t1"), ("tool_call_id", None), ("looked_at", 1_000)],
)
def test_a_document_must_name_the_queries_of_its_records(saved: Saved, field: str, other: object) -> None:
    """Who was looked at, by which call, and how much of it."""
    content = json.loads(saved().data)
    (cause,) = content["report"]["causes"]
    assert (cause["level"], cause["disproof"]["result"]) == ("EXPLAINED", "HELD")
    cause["disproof"]["challenges"][0][field] = other
    assert FlawCode.DISPROOF_DIFFERS.value in codes(seal(content))


def test_a_test_that_is_not_in_the_records_does_not_count(saved: Saved) -> None:
    """Neither by its result nor by a record of another query; the level is that of a cause not tested."""
    content = json.loads(saved().data)
    (cause,) = content["report"]["causes"]
    cause["disproof"]["result"] = "NOT_TESTED"
    assert FlawCode.DISPROOF_DIFFERS.value in codes(seal(content))
    untested = json.loads(saved().data)
    call = cause["disproof"]["challenges"][0]["tool_call_id"]
    (asked,) = (each for each in untested["records"] if each["tool_call_id"] == call)
    asked["scope"] = "{}"  # of nobody in particular, as many other calls
    assert {FlawCode.DISPROOF_DIFFERS.value, FlawCode.LEVEL_NOT_SUPPORTED.value} <= codes(seal(untested))
