"""What command lines and build servers print: states, events and changes, each at its own time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.support.described_objects import APPLICATION, NODE, POD
from tests.support.export_samples import ARGO_HISTORY, GITLAB_JOB, JENKINS_BUILD, REPLICA_SET

from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.toolbox.ports import Sources

OpenFolder = Callable[[Mapping[str, str | bytes]], Sources]
WriteFolder = Callable[..., Path]
RefuseFolder = Callable[[Mapping[str, str | bytes]], InvalidInput]
POD_NAME = "cart-7d9c6b8f5d-x2k4q"


def clock(time_s: float) -> str:
    """The time of day."""
    return f"{datetime.fromtimestamp(time_s, UTC):%H:%M:%S}"


def test_a_described_pod_tells_how_its_container_ended(open_folder: OpenFolder, ctx: RunContext) -> None:
    """With its limits, as the JSON of the same pod does; the pod is a part of its deployment."""
    sources = open_folder({"pod.txt": POD})

    assert sources.platform is not None
    found = [(clock(one.time_s), one.entity, one.message) for one in sources.platform.states(ctx)]
    assert sorted(found) == [
        ("09:31:12", POD_NAME, "CrashLoopBackOff: container cart:"),
        (
            "09:31:12",
            POD_NAME,
            "OOMKilled: container cart ended with code 137, 6 restarts, limits: cpu 500m, memory 256Mi",
        ),
    ]
    assert sources.topology is not None
    assert sources.topology.owners(ctx)[POD_NAME] == "cart"


def test_ages_of_events_are_counted_from_the_times_in_the_text(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """The pod was scheduled at its start: how old that is tells when the description was printed."""
    sources = open_folder({"pod.txt": POD})

    assert sources.platform is not None
    events = {one.reason: one for one in sources.platform.events(ctx)}
    assert clock(events["Scheduled"].last_s) == "09:14:02"
    back_off = events["BackOff"]
    assert (clock(back_off.first_s), clock(back_off.last_s), back_off.count) == ("09:22:47", "09:31:32", 22)


def test_a_described_node_tells_its_conditions(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Ready is well where it is true, pressure where it is not; an empty cell moves no other."""
    sources = open_folder({"node.txt": NODE})

    assert sources.platform is not None
    text = "KubeletHasInsufficientMemory: MemoryPressure is True: kubelet has insufficient memory available"
    states = {one.message: clock(one.time_s) for one in sources.platform.states(ctx)}
    assert states[text] == "09:21:00"
    assert [one.reason for one in sources.platform.events(ctx)] == [
        "EvictionThresholdMet",
        "NodeHasInsufficientMemory",
    ]


def test_several_objects_in_one_description_are_told_apart(open_folder: OpenFolder, ctx: RunContext) -> None:
    """As `kubectl describe pods` prints them, one below the other."""
    sources = open_folder({"pods.txt": POD + "\n\n" + POD.replace("x2k4q", "zzzzz")})

    assert sources.platform is not None
    assert {one.entity for one in sources.platform.states(ctx)} == {POD_NAME, "cart-7d9c6b8f5d-zzzzz"}


GH_RUN = {
    "displayTitle": "Reports", "createdAt": "2026-05-06T08:39:00Z", "name": "Deploy", "status": "completed",
    "url": "https://github.com/shop/cart/actions/runs/3",
}  # fmt: skip
DEPLOYMENT = {
    "sha": "a" * 40, "ref": "v2", "environment": "production", "created_at": "2026-05-06T08:39:00Z",
    "url": "https://api.github.com/repos/shop/cart/deployments/1",
}  # fmt: skip
CHANGES = [
    (
        "cart.txt",
        ARGO_HISTORY,
        ["10:01:12 cart sync 0 of HEAD (a1b2c3d)", "08:38:40 cart sync 1 of HEAD (9f8e7d6)"],
    ),
    (
        "seen.txt",
        APPLICATION,
        ["09:28:40 cart sync of 9f8e7d6c5b4a Succeeded successfully synced (all tasks run)"],
    ),
    ("sets.json", json.dumps(REPLICA_SET), ["08:38:00 cart revision 14: registry/cart:v2"]),
    (
        "done.json",
        json.dumps([GITLAB_JOB]),
        ["08:39:00 cart job deploy_prod main success 0ff3ae19 Move reports"],
    ),
    ("one.json", json.dumps([JENKINS_BUILD]), ["08:39:00 cart deploy-cart #412 SUCCESS"]),
    ("list.json", json.dumps([GH_RUN]), ["08:39:00 cart Deploy completed Reports"]),
    (
        "github.json",
        json.dumps([DEPLOYMENT]),
        ["08:39:00 cart deployment of v2 aaaaaaaaaaaa to production"],
    ),
]


@pytest.mark.parametrize(("name", "text", "expected"), CHANGES)
def test_lists_of_deploys_and_builds_are_changes(
    name: str, text: str, expected: list[str], open_folder: OpenFolder, ctx: RunContext
) -> None:
    """Each at its own time, of the service that its job, repository or application is named after."""
    sources = open_folder({name: text})

    assert sources.changes is not None
    found = sources.changes.changes(ctx, window=None)
    assert [f"{clock(one.time_s)} {one.entity} {one.summary}" for one in found] == expected


def test_an_application_tells_how_its_resources_are(open_folder: OpenFolder, ctx: RunContext) -> None:
    """A heading that begins with another one does not move a column."""
    sources = open_folder({"seen.txt": APPLICATION})

    assert sources.platform is not None
    states = {one.message: one.entity for one in sources.platform.states(ctx)}
    assert states["Degraded: Deployment deployment.apps/cart configured"] == "cart"


def test_an_application_whose_resources_have_no_messages_is_read(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """The table ends with its last heading."""
    cut = [line.partition("  HOOK")[0].partition("  service/")[0] for line in APPLICATION.splitlines()]
    text = "\n".join(line.partition("  deployment.apps/")[0].rstrip() for line in cut) + "\n"
    assert "HEALTH" in text
    assert "MESSAGE" not in text

    sources = open_folder({"seen.txt": text})

    assert sources.platform is not None
    states = {one.message: one.entity for one in sources.platform.states(ctx)}
    assert states["Degraded: Deployment"] == "cart"


def test_revisions_without_a_time_are_refused_with_what_has_one(refuse_folder: RefuseFolder) -> None:
    """The remedy is read by the reader of replica sets, above."""
    text = "deployment.apps/cart\nREVISION  CHANGE-CAUSE\n13        <none>\n14        set image\n"

    assert "save `kubectl get replicasets -o json` instead" in str(refuse_folder({"rollout.txt": text}))


def test_states_without_a_time_are_refused_and_the_remedy_works(
    open_folder: OpenFolder, refuse_folder: RefuseFolder, ctx: RunContext
) -> None:
    """A column of times and a name for what it holds are all that it takes."""
    rows = ["pod,status,restarts", "cart-0,CrashLoopBackOff,6", "web-0,Running,0"]
    refused = refuse_folder({"pods.csv": "\n".join(rows)})
    assert refused.problem == "it holds states (column 'status'), and no column says when they were so"

    timed = [f"{'time' if at == 0 else '2026-05-06T08:40:00Z'},{row}" for at, row in enumerate(rows)]
    sources = open_folder({"states-pods.csv": "\n".join(timed)})

    assert sources.platform is not None
    found = sources.platform.states(ctx)
    assert sorted((one.entity, one.message) for one in found) == [
        ("cart-0", "CrashLoopBackOff"),
        ("web-0", "Running"),
    ]


_EVENT_TABLE = """\
LAST SEEN   TYPE      REASON      OBJECT                          MESSAGE
9m15s       Warning   BackOff     pod/cart-7d9c6b8f5d-x2k4q       Back-off restarting failed container
40m         Normal    Scheduled   pod/cart-7d9c6b8f5d-x2k4q       Successfully assigned shop/cart
"""
_POD_TABLE = """\
NAME                    READY   STATUS             RESTARTS   AGE
cart-7d9c6b8f5d-x2k4q   0/1     CrashLoopBackOff   6          3d
"""
_RECORDED = "time,entity,signal,value\n" + "".join(
    f"2026-05-06T09:{at:02}:00Z,cart,latency_ms,{at}\n" for at in range(41)
)
_END_S = datetime(2026, 5, 6, 9, 40, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("written_s", "end", "told"),
    [
        (_END_S + 30 * 86_400, "09:40:00", "since the file's own date lies days after it"),
        (_END_S + 3_600, "10:40:00", "from when the file was written"),
    ],
)
def test_ages_in_a_copied_file_are_counted_from_the_end_of_the_other_files(
    written_s: float, end: str, told: str, write_folder: WriteFolder, ctx: RunContext
) -> None:
    """Copying dates a file anew; only a date far after all others is one of a copy, and the note says so."""
    folder = write_folder({"metrics.csv": _RECORDED, "events.txt": _EVENT_TABLE, "pods.txt": _POD_TABLE})
    for name in ("events.txt", "pods.txt"):
        os.utime(folder / name, (written_s, written_s))

    sources = open_incident_folder(folder)

    assert sources.platform is not None
    (state,) = sources.platform.states(ctx)
    assert clock(state.time_s) == end
    last = {one.message.partition(":")[0]: one.last_s for one in sources.platform.events(ctx)}
    assert state.time_s - last["BackOff"] == 9 * 60 + 15
    notes = {one.file: one.note for one in sources.summary.summary(ctx).files}
    assert all(told in notes[name] for name in ("events.txt", "pods.txt"))
