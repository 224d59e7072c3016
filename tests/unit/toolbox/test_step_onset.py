"""The onset where an alert leaves few points after it, and where nothing is stated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.support.inquiries import inquiry

from diagnosis_harness.analysis.arrays import Floats
from diagnosis_harness.diagnosis.inquiry import Inquiry, OnsetOrigin
from diagnosis_harness.guards.asked import question_scope
from diagnosis_harness.guards.semantic_rules import ranking_objections
from diagnosis_harness.guards.verdict import SemanticReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.testing.evidence import ready_record
from diagnosis_harness.testing.sources import InMemorySources, SpanRow, span_table
from diagnosis_harness.toolbox.estimate_onset import EstimateOnset
from diagnosis_harness.toolbox.ports import AlertInfo, CallEdge, Series
from diagnosis_harness.toolbox.rank_causes import RankCauses
from diagnosis_harness.toolbox.views import Views
from diagnosis_harness.tools.evidence import EvidenceItem

FIRST_S, STEP_S, COLUMNS = 1_700_000_000.0, 60.0, 40
TIME_S: Floats = FIRST_S + STEP_S * (np.arange(COLUMNS, dtype=np.float64) + 0.5)
CALLS = (CallEdge("web", "pay"),)


def onset_at(column: int) -> float:
    """When a column begins."""
    return FIRST_S + STEP_S * column


def line(
    entity: str, at: int, *, signal: str = "latency", times: float = 4.0, until: int = COLUMNS
) -> Series:
    """A latency with three per cent of noise, larger from a column on until another."""
    rng = np.random.default_rng(len(entity) + at)
    places = np.arange(COLUMNS)
    raised = np.where((places >= at) & (places < until), times, 1.0)
    return Series(entity, signal, "s", TIME_S, (0.1 + 0.003 * rng.standard_normal(COLUMNS)) * raised)


def about(time_s: float) -> object:
    """Within half a step: columns begin where the grid does."""
    return pytest.approx(time_s, abs=0.5 * STEP_S)


def onset_s(ctx: RunContext, sources: InMemorySources) -> float | None:
    """The onset that the tools use."""
    found = Views(sources.sources()).onset(ctx, None)
    return None if found is None else found.time_s


def sources_of(*series: Series, alert_s: float | None = None) -> InMemorySources:
    """A recording, with an alert on the entry where a time is given."""
    alert = AlertInfo() if alert_s is None else AlertInfo(entity="web", signal="latency", time_s=alert_s)
    return InMemorySources(incident=series, call_edges=CALLS, alert=alert)


def test_an_alert_two_minutes_late_is_corrected(ctx: RunContext) -> None:
    """With two points between what began and the alert, and none after it."""
    alert_s = onset_at(COLUMNS)
    late = sources_of(line("web", COLUMNS - 2), line("pay", COLUMNS - 2), alert_s=alert_s)
    assert onset_s(ctx, late) == about(onset_at(COLUMNS - 2))


def test_an_alert_whose_series_shows_nothing_is_corrected_by_those_that_step_together(
    ctx: RunContext,
) -> None:
    """One other series alone steps by chance."""
    calm, alert_s = line("web", COLUMNS), onset_at(32)
    pay = line("pay", 30), line("pay", 30, signal="latency_p99")
    assert onset_s(ctx, sources_of(calm, *pay, alert_s=alert_s)) == about(onset_at(30))
    assert onset_s(ctx, sources_of(calm, pay[0], alert_s=alert_s)) == alert_s


def test_nothing_stated_finds_the_step_of_the_entry_before_a_louder_one_elsewhere(ctx: RunContext) -> None:
    """An older blip of a callee is larger, and over."""
    blip = line("pay", 8, times=50.0, until=11), line("pay", 8, signal="latency_p99", times=50.0, until=11)
    assert onset_s(ctx, sources_of(line("web", 30), *blip)) == about(onset_at(30))


def test_nothing_stated_finds_what_callees_show_together(ctx: RunContext) -> None:
    """Where the entry shows nothing."""
    pay = line("pay", 36), line("pay", 36, signal="latency_p99")
    assert onset_s(ctx, sources_of(line("web", COLUMNS), *pay)) == about(onset_at(36))
    assert onset_s(ctx, sources_of(line("web", COLUMNS), pay[0])) is None


def test_a_step_far_from_the_spans_is_another_trouble(ctx: RunContext) -> None:
    """Spans were exported for the minutes of the incident."""
    older = [line("pay", 10, times=9.0, until=16, signal=name) for name in ("latency", "latency_p99")]
    recent = [line("pay", 34, signal=name) for name in ("latency_p50", "latency_p90")]
    rows = [SpanRow(k, -1, "web", "GET", onset_at(32) + 10.0 * k, 0.1) for k in range(30)]
    sources = sources_of(line("web", COLUMNS), *older, *recent)
    assert onset_s(ctx, sources) == about(onset_at(10))
    assert onset_s(ctx, replace(sources, incident_spans=span_table(rows))) == about(onset_at(34))


def first_candidate(ctx: RunContext, sources: InMemorySources) -> EvidenceItem:
    """The first of a ranking that was given no onset."""
    return RankCauses(Views(sources.sources())).run(ctx, {}).items[0]


def test_nothing_is_concluded_from_a_step_that_was_searched_for(ctx: RunContext) -> None:
    """In a day without an incident something steps as well; candidates are all that such a step gives."""
    pay = line("pay", 30), line("pay", 30, signal="latency_p99")
    searched = sources_of(line("web", COLUMNS), *pay)
    assert SemanticReason.ONSET_SEARCHED in ranking_objections(first_candidate(ctx, searched))
    for known in (
        sources_of(line("web", 30), *pay),  # users feel it
        sources_of(line("web", COLUMNS), *pay, alert_s=onset_at(32)),
        replace(searched, onset_s=onset_at(30)),
    ):
        assert SemanticReason.ONSET_SEARCHED not in ranking_objections(first_candidate(ctx, known))


def test_a_step_that_was_searched_for_is_not_a_time_of_the_question(ctx: RunContext) -> None:
    """Handed back as an argument it would look like one that somebody stated."""
    pay = line("pay", 30), line("pay", 30, signal="latency_p99")
    sources = sources_of(line("web", COLUMNS), *pay)
    found = EstimateOnset(Views(sources.sources())).run(ctx, {})
    assert found.items[0].attributes["shared"] is True
    record = ready_record(*found.items, tool_name="estimate_onset")
    assert question_scope(Inquiry(), [record]).onset_s is None
    by_alert = replace(Inquiry(), onset_origin=OnsetOrigin.ALERT, onset_s=onset_at(32))
    assert question_scope(by_alert, [record]).onset_s == found.items[0].onset_s


def test_a_ranking_of_an_entity_is_at_the_onset_that_it_shows(ctx: RunContext) -> None:
    """An earlier and louder trouble elsewhere is not its time, whether or not an estimate was asked for."""
    sources = InMemorySources(
        incident=(line("web", 20, times=9.0), line("pay", 20, times=9.0), line("books", 30)),
        call_edges=CALLS,
    )
    views = Views(sources.sources())
    ranked = RankCauses(views).run(ctx, {"alert_entity": "books"})

    assert ranked.items[0].onset_s == about(onset_at(30))
    record = ready_record(*ranked.items, tool_name="rank_causes", scope='{"alert_entity": "books"}')
    asked = inquiry("books")
    asked = replace(asked, onset_s=None, onset_origin=OnsetOrigin.NOBODY)
    assert question_scope(asked, [record]).onset_s == about(onset_at(30))


@pytest.mark.parametrize("late_by", [25, 40])
def test_a_step_at_the_edge_of_what_was_searched_is_searched_further_away(
    ctx: RunContext, late_by: int
) -> None:
    """An alert may fire long after what it reports, and a split at the edge of a search began before it."""
    began = 60
    web = long_line("web", began, width=COLUMNS * 3)
    alert_s = onset_at(began + late_by)

    assert onset_s(ctx, sources_of(web, alert_s=alert_s)) == about(onset_at(began))


def test_a_stated_onset_that_is_late_is_kept_beside_the_one_that_the_indicators_show(
    ctx: RunContext,
) -> None:
    """What is published about the beginning is the beginning, and not the edge of a search."""
    web = long_line("web", 60, width=COLUMNS * 3)
    sources = replace(sources_of(web), onset_s=onset_at(90))

    found = Views(sources.sources()).onset(ctx, None)

    assert found is not None
    assert (found.time_s, found.estimated_s) == (onset_at(90), about(onset_at(60)))


def test_a_step_further_away_than_an_hour_is_no_beginning_of_this_incident(ctx: RunContext) -> None:
    """The time of the alert is kept, and no time at the edge of the search is said to be the beginning."""
    web = long_line("web", 60, width=COLUMNS * 5)
    found = Views(sources_of(web, alert_s=onset_at(140)).sources()).onset(ctx, None)

    assert found is not None
    assert (found.time_s, found.estimated_s) == (onset_at(140), None)


def long_line(entity: str, at: int, *, width: int) -> Series:
    """A latency by the minute that rises at a column and stays there."""
    rng = np.random.default_rng(at)
    places = np.arange(width, dtype=np.float64)
    value = (0.1 + 0.003 * rng.standard_normal(width)) * np.where(places >= at, 4.0, 1.0)
    return Series(entity, "latency", "s", FIRST_S + STEP_S * (places + 0.5), value)
