"""What every source of telemetry must do, port by port; checked against the same small recording everywhere.

A new source has to serve `recording()`, each in its own way, and to pass the checks of the ports that it
implements; `write_recording` puts the same into an incident folder. The sixth port, the summary, differs too
much between sources for more than its docstring.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from tests.support.expecting import expect

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.testing.sources import InMemorySources, SpanRow, series_of, span_table
from diagnosis_harness.toolbox.ports import (
    CallEdge,
    ChangeEvent,
    ChangeSource,
    LogLine,
    LogSource,
    MetricSelection,
    MetricSource,
    Recording,
    SpanSource,
    TopologySource,
)

T0 = 1_700_000_000.0
_INCIDENT, _BASELINE = Recording.INCIDENT, Recording.BASELINE
_TIMES = [T0 + 10.0 * step for step in range(6)]
_SPANS = (
    SpanRow(0, -1, "shop", "GET /", T0 + 1.0, 0.5),
    SpanRow(0, 0, "pay", "charge", T0 + 1.1, 0.3, error=True),
    SpanRow(1, -1, "shop", "GET /", T0 + 20.0, 0.2),
    SpanRow(1, 2, "pay", "charge", T0 + 20.1, 0.1),
)
_HEADERS = {
    "metrics": "time,entity,signal,value,unit",
    "traces": "trace_id,span_id,parent_id,entity,operation,start,duration,status",
    "logs": "time,entity,level,message",
    "changes": "time,entity,kind,summary",
    "topology": "caller,callee,relation",
}


def recording() -> InMemorySources:
    """The recording, in memory: an incident of a minute, and a baseline of metrics, spans and logs."""
    return InMemorySources(
        incident=(
            series_of("shop", "latency", _TIMES, [1.0, 2.0, float("nan"), 4.0, 5.0, 6.0], unit="s"),
            series_of("pay", "latency", _TIMES, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], unit="s"),
            series_of("pay", "cpu", _TIMES[:2], [50.0, 60.0], unit="percent"),
        ),
        baseline=(series_of("pay", "latency", _TIMES, [9.0] * 6, unit="s"),),
        incident_spans=span_table(_SPANS),
        baseline_spans=span_table(_SPANS[:1]),
        call_edges=(CallEdge("shop", "pay"), CallEdge("pay", "db")),
        part_of={"pay-1": "pay"},
        log_lines=(
            LogLine(T0 + 30.0, "pay", "ERROR", "Timeout at a.b"),
            LogLine(T0 + 10.0, "pay", "INFO", "timeout at axb"),
            LogLine(T0 + 20.0, "shop", "WARN", "slow"),
        ),
        baseline_log_lines=(LogLine(T0, "pay", "INFO", "started"),),
        change_events=(
            ChangeEvent(T0 + 30.0, None, "flag", "new checkout on"),
            ChangeEvent(T0, "pay", "deploy", "pay 2.0"),
        ),
    )


def write_recording(incident: Path, baseline: Path) -> None:
    """The same as two incident folders."""
    sources = recording()
    for folder, series, spans, lines in (
        (incident, sources.incident, _SPANS, sources.log_lines),
        (baseline, sources.baseline, _SPANS[:1], sources.baseline_log_lines),
    ):
        _write(
            folder,
            "metrics",
            [
                f"{time_s:.0f},{one.entity},{one.signal},{'' if np.isnan(value) else value},{one.unit}"
                for one in series
                for time_s, value in zip(one.time_s.tolist(), one.value.tolist(), strict=True)
            ],
        )
        _write(
            folder,
            "traces",
            [
                f"t{span.trace},s{row},{'' if span.parent < 0 else f's{span.parent}'},{span.entity},"
                f"{span.operation},{span.start_s:.3f},{span.duration_s},{'ERROR' if span.error else 'OK'}"
                for row, span in enumerate(spans)
            ],
        )
        _write(folder, "logs", [f"{one.time_s:.0f},{one.entity},{one.level},{one.message}" for one in lines])
        settings = '[files."traces.csv"]\ntime_unit = "s"\nduration_unit = "s"\n'
        (folder / "incident.toml").write_text(settings, encoding="utf-8")
    _write(
        incident,
        "changes",
        [f"{one.time_s:.0f},{one.entity or ''},{one.kind},{one.summary}" for one in sources.change_events],
    )
    _write(
        incident,
        "topology",
        [f"{edge.caller},{edge.callee},calls" for edge in sources.call_edges]
        + [f"{part},{whole},part_of" for part, whole in sources.part_of.items()],
    )


def _write(folder: Path, kind: str, rows: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{kind}.csv").write_text("\n".join((_HEADERS[kind], *rows, "")), encoding="utf-8")


def lists_every_series_once(metrics: MetricSource, ctx: RunContext) -> None:
    """By entity and signal, with unit, finite values and both ends; each recording for itself."""
    found = [
        (i.entity, i.signal, i.unit, i.points, i.first_s, i.last_s) for i in metrics.signals(ctx, _INCIDENT)
    ]
    wanted = [
        ("pay", "cpu", "percent", 2, T0, T0 + 10.0),
        ("pay", "latency", "s", 6, T0, T0 + 50.0),
        ("shop", "latency", "s", 5, T0, T0 + 50.0),
    ]
    expect(holds=found == wanted, what=f"the inventory of the incident: {found}")
    names = [(info.entity, info.signal) for info in metrics.signals(ctx, _BASELINE)]
    expect(holds=names == [("pay", "latency")], what=f"the inventory of the baseline: {names}")


def returns_all_series_in_order(metrics: MetricSource, ctx: RunContext) -> None:
    """By entity and signal, each with rising times and NaN where a value is missing."""
    found = metrics.series(ctx, _INCIDENT)
    names = [(one.entity, one.signal, one.unit) for one in found]
    wanted = [("pay", "cpu", "percent"), ("pay", "latency", "s"), ("shop", "latency", "s")]
    expect(holds=names == wanted, what=f"in order: {names}")
    expect(holds=found[2].time_s.tolist() == _TIMES, what="rising times")
    value = [1.0, 2.0, None, 4.0, 5.0, 6.0]
    got = [None if np.isnan(one) else one for one in found[2].value.tolist()]
    expect(holds=got == value, what=f"NaN where there is no value: {got}")


def returns_read_only_arrays(metrics: MetricSource, ctx: RunContext) -> None:
    """Several tools share them."""
    for one in metrics.series(ctx, _INCIDENT):
        for array in (one.time_s, one.value):
            expect(holds=array.dtype == np.float64 and not array.flags.writeable, what="float64, read-only")


def returns_only_the_selected_series(metrics: MetricSource, ctx: RunContext) -> None:
    """Entities and signals restrict each other; an empty set selects nothing."""
    for selection, wanted in (
        (MetricSelection(entities=frozenset({"pay"})), [("pay", "cpu"), ("pay", "latency")]),
        (MetricSelection(signals=frozenset({"latency"})), [("pay", "latency"), ("shop", "latency")]),
        (MetricSelection(frozenset({"pay", "nobody"}), frozenset({"latency"})), [("pay", "latency")]),
        (MetricSelection(entities=frozenset()), []),
        (MetricSelection(signals=frozenset({"unknown"})), []),
    ):
        found = [(one.entity, one.signal) for one in metrics.series(ctx, _INCIDENT, selection)]
        expect(holds=found == wanted, what=f"{selection}: {found}")


def cuts_series_to_a_half_open_window(metrics: MetricSource, ctx: RunContext) -> None:
    """The end lies outside; a series without a point inside is left out."""
    selection = MetricSelection(window=TimeWindow(T0 + 20.0, T0 + 40.0))
    found = {
        (one.entity, one.signal): one.value.tolist() for one in metrics.series(ctx, _INCIDENT, selection)
    }
    expect(holds=set(found) == {("pay", "latency"), ("shop", "latency")}, what=f"points inside: {found}")
    expect(holds=found["pay", "latency"] == [2.0, 3.0], what=f"the end is outside: {found}")


def returns_one_point_per_step(metrics: MetricSource, ctx: RunContext) -> None:
    """The mean of the finite values in each step."""
    selection = MetricSelection(frozenset({"pay"}), frozenset({"latency"}), step_s=20.0)
    (found,) = metrics.series(ctx, _INCIDENT, selection)
    expect(holds=found.value.tolist() == [0.5, 2.5, 4.5], what=f"means of two points: {found.value}")
    expect(holds=bool(np.all(np.diff(found.time_s) > 0)), what="rising times")


def keeps_the_baseline_apart(metrics: MetricSource, ctx: RunContext) -> None:
    """The same name stands for other values in the other recording."""
    (found,) = metrics.series(ctx, _BASELINE)
    expect(holds=found.value.tolist() == [9.0] * 6, what=f"the baseline's values: {found.value}")


def orders_spans_by_start(spans: SpanSource, ctx: RunContext) -> None:
    """With columns of one length, and parents that are rows of the same trace."""
    table = spans.spans(ctx, _INCIDENT)
    names = [
        (table.entities[entity], table.operations[operation])
        for entity, operation in zip(table.entity.tolist(), table.operation.tolist(), strict=True)
    ]
    expect(holds=names == [("shop", "GET /"), ("pay", "charge")] * 2, what=f"names: {names}")
    expect(holds=table.parent.tolist() == [-1, 0, -1, 2], what=f"parents: {table.parent}")
    close = np.allclose(table.start_s, [span.start_s for span in _SPANS])
    close &= np.allclose(table.duration_s, [span.duration_s for span in _SPANS])
    expect(holds=bool(close), what=f"times: {table.start_s} {table.duration_s}")


def tells_which_spans_failed(spans: SpanSource, ctx: RunContext) -> None:
    """Where the system behind it records that."""
    error = spans.spans(ctx, _INCIDENT).error
    expect(holds=error is not None and error.tolist() == [False, True, False, False], what=f"errors: {error}")


def cuts_spans_by_their_start(spans: SpanSource, ctx: RunContext) -> None:
    """A parent that starts outside the window is unknown inside it."""
    table = spans.spans(ctx, _INCIDENT, window=TimeWindow(T0 + 1.05, T0 + 20.05))
    expect(holds=table.parent.tolist() == [-1, -1], what=f"parents: {table.parent}")
    starts = [T0 + 1.1, T0 + 20.0]
    expect(holds=bool(np.allclose(table.start_s, starts)), what=f"starts: {table.start_s}")
    expect(holds=len(spans.spans(ctx, _INCIDENT, window=TimeWindow(0.0, 1.0))) == 0, what="an empty table")


def keeps_baseline_spans_apart(spans: SpanSource, ctx: RunContext) -> None:
    """One root span in the baseline."""
    expect(holds=len(spans.spans(ctx, _BASELINE)) == 1, what="the baseline's span")


def finds_plain_text_whatever_its_case(logs: LogSource, ctx: RunContext) -> None:
    """No pattern: a dot is a dot."""
    for text, wanted in (("timeout", 2), ("A.B", 1), ("a.*b", 0), (None, 3)):
        page = logs.search(ctx, _INCIDENT, text=text, entities=None, window=None, limit=10)
        expect(holds=(page.matching, page.searched) == (wanted, 3), what=f"{text}: {page}")
        times = [line.time_s for line in page.lines]
        expect(holds=times == sorted(times) and len(times) == wanted, what=f"in order of time: {times}")


def limits_lines_but_counts_all(logs: LogSource, ctx: RunContext) -> None:
    """The first by time."""
    page = logs.search(ctx, _INCIDENT, text="timeout", entities=None, window=None, limit=1)
    expect(holds=page.matching == 2, what=f"all that match: {page}")
    wanted = (LogLine(T0 + 10.0, "pay", "INFO", "timeout at axb"),)
    expect(holds=page.lines == wanted, what=f"the first: {page.lines}")


def searches_only_named_entities_and_window(logs: LogSource, ctx: RunContext) -> None:
    """`searched` counts the lines of those entities in that window."""
    window = TimeWindow(T0 + 10.0, T0 + 30.0)
    page = logs.search(ctx, _INCIDENT, text=None, entities=["pay"], window=window, limit=10)
    expect(holds=(page.matching, page.searched) == (1, 1), what=f"pay inside the window: {page}")
    nobody = logs.search(ctx, _INCIDENT, text=None, entities=[], window=None, limit=10)
    expect(holds=(nobody.matching, nobody.searched) == (0, 0), what=f"of nobody: {nobody}")
    baseline = logs.search(ctx, _BASELINE, text=None, entities=None, window=None, limit=10)
    expect(holds=[line.message for line in baseline.lines] == ["started"], what=f"baseline: {baseline}")


def tables_hold_every_line_by_time(logs: LogSource, ctx: RunContext) -> None:
    """With entity, level and what is common; each recording for itself."""
    table = logs.table(ctx, _INCIDENT)
    rows = [
        (time_s, table.shapes[at].entity, table.shapes[at].level)
        for time_s, at in zip(table.time_s.tolist(), table.shape.tolist(), strict=True)
    ]
    wanted = [(T0 + 10.0, "pay", "INFO"), (T0 + 20.0, "shop", "WARN"), (T0 + 30.0, "pay", "ERROR")]
    expect(holds=rows == wanted, what=f"rows: {rows}")
    expect(holds=[shape.text for shape in logs.table(ctx, _BASELINE).shapes] == ["started"], what="baseline")
    expect(holds=table.context.tolist() == [-1, -1, -1], what=f"no context is known: {table.context}")


def orders_edges_and_lists_each_once(topology: TopologySource, ctx: RunContext) -> None:
    """By caller and callee."""
    edges = topology.edges(ctx)
    expect(holds=edges == (CallEdge("pay", "db"), CallEdge("shop", "pay")), what=f"edges: {edges}")


def knows_the_service_of_an_instance(topology: TopologySource, ctx: RunContext) -> None:
    """A service itself is absent."""
    owners = dict(topology.owners(ctx))
    expect(holds=owners == {"pay-1": "pay"}, what=f"owners: {owners}")


def orders_changes_by_time(changes: ChangeSource, ctx: RunContext) -> None:
    """With no entity where a change concerns the whole system."""
    found = changes.changes(ctx, window=None)
    wanted = (
        ChangeEvent(T0, "pay", "deploy", "pay 2.0"),
        ChangeEvent(T0 + 30.0, None, "flag", "new checkout on"),
    )
    expect(holds=found == wanted, what=f"changes: {found}")


def cuts_changes_to_a_half_open_window(changes: ChangeSource, ctx: RunContext) -> None:
    """The start lies inside, the end outside."""
    found = changes.changes(ctx, window=TimeWindow(T0, T0 + 30.0))
    expect(holds=[change.kind for change in found] == ["deploy"], what=f"changes: {found}")


METRIC_CHECKS: tuple[Callable[[MetricSource, RunContext], None], ...] = (
    lists_every_series_once,
    returns_all_series_in_order,
    returns_read_only_arrays,
    returns_only_the_selected_series,
    cuts_series_to_a_half_open_window,
    returns_one_point_per_step,
    keeps_the_baseline_apart,
)
SPAN_CHECKS: tuple[Callable[[SpanSource, RunContext], None], ...] = (
    orders_spans_by_start,
    tells_which_spans_failed,
    cuts_spans_by_their_start,
    keeps_baseline_spans_apart,
)
LOG_CHECKS: tuple[Callable[[LogSource, RunContext], None], ...] = (
    finds_plain_text_whatever_its_case,
    limits_lines_but_counts_all,
    searches_only_named_entities_and_window,
    tables_hold_every_line_by_time,
)
TOPOLOGY_CHECKS: tuple[Callable[[TopologySource, RunContext], None], ...] = (
    orders_edges_and_lists_each_once,
    knows_the_service_of_an_instance,
)
CHANGE_CHECKS: tuple[Callable[[ChangeSource, RunContext], None], ...] = (
    orders_changes_by_time,
    cuts_changes_to_a_half_open_window,
)
