"""Symptoms named after another entity show what that one passes on, and do not blame who writes them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.small_incident import ONSET_S

from diagnosis_harness.analysis.name_meaning import meaning_of
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.testing.sources import InMemorySources
from diagnosis_harness.toolbox.find_changed_signals import FindChangedSignals
from diagnosis_harness.toolbox.metric_row import MetricRow
from diagnosis_harness.toolbox.ports import AlertInfo, Series
from diagnosis_harness.toolbox.rank_causes import RankCauses
from diagnosis_harness.toolbox.rare_events import counts_requests
from diagnosis_harness.toolbox.views import Views

TIME_S = np.linspace(ONSET_S - 3_585.0, ONSET_S + 585.0, 140)


def line(entity: str, signal: str, usual: float, rise: float, *, unit: str = "ratio") -> Series:
    """A noisy series that steps up at the onset."""
    rng = np.random.default_rng(sum(map(ord, entity + signal)))
    value = usual * rng.lognormal(0.0, 0.05, len(TIME_S)) + np.where(rise > 0, rise, 0.0) * (
        TIME_S >= ONSET_S
    )
    return Series(entity, signal, unit, TIME_S, value)


def first(ctx: RunContext, *series: Series, affected: str) -> str | None:
    """Who ranks first, if anybody stands out from the noise."""
    sources = InMemorySources(
        incident=series, alert=AlertInfo(entity=affected, time_s=ONSET_S), onset_s=ONSET_S
    )
    items = RankCauses(Views(sources.sources())).run(ctx, {}).items
    return next((item.entity for item in items if (item.score or 0.0) > 0), None)


@pytest.mark.parametrize(
    "signal",
    [
        "price-list_endpoint_error_ratio",
        "price_list_errors",
        "PriceListFailureRate",
        "calls_to_price_list_failed",
    ],
)
def test_failures_that_are_named_after_another_do_not_blame_their_writer(
    ctx: RunContext, signal: str
) -> None:
    """However its name is written: the louder view from outside is no cause of what it is a view of."""
    seen = line("web-shop", signal, 0.002, 0.4)

    assert (
        first(ctx, line("price-list", "error_ratio", 0.002, 0.1), seen, affected="price-list") == "price-list"
    )


def test_who_is_named_is_called_so_its_caller_reaches_it(ctx: RunContext) -> None:
    """The name is an edge if no file has the call graph."""
    seen = line("web-shop", "price_list_error_ratio", 0.002, 0.4)
    own = line("price-list", "error_ratio", 0.002, 0.4)
    unrelated = line("mail-queue", "search-index_error_ratio", 0.002, 0.0)
    calm = line("search-index", "error_ratio", 0.002, 0.0)

    assert first(ctx, seen, own, unrelated, calm, affected="web-shop") == "price-list"


def test_who_is_named_and_measures_nothing_itself_ranks_before_who_writes_of_it(ctx: RunContext) -> None:
    """A view from outside is all that there is of it."""
    seen = line("web-shop", "price_list_error_ratio", 0.002, 0.4)
    busy = line("price-list", "requests_per_s", 50.0, 0.0, unit="1/s")
    hit = line("front-page", "error_ratio", 0.002, 0.3)
    calls = line("front-page", "requests_to_web_shop_failed", 0.002, 0.3)

    assert first(ctx, seen, busy, hit, calls, affected="front-page") == "price-list"


@pytest.mark.parametrize(
    ("other", "signal", "unit"),
    [
        ("cart", "cart_errors", "ratio"),  # an everyday word: its own cart page as well as the service
        ("price-list", "list_errors", "ratio"),
        ("web-shop-db", "web_shop_error_ratio", "ratio"),
    ],
)
def test_a_name_that_only_resembles_another_stays_its_writer_s_own(
    ctx: RunContext, other: str, signal: str, unit: str
) -> None:
    """One word, a part of a name, or its own name."""
    own, calm = line("web-shop", signal, 0.002, 0.4, unit=unit), line(other, "error_ratio", 0.002, 0.0)

    assert first(ctx, own, calm, affected="web-shop") == "web-shop"


def test_a_pool_towards_another_is_a_resource_of_its_own(ctx: RunContext) -> None:
    """Its connections run out at the one that holds them."""
    pool = line("web-shop", "price_list_pool_used", 5.0, 200.0, unit="connections")
    slow = line("web-shop", "latency_p90", 0.2, 2.0, unit="s")

    assert (
        first(ctx, pool, slow, line("price-list", "latency_p90", 0.1, 0.0, unit="s"), affected="web-shop")
        == "web-shop"
    )


@pytest.mark.parametrize(
    ("signal", "counts"),
    [
        ("http_requests_total", True),
        ("http.server.requests.canceled", False),
        ("http_requests_499_total", False),
    ],
)
def test_callers_that_give_up_are_not_demand(signal: str, counts: bool) -> None:
    """A slow server whose callers give up is not excused by a surge of them."""
    meaning = meaning_of(signal, None, entity="web")

    assert counts_requests(MetricRow("web", signal, "1", meaning, "web", None, False, None)) is counts


@pytest.mark.parametrize(("requests_rise", "blamed"), [(0.0, "web-shop"), (-49.0, "price-list")])
def test_failures_named_after_one_that_serves_as_well_as_ever_are_their_writer_s_own(
    ctx: RunContext, requests_rise: float, blamed: str
) -> None:
    """It answers as many requests as before; where they stopped, its calm says nothing."""
    seen = line("web-shop", "price_list_error_ratio", 0.002, 0.4)
    calm = line("price-list", "error_ratio", 0.002, 0.0)
    rng = np.random.default_rng(5)
    level = 50.0 + requests_rise * (TIME_S >= ONSET_S)
    served = Series(
        "price-list", "requests_per_s", "1/s", TIME_S, level * rng.lognormal(0.0, 0.02, len(TIME_S))
    )
    hit = line("front-page", "error_ratio", 0.002, 0.3)
    calls = line("front-page", "requests_to_web_shop_failed", 0.002, 0.3)

    assert first(ctx, seen, calm, served, hit, calls, affected="front-page") == blamed


def test_callers_that_give_up_are_harm_to_their_users(ctx: RunContext) -> None:
    """A service that hangs fails no requests; the clients that waited left."""
    gone = line("web", "requests_499_per_s", 0.1, 9.0, unit="1/s")
    sources = InMemorySources(incident=(gone,), onset_s=ONSET_S)
    found = FindChangedSignals(Views(sources.sources())).run(ctx, {})

    assert [(item.entity, item.attributes["bad"]) for item in found.items] == [("web", True)]
