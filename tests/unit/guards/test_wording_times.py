"""A written time is the instant cut or rounded to what is written, and no other fraction of its second."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnosis_harness.diagnosis.claim import Predicate
from diagnosis_harness.guards.wording import wording_objections
from diagnosis_harness.testing.evidence import ONSET_S, change_claim, change_item

ITEM = replace(change_item(), onset_s=ONSET_S + 4.431)  # 2023-11-14T22:13:24.431Z
CLAIM = replace(
    change_claim(ITEM),
    predicate=Predicate.BEGAN,
    onset_s=ITEM.onset_s,
    value=None,
    baseline=None,
    unit=None,
    direction=None,
)


@pytest.mark.parametrize(
    ("time", "is_said"),
    [
        ("22:13", True),
        ("22:13:24", True),
        ("22:13:24.4", True),
        ("22:13:24.43", True),
        ("22:13:24.431", True),
        ("22:13:24.131", False),
        ("22:13:24.432", False),
        ("22:13:24.5", False),
        ("22:13:25", False),
        ("22:13:23", False),
        ("22:14", False),
    ],
)
def test_seconds_are_read_to_the_last_place(time: str, is_said: bool) -> None:
    """A fraction that is written is a number like any other."""
    wording = f"latency_p90 of checkout began to rise at {time}"

    assert (wording_objections(wording, CLAIM, (ITEM,)) == ()) == is_said
