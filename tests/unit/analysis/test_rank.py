"""Fusion of clues into candidates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from diagnosis_harness.analysis.call_gap import charge_gaps
from diagnosis_harness.analysis.clue import Clue, Modality, calibrate, noise_level
from diagnosis_harness.analysis.rank import Candidate, rank, reality_of


def clue(
    entity: str, modality: Modality = Modality.SELF_TIME, z: float = 20.0, kind: str = "LATENCY"
) -> Clue:
    """A clue over a noise of three widths, learnt from twenty windows."""
    return Clue(entity, modality, z, 3.0, f"{modality} of {entity}", kind, null_windows=20)


def first(*clues: Clue, affected: str | None = None, reality: float = 1.0) -> Candidate:
    """The first candidate."""
    return rank(clues, affected=affected, reality=reality)[0]


def test_evidence_of_two_kinds_beats_stronger_evidence_of_one() -> None:
    """Independent kinds confirm one another."""
    found = first(clue("a", z=40.0), clue("b", z=25.0), clue("b", Modality.EDGE_GAP, 25.0, "NETWORK"))
    assert (found.entity, found.modalities) == ("b", 2)


def test_a_resource_that_nothing_confirms_counts_half() -> None:
    """Load follows symptoms too."""
    found = first(clue("hog", Modality.RESOURCE, 30.0, "CPU"), clue("slow", z=20.0))
    assert found.entity == "slow"


def test_a_resource_with_slow_spans_names_the_kind() -> None:
    """CPU is the mechanism of the slow-down."""
    found = first(clue("a", z=40.0), replace(clue("a", Modality.RESOURCE, 10.0, "CPU"), growth=3.0))
    assert (found.fault_kind, found.decided_by) == ("CPU", Modality.SELF_TIME)


@pytest.mark.parametrize(("memory", "kind"), [(1.4, "MEMORY"), (0.3, "CPU")])
def test_of_two_resources_the_one_that_grew_most_names_the_kind(memory: float, kind: str) -> None:
    """A hog takes a little memory; a leak keeps the processor busy collecting."""
    found = first(
        replace(clue("a", Modality.RESOURCE, 40.0, "CPU"), growth=2.0),
        replace(clue("a", Modality.RESOURCE, 10.0, "MEMORY"), growth=memory),
    )
    assert found.fault_kind == kind


def test_a_slow_store_is_a_dependency() -> None:
    """From outside nothing more can be said of it."""
    found = rank([clue("orders-db")], affected="shop", stores=frozenset({"orders-db"}))
    assert found[0].fault_kind == "DEPENDENCY"


def test_the_affected_entity_s_own_symptom_is_what_is_to_be_explained() -> None:
    """It counts only where nothing else exceeds the noise."""
    own = clue("shop", Modality.SYMPTOM, 90.0)
    assert first(own, clue("cart", z=10.0), affected="shop").entity == "cart"
    assert first(own, clue("cart", z=1.0), affected="shop").entity == "shop"


def test_other_evidence_against_the_affected_entity_counts() -> None:
    """The entry itself may be broken."""
    found = first(clue("shop", z=60.0), clue("cart", z=10.0), affected="shop")
    assert found.entity == "shop"


def test_noise_gives_no_strength() -> None:
    """What normal operation shows too is nothing."""
    found = first(clue("a", z=2.5))
    assert (found.strength, found.fault_kind) == (0.0, "UNKNOWN")


def test_an_unknown_normal_gives_no_strength() -> None:
    """Without any normal window a score may be usual."""
    assert first(replace(clue("a", z=90.0), null_windows=0)).strength == 0.0


def test_an_alert_that_its_own_series_does_not_show_weakens_all() -> None:
    """A flapping alert is no incident."""
    sure, unsure = first(clue("a"), reality=1.0), first(clue("a"), reality=reality_of(1.0))
    assert unsure.strength < sure.strength


def test_margin_is_the_lead_as_a_share() -> None:
    """Two equal suspects leave no margin."""
    assert first(clue("a"), clue("b")).margin == 0.0
    assert first(clue("a"), clue("b", z=1.0)).margin == 1.0


def test_the_order_of_clues_does_not_matter() -> None:
    """The same clues, the same ranking."""
    clues = [clue(name, z=z) for name, z in (("a", 9.0), ("b", 30.0), ("c", 9.0), ("d", 2.0))]
    assert rank(clues, affected=None) == rank(clues[::-1], affected=None)


def test_a_restless_series_is_divided_by_its_own_habit() -> None:
    """Thirty widths are nothing for one that reaches them every hour."""
    score, _ = calibrate(np.array([30.0, 30.0]), np.array([[30.0] * 20, [0.5] * 20]))
    assert score.tolist() == [2.0, 30.0]


def test_noise_is_what_the_strangest_of_all_series_reaches() -> None:
    """Windows are compared across series: any of them may stray."""
    null = np.zeros((50, 20))
    null[np.arange(20), np.arange(20)] = 8.0
    assert noise_level(null) == 8.0
    assert noise_level(np.zeros((0, 0))) == 3.0


def test_what_all_calls_of_a_caller_share_is_charged_to_the_caller() -> None:
    """Its own network is slow, whichever callee answers."""
    charged = charge_gaps({("a", "b"): 20.0, ("a", "c"): 19.0, ("a", "d"): 21.0})
    most = max(charged, key=lambda charge: charge.z)
    assert (most.entity, most.region) == ("a", "a->*")


def test_one_slow_call_of_several_is_charged_to_its_callee() -> None:
    """The others show that the caller is well."""
    charged = charge_gaps({("a", "b"): 20.0, ("a", "c"): 0.5, ("x", "b"): 18.0})
    most = max(charged, key=lambda charge: charge.z)
    assert (most.entity, most.region) == ("b", "a->b")
