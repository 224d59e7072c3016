"""Two faults at once: when a ranking calls a second candidate independent of the first."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.small_incident import ONSET_S

from diagnosis_harness.analysis.arrays import Floats
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.testing.sources import InMemorySources
from diagnosis_harness.toolbox.ports import AlertInfo, CallEdge, Series
from diagnosis_harness.toolbox.rank_causes import RankCauses
from diagnosis_harness.toolbox.views import Views
from diagnosis_harness.tools.evidence import EvidenceItem

STEPS, BEFORE = 140, 120
TIME_S: Floats = ONSET_S + 30.0 * (np.arange(STEPS, dtype=np.float64) - BEFORE) + 15.0
LATE: Floats = (TIME_S >= ONSET_S).astype(np.float64)
SLOW: Floats = 0.1 + 0.4 * LATE
FULL: Floats = 20.0 + 78.0 * LATE
RNG = np.random.default_rng(17)
CALLS = (("web", "cart"), ("web", "pay"), ("cart", "cart-db"), ("pay", "pay-db"))


def line(entity: str, signal: str, value: Floats | float, *, unit: str = "s") -> Series:
    """A series with five per cent of noise."""
    noise = RNG.lognormal(0.0, 0.05, STEPS)
    return Series(entity, signal, unit, TIME_S, np.asarray(value * noise, dtype=np.float64))


def rank_items(
    ctx: RunContext, *series: Series, calls: tuple[tuple[str, str], ...] = CALLS
) -> list[EvidenceItem]:
    """The ranking, first to last."""
    sources = InMemorySources(
        incident=series,
        call_edges=tuple(CallEdge(caller, callee) for caller, callee in calls),
        alert=AlertInfo(entity="web", signal="latency", time_s=ONSET_S),
        onset_s=ONSET_S,
    )
    return list(RankCauses(Views(sources.sources())).run(ctx, {}).items)


def faulty(entity: str, signal: str = "cpu_percent") -> tuple[Series, ...]:
    """A service that is slow, with a resource that ran full."""
    return line(entity, "latency", SLOW), line(entity, signal, FULL, unit="percent")


def sound(*entities: str) -> tuple[Series, ...]:
    """Services with nothing but noise."""
    return tuple(line(entity, "latency", 0.05) for entity in entities)


WEB = line("web", "latency", SLOW + 0.2)


def independent(items: list[EvidenceItem]) -> dict[str, str]:
    """Who is called independent of whom."""
    named = {item.entity: item.attributes.get("independent_of") for item in items}
    return {str(entity): str(of) for entity, of in named.items() if of is not None}


def test_two_that_broke_by_themselves_are_independent(ctx: RunContext) -> None:
    """Each is slow, each has a full resource of its own, and neither calls the other."""
    items = rank_items(ctx, WEB, *faulty("cart"), *faulty("pay", "disk_percent"), *sound("cart-db", "pay-db"))

    first, second = items[0].entity, items[1].entity
    assert {first, second} == {"cart", "pay"}
    assert independent(items) == {second: first}
    assert f"independent of {first}" in items[1].line


@pytest.mark.parametrize(
    "further",
    [(("cart", "pay"),), (("pay", "cart"),), (("cart", "mid"), ("mid", "pay"))],
)
def test_one_that_calls_the_other_is_not(ctx: RunContext, further: tuple[tuple[str, str], ...]) -> None:
    """Whoever calls a broken service may be slow for that; also through one of which nothing is known."""
    series = (WEB, *faulty("cart"), *faulty("pay", "disk_percent"), *sound("cart-db", "pay-db"))

    assert independent(rank_items(ctx, *series, calls=(*CALLS, *further))) == {}


def test_a_shared_callee_in_trouble_may_explain_both(ctx: RunContext) -> None:
    """A database that both use is slow too; one that is sound explains nothing."""
    calls = (("web", "cart"), ("web", "pay"), ("cart", "db"), ("pay", "db"))
    both = (WEB, *faulty("cart"), *faulty("pay", "disk_percent"))

    troubled = rank_items(ctx, *both, line("db", "latency", 0.02 + 0.05 * LATE), calls=calls)
    calm = rank_items(ctx, *both, *sound("db"), calls=calls)

    assert independent(troubled) == {}
    assert len(independent(calm)) == 1


def test_an_unrecorded_shared_callee_may_explain_both(ctx: RunContext) -> None:
    """Of a database that both call nothing is recorded."""
    calls = (("web", "cart"), ("web", "pay"), ("cart", "db"), ("pay", "db"))

    assert (
        independent(rank_items(ctx, WEB, *faulty("cart"), *faulty("pay", "disk_percent"), calls=calls)) == {}
    )


def test_two_with_busy_processors_may_share_a_machine(ctx: RunContext) -> None:
    """One process beside them makes all tenants of a machine slow."""
    series = (WEB, *faulty("cart"), *faulty("pay"), *sound("cart-db", "pay-db"))

    assert independent(rank_items(ctx, *series)) == {}


def test_one_that_affects_nothing_is_not_a_second_cause(ctx: RunContext) -> None:
    """A full disk beside a service that answers as fast as ever explains nothing of what is felt."""
    full = line("pay", "disk_percent", FULL, unit="percent")
    series = (WEB, *faulty("cart"), full, *sound("pay", "cart-db", "pay-db"))

    assert independent(rank_items(ctx, *series)) == {}


def test_one_that_is_only_slow_is_not_a_second_cause(ctx: RunContext) -> None:
    """A symptom without evidence of its own origin may come from anywhere."""
    series = (WEB, *faulty("cart"), line("pay", "latency", SLOW), *sound("cart-db", "pay-db"))

    assert independent(rank_items(ctx, *series)) == {}
