"""Hard kinds as a data set: even seeds for development, odd ones for the published score, never mixed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.hard_worlds import hard_world

from diagnosis_harness.bench.case import Condition
from diagnosis_harness.bench.hard_kinds import HardKinds, truth_of_world
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.simulator.hard.catalog import HARD_KINDS


@pytest.mark.parametrize(("first_seed", "parity", "use"), [(1000, 0, "development"), (1001, 1, "published")])
def test_seeds_of_one_run_are_all_even_or_all_odd(first_seed: int, parity: int, use: str) -> None:
    """So no figure mixes worlds that somebody has seen with unseen ones, and each says which it has."""
    hard = HardKinds(seeds=3, first_seed=first_seed)

    seeds = {int(incident_id.partition("/")[2]) for incident_id in hard.incident_ids()}

    assert {seed % 2 for seed in seeds} == {parity}
    assert len(hard.incident_ids()) == 3 * len(HARD_KINDS)
    assert hard.use == f"{use} seeds"
    assert hard.incident_ids(Condition.NOTHING) == ()


def test_a_case_has_an_opaque_folder_and_its_truth_is_separate(tmp_path: Path) -> None:
    """The group says what the seeds are for; the truth is the same from the process that did not export."""
    hard = HardKinds(seeds=1, first_seed=0)

    case = hard.export("unmeasured-culprit/0", Condition.AS_PUBLISHED, tmp_path)
    truth = hard.labels(["unmeasured-culprit/0"])["unmeasured-culprit/0"]

    assert case.group == "review kinds, development seeds"
    assert "unmeasured" not in case.folder.name
    assert truth == HardKinds(first_seed=0).labels(["unmeasured-culprit/0"])["unmeasured-culprit/0"]
    assert truth.level == "SCOPED"
    assert truth.scope
    assert set(truth.entities) <= set(case.entities)


@pytest.mark.parametrize(("seeds", "first_seed", "place"), [(0, 0, "--seeds"), (1, -1, "--first-seed")])
def test_impossible_seeds_are_refused(seeds: int, first_seed: int, place: str) -> None:
    """With the option that holds them."""
    with pytest.raises(InvalidInput) as refused:
        HardKinds(seeds=seeds, first_seed=first_seed)

    assert refused.value.place == place


def test_decoys_are_changes_or_entities() -> None:
    """Each in its own list, and none is lost."""
    for kind in ("config-change", "queue-backlog", "noisy-host", "traffic-surge"):
        world = hard_world(kind)
        truth = truth_of_world(world)
        assert {*truth.decoys, *truth.decoy_entities} == set(world.truth.decoys)
        summaries = {change.summary for change in world.telemetry.changes}
        assert set(truth.decoys) <= summaries
        assert summaries.isdisjoint(truth.decoy_entities)
        assert bool(truth.decoy_entities) is (kind != "config-change")
