"""Every source of telemetry obeys the contract of the ports that it implements."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.source_contract import (
    CHANGE_CHECKS,
    LOG_CHECKS,
    METRIC_CHECKS,
    SPAN_CHECKS,
    TOPOLOGY_CHECKS,
    recording,
    write_recording,
)

from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.toolbox.ports import (
    ChangeSource,
    LogSource,
    MetricSource,
    Sources,
    SpanSource,
    TopologySource,
)

OpenRecording = Callable[[Path], Sources]


def open_folder(path: Path) -> Sources:
    """The recording in an incident folder with a baseline."""
    write_recording(path / "incident", path / "baseline")
    return open_incident_folder(path / "incident", baseline=path / "baseline")


def open_memory(path: Path) -> Sources:
    """The recording in memory."""
    del path
    return recording().sources()


@pytest.fixture
def ctx() -> RunContext:
    """A run that is not over."""
    return Rig().run()


@pytest.fixture(params=[open_folder, open_memory], ids=["folder", "memory"])
def sources(request: pytest.FixtureRequest, tmp_path: Path) -> Sources:
    """The recording behind each implementation."""
    opened: OpenRecording = request.param
    return opened(tmp_path)


@pytest.mark.parametrize("check", METRIC_CHECKS, ids=lambda check: check.__name__)
def test_metrics_obey_the_contract(
    check: Callable[[MetricSource, RunContext], None], sources: Sources, ctx: RunContext
) -> None:
    """One check of the metric port."""
    assert sources.metrics is not None
    check(sources.metrics, ctx)


@pytest.mark.parametrize("check", SPAN_CHECKS, ids=lambda check: check.__name__)
def test_spans_obey_the_contract(
    check: Callable[[SpanSource, RunContext], None], sources: Sources, ctx: RunContext
) -> None:
    """One check of the span port."""
    assert sources.spans is not None
    check(sources.spans, ctx)


@pytest.mark.parametrize("check", LOG_CHECKS, ids=lambda check: check.__name__)
def test_logs_obey_the_contract(
    check: Callable[[LogSource, RunContext], None], sources: Sources, ctx: RunContext
) -> None:
    """One check of the log port."""
    assert sources.logs is not None
    check(sources.logs, ctx)


@pytest.mark.parametrize("check", TOPOLOGY_CHECKS, ids=lambda check: check.__name__)
def test_topology_obeys_the_contract(
    check: Callable[[TopologySource, RunContext], None], sources: Sources, ctx: RunContext
) -> None:
    """One check of the topology port."""
    assert sources.topology is not None
    check(sources.topology, ctx)


@pytest.mark.parametrize("check", CHANGE_CHECKS, ids=lambda check: check.__name__)
def test_changes_obey_the_contract(
    check: Callable[[ChangeSource, RunContext], None], sources: Sources, ctx: RunContext
) -> None:
    """One check of the change port."""
    assert sources.changes is not None
    check(sources.changes, ctx)
