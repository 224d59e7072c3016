"""Spans: parents, units of durations, errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.adapters.sources.incident_folder.spans_file import duration_unit, status_is_error
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.toolbox.ports import Recording, Sources, SpanTable

OpenFolder = Callable[[Mapping[str, str | bytes]], Sources]
RefuseFolder = Callable[[Mapping[str, str | bytes]], InvalidInput]

FIRST = 1_700_000_000
HEAD = "trace_id,span_id,parent_id,entity,operation,start,duration_ms,status\n"
TREE = HEAD + (
    f"t1,a,,shop,GET /,{FIRST},100,OK\nt1,b,a,pay,charge,{FIRST}.010,50,ERROR\n"
    f"t1,c,b,bank,book,{FIRST}.020,20,OK\nt2,a,,shop,GET /,{FIRST + 60},10,OK\n"
)


def spans(sources: Sources, ctx: RunContext, window: TimeWindow | None = None) -> SpanTable:
    """The spans of a folder that has some."""
    assert sources.spans is not None
    return sources.spans.spans(ctx, Recording.INCIDENT, window=window)


def test_parents_are_found_inside_their_own_trace(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Span ids repeat between traces."""
    table = spans(open_folder({"traces.csv": TREE}), ctx)
    assert [table.entities[at] for at in table.entity] == ["shop", "pay", "bank", "shop"]
    assert table.parent.tolist() == [-1, 0, 1, -1]
    assert table.duration_s.tolist() == [0.1, 0.05, 0.02, 0.01]
    assert table.error is not None
    assert table.error.tolist() == [False, True, False, False]


@pytest.mark.parametrize("seed", range(4))
def test_parents_equal_those_of_a_plain_search(open_folder: OpenFolder, ctx: RunContext, seed: int) -> None:
    """Rows in any order, ids that several spans share, spans that name themselves, and orphans."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"t{rng.integers(0, 8)}", f"s{rng.integers(0, 12)}", f"s{rng.integers(0, 15)}", FIRST + 0.25 * at)
        for at in rng.permutation(200).tolist()
    ]
    lines = [
        f"{trace},{span},{parent},e{at % 5},op{at % 7},{start},{at},OK\n"
        for at, (trace, span, parent, start) in enumerate(rows)
    ]
    table = spans(open_folder({"traces.csv": HEAD + "".join(lines)}), ctx)

    ordered = sorted(rows, key=lambda row: row[3])
    first: dict[tuple[str, str], int] = {}
    for at, (trace, span, _, _) in enumerate(ordered):
        first.setdefault((trace, span), at)
    wanted = [-1 if parent == span else first.get((trace, parent), -1) for trace, span, parent, _ in ordered]
    assert table.parent.tolist() == wanted
    assert table.start_s.tolist() == [start for *_, start in ordered]
    durations = {start: at / 1000.0 for at, (*_, start) in enumerate(rows)}
    assert table.duration_s.tolist() == [durations[start] for *_, start in ordered]
    named = [
        (table.entities[entity], table.operations[operation])
        for entity, operation in zip(table.entity, table.operation, strict=True)
    ]
    place = {start: at for at, (*_, start) in enumerate(rows)}
    assert named == [(f"e{place[start] % 5}", f"op{place[start] % 7}") for *_, start in ordered]


@pytest.mark.parametrize("parent", ["nobody", "", "0", "a"])
def test_a_parent_that_was_not_recorded_is_ignored(
    open_folder: OpenFolder, ctx: RunContext, parent: str
) -> None:
    """An orphan, a root, a zero, and a span that names itself."""
    table = spans(open_folder({"traces.csv": HEAD + f"t1,a,{parent},shop,x,{FIRST},1,OK\n"}), ctx)
    assert table.parent.tolist() == [-1]


def test_a_parent_outside_the_window_is_ignored(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Row numbers are those of the returned table."""
    table = spans(open_folder({"traces.csv": TREE}), ctx, TimeWindow(FIRST + 0.005, FIRST + 1.0))
    assert [table.entities[at] for at in table.entity] == ["pay", "bank"]
    assert table.parent.tolist() == [-1, 0]


@pytest.mark.parametrize("kind", ["INTEGER", "DOUBLE", "VARCHAR"])
def test_ids_may_be_numbers_or_texts(
    open_folder: OpenFolder, ctx: RunContext, tmp_path: Path, kind: str
) -> None:
    """Also whole numbers that gaps turned into floats."""
    path = tmp_path / "p"
    duckdb.execute(
        f"COPY (SELECT * FROM (VALUES (1, 1, CAST(NULL AS {kind}), 'shop', {FIRST}::BIGINT, 9), "
        f"(1, 2, CAST(1 AS {kind}), 'pay', {FIRST}::BIGINT, 5)) "
        f"v(trace, span, parent, pod, start_s, duration_us)) TO '{path}' (FORMAT parquet)"
    )
    assert spans(open_folder({"traces.parquet": path.read_bytes()}), ctx).parent.tolist() == [-1, 0]


def test_an_end_in_place_of_a_duration_is_understood(open_folder: OpenFolder, ctx: RunContext) -> None:
    """In the unit of the start."""
    content = f"traceId,spanId,service,startTime,endTime\nt,a,shop,{FIRST}000,{FIRST}250\n"
    assert spans(open_folder({"traces.csv": content}), ctx).duration_s.tolist() == [0.25]


@pytest.mark.parametrize(("unit", "factor"), [("s", 1.0), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)])
def test_the_unit_of_durations_is_found_since_children_fit_into_parents(
    open_folder: OpenFolder, ctx: RunContext, unit: str, factor: float
) -> None:
    """A column that says no unit, in a recording with parents."""
    rows = [
        f"t{i},a,,shop,{FIRST + i},{0.100 * factor:g}\n"
        f"t{i},b,a,pay,{FIRST + i + 0.010:.3f},{0.080 * factor:g}\n"
        for i in range(20)
    ]
    sources = open_folder(
        {"traces.csv": "trace_id,span_id,parent_id,entity,start,duration\n" + "".join(rows)}
    )
    assert spans(sources, ctx).duration_s[0] == pytest.approx(0.1)
    assert f"durations in {unit}" in sources.summary.summary(ctx).files[0].note


def test_an_unknown_unit_of_durations_is_refused(refuse_folder: RefuseFolder) -> None:
    """Three orders of magnitude are not guessed."""
    refused = refuse_folder({"traces.csv": f"trace_id,span_id,entity,start,duration\nt,a,shop,{FIRST},5\n"})
    assert "the unit of column 'duration' is not known" in refused.problem
    assert "duration_unit" in refused.remedy


def test_the_settings_say_the_unit_of_durations(open_folder: OpenFolder, ctx: RunContext) -> None:
    """They win."""
    toml = '[files."traces.csv"]\nduration_unit = "us"\n'
    assert spans(open_folder({"traces.csv": TREE, "incident.toml": toml}), ctx).duration_s[0] == 1e-4


@pytest.mark.parametrize("missing", ["trace_id", "span_id", "entity", "start"])
def test_a_span_without_a_needed_column_is_refused(refuse_folder: RefuseFolder, missing: str) -> None:
    """With the columns that are there."""
    refused = refuse_folder({"traces.csv": TREE.replace(missing, "other", 1)})
    assert refused.place == "traces.csv"
    assert "its columns: " in refused.problem


def test_spans_of_impossible_length_are_left_out_and_counted(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """Negative, infinite and missing durations."""
    bad = "".join(
        f"t3,{at},,shop,x,{FIRST},{value},OK\n" for at, value in enumerate(("-1", "inf", "NaN", ""))
    )
    sources = open_folder({"traces.csv": TREE + bad})
    assert len(spans(sources, ctx)) == 4
    assert "4 rows left out" in sources.summary.summary(ctx).files[0].note


def test_text_in_place_of_a_duration_is_refused_with_its_line(refuse_folder: RefuseFolder) -> None:
    """As in metrics."""
    refused = refuse_folder({"traces.csv": TREE + f"t3,a,,shop,x,{FIRST},12ms,OK\n"})
    assert refused.place == "traces.csv line 6"


def test_errors_are_not_known_where_no_column_says_them(open_folder: OpenFolder, ctx: RunContext) -> None:
    """None, not a column of False."""
    content = f"trace_id,span_id,entity,start,duration_ms\nt,a,shop,{FIRST},5\n"
    sources = open_folder({"traces.csv": content})
    assert spans(sources, ctx).error is None
    assert "errors are not known" in sources.summary.summary(ctx).files[0].note


@pytest.mark.parametrize(
    ("values", "key", "failing"),
    [
        (["OK", "ERROR", "unset"], "status", {"ERROR"}),
        (["true", "false"], "error", {"true"}),
        (["0", "1"], "is_error", {"1"}),
        (["0", "1", "2"], "status_code", {"2"}),
        (["0.0", "2.0"], "status_code", {"2.0"}),
        (["200", "404", "503"], "status", {"503"}),
        (["STATUS_CODE_OK", "STATUS_CODE_ERROR"], "status", {"STATUS_CODE_ERROR"}),
    ],
)
def test_the_usual_status_values_are_understood(values: list[str], key: str, failing: set[str]) -> None:
    """Words, truth values, codes of OpenTelemetry and of HTTP."""
    known = status_is_error(values, key)
    assert known is not None
    assert {value for value, is_error in known.items() if is_error} == failing


@pytest.mark.parametrize("values", [["OK", "perhaps"], ["0", "14"], ["-1"], ["nan"], ["7e9"]])
def test_a_status_that_is_not_understood_says_nothing(values: list[str]) -> None:
    """One odd value makes all of them unknown: no error is made up, none is hidden."""
    assert status_is_error(values, "status") is None


@given(st.lists(st.text()), st.text())
def test_no_status_value_raises_anything(values: list[str], key: str) -> None:
    """Understood or not."""
    assert status_is_error(values, key) is None or set(status_is_error(values, key) or {}) <= set(values)


def test_too_few_children_tell_no_unit() -> None:
    """Two pairs may fit by chance."""
    assert duration_unit(np.array([9.0, 9.0]), np.array([1.0, 1.0]), np.array([1e-3, 1e-3])) is None
