"""One kind of telemetry that does not fit into memory: the others answer, and it is asked for once."""

from __future__ import annotations

from dataclasses import fields

import pytest
from tests.support.small_incident import CPU_FAULT, small_incident

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import MemoryLimit
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.testing.sources import InMemorySources
from diagnosis_harness.toolbox.catalog import build_tools
from diagnosis_harness.toolbox.ports import (
    ALL_METRICS,
    LogTable,
    MetricSelection,
    Recording,
    Series,
    Sources,
    SpanTable,
)
from diagnosis_harness.tools.spec import Tool

WHY = "what was asked for does not fit into the 512 MB that is allowed; raise some.setting"


class TooManySpans(InMemorySources):
    """Its spans do not fit."""

    def spans(self, ctx: RunContext, recording: Recording, *, window: TimeWindow | None = None) -> SpanTable:
        """Too many."""
        self._count("spans")
        raise MemoryLimit(WHY)


class TooManySeries(InMemorySources):
    """Its series do not fit."""

    def series(
        self, ctx: RunContext, recording: Recording, selection: MetricSelection = ALL_METRICS
    ) -> tuple[Series, ...]:
        """Too many."""
        self._count("series")
        raise MemoryLimit(WHY)


class TooMuchOfAll(TooManySpans, TooManySeries):
    """Nothing fits."""

    def table(self, ctx: RunContext, recording: Recording) -> LogTable:
        """Too many."""
        raise MemoryLimit(WHY)


def incident(kind: type[InMemorySources]) -> InMemorySources:
    """A small incident whose telemetry of some kind does not fit."""
    sources = small_incident(CPU_FAULT)
    return kind(**{field.name: getattr(sources, field.name) for field in fields(sources) if field.init})


def tools_of(sources: Sources) -> dict[str, Tool]:
    """The tools of one run."""
    return {tool.spec.name: tool for tool in build_tools(sources)}


def test_spans_that_do_not_fit_leave_the_metrics_to_name_the_cause(ctx: RunContext) -> None:
    """The ranking says that it was made without them; who asks for spans hears why, and which setting."""
    sources = incident(TooManySpans)
    tools = tools_of(sources.sources())
    ranking = tools["rank_causes"].run(ctx, {})
    assert ranking.items[0].entity == CPU_FAULT.service
    assert "without spans" in (ranking.note or "")
    assert WHY in (ranking.note or "")
    assert tools["find_changed_signals"].run(ctx, {}).items
    with pytest.raises(MemoryLimit, match=r"raise some\.setting"):
        tools["compare_spans"].run(ctx, {})


def test_series_that_do_not_fit_leave_the_spans(ctx: RunContext) -> None:
    """Both tools that read series refuse; spans are compared."""
    tools = tools_of(incident(TooManySeries).sources())
    assert tools["compare_spans"].run(ctx, {}).items
    for name, arguments in (
        ("find_changed_signals", {}),
        ("inspect_signal", {"entity": "payment", "signal": "cpu_percent"}),
    ):
        with pytest.raises(MemoryLimit):
            tools[name].run(ctx, arguments)


def test_what_does_not_fit_is_asked_for_once(ctx: RunContext) -> None:
    """Every further view, and every further tool, knows it."""
    sources = incident(TooManySpans)
    tools = tools_of(sources.sources())
    for name in ("estimate_onset", "rank_causes", "walk_topology", "find_changed_signals"):
        tools[name].run(ctx, {})
    for _ in range(2):
        with pytest.raises(MemoryLimit):
            tools["compare_spans"].run(ctx, {})
    assert sources.calls["spans"] == 1


def test_a_ranking_of_nothing_at_all_is_a_failure(ctx: RunContext) -> None:
    """Where no kind of telemetry fits, no candidates are no finding."""
    with pytest.raises(MemoryLimit):
        tools_of(incident(TooMuchOfAll).sources())["rank_causes"].run(ctx, {})
