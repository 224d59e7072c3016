"""What a platform reports: kinds by the platform's own words, and whether a trouble still lasts."""

from __future__ import annotations

import pytest

from diagnosis_harness.analysis.platform_event import (
    CATALOGUE,
    EventKind,
    EventStanding,
    is_leaving,
    is_working,
    kinds_ended,
    kinds_in_state,
    kinds_of,
)
from diagnosis_harness.analysis.platform_history import EventReport, Occurrence, Snapshot, occurrences
from diagnosis_harness.report.event_words import EVENT_WORDS

END_S = 10_000.0


def test_every_kind_has_a_row_and_words() -> None:
    """A kind without a row could be read but not reported."""
    assert set(CATALOGUE) == set(EVENT_WORDS) == set(EventKind)
    assert all(rule.reasons or rule.message or rule.state for rule in CATALOGUE.values())


@pytest.mark.parametrize(
    ("reason", "message", "kind"),
    [
        ("OOMKilling", "Memory cgroup out of memory: Killed process 4711 (java)", EventKind.OOM_KILLED),
        ("Error", "container app ended with code 137, 4 restarts", EventKind.OOM_KILLED),
        ("Failed", 'Failed to pull image "registry/app:v9": manifest unknown', EventKind.IMAGE_PULL),
        ("ErrImagePull", "rpc error: code = NotFound", EventKind.IMAGE_PULL),
        ("BackOff", 'Back-off pulling image "registry/app:v9"', EventKind.IMAGE_PULL),
        ("BackOff", "Back-off restarting failed container app in pod app-1_shop", EventKind.CRASH_LOOP),
        ("BackOff", "Back-off 5m0s restarting failed container=app", EventKind.CRASH_LOOP),
        ("Failed", 'Error: secret "db-password" not found', EventKind.BAD_CONFIG),
        ("FailedScheduling", "0/5 nodes are available: 5 Insufficient memory.", EventKind.UNSCHEDULABLE),
        ("Evicted", "The node was low on resource: ephemeral-storage.", EventKind.EVICTED),
        ("NodeHasDiskPressure", "Node n1 status is now: NodeHasDiskPressure", EventKind.NODE_PRESSURE),
        ("NodeNotReady", "Node n1 status is now: NodeNotReady", EventKind.NODE_NOT_READY),
        ("FailedMount", 'MountVolume.SetUp failed for volume "data"', EventKind.MOUNT_FAILED),
        (
            "Unhealthy",
            "Readiness probe failed: HTTP probe failed with statuscode: 503",
            EventKind.PROBE_FAILED,
        ),
        (
            "ProgressDeadlineExceeded",
            'ReplicaSet "app-7c" has timed out progressing.',
            EventKind.ROLLOUT_FAILED,
        ),
        ("failover, availability", "Multi-AZ instance failover started.", EventKind.FAILOVER),
        ("failure", "DB instance ran out of storage space.", EventKind.STORAGE_FULL),
        ("low storage", "Free storage is 3% of the allocated storage.", EventKind.STORAGE_LOW),
        ("notification", "FATAL: sorry, too many clients already", EventKind.CONNECTION_LIMIT),
        ("read replica", "replication lag exceeded 600 seconds", EventKind.REPLICATION_LAG),
        ("availability", "DB instance restarted after a crash of the engine", EventKind.RESTARTED),
        (
            "configuration change",
            "Updated parameter work_mem: parameters were changed",
            EventKind.PARAMETERS_CHANGED,
        ),
    ],
)
def test_an_event_is_recognised_by_the_words_of_its_platform(
    reason: str, message: str, kind: EventKind
) -> None:
    """By its reason, or by its text."""
    if kind is EventKind.RESTARTED:  # a complete restart is over at once: it is reported as ended
        assert kind in kinds_ended(f"{reason}: {message}")
    else:
        assert kind in kinds_of(reason, message)


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ("Pulled", 'Container image "app:v9" already present on machine'),
        ("Scheduled", "Successfully assigned shop/app-1 to n1"),
        ("Created", "Created container app"),
        ("backup", "Automated backup finished for DB instance payments."),
        ("maintenance", "The DB instance needs to be rebooted for the changes to take effect."),
        ("Killing", "Stopping container app, exit code 0"),
        ("availability", "Multi-AZ instance failover completed."),
        ("Killing", "Container app failed liveness probe, will be restarted, exit code 137"),
        (None, "all is well"),
    ],
)
def test_what_is_not_trouble_is_of_no_kind(reason: str | None, message: str) -> None:
    """Neither what belongs to every day, nor what ends a trouble."""
    assert not {EventKind.OOM_KILLED, EventKind.FAILOVER, EventKind.IMAGE_PULL, EventKind.RESTARTED} & set(
        kinds_of(reason, message)
    )


@pytest.mark.parametrize(
    ("message", "works", "leaves"),
    [
        ('pod phase=Running containers=[{"ready": true}]', True, False),
        ('pod phase=Running containers=[{"ready": false}]', False, False),
        ("Running: 2/2 ready, 0 restarts", True, False),
        ("Running: 1/2 ready, 9 restarts", False, False),
        ("deployment desired=3 unavailable=0", True, False),
        ("deployment desired=3 unavailable=2", False, False),
        ("pod phase=Running deletion_timestamp=2026-04-18T09:38:00Z", True, True),
        ("Terminating: 0/1 ready, 2 restarts", False, True),
        ("pod phase=Running deletion_timestamp=None", True, False),
        ("monitor latency is OK", None, False),
    ],
)
def test_a_snapshot_says_whether_an_object_works(message: str, works: bool | None, leaves: bool) -> None:
    """And whether it is being taken away; None where it does not say."""
    assert (is_working(message), is_leaving(message)) == (works, leaves)


def test_a_snapshot_shows_a_kind_while_it_lasts() -> None:
    """Of a node its conditions, of a pod what its container waits for."""
    assert EventKind.NODE_PRESSURE in kinds_in_state("node ready=True memory_pressure=True")
    assert kinds_in_state("node ready=True memory_pressure=False disk_pressure=False") == ()
    assert EventKind.IMAGE_PULL in kinds_in_state('pod state={"reason": "ImagePullBackOff"}')


def a_kill(count: int = 1, *, first_s: float, last_s: float, entity: str = "app-1") -> EventReport:
    """A container that ran out of memory."""
    return EventReport(entity, "OOMKilling", "out of memory", count, first_s, last_s)


def only(found: tuple[Occurrence, ...], kind: EventKind) -> Occurrence:
    """The one occurrence of a kind."""
    (one,) = [each for each in found if each.kind is kind]
    return one


@pytest.mark.parametrize(
    ("report", "snapshot", "standing"),
    [
        (a_kill(first_s=9_900, last_s=9_900), None, EventStanding.CURRENT),  # a moment ago
        (a_kill(first_s=5_000, last_s=5_000), None, EventStanding.OVER),  # once, long ago
        (
            a_kill(9, first_s=1_000, last_s=9_000),
            None,
            EventStanding.CURRENT,
        ),  # every 1,000 s: not overdue yet
        (a_kill(9, first_s=1_000, last_s=5_000), None, EventStanding.OVER),
        (
            a_kill(first_s=9_900, last_s=9_900),
            'phase=Running containers=[{"ready": true}]',
            EventStanding.OVER,
        ),
        # Between two kills of every 1,000 s it always works: that is no recovery.
        (a_kill(9, first_s=1_900, last_s=9_900), "Running: 1/1 ready, 9 restarts", EventStanding.CURRENT),
        (
            a_kill(first_s=5_000, last_s=5_000),
            "CrashLoopBackOff: last state OOMKilled",
            EventStanding.CURRENT,
        ),
        (a_kill(first_s=9_990, last_s=9_990), "Terminating: 0/1 ready, OOMKilled", EventStanding.OVER),
    ],
)
def test_the_snapshot_and_the_repetition_tell_current_from_over(
    report: EventReport, snapshot: str | None, standing: EventStanding
) -> None:
    """In that order."""
    shown = [] if snapshot is None else [Snapshot("app-1", END_S - 5.0, snapshot)]
    assert only(occurrences([report], shown, end_s=END_S), EventKind.OOM_KILLED).standing is standing


def test_what_lasts_is_over_only_when_something_ends_it() -> None:
    """A full disk is full until somebody extends it."""
    full = EventReport("db", "failure", "DB instance ran out of storage space.", 1, 1_000.0, 1_000.0)
    more = EventReport("db", "notification", "Allocated storage was increased.", 1, 2_000.0, 2_000.0)
    other = EventReport("db-2", "notification", "Allocated storage was increased.", 1, 2_000.0, 2_000.0)
    for ends, standing in (
        ((), EventStanding.CURRENT),
        ((more,), EventStanding.OVER),
        ((other,), EventStanding.CURRENT),
    ):
        found = occurrences([full, *ends], (), end_s=END_S)
        assert only(found, EventKind.STORAGE_FULL).standing is standing


def test_a_crash_loop_keeps_its_last_end_current() -> None:
    """What ended the container last is why it waits, also where the snapshot does not repeat it."""
    loop = Snapshot("app-1", END_S, "CrashLoopBackOff: container app: back-off 5m0s")
    found = occurrences([a_kill(first_s=8_000, last_s=8_000)], [loop], end_s=END_S)
    assert only(found, EventKind.OOM_KILLED).standing is EventStanding.CURRENT
    found = occurrences([a_kill(first_s=1_000, last_s=1_000)], [loop], end_s=END_S)
    assert only(found, EventKind.OOM_KILLED).standing is EventStanding.OVER  # of another trouble than today's


def test_what_lasts_comes_first_and_counts_are_added() -> None:
    """Faults before symptoms before notes."""
    found = occurrences(
        [
            EventReport("app-2", "Unhealthy", "Readiness probe failed", 4, 9_000.0, 9_990.0),
            a_kill(2, first_s=9_000, last_s=9_500),
            a_kill(3, first_s=8_000, last_s=9_900),
            EventReport("node", "NodeNotReady", "status is now: NodeNotReady", 1, 100.0, 100.0),
            EventReport("node", "NodeReady", "Node node status is now: NodeReady", 1, 160.0, 160.0),
        ],
        (),
        end_s=END_S,
    )
    assert [(one.kind, one.count, one.standing) for one in found] == [
        (EventKind.OOM_KILLED, 5, EventStanding.CURRENT),
        (EventKind.PROBE_FAILED, 4, EventStanding.CURRENT),
        (EventKind.NODE_NOT_READY, 1, EventStanding.OVER),
    ]
    assert (found[0].first_s, found[0].last_s) == (8_000.0, 9_900.0)
