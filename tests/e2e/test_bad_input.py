"""Bad input through the command line: one sentence and exit code 2, or a typed fallback; no made-up cause.

The whole system is at work, in this process: what is refused in a moment needs no process of its own.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb
import pytest

from diagnosis_harness.cli.main import run_command

FIRST = 1_700_000_000
HEAD = "time,entity,signal,value\n"
ROWS = "".join(f"{FIRST + 60 * i},checkout,latency_ms,{100 + i % 3}\n" for i in range(120))
GOOD = HEAD + ROWS
QUESTION = "why is checkout slow"

PROGRESS = re.compile(r"\[ *\d+\.\d s\] ")
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Write files into a folder and ask about it: exit code, standard output, standard error."""

    def ask_about(files: Mapping[str, str | bytes], *options: str) -> tuple[int, str, str]:
        folder = tmp_path / "incident"
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        code = run_command(["ask", QUESTION, "--from", str(folder), *options])
        shown = capsys.readouterr()
        # After two seconds reading says how far it has come; that is no part of the sentence.
        lines = [line for line in shown.err.splitlines(keepends=True) if not PROGRESS.match(line)]
        return code, shown.out, "".join(lines)

    return ask_about


def parquet_bytes(folder: Path) -> bytes:
    """A whole Parquet file."""
    path = folder / "whole.parquet"
    duckdb.execute(
        f"COPY (SELECT {FIRST} + i AS time, i AS \"a.x\" FROM range(5000) t(i)) TO '{path}' (FORMAT parquet)"
    )
    return path.read_bytes()


def row(time: object = FIRST + 9000, value: object = 1) -> str:
    """One more row of metrics."""
    return f"{time},checkout,latency_ms,{value}\n"


REFUSED: dict[str, tuple[dict[str, str | bytes], tuple[str, ...], str]] = {
    "empty folder": ({}, (), "the folder is empty"),
    "no known file": ({"notes.txt": "it broke"}, (), "notes.txt: its content is in no known format"),
    "header only": ({"metrics.csv": HEAD}, (), "no rows"),
    "PNG named parquet": ({"metrics.parquet": b"\x89PNG\r\n\x1a\n" + bytes(99)}, (), "metrics.parquet"),
    "CSV named json": ({"metrics.json": GOOD}, (), "metrics.json"),
    "JSON named csv": ({"metrics.csv": '[{"time": 1700000000, "value": 1}]'}, (), "metrics.csv"),
    "text named gz": ({"metrics.csv.gz": GOOD}, (), "metrics.csv.gz"),
    "half a gzip": ({"metrics.csv.gz": gzip.compress(GOOD.encode())[:150]}, (), "metrics.csv.gz"),
    "half a JSON": ({"metrics.json": '[{"time": 1700000000, "value": 1},'}, (), "metrics.json"),
    "ragged, early": ({"metrics.csv": HEAD + "1,2\n" + ROWS}, (), "metrics.csv line 2"),
    "ragged, late": ({"metrics.csv": GOOD + "1,2\n"}, (), "metrics.csv line 122"),
    "text among numbers": ({"metrics.csv": GOOD + row(value="12ms")}, (), "metrics.csv line 122"),
    "three header rows": (
        {"metrics.csv": "a,S,S\nb,latency,latency\nc,p50,p90\n1700000000,1,2\n"}, (), "header_rows = 3",
    ),
    "no time column": ({"metrics.csv": "entity,signal,value\ncheckout,x,1\n"}, (), "no time column"),
    "s and ms": ({"metrics.csv": GOOD + row(time=(FIRST + 9000) * 10**3)}, (), "in s and in ms"),
    "s and us": ({"metrics.csv": GOOD + row(time=(FIRST + 9000) * 10**6)}, (), "in s and in us"),
    "s and ns": ({"metrics.csv": GOOD + row(time=(FIRST + 9000) * 10**9)}, (), "in s and in ns"),
    "s and ISO": ({"metrics.csv": GOOD + row(time="2023-11-15T00:13:20Z")}, (), "mixes ways to write a time"),
    "two clocks": (
        {"metrics.csv": GOOD, "metrics-b.csv": HEAD + row(FIRST + 8 * 3600)}, (), "clocks do not agree",
    ),
    "onset outside": ({"metrics.csv": GOOD}, ("--onset", "2020-01-01T00:00:00Z"), "outside the data"),
    "alert outside": (
        {"metrics.csv": GOOD, "incident.toml": "[alert]\ntime = 1600000000\n"}, (), "outside the data",
    ),
    "unknown key": ({"metrics.csv": GOOD, "incident.toml": "[alert]\ntme = 1\n"}, (), "incident.toml line 2"),
    "broken TOML": ({"metrics.csv": GOOD, "incident.toml": "[incident\n"}, (), "incident.toml"),
    "no baseline": ({"metrics.csv": GOOD}, ("--baseline", "nowhere"), "no such folder"),
    "unit of durations unknown": (
        {"traces.csv": f"trace_id,span_id,entity,start,duration\nt,a,x,{FIRST},5\n"}, (), "duration_unit",
    ),
    "hostile file name": ({"metrics\x1b[2J\u202e.csv": "entity\nx\n"}, (), "metrics\\x1b[2J\\u202e.csv"),
}  # fmt: skip


@pytest.mark.parametrize(("files", "options", "part"), REFUSED.values(), ids=REFUSED.keys())
def test_bad_input_ends_with_2_and_one_sentence_that_names_place_and_remedy(
    ask: Run, files: dict[str, str | bytes], options: tuple[str, ...], part: str
) -> None:
    """No report, no traceback, nothing that a terminal would obey."""
    code, out, err = ask(files, *options)

    assert code == 2
    assert out == ""
    assert part in err
    assert err.count("\n") == 1
    assert "; " in err  # the remedy follows the problem
    assert err.strip().isprintable()


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_truncated_parquet_ends_with_2(ask: Run, tmp_path: Path, share: float) -> None:
    """Its end mark is missing."""
    whole = parquet_bytes(tmp_path)

    code, out, err = ask({"metrics.parquet": whole[: int(share * len(whole))]})

    assert (code, out) == (2, "")
    assert "metrics.parquet: its Parquet data is cut off before the end" in err


def test_a_missing_folder_ends_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    """The path is named."""
    assert run_command(["ask", QUESTION, "--from", "nowhere"]) == 2
    assert "nowhere: there is no such folder" in capsys.readouterr().err


HOSTILE = "che'ckout\"; DROP TABLE x; --\u202e\x1b[2J\x07"
TYPED: dict[str, str] = {
    "one N/A": GOOD + row(value="N/A"),
    "NaN and infinities": GOOD + row(value="NaN") + row(FIRST + 9060, "inf") + row(FIRST + 9120, "-inf"),
    "a single row": HEAD + row(),
    "a constant series": HEAD + "".join(row(FIRST + 60 * i, 5) for i in range(120)),
    "duplicate timestamps": GOOD + ROWS,
    "nothing but missing values": HEAD
    + "".join(row(FIRST + 60 * i, "NaN") for i in range(120))
    + row(value=1),
    "hostile names": HEAD + ROWS.replace("checkout", '"' + HOSTILE.replace('"', '""') + '"'),
}


@pytest.mark.parametrize("content", TYPED.values(), ids=TYPED.keys())
def test_odd_but_readable_input_ends_in_a_fallback_without_a_cause(ask: Run, content: str) -> None:
    """Nothing in these files differs from normal, so nothing may be called a cause."""
    code, out, _ = ask({"metrics.csv": content}, "--json")

    document = json.loads(out)
    assert code == 3
    assert document["release"]["outcome"] == "FALLBACK"
    assert document["report"]["causes"] == []


def test_hostile_names_reach_no_terminal(ask: Run) -> None:
    """Neither the report nor the live view can turn a line around or clear the screen."""
    content = HEAD + "".join(
        f'{FIRST + 60 * i},"{HOSTILE.replace(chr(34), 2 * chr(34))}",latency_ms,{100 if i < 90 else 900}\n'
        for i in range(120)
    )

    code, out, err = ask({"metrics.csv": content}, "--onset", str(FIRST + 90 * 60))

    assert code in {0, 3}
    assert not set("\u202e\x1b\x07") & set(out + err)


def test_64_mb_of_metrics_under_a_memory_limit_end_with_2(tmp_path: Path) -> None:
    """In a process of its own, which must not be killed; the setting to raise is named."""
    folder = tmp_path / "incident"
    folder.mkdir()
    duckdb.execute(
        "COPY (SELECT 1700000000 + t AS time, 'e' || e AS entity, 'latency_ms' AS signal, 0.001 * t AS value "
        f"FROM range(20000) a(t), range(100) b(e)) TO '{folder}/metrics.csv'"
    )

    ended = subprocess.run(
        [sys.executable, "-m", "diagnosis_harness", "ask", QUESTION, "--from", str(folder)],
        env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "DIAGNOSE_FOLDER__MEMORY_LIMIT_MB": "64"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert (ended.returncode, ended.stdout) == (2, "")
    assert "metrics.csv: it does not fit into the memory limit of 64 MB" in ended.stderr
    assert "folder.memory_limit_mb" in ended.stderr
