"""When a ranking says that nothing unusual was found; false reassurance is a wrong answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.support.small_incident import ONSET_S

from diagnosis_harness.analysis.arrays import Floats
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.testing.sources import InMemorySources
from diagnosis_harness.toolbox.ports import AlertInfo, CallEdge, Series
from diagnosis_harness.toolbox.rank_causes import RankCauses
from diagnosis_harness.toolbox.sound_system import is_steady
from diagnosis_harness.toolbox.views import Views
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind

STEPS, BEFORE = 240, 120
TIME_S: Floats = ONSET_S + 30.0 * (np.arange(STEPS, dtype=np.float64) - BEFORE) + 15.0
SINCE_S: Floats = TIME_S - ONSET_S


def line(entity: str, signal: str, value: Floats | float, *, unit: str = "s") -> Series:
    """A series with five per cent of noise, the same for one name."""
    rng = np.random.default_rng(sum(map(ord, entity + signal)))
    noise = rng.lognormal(0.0, 0.05, STEPS)
    return Series(entity, signal, unit, TIME_S, np.asarray(value * noise, dtype=np.float64))


def overview(
    ctx: RunContext, *series: Series, entity: str = "web", signal: str | None = "latency"
) -> EvidenceItem | None:
    """What the ranking says of the whole, if anything."""
    sources = InMemorySources(
        incident=series,
        call_edges=(CallEdge("web", "pay"),),
        part_of={"web-0": "web", "web-1": "web"},
        alert=AlertInfo(entity=entity, signal=signal, time_s=ONSET_S),
        onset_s=ONSET_S,
    )
    found = RankCauses(Views(sources.sources())).run(ctx, {}).items
    return next((item for item in found if item.kind is ItemKind.OVERVIEW), None)


def during(start_s: float, end_s: float) -> Floats:
    """One in a time, and zero else."""
    return ((start_s <= SINCE_S) & (end_s > SINCE_S)).astype(np.float64)


CALM = (line("web", "latency", 0.2), line("pay", "latency", 0.1), line("web", "requests", 50.0, unit="rps"))


def test_a_calm_system_is_said_to_be_calm(ctx: RunContext) -> None:
    """With how many series were looked at, and when."""
    item = overview(ctx, *CALM)

    assert item is not None
    assert (item.entity, item.value) == ("web", 3.0)
    assert item.window is not None


@pytest.mark.parametrize(
    "trouble",
    [
        during(0.0, 3_600.0),
        during(0.0, 240.0),  # over within minutes, an hour before the end
        during(-1_800.0, 3_600.0),  # the onset was stated half an hour too late
        during(1_200.0, 3_600.0),  # or too early
        during(-1_800.0, -1_200.0),  # over before the time that was asked about
    ],
)
def test_no_trouble_of_the_affected_is_passed_over(ctx: RunContext, trouble: Floats) -> None:
    """Whenever it was in the recording, and however brief."""
    assert overview(ctx, line("web", "latency", 0.2 + 0.4 * trouble), *CALM[1:]) is None


def test_what_stands_out_elsewhere_is_unusual(ctx: RunContext) -> None:
    """Nobody feels that a callee is slow, and all the same it is not nothing."""
    slow = line("pay", "latency", 0.1 + 0.5 * during(0.0, 3_600.0))

    assert overview(ctx, CALM[0], slow, CALM[2]) is None


@pytest.mark.parametrize("trouble", [during(0.0, 240.0), during(1_200.0, 3_600.0)])
def test_no_trouble_in_a_call_of_the_affected_is_passed_over(ctx: RunContext, trouble: Floats) -> None:
    """Whose users wait for it, though both ends are calm by themselves; calls of others are theirs."""
    slow = 0.1 + 0.4 * trouble

    assert overview(ctx, *CALM, line("web->pay", "latency", 0.1)) is not None
    assert overview(ctx, *CALM, line("web->pay", "latency", slow)) is None


@pytest.mark.parametrize("trouble", [during(0.0, 240.0), during(-1_800.0, -1_200.0)])
def test_no_trouble_that_is_named_after_a_callee_is_passed_over(ctx: RunContext, trouble: Floats) -> None:
    """The affected writes it, so its users feel it."""
    callee = line("price-list", "latency", 0.1)
    failing = line("web", "price_list_error_ratio", 0.002 + 0.4 * trouble, unit="ratio")

    assert (
        overview(ctx, *CALM, callee, line("web", "price_list_error_ratio", 0.002, unit="ratio")) is not None
    )
    assert overview(ctx, *CALM, callee, failing) is None


def test_callers_that_give_up_are_unusual(ctx: RunContext) -> None:
    """Whoever is to blame for it, and though it is no demand."""
    name, often = "http.server.requests.canceled", 0.02 + 3.0 * during(0.0, 600.0)

    assert overview(ctx, *CALM, line("web", name, 0.02, unit="rps")) is not None
    assert overview(ctx, *CALM, line("web", name, often, unit="rps")) is None


@pytest.mark.parametrize("part", ["web-1", "web->pay"])
def test_of_a_part_nothing_is_said_of_the_whole(ctx: RunContext, part: str) -> None:
    """The service hides what one instance or one call went through."""
    parts = (line("web-0", "latency", 0.2), line("web-1", "latency", 0.2), line("web->pay", "latency", 0.1))

    assert overview(ctx, *CALM, *parts) is not None
    assert overview(ctx, *CALM, *parts, entity=part, signal=None) is None


@pytest.mark.parametrize("times", [0.15, 3.0])
def test_a_surge_or_a_silence_is_unusual(ctx: RunContext, times: float) -> None:
    """Requests are no symptom, and all the same not as usual."""
    load = line("web", "requests", 50.0 * (1.0 + (times - 1.0) * during(0.0, 3_600.0)), unit="rps")

    assert overview(ctx, *CALM[:2], load) is None


def test_without_known_normal_operation_nothing_is_called_usual(ctx: RunContext) -> None:
    """The recording begins with the onset."""
    late = SINCE_S > 0
    cut = [replace(one, time_s=TIME_S[late], value=one.value[late]) for one in CALM]

    assert overview(ctx, *cut) is None


def test_an_unrecorded_alerting_series_is_not_called_usual(ctx: RunContext) -> None:
    """The alert names a signal without data: other calm signals do not show that nothing is wrong."""
    assert overview(ctx, line("pay", "latency", 0.1), signal="error_rate") is None


def test_a_share_that_is_zero_is_steady_with_single_failures() -> None:
    """One failed request now and then is no trouble; failures in a row are."""
    rare = np.zeros(STEPS)
    rare[::17] = 0.006
    often = np.where((np.arange(STEPS) > 150) & (np.arange(STEPS) < 160), 0.1, 0.0)

    assert is_steady(rare)
    assert not is_steady(often)
    assert not is_steady(rare[:10])
