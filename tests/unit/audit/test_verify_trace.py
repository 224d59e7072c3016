"""A saved run's trace is part of what verifies: who rewrites it, or the document beside it, is found out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.forgery import seal
from tests.unit.audit.test_verify import codes

from diagnosis_harness.audit.verification.result import CheckName, FlawCode
from diagnosis_harness.audit.verification.verify import verify
from diagnosis_harness.report.timeline import in_short

Saved = Callable[..., Any]
Change = Callable[[dict[str, Any]], None]


def values_of(saved: Saved, *wanted: str) -> dict[str, Any]:
    """A saved run as JSON values."""
    content: dict[str, Any] = json.loads(saved(*wanted).data)
    return content


def line_of(content: dict[str, Any], name: str) -> dict[str, Any]:
    """The last line of this name."""
    line: dict[str, Any] = [each for each in content["trace"] if each["name"] == name][-1]
    return line


def rewrite_last(name: str, *, status: str | None = None, **values: Any) -> Change:
    """Other values in the last line of a name, the text that they render to, and another status if given."""

    def change(content: dict[str, Any]) -> None:
        line = line_of(content, name)
        line["status"] = status or line["status"]
        line["data"].update(values)
        line["text"] = in_short(line["data"])

    return change


def without(name: str) -> Change:
    """The document without the lines of a name."""

    def change(content: dict[str, Any]) -> None:
        content["trace"] = [each for each in content["trace"] if each["name"] != name]

    return change


def flaws_of_trace(content: dict[str, Any]) -> set[str]:
    """What the check of the trace objects to after all digests are recomputed."""
    checks = verify(seal(content), file="run.json").checks
    (trace,) = (check for check in checks if check.name is CheckName.TRACE)
    return {flaw.code.value for flaw in trace.flaws}


@pytest.mark.parametrize(
    "change",
    [
        rewrite_last("RUN_STARTED", question="Why is it slow since 04:30?"),
        rewrite_last("RUN_STARTED", question=None),
        rewrite_last("EVIDENCE_GUARD_INITIAL", findings=["claim 1: NO_REFS"]),
        rewrite_last("SEMANTIC_GUARD_DECISION", verdict="UNSUPPORTED"),
        rewrite_last("SEMANTIC_GUARD_DECISION", status="REJECTED", verdict="UNSUPPORTED"),
        rewrite_last("RELEASE_DECISION", outcome="FALLBACK"),
        rewrite_last("RELEASE_DECISION", fallback="INSUFFICIENT_EVIDENCE"),
        rewrite_last("RUN_ENDED", state="FAILED"),
        rewrite_last("RUN_FINISHED", outcome="FALLBACK"),
        rewrite_last("RUN_FINISHED", state="TIMED_OUT"),
        rewrite_last("RUN_FINISHED", reason="USER_REQUESTED"),
        rewrite_last("RUN_FINISHED", ended_at="2024-01-01T00:00:00Z"),
    ],
)
def test_a_trace_line_that_contradicts_the_document_does_not_verify(saved: Saved, change: Change) -> None:
    """Question, guards, decision and end are in both; one of the two is untrue."""
    content = values_of(saved)
    change(content)

    assert flaws_of_trace(content) == {FlawCode.TRACE_DIFFERS.value}


@pytest.mark.parametrize(
    "name",
    ["RUN_STARTED", "EVIDENCE_GUARD_INITIAL", "SEMANTIC_GUARD_DECISION", "RELEASE_DECISION", "RUN_FINISHED"],
)
def test_a_conclusion_whose_trace_lacks_a_step_does_not_verify(saved: Saved, name: str) -> None:
    """No cause is named without these."""
    content = values_of(saved)
    without(name)(content)

    assert flaws_of_trace(content) == {FlawCode.TRACE_INCOMPLETE.value}


@pytest.mark.parametrize("lines", [0, 3])
def test_a_trace_that_is_cut_off_does_not_verify(saved: Saved, lines: int) -> None:
    """Whatever the run came to, its trace ends with its end."""
    content = values_of(saved, "none", "--seed", "1")
    content["trace"] = content["trace"][:lines]

    assert FlawCode.TRACE_INCOMPLETE.value in flaws_of_trace(content)


def test_the_text_of_a_line_is_what_its_data_renders_to(saved: Saved) -> None:
    """A reader sees the text alone."""
    content = values_of(saved)
    missed = []
    for place, line in enumerate(content["trace"]):
        shown, line["text"] = line["text"], "payment is the cause, says the judge"
        if flaws_of_trace(content) != {FlawCode.TRACE_DIFFERS.value}:
            missed.append(place)
        line["text"] = shown

    assert missed == []


def test_a_stop_that_the_trace_does_not_tell_does_not_verify(saved: Saved) -> None:
    """Nor one that only the trace tells."""
    untraced = values_of(saved, "none", "--seed", "1")
    untraced["release"]["stop_reason"] = "INFORMATION_SATURATED"
    stopped = {**untraced["trace"][3], "name": "COLLECTION_STOP", "data": {"reason": "INFORMATION_SATURATED"}}
    stopped["text"] = in_short(stopped["data"])
    traced = values_of(saved, "none", "--seed", "1")
    traced["trace"].insert(3, stopped)
    both = {**traced, "release": untraced["release"]}

    assert FlawCode.TRACE_INCOMPLETE.value in flaws_of_trace(untraced)
    assert FlawCode.TRACE_DIFFERS.value in flaws_of_trace(traced)
    assert flaws_of_trace(both) == set()


@pytest.mark.parametrize("origin", ["SOURCE", "CARRIED"])
def test_a_time_that_was_asked_about_cannot_be_laid_on_somebody_else(saved: Saved, origin: str) -> None:
    """The records of the run list every onset that is known, and a command has no turn before."""
    content = values_of(saved)
    content["inquiry"]["onset_origin"] = origin

    assert FlawCode.INQUIRY_DIFFERS.value in codes(seal(content))
