"""A saved run carries what it was asked, and verifying repeats from it what guards compared with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.forgery import seal
from tests.unit.audit.test_verify import codes

from diagnosis_harness.audit.verification.result import FlawCode
from diagnosis_harness.guards.verdict import FindingCode, SemanticReason

Saved = Callable[..., Any]
ANOTHER_TIME = "2024-01-01T00:00:00Z"


def values_of(saved: Saved, *wanted: str) -> dict[str, Any]:
    """A saved run as JSON values."""
    content: dict[str, Any] = json.loads(saved(*wanted).data)
    return content


def test_a_run_carries_what_it_was_asked(saved: Saved) -> None:
    """What is affected, when it began and who stated that, and every name in a claim."""
    content = values_of(saved)

    inquiry = content["inquiry"]
    known = {name for each in inquiry["inventory"]["entities"] for name in (each["name"], each["owner"])}
    spoken = {claim["entity"] for claim in content["report"]["claims"]}
    assert inquiry["onset_origin"] == "ALERT"
    assert inquiry["affected"] == [inquiry["alert_entity"]]
    assert spoken <= known
    assert inquiry["inventory"]["calls"]
    assert [each["standing"] for each in content["report"]["rankings"]] == ["COUNTS"]


def test_a_run_without_its_inquiry_does_not_verify(saved: Saved) -> None:
    """Leaving out what claims are compared with is no way around the comparison."""
    content = values_of(saved)
    content["inquiry"] = None

    assert FlawCode.INQUIRY_MISSING.value in codes(seal(content))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("onset_origin", "NOBODY"),
        ("onset_origin", "ASKED"),
        ("onset_origin", "QUESTION"),
        ("onset_at", ANOTHER_TIME),
        ("alert_at", ANOTHER_TIME),
        ("alert_entity", "somebody-else"),
        ("alert_signal", "something-else"),
    ],
)
def test_an_inquiry_that_the_rest_of_the_run_contradicts_does_not_verify(
    saved: Saved, field: str, value: str
) -> None:
    """Question, stated onset and inventory records say who is asked about, and since when."""
    content = values_of(saved)
    content["inquiry"][field] = value

    assert FlawCode.INQUIRY_DIFFERS.value in codes(seal(content))


def test_an_onset_that_the_asker_stated_is_that_of_the_inquiry(saved: Saved) -> None:
    """`run.onset_at` is invented if the inquiry has no stated onset."""
    content = values_of(saved)
    content["run"]["onset_at"] = content["inquiry"]["onset_at"]

    assert FlawCode.INQUIRY_DIFFERS.value in codes(seal(content))


def test_a_question_about_another_time_turns_a_ranking_into_that_of_another_question(saved: Saved) -> None:
    """The whole leak: a cause from two hours ago for a question about now, with every digest recomputed."""
    content = values_of(saved)
    content["run"]["onset_at"] = content["inquiry"]["onset_at"] = ANOTHER_TIME
    content["inquiry"]["onset_origin"] = "ASKED"

    found = codes(seal(content))

    assert FindingCode.OF_ANOTHER_QUESTION.value in found
    assert SemanticReason.NOT_RANKED.value in found
    assert FlawCode.RANKINGS_DIFFER.value in found


def test_a_question_about_another_victim_turns_a_ranking_into_that_of_another_question(saved: Saved) -> None:
    """A ranking of what a bystander shows names no cause of what the question is about."""
    content = values_of(saved)
    bystander = next(
        each["name"]
        for each in content["inquiry"]["inventory"]["entities"]
        if each["owner"] is None and each["name"] not in content["inquiry"]["affected"]
    )
    content["inquiry"]["affected"] = [bystander]

    found = codes(seal(content))

    assert {FindingCode.OF_ANOTHER_QUESTION.value, SemanticReason.NOT_RANKED.value} <= found


def test_a_ranking_cannot_be_said_to_be_set_aside(saved: Saved) -> None:
    """A reason that the records do not confirm is ignored, whoever writes it into the file."""
    content = values_of(saved)
    content["report"]["rankings"][0] |= {"standing": "SET_ASIDE", "reason": "FEWER_KINDS"}

    assert FlawCode.RANKINGS_DIFFER.value in codes(seal(content))


def test_what_was_missing_is_of_a_closed_set(saved: Saved) -> None:
    """A word of an agent's own is no document of this version."""
    content = values_of(saved, "none", "--seed", "1")
    content["report"]["missing_info"] = ["the moon"]

    assert codes(seal(content)) == {FlawCode.NOT_OF_THE_SCHEMA.value}


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("inventory", "incident", "start"), "2124-01-01T00:00:00Z"),
        (("inventory", "incident", "end"), "noon"),
        (("onset_at",), "noon"),
        (("alert_at",), "2024-01-01"),
    ],
)
def test_an_inquiry_that_cannot_be_read_is_a_flaw_of_the_schema(
    saved: Saved, place: tuple[str, ...], value: str
) -> None:
    """Verifying ends with a list of flaws, never with an error from inside a check."""
    content = values_of(saved, "none", "--seed", "1")
    inner = content["inquiry"]
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value

    assert codes(seal(content)) == {FlawCode.NOT_OF_THE_SCHEMA.value}
