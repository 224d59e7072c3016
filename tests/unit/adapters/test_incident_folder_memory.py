"""Large files under a small memory limit: read, or refused in one sentence, never killed."""

from __future__ import annotations

import gzip
import json
import resource
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

WATCHED = """
import json, resource, sys
from pathlib import Path
import duckdb, numpy, pydantic
from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.toolbox.ports import MetricSelection, Recording

def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

before_mb = peak_mb()
found = {}
try:
    sources = open_incident_folder(Path(sys.argv[1]), memory_limit_mb=int(sys.argv[2]))
    found["series"] = len(sources.metrics.signals(None, Recording.INCIDENT))
    (series,) = sources.metrics.series(None, Recording.INCIDENT, MetricSelection(frozenset({"e7"})))
    found["points"] = len(series.value)
except InvalidInput as refused:
    found["refused"] = str(refused)
print(json.dumps(found | {"grown_mb": peak_mb() - before_mb}))
"""


def open_in_a_process(folder: Path, memory_limit_mb: int) -> dict[str, object]:
    """What came of opening, and by how many megabytes the process grew at its peak."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(folder), str(memory_limit_mb)],
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def sixty_four_megabytes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A long CSV file of 64 MB, and the folder it is in."""
    folder = tmp_path_factory.mktemp("large")
    duckdb.execute(
        "COPY (SELECT 1700000000 + t AS time, 'e' || e AS entity, 'latency_ms' AS signal, 0.001 * t AS value "
        f"FROM range(20000) a(t), range(100) b(e)) TO '{folder}/metrics.csv'"
    )
    assert (folder / "metrics.csv").stat().st_size > 64_000_000
    return folder


def test_64_mb_of_metrics_fit_into_256_mb(sixty_four_megabytes: Path) -> None:
    """Rows go from the file into the table; no Python list of them is ever made."""
    found = open_in_a_process(sixty_four_megabytes, 256)
    assert (found["series"], found["points"]) == (100, 20_000)
    assert float(str(found["grown_mb"])) < 256 + 64


@pytest.mark.parametrize("memory_limit_mb", [32, 64])
def test_64_mb_of_metrics_under_a_small_limit_are_refused_in_one_sentence(
    sixty_four_megabytes: Path, memory_limit_mb: int
) -> None:
    """The process stays near the limit and is not killed."""
    found = open_in_a_process(sixty_four_megabytes, memory_limit_mb)
    assert f"metrics.csv: it does not fit into the memory limit of {memory_limit_mb} MB" in str(
        found["refused"]
    )
    assert float(str(found["grown_mb"])) < memory_limit_mb + 64


def test_the_same_metrics_as_parquet_are_read_under_the_small_limit(
    sixty_four_megabytes: Path, tmp_path: Path
) -> None:
    """Parquet stays in its file."""
    duckdb.execute(
        f"COPY (FROM '{sixty_four_megabytes}/metrics.csv') "
        f"TO '{tmp_path}/metrics.parquet' (ROW_GROUP_SIZE 50000)"
    )
    found = open_in_a_process(tmp_path, 64)
    assert (found["series"], found["points"]) == (100, 20_000)
    assert float(str(found["grown_mb"])) < 64 + 64


MB = 1 << 20


@pytest.mark.parametrize(
    ("name", "pieces", "problem"),
    [
        ("metrics.json.gz", [(b"[", 1), (b" " * MB, 200), (b"]", 1)], "of whitespace only"),
        (
            "metrics.json.gz",
            [(b'[{"a":1},', 1), (b"\n" * MB, 200), (b'{"a":2}]', 1)],
            "of whitespace only",
        ),
        (
            "metrics.jsonl.gz",
            [(b'{"a":1}\n', 1), (b" " * MB, 200), (b'{"a":2}\n', 1)],
            "of whitespace only",
        ),
        (
            "metrics.json.gz",
            [(b'[{"a":"', 1), (b"x" * MB, 200), (b'"}]', 1)],
            "one of its records is larger than 16 MB",
        ),
        (
            "metrics.jsonl.gz",
            [(b'{"a":"', 1), (b"x" * MB, 200), (b'"}\n', 1)],
            "one of its records is larger than 16 MB",
        ),
        ("metrics.json.gz", [(b'[{"a":1}', 1), (b',{"a":1}' * (MB // 8), 40), (b",,]", 1)], "not valid JSON"),
        ("metrics.json.gz", [(b'[{"a":1}', 1), (b"," * MB, 200), (b"]", 1)], "not valid JSON"),
        ("metrics.jsonl.gz", [(b'{"a":1}\n', 1), (b"," * MB, 200), (b"}\n", 1)], "larger than 16 MB"),
    ],
    ids=[
        "blank-array", "blank-between-records", "blank-line", "huge-text", "huge-text-in-a-line",
        "broken-at-the-end", "commas", "commas-in-a-line",
    ],
)  # fmt: skip
def test_json_that_unpacks_to_far_more_than_it_holds_is_refused_within_the_limit(
    tmp_path: Path, name: str, pieces: list[tuple[bytes, int]], problem: str
) -> None:
    """Up to 200 MB in a few hundred kilobytes: one sentence, and the process stays below the limit."""
    with gzip.open(tmp_path / name, "wb", compresslevel=1) as file:
        for piece, times in pieces:
            for _ in range(times):
                file.write(piece)
    found = open_in_a_process(tmp_path, 128)
    assert problem in str(found["refused"])
    assert float(str(found["grown_mb"])) < 128


def test_peak_memory_is_measured_in_kilobytes_here() -> None:
    """What the limits above are compared with."""
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 10_000
