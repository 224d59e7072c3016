"""TVDiag: every event is one step of one size; files are streamed, and read in any order."""

from __future__ import annotations

import csv
import gzip
import json
import pickle
from pathlib import Path

import pytest
from tests.support.published_events import EVENT_IDS, make_tvdiag

from diagnosis_harness.bench.case import Case, Condition
from diagnosis_harness.kernel.errors import InvalidInput


def export(root: Path) -> Case:
    """One incident as published."""
    return make_tvdiag(root).export(EVENT_IDS[0], Condition.AS_PUBLISHED, root / "out")


def test_events_are_steps_of_one_size(tmp_path: Path) -> None:
    """Up and down by the same amount at the same time; a slow call is a latency of its callee."""
    case = export(tmp_path)
    with (case.folder / "metrics.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    series: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        series.setdefault((row["entity"], row["signal"]), []).append(float(row["value"]))
    up, down = [1.0] * 30 + [2.0] * 11, [2.0] * 30 + [1.0] * 11
    assert series == {
        ("geo-0", "cpu_usage"): down,
        ("geo-0", "latency of /Near from web-0"): up,
        ("web-0", "500 errors of GET /"): up,
        ("web-0", "threads"): up,
    }


def test_events_stand_beside_the_steps_as_published(tmp_path: Path) -> None:
    """In a role that the product cannot use yet, without the label's fields."""
    case = export(tmp_path)
    text = (case.folder / "deviations.jsonl").read_text(encoding="utf-8")
    assert [json.loads(line)["kind"] for line in text.splitlines()] == [
        "metric", "metric", "log", "trace", "trace",
    ]  # fmt: skip
    assert case.unused == ("deviations",)
    assert "network-delay" not in text
    assert (case.group, case.scenario, case.entities) == ("hotel", "test", ("geo-0", "web-0"))
    assert (case.folder / "topology.csv").read_text(encoding="utf-8").splitlines()[1:] == [
        "web-0,geo-0,calls"
    ]


def test_events_are_counted_by_the_instance_that_they_are_about(tmp_path: Path) -> None:
    """One about a call is about its callee."""
    assert export(tmp_path).events == {"geo-0": 2, "web-0": 3}


def test_incidents_are_read_in_any_order_and_by_another_process(tmp_path: Path) -> None:
    """Forward, back, and by a copy that was sent elsewhere."""
    data_set = make_tvdiag(tmp_path)
    sent = pickle.loads(pickle.dumps(data_set))  # noqa: S301 - our own bytes
    for number, name in enumerate((*data_set.incident_ids(), *EVENT_IDS)):
        one = data_set.export(name, Condition.AS_PUBLISHED, tmp_path / f"one-{number}")
        other = sent.export(name, Condition.AS_PUBLISHED, tmp_path / f"other-{number}")
        assert (one.incident_id, one.folder.name) == (other.incident_id, other.folder.name)


def test_a_file_that_breaks_off_is_one_sentence(tmp_path: Path) -> None:
    """And so is an incident that is not in its file."""
    data_set = make_tvdiag(tmp_path)
    with pytest.raises(InvalidInput, match="it holds no incident hotel-9999"):
        data_set.export("hotel-9999", Condition.AS_PUBLISHED, tmp_path / "out")
    path = tmp_path / "tvdiag-events" / "hotel.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InvalidInput, match="cannot be read to its end"):
        data_set.incident_ids()
    path.write_bytes(gzip.compress(b"{half a line"))
    with pytest.raises(InvalidInput, match="is not JSON"):
        data_set.incident_ids()
