"""Confidence: bounded, rising with every kind of support, and blind to an agent's word."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.guards.confidence import confidence_of
from diagnosis_harness.kernel.json_value import Scalar
from diagnosis_harness.testing.evidence import cause_item
from diagnosis_harness.tools.evidence import EvidenceItem


def ranking(**attributes: Scalar) -> EvidenceItem:
    """A ranking item with just these attributes."""
    return replace(cause_item(), attributes=attributes)


@pytest.mark.parametrize(
    ("attributes", "repaired", "confidence"),
    [
        ({"strength": 1.0, "margin": 1.0, "modalities": 3}, False, 1.0),
        ({"strength": 1.0, "margin": 0.0, "modalities": 3}, False, 0.5),
        ({"strength": 0.9, "margin": 0.5, "modalities": 2}, False, 0.61),
        ({"strength": 0.9, "margin": 0.5, "modalities": 1}, False, 0.54),
        ({"strength": 1.0, "margin": 1.0, "modalities": 3}, True, 0.9),
        ({}, False, 0.0),
        ({"strength": "very high", "margin": None}, False, 0.0),
    ],
)
def test_the_formula(attributes: dict[str, Scalar], *, repaired: bool, confidence: float) -> None:
    """Strength, half of it at no margin, agreement of kinds, and a tenth off for a repaired draft."""
    assert confidence_of(ranking(**attributes), repaired=repaired) == confidence


shares = st.floats(-1.0, 2.0, allow_nan=False)


@given(strength=shares, margin=shares, modalities=st.integers(0, 9), repaired=st.booleans())
def test_it_is_a_share_whatever_the_ranking_states(
    strength: float, margin: float, modalities: int, *, repaired: bool
) -> None:
    """Between 0 and 1, also for numbers that no ranking should state."""
    item = ranking(strength=strength, margin=margin, modalities=modalities)
    assert 0.0 <= confidence_of(item, repaired=repaired) <= 1.0


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 4))
def test_more_support_never_lowers_it(strength: float, margin: float, modalities: int) -> None:
    """A further kind of evidence, a larger lead, and no repair can only raise it."""
    attributes = {"strength": strength, "margin": margin, "modalities": modalities}
    here = confidence_of(ranking(**attributes), repaired=False)
    assert confidence_of(ranking(**{**attributes, "modalities": modalities + 1}), repaired=False) >= here
    assert confidence_of(ranking(**{**attributes, "margin": min(1.0, margin + 0.1)}), repaired=False) >= here
    assert confidence_of(ranking(**attributes), repaired=True) <= here
