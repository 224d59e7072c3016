"""Whatever bytes a file holds, opening the folder ends in sources or in one sentence."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput, ToolFailure
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.toolbox.ports import Recording

LONG = "time,entity,signal,value\n" + "".join(f"{1_700_000_000 + i},pay,x_ms,{i}\n" for i in range(20))
SPANS = "trace_id,span_id,parent_id,entity,start,duration_ms\n" + "".join(
    f"t{i},a,,shop,{1_700_000_000 + i},9\nt{i},b,a,pay,{1_700_000_000 + i}.001,5\n" for i in range(10)
)
RECORDS = json.dumps(
    [{"time": 1_700_000_000 + i, "entity": "pay", "signal": "x", "value": i} for i in range(20)]
)


def parquet_bytes() -> bytes:
    """A small whole Parquet file."""
    with tempfile.TemporaryDirectory() as folder:
        duckdb.execute(
            "COPY (SELECT 1700000000 + i AS time, 'pay' AS entity, 'x' AS signal, i AS value "
            f"FROM range(50) t(i)) TO '{folder}/p' (FORMAT parquet)"
        )
        return Path(folder, "p").read_bytes()


WHOLE = {
    "metrics.csv": LONG.encode(),
    "metrics.csv.gz": gzip.compress(LONG.encode()),
    "metrics.json": RECORDS.encode(),
    "metrics.jsonl": RECORDS.replace("}, ", "}\n").strip("[]").encode(),
    "metrics.parquet": parquet_bytes(),
    "traces.csv": SPANS.encode(),
    "logs.csv": LONG.replace("value", "message").encode(),
    "topology.csv": b"caller,callee\nshop,pay\n",
    "alert.json": b'{"entity": "pay", "signal": "x"}',
}
PIECES = st.binary(max_size=8) | st.sampled_from(
    [
        b",",
        b"\n",
        b'"',
        b"\r\n",
        b"\x00",
        b"NaN",
        b"inf",
        b"-",
        b"1e999",
        b"{",
        b"]",
        b"\xff",
        b";",
        b"time",
        b"'",
    ]
)


def use_all(folder: Path, ctx: RunContext) -> None:
    """Open a folder and ask every source for everything."""
    sources = open_incident_folder(folder, memory_limit_mb=64)
    assert sources.summary.summary(ctx).files
    if sources.metrics is not None:
        for info in sources.metrics.signals(ctx, Recording.INCIDENT):
            assert info.points > 0
        for series in sources.metrics.series(ctx, Recording.INCIDENT):
            assert series.time_s.tolist() == sorted(set(series.time_s.tolist()))
    if sources.spans is not None:
        table = sources.spans.spans(ctx, Recording.INCIDENT)
        assert all(-1 <= parent < len(table) for parent in table.parent.tolist())
    if sources.logs is not None:
        sources.logs.search(ctx, Recording.INCIDENT, text="x", entities=None, window=None, limit=5)


def try_all(name: str, content: bytes) -> None:
    """Only a typed refusal may leave the source."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, name).write_bytes(content)
        if not name.startswith("metrics"):
            Path(folder, "metrics.csv").write_text(LONG)
        try:
            use_all(Path(folder), Rig().run())
        except (InvalidInput, ToolFailure) as refused:
            assert str(refused).isprintable()  # noqa: PT017  # both ways out are right


@given(name=st.sampled_from(sorted(WHOLE)), content=st.binary(max_size=300))
def test_any_bytes_under_any_name(name: str, content: bytes) -> None:
    """Noise."""
    try_all(name, content)


@given(name=st.sampled_from(sorted(WHOLE)), place=st.floats(0, 1), cut=st.integers(0, 30), piece=PIECES)
def test_a_whole_file_with_one_damaged_place(name: str, place: float, cut: int, piece: bytes) -> None:
    """A cut, a bit of other text, a broken number, anywhere."""
    whole = WHOLE[name]
    at = int(place * len(whole))
    try_all(name, whole[:at] + piece + whole[at + cut :])


@pytest.mark.parametrize("name", WHOLE)
def test_the_undamaged_files_are_read(name: str, tmp_path: Path) -> None:
    """So that the two tests above start from something."""
    (tmp_path / name).write_bytes(WHOLE[name])
    if not name.startswith("metrics"):
        (tmp_path / "metrics.csv").write_text(LONG)
    use_all(tmp_path, Rig().run())
