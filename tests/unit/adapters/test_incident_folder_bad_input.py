"""Bad input: each file that cannot be believed is refused in one sentence that names it and the remedy."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb
import pytest

from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.toolbox.ports import MetricSelection, Recording, Sources

OpenFolder = Callable[[Mapping[str, str | bytes]], Sources]
RefuseFolder = Callable[[Mapping[str, str | bytes]], InvalidInput]
WriteFolder = Callable[[Mapping[str, str | bytes]], Path]

HEAD = "time,entity,signal,value\n"
ROWS = "".join(f"{1_700_000_000 + 60 * minute},checkout,latency_ms,{minute}\n" for minute in range(10))
GOOD = HEAD + ROWS
MANY = "".join(f"{1_700_000_600 + minute},checkout,latency_ms,{minute}\n" for minute in range(5000))
PNG = b"\x89PNG\r\n\x1a\n" + bytes(200)
THREE_LEVELS = (
    "microservice,PetSite,PetSite,Pay\nmetric,latency,latency,requests\nstatistic,Average,p90,Sum\n"
    "unix_timestamp,,,\n1700000000.0,0.1,0.2,5\n1700000300.0,0.1,,6\n"
)


def parquet(path: Path, select: str) -> bytes:
    """A Parquet file of a query's rows."""
    duckdb.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
    return path.read_bytes()


def test_a_missing_folder_is_said_to_be_missing(tmp_path: Path) -> None:
    """The path is named."""
    with pytest.raises(InvalidInput, match=r"nowhere: there is no such folder; check the path\."):
        open_incident_folder(tmp_path / "nowhere")


def test_a_file_in_place_of_a_folder_is_said_to_be_one(tmp_path: Path) -> None:
    """The remedy is the folder that holds it."""
    path = tmp_path / "metrics.csv"
    path.write_text(GOOD)
    with pytest.raises(InvalidInput, match="this is a file, not a folder"):
        open_incident_folder(path)


def test_an_empty_folder_is_refused(refuse_folder: RefuseFolder) -> None:
    """There is nothing to diagnose."""
    assert refuse_folder({}).problem == "the folder is empty"


def test_a_folder_without_one_known_file_is_refused(refuse_folder: RefuseFolder) -> None:
    """A page of notes is no telemetry."""
    assert "its content is in no known format" in str(refuse_folder({"notes.txt": "it broke"}))


def test_a_folder_whose_files_have_no_rows_is_refused(refuse_folder: RefuseFolder) -> None:
    """A header alone is no data."""
    assert "no rows of metrics, traces or logs" in str(refuse_folder({"metrics.csv": HEAD}))


WRONG_CONTENT = {
    "a PNG named .parquet": ("metrics.parquet", PNG, "it holds a PNG image"),
    "a PNG named .csv": ("metrics.csv", PNG, "it holds a PNG image"),
    "a PNG named .json": ("metrics.json", PNG, "it holds a PNG image"),
    "CSV named .parquet": ("metrics.parquet", GOOD, "it holds something else"),
    "CSV named .json": ("metrics.json", GOOD, "it holds something else"),
    "CSV named .jsonl": ("metrics.jsonl", GOOD, "it holds something else"),
    "JSON named .csv": ("metrics.csv", '[{"time": 1700000000, "value": 1}]', "it holds JSON, not CSV"),
    "an object named .json": ("metrics.json", '{"time": 1}', "and holds no rows"),
    "text named .gz": ("metrics.csv.gz", GOOD, "its name says gzip, but it is not"),
    "gzip without .gz": ("metrics.csv", gzip.compress(GOOD.encode()), "it holds gzip"),
    "UTF-16": ("metrics.csv", GOOD.encode("utf-16"), "it holds UTF-16 text"),
    "Latin-1": ("metrics.csv", GOOD.encode() + b"1700000600,caf\xe9,latency_ms,1\n", "not UTF-8 text"),
    "Latin-1 far down": (
        "metrics.csv", GOOD.encode() + MANY.encode() * 20 + b"1700000600,caf\xe9,x,1\n", "not UTF-8 text",
    ),
    "zero bytes": ("metrics.csv", HEAD.encode() + bytes(50), "zero bytes"),
    "an empty CSV": ("metrics.csv", "", "it is empty"),
    "an empty JSON": ("metrics.json", "", "it is empty"),
    "an empty Parquet": ("metrics.parquet", b"", "it is empty"),
    "blank lines only": ("metrics.csv", "\n\n\n", "it is empty"),
    "numbers in an array": ("metrics.json", "[1, 2]", "this is not an object"),
    "an array that breaks off": ("metrics.json", '[{"time": 1700000000, "value": 1},', "cut off"),
    "an object that is not closed": ("metrics.json", '[{"time": 1700000000, "value": }]', "not valid JSON"),
    "a line that is not JSON": ("metrics.jsonl", '{"time": 1700000000, "value": 1}\n{"time"\n}', "line 2"),
    "half of a gzip": ("metrics.csv.gz", gzip.compress(MANY.encode())[:2000], "cut off or damaged"),
    "half of a gzipped JSON": ("logs.json.gz", gzip.compress(b"[{}," * 999)[:20], "cut off"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "problem"), WRONG_CONTENT.values(), ids=WRONG_CONTENT.keys())
def test_a_file_that_is_not_what_its_name_says_is_refused(
    refuse_folder: RefuseFolder, name: str, content: str | bytes, problem: str
) -> None:
    """The sentence begins with the file and says what it holds instead."""
    refused = refuse_folder({name: content})
    assert refused.place.startswith(name)
    assert problem in str(refused)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_truncated_parquet_is_refused(refuse_folder: RefuseFolder, tmp_path: Path, share: float) -> None:
    """Its end mark is missing."""
    whole = parquet(
        tmp_path / "whole.parquet", 'SELECT 1700000000 + i AS time, i AS "a.x" FROM range(1000) t(i)'
    )
    assert "cut off" in str(refuse_folder({"metrics.parquet": whole[: int(len(whole) * share)]}))


def test_a_truncated_parquet_with_an_end_mark_is_refused(refuse_folder: RefuseFolder, tmp_path: Path) -> None:
    """The mark alone does not make a footer."""
    whole = parquet(
        tmp_path / "whole.parquet", 'SELECT 1700000000 + i AS time, i AS "a.x" FROM range(1000) t(i)'
    )
    assert "damaged or cut off" in str(refuse_folder({"metrics.parquet": whole[:500] + b"PAR1"}))


RAGGED = {
    "short, first": (HEAD + "1700000000,checkout,latency_ms\n" + ROWS, 2, "this row has 3 columns"),
    "short, last": (GOOD + MANY + "1700009999,checkout,latency_ms\n", 5012, "this row has 3 columns"),
    "long, early": (HEAD + "1700000000,checkout,latency_ms,1,2\n" + ROWS, 2, "this row has 5 columns"),
    "long, late": (GOOD + MANY + "1700009999,checkout,latency_ms,1,2\n", 5012, "this row has 5 columns"),
    "one cell": (GOOD + "end of export\n", 12, "this row has 1 column,"),
}


@pytest.mark.parametrize(("content", "line", "problem"), RAGGED.values(), ids=RAGGED.keys())
def test_a_ragged_row_is_refused_with_its_line(
    refuse_folder: RefuseFolder, content: str, line: int, problem: str
) -> None:
    """Neither dropped nor filled up, wherever it is."""
    refused = refuse_folder({"metrics.csv": content})
    assert refused.place == f"metrics.csv line {line}"
    assert problem in refused.problem
    assert "the header has 4" in refused.problem


def test_an_unclosed_quote_is_refused_with_its_line(refuse_folder: RefuseFolder) -> None:
    """The rest of the file is not swallowed into one cell."""
    assert (
        refuse_folder({"metrics.csv": GOOD + '1700000600,"checkout,latency_ms,1\n'}).place
        == "metrics.csv line 12"
    )


@pytest.mark.parametrize("word", ["N/A", "NA", "null", "None", "-", "", "NaN", " n/a "])
def test_a_word_for_no_value_is_a_missing_value(open_folder: OpenFolder, ctx: RunContext, word: str) -> None:
    """One N/A does not turn a column of numbers into text."""
    sources = open_folder({"metrics.csv": GOOD + f"1700000600,checkout,latency_ms,{word}\n"})
    assert sources.metrics is not None
    (series,) = sources.metrics.series(ctx, Recording.INCIDENT)
    assert len(series.value) == 11
    assert str(series.value[-1]) == "nan"
    assert "1 of 11 values are missing" in sources.summary.summary(ctx).files[0].note


@pytest.mark.parametrize("text", ["12ms", "abc", "1,5", "<0.1", "0x10"])
def test_text_among_numbers_is_refused_with_line_and_column(refuse_folder: RefuseFolder, text: str) -> None:
    """A number is not cut out of a text."""
    refused = refuse_folder({"metrics.csv": GOOD + MANY + f'1700009999,checkout,latency_ms,"{text}"\n'})
    assert refused.place == "metrics.csv line 5012"
    assert f"column 'value' holds '{text}' among its numbers" in refused.problem


def test_text_among_numbers_of_a_wide_file_is_refused(refuse_folder: RefuseFolder) -> None:
    """The same in any layout."""
    rows = "".join(f"{1_700_000_000 + 60 * i},{i},{i}\n" for i in range(9))
    refused = refuse_folder({"metrics.csv": f"time,a.x,b.x\n{rows}1700000600,1,12ms\n"})
    assert "column 'b.x' holds '12ms'" in refused.problem


def test_a_column_that_is_text_for_the_most_part_is_left_out_and_named(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """It is not a broken column of numbers."""
    rows = "".join(f"{1_700_000_000 + 60 * i},{i},{'' if i < 300 else 'note'}\n" for i in range(400))
    sources = open_folder({"metrics.csv": f"time,a.x,a.remark\n{rows}"})
    assert "columns of text: a.remark" in sources.summary.summary(ctx).files[0].note
    assert sources.summary.summary(ctx).metric_series == 1


def test_three_header_rows_are_refused_with_the_setting_that_reads_them(refuse_folder: RefuseFolder) -> None:
    """Where nothing names the levels: they would become hundreds of text columns with made-up names."""
    nameless = THREE_LEVELS.replace("microservice", "").replace("metric", "").replace("statistic", "")
    refused = refuse_folder({"metrics.csv": f"x{nameless}"})
    assert "3 header rows" in refused.problem
    assert refused.remedy == 'set `header_rows = 3` under [files."metrics.csv"] in incident.toml'


@pytest.mark.parametrize("stated", ['[files."metrics.csv"]\nheader_rows = 3\n', ""])
def test_three_header_rows_are_read_where_they_are_stated_or_named(
    stated: str, open_folder: OpenFolder, ctx: RunContext
) -> None:
    """Levels are entity, signal, statistic; the row that names the index is no data."""
    sources = open_folder({"metrics.csv": THREE_LEVELS, "incident.toml": stated})
    assert "below 3 header rows" in sources.summary.summary(ctx).files[0].note
    assert sources.metrics is not None
    series = sources.metrics.series(ctx, Recording.INCIDENT)
    assert [(one.entity, one.signal) for one in series] == [
        ("Pay", "requests_Sum"),
        ("PetSite", "latency_Average"),
        ("PetSite", "latency_p90"),
    ]
    assert series[2].time_s.tolist() == [1_700_000_000.0, 1_700_000_300.0]


def test_two_columns_of_one_name_are_refused(refuse_folder: RefuseFolder) -> None:
    """Neither of the two is chosen silently."""
    assert "two columns have the same name 'a.x'" in str(
        refuse_folder({"metrics.csv": "time,a.x,a.x\n1700000000,1,2\n"})
    )


def test_a_file_without_a_time_column_is_refused_with_its_columns(refuse_folder: RefuseFolder) -> None:
    """The person sees what there is to choose from."""
    refused = refuse_folder({"metrics.csv": "entity,signal,value\ncheckout,latency,1\n"})
    assert refused.problem == "it has no time column (its columns: entity, signal, value)"
    assert 'time = "…"' in refused.remedy


MIXED_TIMES = {
    "ms among s": ("1700000600000", "mixes times in s and in ms"),
    "us among s": ("1700000600000000", "mixes times in s and in us"),
    "ns among s": ("1700000600000000000", "mixes times in s and in ns"),
    "ISO among s": ("2023-11-14T22:30:00Z", "mixes ways to write a time"),
    "a word": ("yesterday", "'yesterday' in column 'time' is not a time"),
    "zero": ("0", "'0' in column 'time' is not a time"),
    "infinity": ("inf", "'inf' in column 'time' is not a time"),
}


@pytest.mark.parametrize(("time", "problem"), MIXED_TIMES.values(), ids=MIXED_TIMES.keys())
def test_a_file_that_mixes_time_units_is_refused(
    refuse_folder: RefuseFolder, time: str, problem: str
) -> None:
    """With the line of the first cell that differs."""
    refused = refuse_folder({"metrics.csv": GOOD + MANY + f"{time},checkout,latency_ms,1\n"})
    assert refused.place == "metrics.csv line 5012"
    assert problem in refused.problem


def test_times_with_and_without_a_zone_in_one_file_are_refused(refuse_folder: RefuseFolder) -> None:
    """Nobody can say which of the two to shift."""
    rows = "2023-11-14T22:30:00Z,a,x,1\n2023-11-14T22:31:00,a,x,1\n"
    assert "mixes ways to write a time" in str(refuse_folder({"metrics.csv": HEAD + rows}))


def test_a_date_that_could_be_two_days_is_refused(refuse_folder: RefuseFolder) -> None:
    """01/02 is January here and February there."""
    refused = refuse_folder({"metrics.csv": HEAD + "01/02/2024 10:00,a,x,1\n"})
    assert "the day or with the month first" in refused.problem


def test_nan_and_infinities_are_missing_values_and_counted(open_folder: OpenFolder, ctx: RunContext) -> None:
    """No statistic may ever meet an infinity."""
    odd = "".join(
        f"{1_700_000_600 + 60 * i},checkout,latency_ms,{v}\n" for i, v in enumerate(("inf", "-inf", "NaN"))
    )
    sources = open_folder({"metrics.csv": GOOD + odd})
    assert sources.metrics is not None
    (info,) = sources.metrics.signals(ctx, Recording.INCIDENT)
    assert info.points == 10
    note = sources.summary.summary(ctx).files[0].note
    assert "1 NaN read as missing" in note
    assert "2 infinite values read as missing" in note


def test_a_single_row_is_read_and_said_to_be_one(open_folder: OpenFolder, ctx: RunContext) -> None:
    """It is data, but shows no change."""
    sources = open_folder({"metrics.csv": HEAD + "1700000000,checkout,latency_ms,1\n"})
    assert "a single row cannot show a change" in sources.summary.summary(ctx).files[0].note
    window = sources.summary.summary(ctx).incident
    assert window is not None
    assert window.contains(1_700_000_000.0)


def test_a_constant_series_is_read_as_it_is(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Nothing is added to make it vary."""
    rows = "".join(f"{1_700_000_000 + 60 * i},checkout,latency_ms,5\n" for i in range(10))
    sources = open_folder({"metrics.csv": HEAD + rows})
    assert sources.metrics is not None
    assert set(sources.metrics.series(ctx, Recording.INCIDENT)[0].value.tolist()) == {5.0}


def test_a_repeated_time_is_averaged_and_counted(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Missing values aside; the series has each instant once, in order."""
    rows = "1700000060,a,x,4\n1700000000,a,x,1\n1700000000,a,x,2\n1700000000,a,x,N/A\n1700000000,b,x,7\n"
    sources = open_folder({"metrics.csv": HEAD + rows})
    assert sources.metrics is not None
    series = sources.metrics.series(ctx, Recording.INCIDENT)[0]
    assert series.time_s.tolist() == [1_700_000_000.0, 1_700_000_060.0]
    assert series.value.tolist() == [1.5, 4.0]
    assert "2 rows repeat a timestamp" in sources.summary.summary(ctx).files[0].note


HOSTILE = "pay'; DROP TABLE kept_0; --\u202e\x1b[2J\x07\"|"


def test_hostile_names_in_rows_are_escaped_and_break_nothing(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """Quotes stay, what moves a cursor is made visible, and the series is found by what is shown."""
    cell = HOSTILE.replace('"', '""')
    sources = open_folder({"metrics.csv": HEAD + f'1700000000,"{cell}",x,1\n1700000060,"{cell}",x,2\n'})
    assert sources.metrics is not None
    (info,) = sources.metrics.signals(ctx, Recording.INCIDENT)
    assert info.entity == "pay'; DROP TABLE kept_0; --\\u202e\\x1b[2J\\x07\"|"
    (series,) = sources.metrics.series(ctx, Recording.INCIDENT, MetricSelection(frozenset({info.entity})))
    assert series.value.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_hostile_names_of_columns_are_escaped_and_break_nothing(
    open_folder: OpenFolder, ctx: RunContext, tmp_path: Path, form: str
) -> None:
    """Column names reach SQL as identifiers of ours only, or quoted."""
    name = f"{HOSTILE}x"
    if form == "csv":
        content: str | bytes = 'time,"' + name.replace('"', '""') + '"\n1700000000,1\n1700000060,2\n'
    elif form == "json":
        content = json.dumps([{"time": 1_700_000_000, name: 1}, {"time": 1_700_000_060, name: 2}])
    else:
        quoted = name.replace('"', '""')
        content = parquet(
            tmp_path / "p", f'SELECT 1700000000 + 60 * i AS time, i + 1 AS "{quoted}" FROM range(2) t(i)'
        )
    sources = open_folder({f"metrics.{form}": content})
    assert sources.metrics is not None
    (series,) = sources.metrics.series(ctx, Recording.INCIDENT)
    assert series.entity == "pay'; DROP TABLE kept_0; --\\u202e\\x1b[2J\\x07\""
    assert series.value.tolist() == [1.0, 2.0]


def test_a_hostile_file_name_is_printable_in_notes_and_errors(refuse_folder: RefuseFolder) -> None:
    """A file name can hold a line break and a terminal's escape."""
    refused = refuse_folder({"metrics\x1b[2J\n'x.csv": "entity\nx\n"})
    assert refused.place == "metrics\\x1b[2J\\x0a'x.csv"
