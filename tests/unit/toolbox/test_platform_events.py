"""The tool that says what a platform reported, over memory and over files as platforms write them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tests.unit.toolbox.test_tools import call

from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.window import parse_utc
from diagnosis_harness.testing.sources import InMemorySources
from diagnosis_harness.toolbox.catalog import build_tools
from diagnosis_harness.toolbox.ports import LogLine, PlatformState, ReportedEvent, Sources
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind

KILLS = ReportedEvent("app-1", "OOMKilling", "out of memory: killed process 7", 100.0, 900.0, 3)
HEALTHY = PlatformState("app-2", 1_000.0, "Running: 1/1 ready, 0 restarts")


def items_over(ctx: RunContext, sources: Sources) -> tuple[EvidenceItem, ...]:
    """The items over any source."""
    tool = next(tool for tool in build_tools(sources) if tool.spec.name == "platform_events")
    return tool.run(ctx, {}).items


def test_a_kill_is_an_item_with_its_count_window_and_standing(ctx: RunContext) -> None:
    """Typed, of its object, with the service that it is a part of."""
    sources = InMemorySources(platform_events=(KILLS,), platform_states=(HEALTHY,), part_of={"app-1": "app"})
    (item,) = call(ctx, sources, "platform_events").items
    assert (item.kind, item.entity, item.signal, item.value) == (
        ItemKind.PLATFORM_EVENT, "app-1", "OOMKilled", 3.0,
    )  # fmt: skip
    assert item.window is not None
    assert (item.window.start_s, item.window.end_s, item.onset_s) == (100.0, 900.0, 100.0)
    assert item.attributes["state"] == "current"
    assert item.attributes["owner"] == "app"
    assert (item.attributes["severity"], item.attributes["fault_kind"], item.attributes["bad"]) == (
        "fault", "MEMORY", True,
    )  # fmt: skip


def test_entity_and_window_narrow(ctx: RunContext) -> None:
    """A service holds its instances; a window holds what was seen inside it."""
    other = ReportedEvent("db", "failure", "ran out of storage space", 2_000.0, 2_000.0)
    sources = InMemorySources(platform_events=(KILLS, other), part_of={"app-1": "app"})
    assert [i.entity for i in call(ctx, sources, "platform_events", entity="app").items] == ["app-1"]
    assert [i.entity for i in call(ctx, sources, "platform_events", start=1_500.0).items] == ["db"]
    assert [i.entity for i in call(ctx, sources, "platform_events", end=1_500.0).items] == ["app-1"]


def test_without_a_platform_it_says_so(ctx: RunContext) -> None:
    """Which is no absence of events."""
    found = call(ctx, InMemorySources(log_lines=(LogLine(1.0, "a", "INFO", "x"),)), "platform_events")
    assert (found.items, found.note) == ((), "the source has no events or states of a platform")


def test_text_of_a_platform_is_one_bounded_line(ctx: RunContext) -> None:
    """It is foreign text: line ends and marks of direction in it do nothing."""
    event = ReportedEvent("app-1", "OOMKilling", "out of memory\n\u202e" + "x" * 5_000, 1.0, 1.0)
    (item,) = call(ctx, InMemorySources(platform_events=(event,)), "platform_events").items
    assert "\n" not in item.line
    assert "\u202e" not in item.line
    assert len(item.line) < 400


def event(reason: str, message: str, *, name: str, count: int, first: str, last: str) -> dict[str, object]:
    """One event as the interface of Kubernetes writes it."""
    return {
        "kind": "Event",
        "type": "Warning",
        "reason": reason,
        "message": message,
        "count": count,
        "firstTimestamp": first,
        "lastTimestamp": last,
        "involvedObject": {"kind": "Pod", "name": name},
    }


def pod(
    name: str, state: Mapping[str, object], last: Mapping[str, object] | None = None
) -> dict[str, object]:
    """One pod as the interface of Kubernetes writes it."""
    status = {"name": "app", "restartCount": 4, "state": state, "lastState": last or {}}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "creationTimestamp": "2026-01-05T09:00:00Z"},
        "status": {
            "phase": "Running",
            "startTime": "2026-01-05T09:00:00Z",
            "conditions": [{"type": "Ready", "lastTransitionTime": "2026-01-05T10:05:00Z"}],
            "containerStatuses": [status],
        },
    }


def write(folder: Path, name: str, *items: dict[str, object]) -> None:
    """A list as `kubectl get -o json` prints it."""
    (folder / name).write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")


def test_events_of_kubectl_keep_reason_count_and_times(ctx: RunContext, tmp_path: Path) -> None:
    """As a file holds them, not as their line in a search does."""
    pull = event(
        "Failed", 'Failed to pull image "app:v9": manifest unknown', name="app-6c4ab5d9c-x7gr9",
        count=7, first="2026-01-05T10:01:00Z", last="2026-01-05T10:04:00Z",
    )  # fmt: skip
    write(tmp_path, "events.json", pull)
    (item,) = items_over(ctx, open_incident_folder(tmp_path))
    assert (item.signal, item.value, item.attributes["reason"]) == ("ImagePullBackOff", 7.0, "Failed")
    assert item.window is not None
    assert item.window.start_s == parse_utc("2026-01-05T10:01:00Z")
    assert item.window.end_s == parse_utc("2026-01-05T10:04:00Z")


def test_a_container_that_was_killed_and_runs_again_is_over(ctx: RunContext, tmp_path: Path) -> None:
    """Its last state is a past one; one that waits for its next start is not."""
    ended = {"terminated": {"reason": "OOMKilled", "exitCode": 137, "finishedAt": "2026-01-05T10:02:00Z"}}
    write(
        tmp_path,
        "pods.json",
        pod("again-6c4ab5d9c-aaaaa", {"running": {"startedAt": "2026-01-05T10:02:10Z"}}, ended),
        pod(
            "loop-6c4ab5d9c-bbbbb", {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}, ended
        ),
    )
    found = {
        (i.entity, i.signal): i.attributes["state"] for i in items_over(ctx, open_incident_folder(tmp_path))
    }
    assert found["again-6c4ab5d9c-aaaaa", "OOMKilled"] == "over"
    assert found["loop-6c4ab5d9c-bbbbb", "CrashLoopBackOff"] == "current"
    assert found["loop-6c4ab5d9c-bbbbb", "OOMKilled"] == "current"


def test_events_of_a_plain_table_are_read_too(ctx: RunContext, tmp_path: Path) -> None:
    """A role that a file's name gives, with columns of the usual names."""
    (tmp_path / "events.csv").write_text(
        "time,entity,reason,message,count,first\n"
        "2026-01-05T10:10:00Z,orders-db,failure,DB ran out of storage space.,2,2026-01-05T10:00:00Z\n",
        encoding="utf-8",
    )
    (item,) = items_over(ctx, open_incident_folder(tmp_path))
    assert (item.entity, item.signal, item.value) == ("orders-db", "storage-full", 2.0)
    assert item.window is not None
    assert item.window.duration_s == 600.0
