"""What was asked to disprove a released cause is computed again from the records of its document."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.unit.audit.test_verify import codes, holds, seal_document

from diagnosis_harness.audit.verification.result import FlawCode

Saved = Callable[..., Any]


def test_a_cause_from_before_anything_was_asked_to_disprove_it_verifies(saved: Saved) -> None:
    """Its level is that of its evidence; a document that names a test must name that of its records."""
    held = json.loads(saved().data)
    (cause,) = held["report"]["causes"]
    assert (cause["level"], cause["disproof"]["result"]) == ("EXPLAINED", "HELD")
    call = cause["disproof"]["tool_call_id"]
    for field, other in (("result", "NOT_TESTED"), ("tool_call_id", "t1"), ("entities", ["cart"])):
        forged = json.loads(saved().data)
        forged["report"]["causes"][0]["disproof"][field] = other
        assert FlawCode.LEVEL_NOT_BORNE.value in codes(seal_document(forged))
    untested = json.loads(saved().data)
    (asked,) = (each for each in untested["records"] if each["tool_call_id"] == call)
    asked["scope"] = "{}"  # of nobody in particular, as many other calls
    assert FlawCode.LEVEL_NOT_BORNE.value in codes(seal_document(untested))

    del cause["disproof"]
    said = [each for each in held["report"]["summary"] if "disprove" not in each]
    assert len(said) == len(held["report"]["summary"]) - 1
    held["report"]["summary"] = said
    assert holds(seal_document(held))
