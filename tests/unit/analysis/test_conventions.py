"""The table of conventions, and how names are judged that it does not hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from dev.names.measure import (
    DOCUMENTED,
    OTHERS,
    RIGHT_LEAST,
    WRONG_SIGN_MOST,
    judge_names,
    leave_one_out,
    names_by_label,
)

from diagnosis_harness.analysis.conventions import convention_rows, load_conventions
from diagnosis_harness.analysis.meaning import (
    RESOURCES,
    SYMPTOMS,
    SignalForm,
    SignalKind,
    SignalMeaning,
    SignalSide,
)
from diagnosis_harness.analysis.name_meaning import meaning_of
from diagnosis_harness.analysis.signal_words import words_of


def test_exporters_left_out_of_the_table_are_judged_by_the_rest_and_by_words() -> None:
    """Every exporter without its own rows: nine of ten right, hardly any with the wrong sign."""
    figures = leave_one_out()
    assert figures.names > 250
    assert figures.right_share >= RIGHT_LEAST, figures
    assert figures.wrong_sign_share <= WRONG_SIGN_MOST, figures.wrong_sign


def test_names_of_exporters_outside_the_table_are_judged_as_well() -> None:
    """None of them has a row; their directions were written down before they were judged."""
    figures = judge_names(OTHERS)
    assert figures.names > 100
    assert figures.right_share >= RIGHT_LEAST, figures
    assert figures.wrong_sign_share <= WRONG_SIGN_MOST, figures.wrong_sign


def test_names_that_no_rule_was_written_for_hardly_ever_get_the_wrong_sign() -> None:
    """For a product that the rules were not written for, more is unknown; a wrong direction stays as rare."""
    figures = judge_names(DOCUMENTED)
    assert figures.names > 90
    assert figures.wrong_sign_share <= WRONG_SIGN_MOST, figures.wrong_sign


def test_the_published_figures_are_the_measured_ones() -> None:
    """docs/benchmarks.md says what the command says today."""
    page = (Path(__file__).parents[3] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    for title, one in (
        ("one exporter of the table at a time", leave_one_out()),
        ("exporters outside the table", judge_names(OTHERS)),
        ("two whole pages of documentation, after the rules", judge_names(DOCUMENTED)),
    ):
        assert f"| {title} | {one.names} | {one.right_share:.3f} | {one.wrong_sign_share:.3f} |" in page
    assert f"{len(names_by_label())} names whose meaning a label decides" in page


def test_rows_that_a_label_decides_are_few_and_not_counted() -> None:
    """They are listed; the rest of the table is at least four fifths of it."""
    listed = names_by_label()
    names = {row.name for row in convention_rows()}
    assert "node_cpu_seconds_total" in listed
    assert len(listed) < len(names) / 5


def test_every_row_is_found_by_its_own_name() -> None:
    """Each name without a label means what its row says."""
    labelled = frozenset(names_by_label())
    for row in convention_rows():
        if row.name not in labelled:
            assert meaning_of(row.name, None) == row.meaning, row.name


def test_a_row_s_direction_fits_its_kind() -> None:
    """Nothing that is a limit, traffic or information does harm; a symptom always does."""
    for row in convention_rows():
        if row.meaning.kind in {SignalKind.LIMIT, SignalKind.TRAFFIC, SignalKind.INFO}:
            assert row.meaning.harmful == 0, row.name
        if row.meaning.kind in SYMPTOMS:
            assert row.meaning.harmful != 0, row.name


@pytest.mark.parametrize(
    ("name", "kind", "harmful"),
    [
        ("http.server.request.duration", SignalKind.LATENCY, 1),
        ("http_server_request_duration_seconds_p99", SignalKind.LATENCY, 1),
        ("http_server_request_duration_seconds_bucket", SignalKind.TRAFFIC, 0),
        ("http_server_request_duration_seconds_count", SignalKind.TRAFFIC, 0),
        ("http_server_request_duration_seconds_sum", SignalKind.TRAFFIC, 0),
        ("http_server_request_duration_seconds_per_second", SignalKind.TRAFFIC, 0),
        ("jvm.memory.used", SignalKind.MEMORY, 1),
        ("jvm.memory.limit", SignalKind.LIMIT, 0),
        ("CPUUtilization_Average", SignalKind.CPU, 1),
        ("CPUUtilization Maximum", SignalKind.CPU, 1),
        ("shop_hikaricp_connections_pending", SignalKind.POOL, 1),
        ("aws_rds_freeable_memory_average", SignalKind.MEMORY, -1),
        ("redis_evicted_keys_per_second", SignalKind.MEMORY, 1),
    ],
)
def test_a_name_is_found_in_the_styles_of_practice(name: str, kind: SignalKind, harmful: int) -> None:
    """Dots, capitals, statistics, units and a namespace before it."""
    meaning = meaning_of(name, None)
    assert (meaning.kind, meaning.harmful) == (kind, harmful)


@pytest.mark.parametrize(
    ("name", "kind", "harmful"),
    [
        ("node_cpu_seconds_total{mode=idle}", SignalKind.CPU, -1),
        ("node_cpu_seconds_total{mode=user}", SignalKind.CPU, 1),
        ("node_cpu_seconds_total{mode=iowait}", SignalKind.DISK, 1),
        ('http_requests_total{code="503",path="/pay"}', SignalKind.ERRORS, 1),
        ("http_requests_total{code=200}", SignalKind.TRAFFIC, 0),
        ("orders_total{status=failed}", SignalKind.ERRORS, 1),
        ("orders_total{status=paid}", SignalKind.TRAFFIC, 0),
        ("mongodb_ss_connections{conn_type=available}", SignalKind.POOL, -1),
    ],
)
def test_a_label_decides_where_the_name_cannot(name: str, kind: SignalKind, harmful: int) -> None:
    """In the table by its row, elsewhere by the words of labels that say what is counted."""
    meaning = meaning_of(name, None)
    assert (meaning.kind, meaning.harmful) == (kind, harmful)


@pytest.mark.parametrize(
    ("name", "kind", "harmful"),
    [
        ("disk_free_percent", SignalKind.DISK, -1),
        ("cpu_idle", SignalKind.CPU, -1),
        ("mem_free", SignalKind.MEMORY, -1),
        ("MemFree", SignalKind.MEMORY, -1),
        ("FreeStorageSpace", SignalKind.DISK, -1),
        ("error_budget_remaining", SignalKind.AVAILABILITY, -1),
        ("error_budget_burn_rate", SignalKind.ERRORS, 1),
        ("UnHealthyHostCount", SignalKind.ERRORS, 1),
        ("not_ready", SignalKind.ERRORS, 1),
        ("replicas_unavailable", SignalKind.ERRORS, 1),
        ("cache_hit_ratio", SignalKind.EFFICIENCY, -1),
        ("cache_hits_total", SignalKind.TRAFFIC, 0),
        ("panic_count", SignalKind.ERRORS, 1),
        ("401_ratio", SignalKind.ERRORS, 1),
        ("status_5xx_ratio", SignalKind.ERRORS, 1),
        ("servfail_ratio", SignalKind.ERRORS, 1),
        ("rt_p90", SignalKind.LATENCY, 1),
        ("qps", SignalKind.TRAFFIC, 0),
        ("connections_max", SignalKind.LIMIT, 0),
        ("memory_limit_bytes", SignalKind.LIMIT, 0),
        ("queue_capacity", SignalKind.LIMIT, 0),
        ("pending_jobs_limit", SignalKind.LIMIT, 0),
        ("backlog_quota_bytes", SignalKind.LIMIT, 0),
        ("rate_limit_exceeded", SignalKind.ERRORS, 1),
        ("memory_limit_utilization", SignalKind.MEMORY, 1),
        ("pool_idle_connections", SignalKind.POOL, 0),
        ("worker_threads_busy", SignalKind.SATURATION, 1),
        ("disk_used_percent", SignalKind.DISK, 1),
        ("write_throttle_events", SignalKind.SATURATION, 1),
        ("cpu_throttled_ratio", SignalKind.CPU, 1),
        ("requests_per_sec", SignalKind.TRAFFIC, 0),
        ("db_queries_per_second", SignalKind.TRAFFIC, 0),
        ("token_validation_errors_per_sec", SignalKind.ERRORS, 1),
    ],
)
def test_modifiers_turn_what_a_head_noun_says(name: str, kind: SignalKind, harmful: int) -> None:
    """Free, idle, not, un-, max, hit and their like."""
    meaning = meaning_of(name, None)
    assert (meaning.kind, meaning.harmful) == (kind, harmful)


def test_a_convention_knows_how_values_come_about() -> None:
    """A gauge in spite of `_total`, a counter without it, and the count of a histogram."""
    assert meaning_of("nodejs_active_handles_total", None).form is SignalForm.GAUGE
    assert meaning_of("pg_stat_database_deadlocks", None).form is SignalForm.COUNTER
    assert meaning_of("grpc_server_handling_seconds_count", None).form is SignalForm.COUNTER
    assert meaning_of("redis_evicted_keys_per_second", None).form is SignalForm.GAUGE


def test_signals_of_a_host_keep_their_direction_and_side() -> None:
    """They are kept for later evidence, as the host's."""
    meaning = meaning_of("node_memory_MemAvailable_bytes", None, entity="cart-7d9f")
    assert meaning == SignalMeaning(SignalKind.MEMORY, SignalSide.HOST, -1, SignalForm.GAUGE, "bytes")


def test_kinds_are_resources_symptoms_or_neither() -> None:
    """The two sets never overlap."""
    assert not RESOURCES & SYMPTOMS


def test_the_shipped_table_is_not_empty_and_has_no_row_twice() -> None:
    """A row is its name and its label; a second one could never be reached."""
    rows = [(words_of(row.name), row.label) for row in convention_rows()]
    assert len(rows) == len(set(rows)) > 300
    assert load_conventions().label_keys("node_cpu_seconds_total") == {"mode"}
