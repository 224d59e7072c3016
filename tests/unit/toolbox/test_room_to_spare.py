"""A resource with room to spare is no cause: what makes requests fail or wait keeps it busier too."""

from __future__ import annotations

import pytest
from tests.unit.toolbox.test_release_safety import LATE, SLOW, line, objections, rank_items

from diagnosis_harness.guards.verdict import SemanticReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.toolbox.ports import AlertInfo, Series

FAILS = AlertInfo(entity="web", signal="error_ratio")


def resource(entity: str, signal: str, unit: str | None, usual: float, late: float) -> Series:
    """A resource that steps at the onset."""
    return line(entity, signal, usual + (late - usual) * LATE, unit=unit)


@pytest.mark.parametrize(
    ("signal", "unit", "usual", "late"),
    [
        ("cpu_percent", "percent", 45.0, 52.0),
        ("cpu_percent", None, 41.0, 64.0),
        ("memory_percent", "percent", 40.0, 66.0),
        ("jvm_cpu_recent_utilization", "ratio", 0.3, 0.6),
        ("pool_usage_ratio", "ratio", 0.2, 0.5),
        ("cpu_idle_percent", "percent", 70.0, 40.0),
        ("disk_used_percent", "percent", 30.0, 55.0),
        ("cpu_cores", "cores", 0.4, 0.65),
    ],
)
def test_the_affected_service_is_not_its_own_cause_for_being_busier(
    ctx: RunContext, signal: str, unit: str | None, usual: float, late: float
) -> None:
    """It fails, and one of its resources moves far from its limit: both are symptoms."""
    fails = line("web", "error_ratio", 0.002 + 0.4 * LATE, unit="ratio")

    (found,) = rank_items(
        ctx, fails, resource("web", signal, unit, usual, late), calls=(), alert=FAILS
    ).values()

    assert found.attributes["origin"] == ""
    assert found.attributes["fault_kind"] == "ERRORS"
    assert SemanticReason.SYMPTOM_ONLY in objections(found)


@pytest.mark.parametrize(
    ("signal", "unit", "usual", "late", "kind"),
    [
        ("cpu_percent", "percent", 45.0, 96.0, "CPU"),
        ("memory_percent", "percent", 40.0, 93.0, "MEMORY"),
        ("cpu_idle_percent", "percent", 70.0, 3.0, "CPU"),
        ("jvm_cpu_recent_utilization", "ratio", 0.3, 0.95, "CPU"),
        ("cpu_cores", "cores", 0.4, 1.9, "CPU"),
        ("memory_bytes", "bytes", 1e9, 1.6e9, "MEMORY"),
    ],
)
def test_a_resource_near_its_limit_or_of_unknown_limit_is_evidence(
    ctx: RunContext, signal: str, unit: str | None, usual: float, late: float, kind: str
) -> None:
    """Nearly full, or more than doubled where nothing says what full is; memory fails without doubling."""
    slow = line("web", "latency", SLOW)

    (found,) = rank_items(ctx, slow, resource("web", signal, unit, usual, late), calls=()).values()

    assert (found.attributes["origin"], found.attributes["fault_kind"]) == ("resource", kind)
    assert objections(found) == set()


def test_busier_and_slow_says_where_it_starts_and_not_why(ctx: RunContext) -> None:
    """A callee that is slow and half busy is where it starts; its processor is not named."""
    found = rank_items(
        ctx,
        line("web", "latency", SLOW + 0.1),
        line("pay", "latency", SLOW),
        resource("pay", "cpu_percent", "percent", 30.0, 55.0),
    )

    assert (found["pay"].attributes["origin"], found["pay"].attributes["fault_kind"]) == ("", "LATENCY")


def test_one_full_instance_among_idle_ones_is_not_room(ctx: RunContext) -> None:
    """Each instance has a limit of its own."""
    found = rank_items(
        ctx,
        line("web", "latency", SLOW + 0.1),
        line("pay-1", "latency", SLOW),
        resource("pay-1", "cpu_percent", "percent", 30.0, 97.0),
        resource("pay-2", "cpu_percent", "percent", 30.0, 31.0),
        part_of={"pay-1": "pay", "pay-2": "pay"},
    )

    assert found["pay"].attributes["origin"] == "resource"
