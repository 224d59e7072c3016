"""Waiting grows with load."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.simulator.queueing import UTILISATION_MAX, utilisation, waiting_time_s


@given(busy=st.floats(min_value=0.01, max_value=0.9), servers=st.floats(min_value=1.0, max_value=64.0))
def test_more_load_waits_longer(busy: float, servers: float) -> None:
    """Waiting rises strictly with utilisation."""
    less, more = waiting_time_s(np.full(2, 0.02), np.array([busy, busy + 0.05]), servers)
    assert 0.0 <= less < more


def test_one_worker_agrees_with_the_exact_formula() -> None:
    """M/M/1: the mean wait is S * rho / (1 - rho)."""
    (wait_s,) = waiting_time_s(np.array([0.1]), np.array([0.5]), 1.0)
    assert wait_s == pytest.approx(0.1)


def test_several_workers_agree_with_erlang_c_within_a_tenth() -> None:
    """M/M/4 at 80%: Erlang C gives a wait of 0.7455 service times."""
    (wait,) = waiting_time_s(np.array([1.0]), np.array([0.8]), 4.0)
    assert wait == pytest.approx(0.7455, rel=0.1)


def test_utilisation_has_a_ceiling() -> None:
    """Beyond saturation the busy share stays at its ceiling, so that waiting stays finite."""
    (busy,) = utilisation(np.array([1e6]), np.array([1.0]), 2.0)
    assert busy == UTILISATION_MAX
