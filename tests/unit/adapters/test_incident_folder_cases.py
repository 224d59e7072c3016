"""Folders as people brought them: what each file is read as, or why it is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.toolbox.ports import Recording, Sources

CASES = Path(__file__).parents[2] / "cases"
CALLERS = {"web", "booking", "seats", "vault"}


def case(name: str) -> Sources:
    """The folder of a case, opened."""
    return open_incident_folder(CASES / name / "incident")


def series(sources: Sources, ctx: RunContext) -> dict[tuple[str, str], str | None]:
    """Entity and signal of all series, with their units."""
    assert sources.metrics is not None
    return {
        (info.entity, info.signal): info.unit for info in sources.metrics.signals(ctx, Recording.INCIDENT)
    }


def test_a01_answers_of_the_range_api_are_series(ctx: RunContext) -> None:
    """The service comes from the labels, the signal from `__name__`, and pods are known to be its own."""
    sources = case("A01")
    assert series(sources, ctx) == {
        (service, signal): unit
        for service in ("booking", "seats")
        for signal, unit in (("pod_cpu_percent", "percent"), ("request_seconds:p99", "s"))
    }
    assert sources.topology is not None
    assert sources.topology.owners(ctx)["seats-7d4f9-x1"] == "seats"


def test_a03_label_sets_as_column_names_are_split(ctx: RunContext) -> None:
    """`job` says whose series it is; nothing is a signal of one entity `system`."""
    found = series(case("A03"), ctx)
    assert {entity for entity, _ in found} == CALLERS
    assert {signal for _, signal in found} == {"pod_cpu_percent", "request_seconds:p99"}


def test_a04_values_with_units_are_read_in_one_unit(ctx: RunContext) -> None:
    """`850 ms` and `1.02 s` are both seconds; the separator line is skipped."""
    sources = case("A04")
    assert series(sources, ctx) == {
        (service, signal): unit
        for service in ("booking", "seats")
        for signal, unit in (("latency", "s"), ("memory", "bytes"))
    }
    assert sources.metrics is not None
    values = {one.signal: one.value for one in sources.metrics.series(ctx, Recording.INCIDENT)}
    assert 0.05 < float(np.min(values["latency"])) < float(np.max(values["latency"])) < 5
    assert 3e8 < float(np.min(values["memory"])) < float(np.max(values["memory"])) < 1e11


@pytest.mark.parametrize(
    ("name", "level"), [("A06", "info"), ("A16", "info"), ("A20", "INFO"), ("A25", "INFO"), ("B02e", "info")]
)
def test_log_lines_belong_to_their_service_and_level(ctx: RunContext, name: str, level: str) -> None:
    """Nested objects, other names of columns, times of a search page, of loggers and in two columns."""
    sources = case(name)
    assert sources.logs is not None
    page = sources.logs.search(
        ctx, Recording.INCIDENT, text="served in 41 ms", entities=["booking"], window=None, limit=1
    )
    assert [(line.entity, line.level, line.message) for line in page.lines] == [
        ("booking", level, "served in 41 ms")
    ]


def test_a29_times_of_the_common_log_format_are_read(ctx: RunContext) -> None:
    """Day first and with an offset: there is one way to read it."""
    sources = case("A29")
    assert sources.logs is not None
    page = sources.logs.search(ctx, Recording.INCIDENT, text=None, entities=None, window=None, limit=1)
    assert page.lines[0].time_s == 1_778_059_320.0


def test_a09_a_service_one_level_down_is_found(ctx: RunContext) -> None:
    """`localEndpoint.serviceName` of spans in a plain array."""
    sources = case("A09")
    assert sources.spans is not None
    assert sources.spans.spans(ctx, Recording.INCIDENT).entities == ("booking", "seats", "web")


def test_a35_a_file_without_a_header_is_refused() -> None:
    """Its first line is a row of data; the remedy is the line to write."""
    with pytest.raises(InvalidInput) as caught:
        case("A35")
    assert "so it is no header" in caught.value.problem
    assert "time,entity,signal,value" in caught.value.remedy


def test_a42_series_of_two_files_are_two(ctx: RunContext) -> None:
    """The files' names are all that says what they hold; they are never averaged."""
    assert {signal for _, signal in series(case("A42"), ctx)} == {"cache-hits", "db-load"}


def test_b17_a_label_that_distinguishes_series_is_a_part_of_them(ctx: RunContext) -> None:
    """Four countries are four series, and the note says by what."""
    sources = case("B17")
    assert {signal for _, signal in series(sources, ctx)} == {
        f"requests_per_minute{{country={country}}}" for country in ("BR", "DE", "FR", "US")
    }
    assert "distinguished by country" in sources.summary.summary(ctx).files[0].note


def test_b20_names_of_rates_are_not_times(ctx: RunContext) -> None:
    """`errors_per_sec` is `1/s`."""
    found = series(case("B20"), ctx)
    assert {unit for (_, signal), unit in found.items() if "per_sec" in signal} == {"1/s"}


def test_a02_files_under_the_names_of_their_tools_are_read(ctx: RunContext) -> None:
    """A CSV, an answer of Prometheus and a text log are known by their content; a broken archive is named."""
    sources = case("A02")
    notes = {note.file: note for note in sources.summary.summary(ctx).files}
    roles = {name: note.role for name, note in notes.items()}
    assert roles == {
        "booking.log": "logs",
        "cpu last hour.csv": "metrics",
        "export.zip": None,
        "prom_latency.json": "metrics",
    }
    assert "not a complete archive" in notes["export.zip"].note


def test_a07_spans_of_opentelemetry_are_read(ctx: RunContext) -> None:
    """Services from resources, times from nanoseconds."""
    sources = case("A07")
    assert sources.spans is not None
    spans = sources.spans.spans(ctx, Recording.INCIDENT)
    assert spans.entities == ("booking", "seats", "web")
    assert int((spans.parent >= 0).sum()) == 26


def test_a10_events_of_kubernetes_are_read(ctx: RunContext) -> None:
    """Time, object, reason and message, beside good metrics."""
    sources = case("A10")
    assert {note.role for note in sources.summary.summary(ctx).files} == {"events", "metrics", "topology"}
    assert sources.logs is not None
    page = sources.logs.search(ctx, Recording.INCIDENT, text=None, entities=None, window=None, limit=9)
    assert page.matching > 0
    assert all(": " in line.message and line.entity for line in page.lines)


def test_a11_a_text_log_is_read_and_belongs_to_its_service(ctx: RunContext) -> None:
    """The role of incident.toml works for any file; stack traces are joined to their line."""
    sources = case("A11")
    assert sources.logs is not None
    page = sources.logs.search(
        ctx, Recording.INCIDENT, text=None, entities=["seats-84c-b7"], window=None, limit=99
    )
    assert {line.level for line in page.lines} >= {"INFO", "ERROR"}
    assert sources.topology is not None
    assert sources.topology.owners(ctx)["seats-84c-b7"] == "seats"


def test_a14_parallel_lists_of_times_and_values_are_series(ctx: RunContext) -> None:
    """`booking latency` is `latency` of `booking`."""
    assert {entity for entity, _ in series(case("A14"), ctx)} <= CALLERS


def test_a22b_a_release_belongs_to_its_chart(ctx: RunContext) -> None:
    """`seats-3.5.0` is a release of `seats`."""
    sources = case("A22b")
    assert sources.changes is not None
    (before, last) = sources.changes.changes(ctx, window=None)
    assert (before.entity, last.entity, last.kind) == ("seats", "seats", "deploy")
    assert "seats-3.5.0" in last.summary


def test_a23_a_notification_of_the_alert_manager_is_the_alert(ctx: RunContext) -> None:
    """Service, summary and start."""
    alert = case("A23").summary.summary(ctx).alert
    assert alert.entity == "booking"
    assert alert.summary == "SlowBooking: booking p99 above 0.8 s"
    assert alert.time_s == 1_778_059_920.0


def test_b01_the_two_passes_of_a_repeated_hour_are_distinguished(ctx: RunContext) -> None:
    """Nothing is averaged: the fault of the second pass keeps its full height."""
    sources = case("B01")
    assert sources.metrics is not None
    (seats,) = (one for one in sources.metrics.series(ctx, Recording.INCIDENT) if one.entity == "seats")
    assert len(set(seats.time_s.tolist())) == len(seats.time_s)
    assert float(np.max(np.diff(seats.time_s))) == 120.0
    note = next(note.note for note in sources.summary.summary(ctx).files if note.role == "metrics")
    assert "repeated hour" in note
    assert "averaged" not in note
