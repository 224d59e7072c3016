"""Kinds that are right beside the frozen ones: a reason each, kinds that exist, and a digest."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from tests.unit.bench.diary import Diary, answer

from diagnosis_harness.bench.case import Diagnosed, Truth
from diagnosis_harness.bench.datasets.rootcausebench import MECHANISMS, read_mechanisms
from diagnosis_harness.bench.further_kinds import ALSO_RIGHT, add_further_kinds, read_further_kinds
from diagnosis_harness.bench.runner import run_bench
from diagnosis_harness.bench.work import Bench
from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.simulator.hard.catalog import HARD_KINDS


def test_the_further_kinds_are_frozen() -> None:
    """Whoever changes them changes what the figures mean, and has to say so here."""
    assert sha256(ALSO_RIGHT.read_bytes()).hexdigest()[:16] == "d6b93c215c0590d3"


def test_each_further_kind_exists_and_has_a_reason() -> None:
    """And belongs to a kind or an incident that exists; not knowing is never right."""
    table = read_further_kinds()
    known = {kind.value for kind in FaultKind} - {FaultKind.UNKNOWN.value}
    reasons = [(kind, why) for rows in table.values() for row in rows.values() for kind, why in row.items()]
    assert {kind for kind, _ in reasons} <= known
    assert all(len(why.split()) > 2 for _, why in reasons)
    assert set(table["hard-kinds"]) <= set(HARD_KINDS)
    assert set(table["rootcausebench"]) == set(read_mechanisms(MECHANISMS))


@pytest.mark.parametrize(
    ("data_set", "incident_id", "fault", "further"),
    [
        ("hard-kinds", "disk-full/1001", "disk-full", {"SATURATION"}),
        ("hard-kinds", "slow-query/1001", "slow-query", set[str]()),
        ("rootcausebench", "payment-nil-deref-panic", "commit", {"CODE"}),
        ("opensre-synthetic", "rds_postgres-005-failover", "failover", {"CRASH"}),
        ("petshop", "disk-full", "disk-full", set[str]()),
    ],
)
def test_further_kinds_go_by_set_and_by_fault_or_incident(
    data_set: str, incident_id: str, fault: str, further: set[str]
) -> None:
    """The frozen kinds stay as they are."""
    truth = Truth(("x",), fault, kinds=frozenset({"ERRORS"}))
    found = add_further_kinds(data_set, incident_id, truth)
    assert found.kinds == {"ERRORS"}
    assert found.also_kinds == further
    sound = Truth((), fault)
    assert add_further_kinds(data_set, incident_id, sound) == sound


@pytest.mark.parametrize(("as_given", "right"), [(False, True), (True, None)])
def test_a_bench_adds_the_further_kinds(tmp_path: Path, as_given: bool, right: bool | None) -> None:
    """Only to sets of ours: a folder of somebody's own may have the same name."""
    truths = dict.fromkeys("abcd", Truth(("x",), "disk-full"))
    diary = Diary(name="hard-kinds", truths=truths, as_given=as_given)

    def diagnose(folder: Path, baseline: Path | None) -> Diagnosed:
        return answer("x", kind="SATURATION")

    result = run_bench(Bench(diary, diagnose, tmp_path))
    assert {outcome.kind_right for outcome in result.outcomes} == {right}
