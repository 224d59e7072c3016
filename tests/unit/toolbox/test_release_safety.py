"""What a ranking holds against its own candidates: no effect, no path, another nature; views, rare events."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.support.small_incident import CPU_FAULT, ONSET_S, small_incident

from diagnosis_harness.analysis.arrays import Floats
from diagnosis_harness.analysis.clue import Nature
from diagnosis_harness.guards.semantic_rules import ranking_objections
from diagnosis_harness.guards.verdict import SemanticReason
from diagnosis_harness.guards.weaknesses import LEAST_MARGIN, weaknesses
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.testing.sources import InMemorySources
from diagnosis_harness.toolbox.effect import Effect, EffectState, can_produce
from diagnosis_harness.toolbox.ports import AlertInfo, CallEdge, Series
from diagnosis_harness.toolbox.rank_causes import RankCauses
from diagnosis_harness.toolbox.views import Views
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind

STEPS, BEFORE = 140, 120
TIME_S: Floats = ONSET_S + 30.0 * (np.arange(STEPS, dtype=np.float64) - BEFORE) + 15.0
LATE: Floats = (TIME_S >= ONSET_S).astype(np.float64)
RNG = np.random.default_rng(11)


def line(entity: str, signal: str, value: Floats | float, *, unit: str | None = "s") -> Series:
    """A series with five per cent of noise."""
    noise = RNG.lognormal(0.0, 0.05, STEPS)
    return Series(entity, signal, unit, TIME_S, np.asarray(value * noise, dtype=np.float64))


def exactly(entity: str, signal: str, value: Floats, *, unit: str | None) -> Series:
    """A series as it is."""
    return Series(entity, signal, unit, TIME_S, value)


def rank_items(
    ctx: RunContext,
    *series: Series,
    calls: tuple[tuple[str, str], ...] = (("web", "pay"),),
    alert: AlertInfo | None = None,
    part_of: dict[str, str] | None = None,
) -> dict[str, EvidenceItem]:
    """The ranking's items by entity."""
    sources = InMemorySources(
        incident=series,
        call_edges=tuple(CallEdge(caller, callee) for caller, callee in calls),
        part_of=part_of or {},
        alert=alert or AlertInfo(entity="web", signal="latency", time_s=ONSET_S),
        onset_s=ONSET_S,
    )
    items = RankCauses(Views(sources.sources())).run(ctx, {}).items
    return {item.entity or "": item for item in items}


def objections(item: EvidenceItem) -> set[SemanticReason]:
    """What the ranking itself holds against the candidate."""
    return set(ranking_objections(item))


SLOW: Floats = 0.1 + 0.4 * LATE


def test_no_cause_while_the_alerting_series_is_known_to_be_normal(ctx: RunContext) -> None:
    """One callee is clearly slow, and affects nothing."""
    calm = rank_items(ctx, line("web", "latency", 0.2), line("pay", "latency", SLOW))
    felt = rank_items(ctx, line("web", "latency", SLOW + 0.1), line("pay", "latency", SLOW))

    assert calm["pay"].attributes["effect"] == "normal"
    assert SemanticReason.EFFECT_NORMAL in objections(calm["pay"])
    assert felt["pay"].attributes["effect"] == "shown"
    assert objections(felt["pay"]) == set()


@pytest.mark.parametrize(
    ("earlier", "effect"), [(((20, 40),), "shown"), (((0, 20), (40, 60), (80, 100)), "normal")]
)
def test_one_earlier_trouble_is_not_a_habit(
    ctx: RunContext, earlier: tuple[tuple[int, int], ...], effect: str
) -> None:
    """A series that went as far once before has moved; one that does so again and again has not."""
    before = np.zeros(STEPS)
    for start, end in earlier:
        before[start:end] = 1.0
    felt = line("web", "latency", 0.2 + 0.3 * np.maximum(LATE, before))

    found = rank_items(ctx, felt, line("pay", "latency", SLOW))

    assert found["pay"].attributes["effect"] == effect


def test_the_affected_entity_feels_the_calls_that_it_makes(ctx: RunContext) -> None:
    """Its own latency mixes every kind of request; those that wait for the slow callee are slow all the same.

    Calls that somebody else makes are nothing to it.
    """
    calls = (("web", "pay"), ("shop", "pay"))
    unsaid = AlertInfo(entity="web", signal="alarm", time_s=ONSET_S)
    own, slow = line("web", "latency", 0.2), line("pay", "latency", SLOW)

    by_it = rank_items(ctx, own, slow, line("pay", "latency_from_web", SLOW), calls=calls, alert=unsaid)
    by_another = rank_items(
        ctx,
        own,
        slow,
        line("pay", "latency_from_shop", SLOW),
        line("shop", "rps", 9.0),
        calls=calls,
        alert=unsaid,
    )

    assert by_it["pay"].attributes["effect"] == "shown"
    assert by_another["pay"].attributes["effect"] == "normal"


def test_an_alerting_series_of_few_points_is_not_known_to_be_normal(ctx: RunContext) -> None:
    """Unknown is no acquittal, and no objection."""
    short = line("web", "latency", 0.2)
    cut = replace(short, value=np.where(TIME_S < ONSET_S + 60.0, short.value, np.nan))

    found = rank_items(ctx, cut, line("pay", "latency", SLOW))

    assert found["pay"].attributes["effect"] == "unknown"
    assert SemanticReason.EFFECT_NORMAL not in objections(found["pay"])


def test_a_recording_without_normal_operation_shows_no_habit(ctx: RunContext) -> None:
    """It begins after the onset: nothing to compare with, and nothing to stumble over."""
    felt, slow = line("web", "latency", SLOW + 0.1), line("pay", "latency", SLOW)
    late = TIME_S > ONSET_S + 20.0

    found = rank_items(
        ctx, *(replace(each, time_s=TIME_S[late], value=each.value[late]) for each in (felt, slow))
    )

    assert all(item.attributes["effect"] != "normal" for item in found.values())


def test_instances_speak_together_for_a_service_without_series_of_its_own(ctx: RunContext) -> None:
    """Three calm instances and a blip of one: the service is calm; all three slow: it is not."""
    parts = {f"web-{k}": "web" for k in range(3)}
    calm = rank_items(
        ctx,
        *(line(name, "latency", 0.2) for name in parts),
        line("pay", "latency", SLOW),
        part_of=parts,
    )
    felt = rank_items(
        ctx,
        *(line(name, "latency", SLOW + 0.1) for name in parts),
        line("pay", "latency", SLOW),
        part_of=parts,
    )
    assert calm["pay"].attributes["effect"] == "normal"
    assert felt["pay"].attributes["effect"] == "shown"


@pytest.mark.parametrize(
    ("calls", "path"),
    [
        ((("web", "pay"),), "none"),
        ((("web", "pay"), ("pay", "ledger")), "known"),
        ((), None),
    ],
)
def test_who_is_not_reached_by_calls_is_a_candidate_only(
    ctx: RunContext, calls: tuple[tuple[str, str], ...], path: str | None
) -> None:
    """Unless there is no graph at all, a cause needs a path from the affected entity."""
    found = rank_items(
        ctx,
        line("web", "latency", SLOW + 0.1),
        line("pay", "latency", 0.1),
        line("ledger", "latency", SLOW),
        calls=calls,
    )
    assert found["ledger"].attributes.get("path") == path
    assert (SemanticReason.NO_PATH in objections(found["ledger"])) == (path == "none")


@pytest.mark.parametrize(
    ("shown", "is_unconnected"),
    [
        ((), True),
        ((line("web", "cpu_percent", 30.0, unit="percent"),), True),
        ((line("web", "latency", SLOW + 0.1),), False),
    ],
)
def test_without_calls_and_without_an_effect_nothing_connects_a_cause(
    ctx: RunContext, shown: tuple[Series, ...], is_unconnected: bool
) -> None:
    """Otherwise anything that moved would be the cause of something unmeasured."""
    found = rank_items(ctx, *shown, line("pay", "latency", SLOW), calls=())

    assert (SemanticReason.NO_PATH in objections(found["pay"])) is is_unconnected


def test_a_queue_is_reached_from_by_those_that_use_it(ctx: RunContext) -> None:
    """A backlog grows because its reader is slow: the call goes the other way."""
    found = rank_items(
        ctx,
        line("mail-queue", "queue_depth", 10.0 + 300.0 * LATE, unit=None),
        line("mailer", "latency", SLOW),
        calls=(("mailer", "mail-queue"), ("web", "mail-queue")),
        alert=AlertInfo(entity="mail-queue", signal="queue_depth", time_s=ONSET_S),
    )
    assert found["mailer"].attributes["path"] == "known"


@pytest.mark.parametrize(
    ("felt", "found", "fitting"),
    [
        (Nature.SLOW, {Nature.FAILING}, False),
        (Nature.FAILING, {Nature.FAILING}, True),
        (Nature.FAILING, {Nature.SLOW}, True),
        (Nature.SLOW, {Nature.SLOW, Nature.FAILING}, True),
        (Nature.SLOW, set(), True),
    ],
)
def test_failures_do_not_explain_slowness(felt: Nature, found: set[Nature], *, fitting: bool) -> None:
    """Errors explain errors; slowness explains slowness and time-outs; nothing found contradicts nothing."""
    assert can_produce(Effect(EffectState.SHOWN, frozenset({felt})), found) == fitting


def test_a_balancer_is_the_service_behind_it(ctx: RunContext) -> None:
    """A leaf with the caller, the course and a part of the requests of a service is a view of it."""
    course = 0.1 + 0.4 * LATE * (1.0 + 0.5 * np.sin(np.arange(STEPS, dtype=np.float64)))
    series = (
        line("web", "latency", course + 0.1),
        line("pay", "latency", course),
        exactly("pay-balancer", "latency", 1.1 * course, unit="s"),
        line("pay", "requests", 200.0, unit=None),
        line("pay-balancer", "requests", 40.0, unit=None),
        line("ledger", "latency", 0.01),
    )
    calls = (("web", "pay"), ("web", "pay-balancer"), ("pay", "ledger"))

    merged = rank_items(ctx, *series, calls=calls)
    used = rank_items(ctx, *series, calls=(*calls, ("pay", "pay-balancer")))

    assert "pay-balancer" not in merged
    assert merged["pay"].attributes["also_seen_as"] == "pay-balancer"
    assert "pay-balancer" in merged["pay"].line
    assert "pay-balancer" in used, "what the service itself calls is no view of it"


def failing_requests(count: int, *, requests: float = 160.0) -> InMemorySources:
    """A service that never failed, with this many failures in each of three points after the onset."""
    share = np.zeros(STEPS)
    share[[BEFORE + 3, BEFORE + 9, BEFORE + 14]] = count / requests
    return InMemorySources(
        incident=(
            exactly("pay", "error_rate", share, unit="ratio"),
            line("pay", "requests", requests, unit=None),
            line("web", "latency", 0.2),
        ),
        call_edges=(CallEdge("web", "pay"),),
        onset_s=ONSET_S,
    )


@pytest.mark.parametrize(("count", "stands"), [(1, False), (80, True)])
def test_a_rare_failure_is_judged_by_counts(ctx: RunContext, count: int, stands: bool) -> None:
    """One failed request of 160 is nothing, half of them is something, though all series were zero before."""
    items = RankCauses(Views(failing_requests(count).sources())).run(ctx, {}).items
    found = next(item for item in items if item.entity == "pay")
    assert (float(found.score or 0.0) > 0) == stands


def test_a_lead_below_a_quarter_does_not_count() -> None:
    """Two candidates that close are both candidates."""
    leads = {"strength": 0.9, "margin": 0.24}
    item = EvidenceItem("c1", ItemKind.CAUSE_SCORE, "pay ranks 1", entity="pay", attributes=leads)
    assert weaknesses(item) == (SemanticReason.NO_MARGIN,)
    assert weaknesses(replace(item, attributes={**leads, "margin": LEAST_MARGIN})) == ()


def test_a_real_fault_meets_no_objection(ctx: RunContext) -> None:
    """The small incident: alert, path and nature fit."""
    items = RankCauses(Views(small_incident(CPU_FAULT).sources())).run(ctx, {}).items
    assert ranking_objections(items[0]) == ()


@pytest.mark.parametrize("affected", ["stock-db-7d9f", "catalog-7d9f", "shop->catalog"])
def test_a_part_that_does_not_call_the_broken_service_is_not_its_victim(
    ctx: RunContext, affected: str
) -> None:
    """An instance, and a call, stand where their service does; neither of these leads to payment."""
    sources = replace(
        small_incident(CPU_FAULT, spans=False), alert=AlertInfo(entity=affected, time_s=ONSET_S)
    )

    items = RankCauses(Views(sources.sources())).run(ctx, {}).items

    assert all(item.entity != "payment" or SemanticReason.NO_PATH in objections(item) for item in items)


@pytest.mark.parametrize(("calm", "effect"), [("web-1", "normal"), ("web-0", "shown")])
def test_the_series_of_an_instance_decide_before_those_of_its_service(
    ctx: RunContext, calm: str, effect: str
) -> None:
    """One instance of two is slow; who asks about the other one asks about a calm instance."""
    parts = {"web-0": "web", "web-1": "web"}
    found = rank_items(
        ctx,
        line("web", "latency", SLOW + 0.1),
        line("web-0", "latency", SLOW + 0.1),
        line("web-1", "latency", 0.2),
        line("pay", "latency", SLOW),
        part_of=parts,
        alert=AlertInfo(entity=calm, time_s=ONSET_S),
    )
    assert found["pay"].attributes["effect"] == effect
