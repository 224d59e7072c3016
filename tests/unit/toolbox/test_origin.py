"""What of a candidate's findings is of its own origin, and what leaves open that it starts in a callee."""

from __future__ import annotations

import pytest

from diagnosis_harness.analysis.clue import Clue, Modality
from diagnosis_harness.analysis.graph import graph_of
from diagnosis_harness.analysis.rank import rank
from diagnosis_harness.toolbox.origin import CalleeSight, OwnEvidence, OwnOrigin


def clue_of(modality: Modality, kind: str = "ERRORS", writer: str | None = None) -> Clue:
    """A clue against checkout, well above its noise."""
    return Clue("checkout", modality, 40.0, 3.0, "region", kind, null_windows=20, writer=writer)


def own_evidence(*clues: Clue, callee: str | None = None) -> OwnEvidence:
    """Of checkout, which calls at most one service, of which nothing is recorded."""
    calls = [("web", "checkout"), *([("checkout", callee)] if callee is not None else [])]
    sight = CalleeSight(graph_of(calls), metrics=None, spans=None, groups=None)
    return sight.own_evidence(rank(clues, affected="web", reality=1.0)[0])


@pytest.mark.parametrize(
    ("clue", "origin"),
    [
        (clue_of(Modality.ERRORS), OwnOrigin.OWN_FAILURES),
        (clue_of(Modality.RESOURCE, "SATURATION"), OwnOrigin.RESOURCE),
        (clue_of(Modality.LOG), OwnOrigin.OWN_LINES),
    ],
)
def test_what_a_callee_may_have_passed_on_is_open_while_one_is_unseen(clue: Clue, origin: OwnOrigin) -> None:
    """Its failures, its full pools and lines of failure; nothing is open if all its callees are recorded."""
    assert own_evidence(clue, callee="bank") == OwnEvidence((origin,), ("bank",), open=True)
    assert own_evidence(clue) == OwnEvidence((origin,), (), open=False)


@pytest.mark.parametrize(
    ("clue", "origin"),
    [
        (clue_of(Modality.RESOURCE, "CPU"), OwnOrigin.RESOURCE),
        (clue_of(Modality.RESOURCE, "MEMORY"), OwnOrigin.RESOURCE),
        (clue_of(Modality.EDGE_GAP, "NETWORK"), OwnOrigin.ON_THE_WAY),
    ],
)
def test_what_no_callee_passes_on_closes_it(clue: Clue, origin: OwnOrigin) -> None:
    """Its own CPU and memory, and the way to it."""
    assert own_evidence(clue, callee="bank") == OwnEvidence((origin,), ("bank",), open=False)
    assert not own_evidence(clue, clue_of(Modality.SELF_TIME, "LATENCY"), callee="bank").open


def test_a_full_pool_beside_time_that_no_callee_accounts_for_is_open_while_one_is_unseen() -> None:
    """Whoever waits for an unseen callee holds its pool meanwhile."""
    clues = clue_of(Modality.RESOURCE, "SATURATION"), clue_of(Modality.SELF_TIME, "LATENCY")
    assert own_evidence(*clues, callee="bank").open
    assert not own_evidence(*clues).open


def test_a_line_that_another_wrote_is_not_evidence_of_its_own() -> None:
    """It says what the writer met when it called."""
    assert own_evidence(clue_of(Modality.LOG, writer="web")).origins == ()
    both = clue_of(Modality.LOG, writer="web"), clue_of(Modality.RESOURCE, "CPU")
    assert own_evidence(*both).origins == (OwnOrigin.RESOURCE,)
