"""A document that was changed in one place and sealed anew contradicts itself, and verifying says where."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.support.forgery import seal
from tests.support.forging import FORGERIES, forge
from tests.unit.audit.test_verify import codes, holds

from diagnosis_harness.audit.verification.result import FlawCode

Saved = Callable[..., Any]

WANTED = (
    ("cpu",),
    ("cpu", "--lang", "zh"),
    ("errors-after-deploy",),
    ("none", "--seed", "1"),
    ("none", "--lang", "zh"),
    ("cpu", "--deadline", "0.001"),
)
"""Runs that ended with a conclusion, without one, and out of time, in both languages."""

NAMED_AS: dict[str, set[FlawCode]] = {
    "add_an_entity": {FlawCode.INQUIRY_DIFFERS},
    "remove_an_entity": {FlawCode.INQUIRY_DIFFERS},
    "add_a_call": {FlawCode.INQUIRY_DIFFERS},
    "remove_a_call": {FlawCode.INQUIRY_DIFFERS},
    "hide_a_kind_of_telemetry": {FlawCode.INQUIRY_DIFFERS},
    "move_the_recording": {FlawCode.INQUIRY_DIFFERS},
    "invent_a_baseline": {FlawCode.INQUIRY_DIFFERS},
    "count_fewer_calls": {FlawCode.COUNTED_TOO_LITTLE},
    "count_more_of_something": {FlawCode.COUNTED_TOO_MUCH, FlawCode.COUNTED_TOO_LITTLE},
    "count_twice": {FlawCode.COUNTER_UNKNOWN},
    "leave_a_counter_out": {FlawCode.COUNTED_TOO_LITTLE},
    "lower_a_limit": {FlawCode.OVER_THE_LIMIT},
    "raise_a_limit": {FlawCode.TRACE_DIFFERS},
    "shorten_the_time": {FlawCode.OUT_OF_ORDER},
    "lengthen_the_time": {FlawCode.BEFORE_THE_DEADLINE},
    "leave_a_step_out": {FlawCode.TRACE_INCOMPLETE, FlawCode.TRACE_OUT_OF_ORDER},
    "double_a_step": {FlawCode.TRACE_TWICE, FlawCode.TRACE_OUT_OF_ORDER},
    "exchange_two_steps": {FlawCode.TRACE_OUT_OF_ORDER},
    "judge_before_the_evidence": {FlawCode.TRACE_OUT_OF_ORDER},
    "take_a_step_of_another_run": {FlawCode.CALL_WITHOUT_RECORD},
    "drop_a_record": {FlawCode.CALL_WITHOUT_RECORD},
    "work_behind_the_end": {FlawCode.TRACE_OUT_OF_ORDER},
    "turn_time_back": {FlawCode.OUT_OF_ORDER},
    "tell_of_a_call_before_it": {FlawCode.OUT_OF_ORDER},
    "end_at_another_time": {FlawCode.TRACE_DIFFERS},
    "alter_what_a_line_tells": {FlawCode.TRACE_DIFFERS},
    "alter_the_status_of_a_step": {FlawCode.TRACE_DIFFERS},
    "alter_the_phase_of_a_step": {FlawCode.TRACE_DIFFERS},
    "give_a_record_to_somebody_else": {FlawCode.RECORD_OF_ANOTHER},
    "turn_the_verdict": {FlawCode.TRACE_DIFFERS},
    "pass_fewer_claims": {FlawCode.TRACE_DIFFERS},
    "drop_a_claim": {FlawCode.TRACE_DIFFERS},
    "say_a_claim_twice": {FlawCode.TRACE_DIFFERS},
    "name_a_claim_otherwise": {FlawCode.CLAIMS_OUT_OF_ORDER},
    "drop_a_candidate": {FlawCode.CANDIDATE_NOT_SUPPORTED},
    "alter_a_sentence": {FlawCode.SENTENCE_DIFFERS},
    "raise_the_confidence": {FlawCode.SCORE_NOT_CITED},
    "end_out_of_time": {FlawCode.BEFORE_THE_DEADLINE},
}
"""What each forgery is named as; at least one of several."""


def test_every_forgery_has_its_name() -> None:
    """A forgery without one would be made and not looked at."""
    assert NAMED_AS.keys() == FORGERIES.keys()


@pytest.mark.parametrize("name", FORGERIES)
def test_a_document_sealed_anew_does_not_verify(saved: Saved, name: str) -> None:
    """In each run that holds something to change in this way; there is at least one."""
    forged = [document for wanted in WANTED if (document := forge(saved(*wanted).data, name, 0)) is not None]

    assert forged
    for document in forged:
        assert codes(document) & {code.value for code in NAMED_AS[name]}, codes(document)
        assert not holds(document)


@pytest.mark.proof
def test_no_forgery_of_many_verifies(saved: Saved, scale: float) -> None:
    """Seeded: the run, the kind of change, and where in the document.

    One kind at a time: two can undo each other, or agree on something that no record tells.
    """
    rng, kinds, missed, made = np.random.default_rng(401), list(FORGERIES), [], 0

    for trial in range(round(1_000 * scale)):
        wanted, name = WANTED[int(rng.integers(len(WANTED)))], kinds[int(rng.integers(len(kinds)))]
        forged = forge(saved(*wanted).data, name, trial)
        made += forged is not None
        if forged is not None and holds(forged):
            missed.append((trial, wanted, name))

    assert made > round(500 * scale)
    assert missed == []


def test_sealing_what_was_not_changed_is_no_forgery(saved: Saved) -> None:
    """The documents that the forgeries start from hold, whatever their end."""
    for wanted in WANTED:
        assert holds(seal(json.loads(saved(*wanted).data))), wanted
