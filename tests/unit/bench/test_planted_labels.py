"""Wrong labels change no byte of any run: the whole path over each data set in small, with each truth."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.support.small_sets import SMALL_SETS, SmallSet

from diagnosis_harness.bench import demo_faults, hard_kinds
from diagnosis_harness.bench.case import Condition, DataSet
from diagnosis_harness.bench.demo_faults import DemoFaults
from diagnosis_harness.bench.hard_kinds import HardKinds
from diagnosis_harness.bench.results_file import ResultsFile
from diagnosis_harness.bench.runner import Wanted, run_bench
from diagnosis_harness.bench.work import Bench
from diagnosis_harness.cli.main import FolderOpener
from diagnosis_harness.cli.whole_path import WholePath
from diagnosis_harness.simulator.hard.play import HardWorld
from diagnosis_harness.simulator.world import World


def runs_of(data_set: DataSet, folder: Path, *, limit: int | None = None) -> list[dict[str, Any]]:
    """What a bench keeps of every run, without how long it took."""
    (folder / "work").mkdir(parents=True)
    file = folder / "runs.jsonl"
    wanted = Wanted((Condition.AS_PUBLISHED, Condition.NOTHING), limit)
    bench = Bench(data_set, WholePath(FolderOpener()), folder / "work", "code")
    run_bench(bench, wanted, results=ResultsFile(file))
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [{name: value for name, value in line.items() if name != "cost"} for line in lines]


@pytest.mark.parametrize("small", SMALL_SETS, ids=lambda small: small.name)
def test_planted_labels_change_no_byte_of_any_run(small: SmallSet, tmp_path: Path) -> None:
    """The key of a run holds every byte that it saw, and its line every word that it said."""
    data_set = small.make(tmp_path)
    honest = runs_of(data_set, tmp_path / "honest")
    before = data_set.labels(data_set.incident_ids())
    small.poison(tmp_path)
    assert data_set.labels(data_set.incident_ids()) != before
    assert runs_of(data_set, tmp_path / "planted") == honest
    assert honest
    assert "POISON" not in json.dumps(honest)


@pytest.mark.parametrize("small", SMALL_SETS, ids=lambda small: small.name)
def test_labels_that_name_another_real_entity_change_no_byte_of_any_run(
    small: SmallSet, tmp_path: Path
) -> None:
    """A name that the data know would be at home in a file or an answer; where there are two, they swap."""
    data_set = small.make(tmp_path)
    honest = runs_of(data_set, tmp_path / "honest")
    ids = data_set.incident_ids()
    before = data_set.labels(ids)
    small.mislead(tmp_path)
    after = data_set.labels(ids)
    assert after != before
    assert all(truth.usable for truth in after.values())
    assert runs_of(data_set, tmp_path / "misled") == honest


def test_another_truth_changes_no_byte_of_a_demo_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The world is the same, and its truth names another of its services."""
    honest = runs_of(DemoFaults(seeds=1), tmp_path / "honest", limit=2)
    asked: list[str] = []

    def mislead(incident_id: str) -> World:
        world = simulate_demo(incident_id)
        others = [part.name for part in world.system.services if part.name != world.truth.entity]
        asked.append(incident_id)
        return replace(world, truth=replace(world.truth, entity=others[0], region=None))

    simulate_demo = demo_faults._world
    monkeypatch.setattr(demo_faults, "_world", mislead)
    assert runs_of(DemoFaults(seeds=1), tmp_path / "misled", limit=2) == honest
    assert len(asked) == len(honest) == 2


def test_another_truth_changes_no_byte_of_a_hard_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same for its decoys and its trigger, which change places."""
    ids = ("config-change/0", "queue-backlog/0")
    monkeypatch.setattr(HardKinds, "incident_ids", lambda self, condition: few(ids, condition))
    honest = runs_of(HardKinds(), tmp_path / "honest")
    asked: list[str] = []

    def mislead(incident_id: str) -> HardWorld:
        world = simulate_hard_kind(incident_id)
        truth = world.truth
        others = [part.name for part in world.play.scene.system.services if part.name not in truth.entities]
        asked.append(incident_id)
        decoys = tuple(name for name in (truth.trigger, *truth.entities) if name is not None)
        wrong = replace(truth, entities=(others[0],), trigger=truth.decoys[0], decoys=decoys, region=None)
        return replace(world, truth=wrong)

    simulate_hard_kind = hard_kinds._simulate
    monkeypatch.setattr(hard_kinds, "_simulate", mislead)
    assert runs_of(HardKinds(), tmp_path / "misled") == honest
    assert len(asked) == len(honest) == 2


def few(ids: tuple[str, ...], condition: Condition) -> tuple[str, ...]:
    """These incidents, as published only."""
    return ids if condition is Condition.AS_PUBLISHED else ()
