"""A trouble that was over within minutes is judged by those minutes."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.small_incident import ONSET_S

from diagnosis_harness.analysis.arrays import Floats
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.testing.sources import InMemorySources
from diagnosis_harness.toolbox.find_changed_signals import FindChangedSignals
from diagnosis_harness.toolbox.ports import AlertInfo, CallEdge, Series
from diagnosis_harness.toolbox.rank_causes import RankCauses
from diagnosis_harness.toolbox.views import Views
from diagnosis_harness.tools.evidence import Direction

STEP_S = 20.0
TIME_S: Floats = ONSET_S + STEP_S * (np.arange(360, dtype=np.float64) - 180) + 10.0
SINCE_S: Floats = TIME_S - ONSET_S


def line(entity: str, signal: str, usual: float, rise: Floats, *, unit: str = "s") -> Series:
    """A series with a tenth of noise, the same for one name."""
    rng = np.random.default_rng(sum(map(ord, entity + signal)))
    return Series(entity, signal, unit, TIME_S, usual * rng.lognormal(0.0, 0.1, len(TIME_S)) + rise)


def bad(*spans_s: tuple[float, float]) -> Floats:
    """One in these times after the onset, and zero else."""
    return sum(
        ((start <= SINCE_S) & (end > SINCE_S)).astype(np.float64) for start, end in spans_s
    ) + np.zeros(360)


def ranking_until(
    ctx: RunContext, when: Floats, *more: Series, silent: Floats | float = 0.0, **asked: float
) -> tuple[str | None, float, float]:
    """Who ranks first, with which score, and how many seconds after the onset are judged.

    Args:
        more: further series.
        silent: not a number where the latency of web is not recorded.
    """
    sources = InMemorySources(
        incident=(
            *more,
            line("web", "latency_p90", 0.3, 0.4 * when + silent),
            line("pay", "latency_p90", 0.1, 0.4 * when),
            line("pay", "cpu_percent", 30.0, 60.0 * when, unit="percent"),
            line("mail", "latency_p90", 0.2, 0.0 * when),
        ),
        call_edges=(CallEdge("web", "pay"), CallEdge("web", "mail")),
        alert=AlertInfo(entity="web", signal="latency_p90", time_s=ONSET_S),
        onset_s=ONSET_S,
    )
    first = RankCauses(Views(sources.sources())).run(ctx, dict(asked)).items[0]
    assert first.window is not None
    return first.entity, first.score or 0.0, first.window.end_s - ONSET_S


@pytest.mark.parametrize("lasted_s", [80.0, 240.0, 900.0])
def test_what_was_over_is_judged_until_then(ctx: RunContext, lasted_s: float) -> None:
    """So that the calm hour behind it hides neither the trouble nor its cause."""
    entity, score, until_s = ranking_until(ctx, bad((0.0, lasted_s)))

    assert entity == "pay"
    assert score > 1.0
    assert until_s == pytest.approx(lasted_s, abs=2 * STEP_S)


@pytest.mark.parametrize(
    "when",
    [
        bad((0.0, 3_600.0)),  # it lasts
        bad((0.0, 2_000.0)),  # it lasted for longer than it has been away
        bad(*((start, start + 80.0) for start in range(0, 3_600, 300))),  # it comes and goes
        bad((0.0, 40.0)),  # a spike
        bad((900.0, 1_200.0)),  # it began long after the onset
        bad((0.0, 240.0), (3_000.0, 3_100.0)),  # it came back
    ],
)
def test_what_lasts_or_returns_is_judged_for_the_whole_hour(ctx: RunContext, when: Floats) -> None:
    """Nobody can tell that it is over, or that it was one trouble."""
    assert ranking_until(ctx, when)[2] > 3_500.0


def test_an_end_that_somebody_states_is_kept(ctx: RunContext) -> None:
    """Whatever the series show."""
    assert ranking_until(ctx, bad((0.0, 240.0)), until=ONSET_S + 1_800.0)[2] == pytest.approx(
        1_800.0, abs=STEP_S
    )


def test_another_symptom_of_the_affected_entity_must_be_over_too(ctx: RunContext) -> None:
    """Its requests fail long after it is as fast again as before."""
    failing = line("web", "error_ratio", 0.01, 0.3 * bad((300.0, 3_000.0)), unit="1")

    assert ranking_until(ctx, bad((0.0, 80.0)), failing)[2] > 3_500.0


def test_silence_is_not_calm(ctx: RunContext) -> None:
    """Who writes nothing any more has not come back, though a counter of errors goes on."""
    counter = line("web", "error_ratio", 0.01, 0.0 * SINCE_S, unit="1")
    silent = np.where(SINCE_S > 80.0, np.nan, 0.0)

    assert ranking_until(ctx, bad((0.0, 80.0)), counter, silent=silent)[2] > 3_500.0


def incident(*more: Series) -> InMemorySources:
    """Web and pay are slow for four minutes; mail is not."""
    when = bad((0.0, 240.0))
    return InMemorySources(
        incident=(
            *more,
            line("web", "latency_p90", 0.3, 0.4 * when),
            line("pay", "latency_p90", 0.1, 0.4 * when),
            line("mail", "latency_p90", 0.2, 0.0 * when),
        ),
        alert=AlertInfo(entity="web", signal="latency_p90", time_s=ONSET_S),
        onset_s=ONSET_S,
    )


def test_what_is_calm_is_calm_up_to_the_end_and_not_only_while_another_was_in_trouble(
    ctx: RunContext,
) -> None:
    """An hour is asked about, of which four minutes were judged."""
    late = line("orders", "error_ratio", 0.01, 0.3 * bad((1_200.0, 3_600.0)), unit="1")
    looked = FindChangedSignals(Views(incident(late).sources())).run(
        ctx, {"entities": ("mail", "orders"), "calm": True}
    )
    found = {item.entity: item for item in looked.items}

    assert {name: (item.direction, item.attributes["bad"]) for name, item in found.items()} == {
        "mail": (Direction.FLAT, False),
        "orders": (Direction.UP, True),
    }
    for item in found.values():
        assert item.window is not None
        assert item.window.end_s > ONSET_S + 3_500.0


def test_a_ranking_says_until_when_it_judged(ctx: RunContext) -> None:
    """Its window alone would be overlooked."""
    note = RankCauses(Views(incident().sources())).run(ctx, {}).note or ""

    assert "when the trouble was over" in note
