"""Wrong labels change no byte of any run: the whole path over each data set in small, with each truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.small_sets import SMALL_SETS, SmallSet

from diagnosis_harness.bench.case import Condition, DataSet
from diagnosis_harness.bench.results_file import ResultsFile
from diagnosis_harness.bench.runner import Wanted, run_bench
from diagnosis_harness.bench.work import Bench
from diagnosis_harness.cli.main import FolderOpener
from diagnosis_harness.cli.whole_path import WholePath


def runs_of(data_set: DataSet, folder: Path) -> list[dict[str, Any]]:
    """What a bench keeps of every run, without how long it took."""
    (folder / "work").mkdir(parents=True)
    file = folder / "runs.jsonl"
    wanted = Wanted((Condition.AS_PUBLISHED, Condition.NOTHING))
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
