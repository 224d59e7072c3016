"""Reports one signal around the onset."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from diagnosis_harness.analysis.signal_words import words_of
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.toolbox.arguments import ONSET_PARAMETER, UNTIL_PARAMETER, text, timestamp
from diagnosis_harness.toolbox.metric_table import MetricTable
from diagnosis_harness.toolbox.signal_item import change_window_of, moves_of, signal_item, usable
from diagnosis_harness.toolbox.views import ViewPart, Views
from diagnosis_harness.tools.spec import ArgumentValue, Parameter, ParameterKind, ToolFindings, ToolSpec

POINTS_SHOWN = 40  # of a single signal, nearly twice as many as in a list of signals


@dataclass(frozen=True, slots=True)
class InspectSignal:
    """SIGNAL_CHANGE items of one signal, moved or not: of the entity itself, otherwise of its instances."""

    views: Views

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="inspect_signal",
            description="One metric signal around onset: level before and after, course, when it moved.",
            description_zh="故障前后的单个指标：前后水平、走势、何时变化。",
            parameters=(
                Parameter("entity", ParameterKind.ENTITY, "Service or instance.", required=True),
                Parameter("signal", ParameterKind.TEXT, "Its name, or words of it.", required=True),
                Parameter("statistic", ParameterKind.TEXT, "Which statistic of it: p99, average ..."),
                ONSET_PARAMETER,
                UNTIL_PARAMETER,
            ),
            scope_names=("metrics:read",),
        )

    def entities(self, ctx: RunContext) -> Collection[str]:
        """The names that it accepts."""
        return self.views.names(ctx)

    def run(self, ctx: RunContext, arguments: Mapping[str, ArgumentValue]) -> ToolFindings:
        """Return the signal."""
        view = self.views.for_onset(ctx, timestamp(arguments, "onset"), until_s=timestamp(arguments, "until"))
        self.views.require(ViewPart.METRICS)
        if view is None or view.metrics is None:
            return ToolFindings((), note="no metrics, or no onset to compare around")
        table = view.metrics
        entity = text(arguments, "entity")
        named = _rows_named(table, text(arguments, "signal") or "", text(arguments, "statistic"))
        own = [place for place in named if table.rows[place].entity == entity]
        places = own or [place for place in named if table.rows[place].owner == entity]
        moves = moves_of(table)
        chosen = sorted((moves[place] for place in places if usable(moves[place], table)), key=lambda m: -m.z)
        items = tuple(
            signal_item(table, move, f"s{place}", onset_s=view.onset_s, points=POINTS_SHOWN)
            for place, move in enumerate(chosen, start=1)
        )
        note = None if items else "no series of that name has values on both sides of the onset"
        return ToolFindings(items, change_window_of(table, view.onset_s), len(places), note=note)


def _rows_named(table: MetricTable, signal: str, statistic: str | None) -> list[int]:
    """Rows with exactly this name; otherwise those with all its words, preferring the requested statistic.

    An alert often names `latency` and `p99` where the series is called `latency_p99`.
    """
    exact = [place for place, row in enumerate(table.rows) if row.signal == signal]
    if exact and statistic is None:
        return exact
    words, wanted = [frozenset(words_of(row.signal)) for row in table.rows], frozenset(words_of(signal))
    worded = [place for place, of in enumerate(words) if wanted and wanted <= of]
    stated = frozenset(words_of(statistic or ""))
    return [place for place in worded if stated <= words[place]] or exact or worded
