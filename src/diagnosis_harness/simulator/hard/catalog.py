"""The table of hard kinds. Rows stay unchanged after figures were published; new kinds get new rows."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from diagnosis_harness.simulator.hard import (
    asking,
    caches,
    clocks,
    courses,
    forms,
    instances,
    loads,
    machines,
    pools,
    queues,
    reaching,
    rollouts,
    sight,
)
from diagnosis_harness.simulator.hard.kind import HardKind, Origin, RecordingTime
from diagnosis_harness.simulator.hard.scene import TruthLevel
from diagnosis_harness.simulator.hard.usual_faults import (
    another_fault,
    eat_processor,
    fail_early,
    fill_memory,
    slow_dependency,
    usual_fault,
)
from diagnosis_harness.simulator.system import Role

_USUAL = (usual_fault,)
_SOUND = (loads.sound_system,)
RAMP = RecordingTime((3000.0, 3600.0), (7200.0, 7800.0), (30.0,))
LEAK = RecordingTime((2700.0, 3300.0), (10_800.0, 11_400.0), (30.0,))
SHORT_STEPS = RecordingTime((3000.0, 4200.0), (1800.0, 2400.0), (15.0, 20.0))
LONG_AFTER = RecordingTime((3000.0, 4200.0), (2700.0, 3300.0))
HOUR_AFTER = RecordingTime((3000.0, 4200.0), (3900.0, 4200.0), (15.0, 20.0))
DAY = RecordingTime((25_200.0, 27_000.0), (900.0, 960.0), (60.0,))

_REVIEW = (
    HardKind("two-faults", "two parts break at the same time, independently", (usual_fault, another_fault)),
    HardKind(
        "service-clocks",
        "the clocks of services are up to 90 s apart",
        _USUAL,
        (clocks.clock_of_each_service,),
    ),
    HardKind(
        "metric-clock",
        "spans are 4 min early or late against the metrics",
        _USUAL,
        (clocks.clock_of_metrics,),
    ),
    HardKind(
        "slow-ramp",
        "a service loses its processor little by little, over 2 h",
        (eat_processor,),
        course=courses.slowly,
        time=RAMP,
    ),
    HardKind(
        "slow-leak", "memory of a service fills up over 3 h", (fill_memory,), course=courses.slowly, time=LEAK
    ),
    HardKind(
        "flapping",
        "the fault is there for 1 min of every 5",
        _USUAL,
        course=courses.on_and_off,
        time=SHORT_STEPS,
    ),
    HardKind("gaps", "40% of all points are missing, and the culprit's first 6 min", _USUAL, (sight.gaps,)),
    HardKind(
        "replaced-pods", "at the onset pods get new names without a history", _USUAL, (forms.replace_pods,)
    ),
    HardKind(
        "innocent-deploy", "another service is deployed 20 s before the onset", (rollouts.innocent_deploy,)
    ),
    HardKind(
        "innocent-deploy-with-shift",
        "the same, and the new version harmlessly needs more memory and processor",
        (rollouts.innocent_deploy_with_shift,),
    ),
    HardKind("untraced-culprit", "the culprit writes no spans", _USUAL, (sight.hide_spans,)),
    HardKind(
        "unmeasured-culprit",
        "the culprit writes neither spans nor metrics nor logs; the topology knows it",
        _USUAL,
        (sight.hide_telemetry,),
        level=TruthLevel.SCOPED,
    ),
    HardKind(
        "unobserved-dependency",
        "a slow dependency that nobody knows, in no file",
        (slow_dependency,),
        (sight.hide_culprit,),
        level=TruthLevel.SCOPED,
    ),
    HardKind("coarse-scrape", "a point every 5 min and no spans", _USUAL, (sight.coarse_scrape,)),
    HardKind("counters", "totals with resets instead of rates and quantiles", _USUAL, (forms.count_up,)),
    HardKind(
        "histograms", "cumulative buckets with resets instead of quantiles", _USUAL, (forms.fill_buckets,)
    ),
    HardKind(
        "logs-and-entry",
        "log lines and the entry's metrics, nothing else",
        _USUAL,
        (sight.logs_and_entry,),
        level=TruthLevel.LOCALISED,
    ),
    HardKind("logs-only", "log lines, nothing else", _USUAL, (sight.logs_only,), level=TruthLevel.LOCALISED),
    HardKind(
        "changes-only",
        "the list of changes, nothing else",
        _USUAL,
        (sight.changes_only,),
        level=TruthLevel.NOTHING,
    ),
    HardKind(
        "stopped-calls",
        "a callee fails, its callers stop before later calls; nobody records errors",
        (fail_early,),
        (sight.without_status,),
    ),
    HardKind(
        "traffic-surge", "1.9 to 3 times the requests, nothing broken", (loads.busy_system,), load=loads.surge
    ),
    HardKind("traffic-drop", "15% of the requests, nothing broken", (loads.quiet_system,), load=loads.drop),
    HardKind(
        "daily-peak",
        "the recording climbs to the peak of the day, nothing broken",
        (loads.busy_system,),
        load=loads.daily_peak,
        time=DAY,
    ),
    HardKind("batch-job", "a job beside a service that nobody notices, nothing broken", (loads.batch_job,)),
    HardKind(
        "noisy-host",
        "a process on a machine slows the tenants of several services",
        (machines.noisy_host,),
        with_machines=True,
    ),
    HardKind(
        "lost-cache",
        "a cache lost its content; the database behind it is loud",
        (caches.lose_cache,),
        needs=Role.CACHE,
    ),
    HardKind(
        "lost-spans",
        "half of all spans are lost from the onset on, nothing broken",
        _SOUND,
        (sight.lose_spans,),
    ),
    HardKind(
        "lost-spans-with-fault",
        "half of all spans are lost from the onset on, beside a usual fault",
        _USUAL,
        (sight.lose_spans,),
    ),
    HardKind(
        "alert-without-fields", "the alert is a time and a sentence", _USUAL, (asking.alert_without_fields,)
    ),
    HardKind(
        "alert-on-stranger",
        "the alert names an entity that no file knows",
        _USUAL,
        (asking.alert_on_a_stranger,),
    ),
    HardKind("onset-early", "the onset is stated 30 min too early", _USUAL, (asking.onset_early,)),
    HardKind(
        "onset-late", "the onset is stated 30 min too late", _USUAL, (asking.onset_late,), time=LONG_AFTER
    ),
    HardKind(
        "alert-late", "the alert fires 25 min after the onset", _USUAL, (asking.alert_late,), time=SHORT_STEPS
    ),
    HardKind(
        "began-before",
        "the recording starts 5 min after the onset",
        _USUAL,
        (clocks.began_before,),
        time=LONG_AFTER,
        level=TruthLevel.NOTHING,
    ),
    HardKind(
        "asked-after",
        "4 min of a fault, then an hour of quiet",
        _USUAL,
        course=courses.briefly,
        time=HOUR_AFTER,
    ),
    HardKind(
        "other-vocabulary", "signals with the names of another house", _USUAL, (forms.other_vocabulary,)
    ),
)

_FIELD = tuple(
    HardKind(name, summary, (breaking,), recorded, origin=Origin.FIELD, needs=needs, with_machines=True)
    for name, summary, breaking, recorded, needs in (
        ("pool-exhausted", "a service's database connections are all in use", pools.exhaust_pool, (), None),
        (
            "lock-contention",
            "one transaction holds the lock that all others need",
            pools.hold_locks,
            (),
            None,
        ),
        ("slow-query", "a migration takes an index away", pools.slow_query, (), None),
        ("disk-full", "the disk of a database fills up, writes fail", pools.fill_disk, (), None),
        ("cpu-quota", "a quota stops a service on idle machines", pools.throttle_processor, (), None),
        (
            "gc-pauses",
            "a nearly full heap is collected again and again",
            instances.pause_for_collections,
            (),
            None,
        ),
        (
            "oom-loop",
            "instances are killed for their memory and start again",
            instances.kill_and_restart,
            (),
            None,
        ),
        ("dns-failure", "the name of a service is often not found", reaching.lose_name, (), None),
        (
            "expired-certificate",
            "nobody trusts a service's certificate any more",
            reaching.expire_certificate,
            (),
            None,
        ),
        (
            "retry-storm",
            "retries keep a service saturated after a hiccup",
            reaching.storm_of_retries,
            (),
            None,
        ),
        (
            "throttled-api",
            "an outside provider refuses what is above a quota",
            reaching.throttle_api,
            (),
            Role.EXTERNAL,
        ),
        (
            "slow-third-party",
            "an outside provider is slow; only its callers' spans show it",
            reaching.slow_provider,
            (sight.hide_telemetry,),
            Role.EXTERNAL,
        ),
        ("queue-backlog", "a worker falls behind; the alert is the queue's", queues.fall_behind, (), None),
        (
            "noisy-network",
            "a neighbour fills the network card of a machine",
            machines.noisy_network,
            (),
            None,
        ),
        (
            "config-change",
            "a configuration leaves a service too few workers",
            rollouts.change_configuration,
            (),
            None,
        ),
        ("feature-flag", "a flag goes on and one operation fails", rollouts.switch_flag, (), None),
        ("bad-instance", "a new version on one of several instances fails", rollouts.roll_out_one, (), None),
    )
)

_HEALTHY = (
    HardKind("healthy-alert", "nothing is wrong, an alert flapped", _SOUND, origin=Origin.HEALTHY),
    HardKind(
        "healthy-onset",
        "nothing is wrong, somebody names a time",
        _SOUND,
        (asking.onset_only,),
        origin=Origin.HEALTHY,
    ),
    HardKind(
        "healthy-question",
        "nothing is wrong, somebody only asks",
        _SOUND,
        (asking.nothing_stated,),
        origin=Origin.HEALTHY,
    ),
)

HARD_KINDS: Mapping[str, HardKind] = MappingProxyType(
    {kind.name: kind for kind in (*_REVIEW, *_FIELD, *_HEALTHY)}
)
"""Every hard kind by name, in the order of the table."""
