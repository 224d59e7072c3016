"""The ranking on a small system whose fault is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.support.small_incident import (
    CPU_FAULT,
    ERROR_FAULT,
    NETWORK_FAULT,
    ONSET_S,
    STORE_FAULT,
    SmallFault,
    small_incident,
)

from diagnosis_harness.analysis.meaning import SignalForm, SignalSide
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.testing.sources import InMemorySources, series_of
from diagnosis_harness.toolbox.catalog import build_tools
from diagnosis_harness.toolbox.metric_grid import MetricSeries, read_metric_series
from diagnosis_harness.toolbox.metric_table import build_metric_table
from diagnosis_harness.toolbox.ports import UNNAMED_ENTITY, AlertInfo, Series, SeriesMeaning
from diagnosis_harness.toolbox.rank_causes import RankCauses
from diagnosis_harness.toolbox.views import Views
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.spec import ToolFindings

FAULTS = [
    (CPU_FAULT, "CPU"),
    (NETWORK_FAULT, "NETWORK"),
    (ERROR_FAULT, "ERRORS"),
    (STORE_FAULT, "DEPENDENCY"),
]


def ranking_of(ctx: RunContext, sources: InMemorySources) -> ToolFindings:
    """The ranking as a tool gives it."""
    return RankCauses(Views(sources.sources())).run(ctx, {})


def top(ctx: RunContext, sources: InMemorySources) -> EvidenceItem:
    """The first candidate."""
    return ranking_of(ctx, sources).items[0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("fault", "kind"), FAULTS)
def test_the_broken_service_ranks_first_with_its_kind(
    ctx: RunContext, fault: SmallFault, kind: str, seed: int
) -> None:
    """Slow code, a slow way, failures and a slow store are distinguished."""
    found = top(ctx, small_incident(fault, seed=seed))
    assert (found.kind, found.entity, found.peer) == (ItemKind.CAUSE_SCORE, fault.service, "shop")
    assert found.attributes["fault_kind"] == kind
    assert float(found.attributes["strength"] or 0) >= 0.5
    assert float(found.attributes["margin"] or 0) >= 0.5


@pytest.mark.parametrize("fault", [CPU_FAULT, ERROR_FAULT, STORE_FAULT])
def test_metrics_alone_find_what_they_can_see(ctx: RunContext, fault: SmallFault) -> None:
    """Without spans, callees explain callers."""
    assert top(ctx, small_incident(fault, spans=False)).entity == fault.service


@pytest.mark.parametrize("fault", [CPU_FAULT, NETWORK_FAULT, ERROR_FAULT, STORE_FAULT])
def test_spans_alone_find_it(ctx: RunContext, fault: SmallFault) -> None:
    """Without metrics, self time, gaps and failures do."""
    assert top(ctx, small_incident(fault, metrics=False)).entity == fault.service


@pytest.mark.parametrize("seed", range(12))
def test_a_sound_system_has_no_strong_candidate(ctx: RunContext, seed: int) -> None:
    """An alert that fired for nothing leads to no cause."""
    found = top(ctx, small_incident(None, seed=seed))
    assert float(found.attributes["strength"] or 0) < 0.3


def test_an_instance_is_named_below_its_service(ctx: RunContext) -> None:
    """The owner is ranked, the instance is in the attributes."""
    found = top(ctx, small_incident(CPU_FAULT))
    assert (found.entity, found.attributes["instance"]) == ("payment", "payment-7d9f")


def test_the_topology_is_learnt_from_spans_where_none_is_given(ctx: RunContext) -> None:
    """Edges of a source without topology."""
    sources = replace(small_incident(CPU_FAULT), call_edges=())
    assert top(ctx, sources).entity == "payment"


def test_units_do_not_matter(ctx: RunContext) -> None:
    """Milliseconds for seconds, megabytes for bytes: the same ranking."""
    sources = small_incident(CPU_FAULT, spans=False)
    scaled = replace(
        sources,
        incident=tuple(
            replace(one, value=one.value * 1024.0) if one.unit in {"s", "bytes"} else one
            for one in sources.incident
        ),
    )
    assert [(i.entity, i.score) for i in ranking_of(ctx, scaled).items] == [
        (i.entity, i.score) for i in ranking_of(ctx, sources).items
    ]


def test_the_order_of_series_does_not_matter(ctx: RunContext) -> None:
    """A source may list them as it likes."""
    sources = small_incident(CPU_FAULT)
    turned = replace(sources, incident=sources.incident[::-1])
    assert ranking_of(ctx, turned) == ranking_of(ctx, sources)


def test_the_same_question_has_the_same_answer(ctx: RunContext) -> None:
    """No chance, no hidden state."""
    assert ranking_of(ctx, small_incident(NETWORK_FAULT)) == ranking_of(ctx, small_incident(NETWORK_FAULT))


def test_gaps_and_infinities_do_no_harm(ctx: RunContext) -> None:
    """A fifth of the values missing, some infinite."""
    rng = np.random.default_rng(5)
    sources = small_incident(CPU_FAULT)

    def with_hole(one: Series) -> Series:
        value = np.where(rng.random(len(one.value)) < 0.2, np.nan, one.value)
        value[rng.integers(len(value))] = np.inf
        return replace(one, value=value)

    assert top(ctx, replace(sources, incident=tuple(map(with_hole, sources.incident)))).entity == "payment"


def test_a_call_measured_at_both_ends_separates_network_and_service(ctx: RunContext) -> None:
    """The caller's latency of the call rose, the callee's did not."""
    rng = np.random.default_rng(1)
    time_s = np.linspace(ONSET_S - 3_585.0, ONSET_S + 585.0, 140)
    late = time_s >= ONSET_S

    def series(signal: str, rise: float) -> Series:
        value = 0.05 * rng.lognormal(0.0, 0.05, 140) + np.where(late, rise, 0.0)
        return Series("payment", signal, "s", time_s, value)

    sources = InMemorySources(
        incident=(
            series("latency_p50_from_checkout", 0.0),
            series("client_latency_p50_from_checkout", 0.4),
            Series("checkout", "latency_p50", "s", time_s, 0.2 * rng.lognormal(0.0, 0.05, 140) + 0.4 * late),
        ),
        onset_s=ONSET_S,
    )
    found = top(ctx, sources)
    assert (found.entity, found.attributes["fault_kind"]) == ("payment", "NETWORK")


def test_asking_about_another_entity_moves_the_question(ctx: RunContext) -> None:
    """What is affected can be said by the asker."""
    tool = RankCauses(Views(small_incident(CPU_FAULT).sources()))
    found = tool.run(ctx, {"alert_entity": "checkout", "alert_signal": "latency"})
    assert {item.peer for item in found.items} == {"checkout"}
    assert found.items[0].entity == "payment"


def test_without_any_onset_nothing_is_ranked(ctx: RunContext) -> None:
    """No guess is made when nothing says when."""
    sources = replace(small_incident(None), alert=AlertInfo())
    found = ranking_of(ctx, sources)
    assert found.items == ()
    assert found.note is not None


def test_four_rows_are_too_few_to_be_sure(ctx: RunContext) -> None:
    """Without known normal windows there is no strength."""
    sources = small_incident(CPU_FAULT, spans=False)
    short = tuple(
        replace(one, time_s=one.time_s[118:123], value=one.value[118:123]) for one in sources.incident
    )
    found = top(ctx, replace(sources, incident=short))
    assert float(found.attributes["strength"] or 0) < 0.5


def test_tools_of_one_catalog_read_a_recording_once_for_an_onset(ctx: RunContext) -> None:
    """They share what was computed."""
    sources = replace(small_incident(CPU_FAULT), onset_s=ONSET_S)
    for tool in build_tools(sources.sources()):
        if tool.spec.name in {"find_changed_signals", "compare_spans", "rank_causes"}:
            tool.run(ctx, {})
    assert sources.calls["series"] == 2  # incident and baseline
    assert sources.calls["spans"] == 2


def test_a_second_onset_reads_no_series_again(ctx: RunContext) -> None:
    """Only what is computed from the series depends on the onset."""
    sources = small_incident(CPU_FAULT)
    views = Views(sources.sources())

    one, other = views.at(ctx, ONSET_S), views.at(ctx, ONSET_S + 60.0)

    assert one.metrics is not None
    assert other.metrics is not None
    assert one.metrics.split != other.metrics.split
    assert sources.calls["series"] == 2


def test_the_baseline_is_asked_only_for_series_of_the_incident(ctx: RunContext) -> None:
    """A monitoring system holds far more series than one incident is about."""
    incident = (series_of("a", "latency", [1.0, 2.0], [1.0, 2.0]),)
    other = series_of("b", "cpu", [1.0, 2.0], [1.0, 2.0])
    source = InMemorySources(incident=incident, baseline=(*incident, other))

    read = read_metric_series(ctx, source)

    assert list(read.baseline) == [("a", "latency")]


def test_what_a_source_states_about_a_series_wins_over_its_name(ctx: RunContext) -> None:
    """A name is a guess: a source that knows the caller, the side and the harm of a series is believed."""
    meaning = SeriesMeaning(side=SignalSide.OUTGOING, harmful=-1, form=SignalForm.GAUGE, caller="shop")
    named = series_of("pay", "latency_total", np.arange(10.0).tolist(), np.arange(10.0).tolist())

    table = build_metric_table(
        ctx, MetricSeries((replace(named, meaning=meaning),)), onset_s=5.0, owners={"shop": "web"}
    )

    assert table is not None
    (row,) = table.rows
    assert (row.entity, row.caller, row.rate) == ("pay", "web", False)
    assert (row.meaning.side, row.meaning.harmful) == (SignalSide.OUTGOING, -1)


def test_a_series_without_an_entity_is_not_a_candidate(ctx: RunContext) -> None:
    """It may show something, but only a named entity can be blamed."""
    sources = small_incident(CPU_FAULT)
    loud = [
        replace(one, entity=UNNAMED_ENTITY, value=one.value * np.where(one.time_s >= ONSET_S, 50.0, 1.0))
        for one in sources.incident
        if one.entity == "payment" or one.entity.startswith("payment-")
    ]
    assert loud

    items = ranking_of(ctx, replace(sources, incident=(*sources.incident, *loud))).items

    assert items
    assert UNNAMED_ENTITY not in {item.entity for item in items}
