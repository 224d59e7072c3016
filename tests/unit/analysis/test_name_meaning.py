"""What a signal's name says."""

from __future__ import annotations

import pytest

from diagnosis_harness.analysis.meaning import SignalKind, SignalSide
from diagnosis_harness.analysis.name_meaning import meaning_of
from diagnosis_harness.analysis.signal_words import words_of


@pytest.mark.parametrize(
    ("signal", "unit", "kind", "harmful"),
    [
        ("latency_p90", "s", SignalKind.LATENCY, 1),
        ("PodServerLatencyP95(s)", None, SignalKind.LATENCY, 1),
        ("http_request_duration_seconds", None, SignalKind.LATENCY, 1),
        ("http_request_duration_seconds_count", None, SignalKind.TRAFFIC, 0),
        ("response_time", "ms", SignalKind.LATENCY, 1),
        ("p99", "ms", SignalKind.LATENCY, 1),
        ("error_rate", "ratio", SignalKind.ERRORS, 1),
        ("http_5xx", None, SignalKind.ERRORS, 1),
        ("tcp_retransmits", None, SignalKind.ERRORS, 1),
        ("availability_Average", "percent", SignalKind.AVAILABILITY, -1),
        ("SuccessRate(%)", None, SignalKind.AVAILABILITY, -1),
        ("cpu_percent", "percent", SignalKind.CPU, 1),
        ("%user", "percent", SignalKind.CPU, 1),
        ("sys_pct", "percent", SignalKind.CPU, 1),
        ("%idle", "percent", SignalKind.CPU, -1),
        ("active_user_percent", "percent", SignalKind.SATURATION, 1),
        ("container_cpu_throttled", None, SignalKind.CPU, 1),
        ("memory_bytes", "bytes", SignalKind.MEMORY, 1),
        ("jvm_heap_used", "bytes", SignalKind.MEMORY, 1),
        ("queue_length", None, SignalKind.QUEUE, 1),
        ("requests_per_s", "1/s", SignalKind.TRAFFIC, 0),
        ("NetworkReceiveBytes", None, SignalKind.TRAFFIC, 0),
        ("temperature", "C", SignalKind.OTHER, 0),
    ],
)
def test_kind_and_harm_follow_from_the_name(
    signal: str, unit: str | None, kind: SignalKind, harmful: int
) -> None:
    """Names in three styles of writing are understood alike."""
    meaning = meaning_of(signal, unit)
    assert (meaning.kind, meaning.harmful) == (kind, harmful)


@pytest.mark.parametrize(
    ("signal", "kind", "harmful"),
    [
        ("rpc_server_cancelled_rate", SignalKind.TRAFFIC, 0),
        ("http.server.requests.canceled", SignalKind.TRAFFIC, 0),
        ("nginx_responses_499_total", SignalKind.TRAFFIC, 0),
        ("inbound_cancellations", SignalKind.TRAFFIC, 0),
        ("rpc_client_cancelled_rate", SignalKind.ERRORS, 1),
        ("server_aborted_rate", SignalKind.ERRORS, 1),
        ("jobs_cancelled_total", SignalKind.ERRORS, 1),
        ("http_server_498_total", SignalKind.ERRORS, 1),
    ],
)
def test_callers_that_gave_up_are_not_a_failure_of_the_server_that_counts_them(
    signal: str, kind: SignalKind, harmful: int
) -> None:
    """Where it is slow its latency says so; where their patience is short they are to blame."""
    meaning = meaning_of(signal, None)
    assert (meaning.kind, meaning.harmful) == (kind, harmful)


def test_camel_case_and_quantiles_are_split() -> None:
    """A capital P with its digits stays one word."""
    assert words_of("PodClientLatencyP90(s)") == ("pod", "client", "latency", "p90", "s")


def test_signals_of_outgoing_calls_are_distinguished() -> None:
    """What a client sees may be the fault of the callee."""
    assert meaning_of("client_latency_p90", "s").side is SignalSide.OUTGOING
    assert meaning_of("latency_p90", "s").side is SignalSide.OWN


def test_the_machine_beneath_is_not_a_resource_of_its_tenant() -> None:
    """A host's CPU, reported for a pod, is kept, as the host's."""
    meaning = meaning_of("node_cpu_percent", "percent", entity="cart-7d9f")
    assert (meaning.kind, meaning.side) == (SignalKind.CPU, SignalSide.HOST)


def test_the_machine_s_own_series_is_its_resource() -> None:
    """The same signal of a host itself is its own."""
    assert meaning_of("node_cpu_percent", "percent", entity="node-3").side is SignalSide.OWN
    assert meaning_of("node_load1", None, entity="node-3").side is SignalSide.OWN
