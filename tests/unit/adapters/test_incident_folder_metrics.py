"""Metrics as the tools see them: layouts, forms, units, windows, memory."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb
import numpy as np
import pytest

from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput, MemoryLimit, ToolFailure
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.toolbox.ports import MetricSelection, MetricSource, Recording, Sources

OpenFolder = Callable[[Mapping[str, str | bytes]], Sources]
RefuseFolder = Callable[[Mapping[str, str | bytes]], InvalidInput]
WriteFolder = Callable[..., Path]

FIRST = 1_700_000_000
LONG = "time,entity,signal,value\n" + "".join(
    f"{FIRST + 60 * i},{entity},latency_ms,{i + add}\n"
    for i in range(5)
    for entity, add in (("pay", 0), ("shop", 10))
)
WIDE = "time,pay.latency_ms,shop|latency_ms\n" + "".join(f"{FIRST + 60 * i},{i},{i + 10}\n" for i in range(5))
BY_ENTITY = "ts,pod,latency_ms\n" + "".join(
    f"{FIRST + 60 * i},{entity},{i + add}\n" for i in range(5) for entity, add in (("pay", 0), ("shop", 10))
)
RECORDS = [
    {"time": FIRST + 60 * i, "entity": entity, "signal": "latency_ms", "value": i + add}
    for i in range(5)
    for entity, add in (("pay", 0), ("shop", 10))
]
SEMICOLON = LONG.replace(",", ";")


def metrics(sources: Sources) -> MetricSource:
    """The metrics of a folder that has some."""
    assert sources.metrics is not None
    return sources.metrics


def parquet(path: Path, select: str) -> bytes:
    """A Parquet file of a query's rows."""
    duckdb.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
    return path.read_bytes()


def as_values(sources: Sources, ctx: RunContext) -> dict[tuple[str, str], list[float]]:
    """Every series' values by name."""
    found = metrics(sources).series(ctx, Recording.INCIDENT)
    return {(one.entity, one.signal): one.value.tolist() for one in found}


SAME = {
    "long": ("metrics.csv", LONG),
    "wide": ("metrics.csv", WIDE),
    "wide with an entity column": ("metrics.csv", BY_ENTITY),
    "semicolons": ("metrics.csv", SEMICOLON),
    "tabs": ("metrics.tsv", LONG.replace(",", "\t")),
    "windows line ends": ("metrics.csv", LONG.replace("\n", "\r\n")),
    "a byte order mark": ("metrics.csv", b"\xef\xbb\xbf" + LONG.encode()),
    "no last line end": ("metrics.csv", LONG.rstrip("\n")),
    "quoted cells": ("metrics.csv", LONG.replace("latency_ms", '"latency_ms"')),
    "gzip": ("metrics.csv.gz", gzip.compress(LONG.encode())),
    "json": ("metrics.json", json.dumps(RECORDS, indent=1)),
    "json in gzip": ("metrics.json.gz", gzip.compress(json.dumps(RECORDS).encode())),
    "json lines": ("metrics-of-today.jsonl", "\n".join(json.dumps(record) for record in RECORDS)),
    "json lines with a byte order mark": (
        "metrics.ndjson", "\ufeff" + "\n".join(json.dumps(record) for record in RECORDS),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content"), SAME.values(), ids=SAME.keys())
def test_the_same_telemetry_reads_the_same_in_every_layout_and_form(
    open_folder: OpenFolder, ctx: RunContext, name: str, content: str | bytes
) -> None:
    """Layout, separator, line ends, packing and form do not matter."""
    assert as_values(open_folder({name: content}), ctx) == {
        ("pay", "latency_ms"): [0.0, 1.0, 2.0, 3.0, 4.0],
        ("shop", "latency_ms"): [10.0, 11.0, 12.0, 13.0, 14.0],
    }


MOMENTS = {
    "seconds": "1700000000 + 60 * i",
    "milliseconds": "(1700000000 + 60 * i) * 1000",
    "microseconds": "(1700000000 + 60 * i) * 1000000",
    "nanoseconds": "(1700000000 + 60 * i) * 1000000000",
    "float seconds": "CAST(1700000000 + 60 * i AS DOUBLE)",
    "timestamp": "make_timestamp((1700000000 + 60 * i) * 1000000)",
    "timestamp_ns": "CAST(make_timestamp((1700000000 + 60 * i) * 1000000) AS TIMESTAMP_NS)",
    "timestamptz": "to_timestamp(1700000000 + 60 * i)",
    "text": "strftime(make_timestamp((1700000000 + 60 * i) * 1000000), '%Y-%m-%dT%H:%M:%SZ')",
    "text without a zone": "strftime(make_timestamp((1700000000 + 60 * i) * 1000000), '%Y-%m-%d %H:%M:%S')",
    "numbers as text": "CAST(1700000000 + 60 * i AS VARCHAR)",
}


@pytest.mark.parametrize("moment", MOMENTS.values(), ids=MOMENTS.keys())
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_every_way_to_write_a_time_is_the_same_time(
    open_folder: OpenFolder, ctx: RunContext, tmp_path: Path, moment: str, form: str
) -> None:
    """Units of epoch numbers, timestamps and ISO text, in typed and in plain files."""
    path = tmp_path / "written"
    duckdb.execute(
        f"COPY (SELECT {moment} AS time, 'pay' AS entity, 'x' AS signal, i AS value FROM range(3) t(i)) "
        f"TO '{path}' (FORMAT {form})"
    )
    (series,) = metrics(open_folder({f"metrics.{form}": path.read_bytes()})).series(ctx, Recording.INCIDENT)
    assert series.time_s.tolist() == [1_700_000_000.0, 1_700_000_060.0, 1_700_000_120.0]


def test_times_without_a_zone_are_read_in_the_zone_of_the_settings(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """Through the change of the clocks in Berlin two local hours are one hour apart in truth."""
    rows = "2024-03-31T01:30:00,pay,x,1\n2024-03-31T03:30:00,pay,x,2\n"
    toml = '[incident]\nzone = "Europe/Berlin"\n'
    sources = open_folder({"metrics.csv": "time,entity,signal,value\n" + rows, "incident.toml": toml})
    (series,) = metrics(sources).series(ctx, Recording.INCIDENT)
    assert (series.time_s - 1_711_845_000).tolist() == [0.0, 3600.0]


def test_a_fixed_offset_of_one_file_wins_over_the_zone_of_the_folder(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """20:00 at +08:00 is noon."""
    rows = "2024-01-01T20:00:00,pay,x,1\n"
    toml = '[files."metrics.csv"]\nzone = "+08:00"\n'
    sources = open_folder({"metrics.csv": "time,entity,signal,value\n" + rows, "incident.toml": toml})
    (series,) = metrics(sources).series(ctx, Recording.INCIDENT)
    assert series.time_s.tolist() == [1_704_110_400.0]


def test_columns_of_unusual_names_are_found_by_the_settings(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Every name can be said."""
    toml = (
        '[files."data.csv"]\nrole = "metrics"\ntime = "when"\nentity = "who"\nsignal = "what"\n'
        'value = "how much"\n'
        'unit = "bytes"\n'
    )
    content = LONG.replace("time,entity,signal,value", "when,who,what,how much")
    sources = open_folder({"data.csv": content, "incident.toml": toml})
    (info, _) = metrics(sources).signals(ctx, Recording.INCIDENT)
    assert (info.entity, info.unit, info.points) == ("pay", "bytes", 5)


def test_a_column_that_the_settings_name_and_the_file_has_not_is_refused(refuse_folder: RefuseFolder) -> None:
    """With the columns that it has."""
    refused = refuse_folder(
        {"metrics.csv": LONG, "incident.toml": '[files."metrics.csv"]\nvalue = "reading"\n'}
    )
    assert "'reading', which the file does not have" in refused.problem
    assert "time, entity, signal, value" in refused.remedy


def test_a_time_column_is_found_by_what_it_holds(open_folder: OpenFolder, ctx: RunContext) -> None:
    """As pandas writes an index without a name."""
    assert len(as_values(open_folder({"metrics.csv": WIDE.replace("time,", ",", 1)}), ctx)) == 2


def test_a_unit_comes_from_its_column_the_settings_or_the_name(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """In this order."""
    content = "time,entity,signal,value,unit\n" + "".join(
        f"{FIRST},pay,{signal},1,{unit}\n"
        for signal, unit in (("a_ms", "s"), ("b", ""), ("c_ms", ""), ("d", ""))
    )
    sources = open_folder({"metrics.csv": content, "incident.toml": '[units]\nb = "ops"\n'})
    infos = metrics(sources).signals(ctx, Recording.INCIDENT)
    assert {info.signal: info.unit for info in infos} == {"a_ms": "s", "b": "ops", "c_ms": "ms", "d": None}


def test_series_of_a_name_in_two_files_are_one_series(open_folder: OpenFolder, ctx: RunContext) -> None:
    """In order of time; a timestamp that both have with the same value counts once."""
    other = f"time,entity,signal,value\n{FIRST + 300},pay,latency_ms,5\n{FIRST},pay,latency_ms,0\n"
    values = as_values(open_folder({"metrics.csv": LONG, "metrics-more.csv": other}), ctx)
    assert values["pay", "latency_ms"] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_series_of_a_name_with_other_values_in_two_files_are_two(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """They are never averaged: each has the name of its file, and the notes say so."""
    other = f"time,entity,signal,value\n{FIRST + 300},pay,latency_ms,5\n{FIRST},pay,latency_ms,2\n"
    sources = open_folder({"metrics.csv": LONG, "metrics-more.csv": other})
    values = as_values(sources, ctx)
    assert values["pay", "latency_ms{file=metrics-more.csv}"] == [2.0, 5.0]
    assert values["pay", "latency_ms{file=metrics.csv}"] == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert all("another file" in note.note for note in sources.summary.summary(ctx).files)


def test_names_that_differ_in_blanks_around_them_are_one_series(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """A padded cell is no other service."""
    content = f"time,entity,signal,value\n{FIRST},pay,x,1\n{FIRST + 60}, pay ,x,2\n"
    assert as_values(open_folder({"metrics.csv": content}), ctx) == {("pay", "x"): [1.0, 2.0]}


def test_rows_without_a_time_or_a_name_are_left_out_and_counted(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """Nothing is dropped unseen."""
    sources = open_folder(
        {"metrics.csv": LONG + f",pay,latency_ms,1\n{FIRST},,latency_ms,1\n{FIRST},pay,,1\n"}
    )
    note = sources.summary.summary(ctx).files[0].note
    assert "1 of 13 rows left out: no time" in note
    assert "2 of 13 rows left out: no entity or no signal" in note
    assert len(as_values(sources, ctx)[("pay", "latency_ms")]) == 5


def test_only_the_asked_series_and_window_are_returned(open_folder: OpenFolder, ctx: RunContext) -> None:
    """A window is half-open; a series without a row in it is left out."""
    source = metrics(open_folder({"metrics.csv": LONG}))
    window = TimeWindow(FIRST + 60.0, FIRST + 180.0)
    (one,) = source.series(
        ctx, Recording.INCIDENT, MetricSelection(frozenset({"pay"}), frozenset({"latency_ms"}), window)
    )
    assert one.value.tolist() == [1.0, 2.0]
    assert source.series(ctx, Recording.INCIDENT, MetricSelection(frozenset({"nobody"}))) == ()
    assert source.series(ctx, Recording.INCIDENT, MetricSelection(frozenset())) == ()
    assert source.series(ctx, Recording.INCIDENT, MetricSelection(window=TimeWindow(0.0, 1.0))) == ()
    assert source.series(ctx, Recording.BASELINE) == ()


def test_arrays_are_read_only(open_folder: OpenFolder, ctx: RunContext) -> None:
    """A tool cannot change what the next tool sees."""
    for content in (LONG, WIDE):
        for series in metrics(open_folder({"metrics.csv": content})).series(ctx, Recording.INCIDENT):
            assert not series.value.flags.writeable
            assert not series.time_s.flags.writeable


def test_threads_get_the_same_series(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Eight at once, first call included."""
    source = metrics(open_folder({"metrics.csv": LONG}))
    gate = threading.Barrier(8)
    found: list[list[float]] = []

    def ask() -> None:
        gate.wait()
        for _ in range(20):
            series = source.series(ctx, Recording.INCIDENT)
            found.append([float(np.sum(one.value)) for one in series])

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[10.0, 60.0]] * 160


def test_a_baseline_folder_is_a_recording_of_its_own(write_folder: WriteFolder, ctx: RunContext) -> None:
    """Named on the command line or in the settings, months away from the incident."""
    normal = write_folder({"metrics.csv": LONG.replace("17000", "16900")}, name="normal")
    incident = write_folder({"metrics.csv": LONG, "incident.toml": '[baseline]\nfolder = "../normal"\n'})
    for sources in (open_incident_folder(incident), open_incident_folder(incident, baseline=normal)):
        (series, _) = metrics(sources).series(ctx, Recording.BASELINE)
        assert series.time_s[0] == 1_690_000_000.0
        baseline = sources.summary.summary(ctx).baseline
        assert baseline is not None
        assert baseline.start_s == 1_690_000_000.0
        assert "baseline/metrics.csv" in [note.file for note in sources.summary.summary(ctx).files]


def test_a_baseline_window_is_a_part_of_the_same_recording(open_folder: OpenFolder, ctx: RunContext) -> None:
    """The incident recording stays whole."""
    toml = f"[baseline]\nstart = {FIRST}\nend = {FIRST + 120}\n"
    source = metrics(open_folder({"metrics.csv": LONG, "incident.toml": toml}))
    assert [info.points for info in source.signals(ctx, Recording.BASELINE)] == [2, 2]
    assert [info.points for info in source.signals(ctx, Recording.INCIDENT)] == [5, 5]


def test_a_baseline_that_is_the_incident_is_refused(write_folder: WriteFolder) -> None:
    """Nothing differs from itself."""
    folder = write_folder({"metrics.csv": LONG})
    with pytest.raises(InvalidInput, match="the baseline is the incident folder itself"):
        open_incident_folder(folder, baseline=folder)


def test_a_baseline_without_telemetry_is_refused(write_folder: WriteFolder) -> None:
    """It would look like a normal of nothing."""
    normal = write_folder({"topology.csv": "caller,callee\na,b\n"}, name="normal")
    with pytest.raises(InvalidInput, match="the baseline holds no telemetry"):
        open_incident_folder(write_folder({"metrics.csv": LONG}), baseline=normal)


def test_progress_names_each_file(write_folder: WriteFolder) -> None:
    """With how many are done and how many there are."""
    reported: list[tuple[str, int, int]] = []
    folder = write_folder({"metrics.csv": LONG, "topology.csv": "caller,callee\na,b\n"})
    open_incident_folder(folder, progress=lambda *news: reported.append(news))
    assert reported == [("topology.csv", 0, 2), ("metrics.csv", 1, 2)]


def test_series_too_large_for_the_limit_are_a_tool_failure(
    write_folder: WriteFolder, ctx: RunContext, tmp_path: Path
) -> None:
    """Parquet is read in place, so the folder opens; a shorter window can still be asked for."""
    content = parquet(
        tmp_path / "p",
        f"SELECT {FIRST} + i AS time, 'pay' AS entity, 'x' AS signal, i AS value FROM range(2000000) t(i)",
    )
    source = metrics(open_incident_folder(write_folder({"metrics.parquet": content}), memory_limit_mb=32))
    with pytest.raises(ToolFailure) as caught:
        source.series(ctx, Recording.INCIDENT)
    assert isinstance(caught.value, MemoryLimit)
    assert str(caught.value).endswith("32 MB that is allowed; raise folder.memory_limit_mb")
    (series,) = source.series(
        ctx, Recording.INCIDENT, MetricSelection(window=TimeWindow(FIRST, FIRST + 10.0))
    )
    assert series.value.tolist() == list(map(float, range(10)))


def test_a_parquet_that_disappears_while_it_is_used_is_a_tool_failure(
    write_folder: WriteFolder, ctx: RunContext, tmp_path: Path
) -> None:
    """A failure never looks like an absence of data."""
    content = parquet(tmp_path / "p", f'SELECT {FIRST} + i AS time, i AS "pay.x" FROM range(10) t(i)')
    folder = write_folder({"metrics.parquet": content})
    source = metrics(open_incident_folder(folder))
    (folder / "metrics.parquet").unlink()
    with pytest.raises(ToolFailure, match="could no longer be read"):
        source.series(ctx, Recording.INCIDENT)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_line_break_inside_a_header_cell_shifts_no_row(
    open_folder: OpenFolder, ctx: RunContext, line_end: str
) -> None:
    """Rows begin after the header, not after its first line."""
    content = 'time,"pay|x\ny"\n\n1700000000,1\n1700000060,2\n'.replace("\n", line_end)
    assert list(as_values(open_folder({"metrics.csv": content}), ctx).values()) == [[1.0, 2.0]]


def test_an_empty_line_before_the_first_row_shifts_no_row(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Also below several header rows."""
    toml = '[files."metrics.csv"]\nheader_rows = 2\n'
    content = "service,pay\n\nmetric,x\n\n1700000000,1\n1700000060,2\n"
    sources = open_folder({"metrics.csv": content, "incident.toml": toml})
    assert as_values(sources, ctx) == {("pay", "x"): [1.0, 2.0]}


def test_repeated_times_are_counted_in_every_series(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Series of the same instants are looked at once and counted each, others for themselves."""
    rows = "".join(f"{FIRST + 60 * i},{entity},x,1\n" for i in (0, 1, 1, 1, 2) for entity in ("a", "b", "c"))
    other = "".join(f"{FIRST + 30 * i},d,x,1\n" for i in (0, 1, 2, 2))
    sources = open_folder({"metrics.csv": "time,entity,signal,value\n" + rows + other})
    assert "7 rows repeat a timestamp" in sources.summary.summary(ctx).files[0].note


def test_series_are_read_once(open_folder: OpenFolder, ctx: RunContext) -> None:
    """A second call gets the same arrays."""
    source = metrics(open_folder({"metrics.csv": LONG}))
    first, second = (source.series(ctx, Recording.INCIDENT)[0] for _ in range(2))
    assert first.value is second.value
