"""The runner: folders in, results out, labels last."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from diagnosis_harness.bench.case import Case, Condition, Ranked, RunResult, Truth
from diagnosis_harness.bench.demo_faults import DemoFaults
from diagnosis_harness.bench.report import COLUMNS, bench_document, failure_line, score_rows, wrong_rows
from diagnosis_harness.bench.runner import run_bench, spread
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.testing.clock import ManualClock


@dataclass
class Diary:
    """A data set of four incidents that writes down what is asked of it."""

    name: str = "diary"
    entries: list[str] = field(default_factory=list)

    def incident_ids(self, condition: Condition = Condition.AS_PUBLISHED) -> tuple[str, ...]:
        """Four ids."""
        return ("a", "b", "c", "d")

    def export(self, incident_id: str, condition: Condition, target: Path) -> Case:
        """A case without files."""
        self.entries.append(f"export {incident_id}")
        return Case(
            incident_id=incident_id,
            group="g",
            folder=target / f"folder-{incident_id}",
            baseline=target / "normal",
            entities=("x", "y"),
        )

    def labels(self, incident_ids: Sequence[str]) -> Mapping[str, Truth]:
        """X is always to blame."""
        self.entries.append("labels")
        return {name: Truth(entities=("x",), fault_kind="cpu") for name in self.incident_ids()}


def answer(entity: str, *, outcome: str = "SUCCESS") -> RunResult:
    """A run that names one cause."""
    return RunResult(
        outcome=outcome, causes=(Ranked(entity=entity, fault_kind="CPU", score=1.0),), candidates=()
    )


def test_labels_are_opened_after_the_last_run(tmp_path: Path) -> None:
    """Every incident is exported and diagnosed before the labels are asked for, once."""
    diary = Diary()

    def diagnose(folder: Path, baseline: Path | None) -> RunResult:
        diary.entries.append(f"diagnose {folder.name} {baseline.name if baseline else None}")
        return answer("x")

    outcomes = run_bench(diary, diagnose, clock=ManualClock(), work=tmp_path)
    assert diary.entries[-1] == "labels"
    assert diary.entries[:2] == ["export a", "diagnose folder-a normal"]
    assert diary.entries.count("labels") == 1
    assert len(outcomes) == 4


def test_time_of_a_run_is_the_diagnosis_alone(tmp_path: Path) -> None:
    """Three seconds of diagnosis are three seconds."""
    clock = ManualClock()

    def diagnose(folder: Path, baseline: Path | None) -> RunResult:
        clock.advance(3.0)
        return answer("y")

    outcomes = run_bench(Diary(), diagnose, clock=clock, work=tmp_path, limit=1)
    assert [outcome.run.elapsed_s for outcome in outcomes] == [3.0]


def test_progress_is_told_after_each_run(tmp_path: Path) -> None:
    """One of two, two of two."""
    told: list[tuple[int, int]] = []
    run_bench(
        Diary(),
        lambda folder, baseline: answer("x"),
        clock=ManualClock(),
        work=tmp_path,
        limit=2,
        tick=lambda done, total: told.append((done, total)),
    )
    assert told == [(1, 2), (2, 2)]


def test_a_limit_spreads_over_all_incidents() -> None:
    """Three of nine are not the first three."""
    assert spread("abcdefghi", 3) == ("a", "d", "g")
    assert spread("abc", 9) == ("a", "b", "c")


def test_document_and_table_tell_right_from_wrong(tmp_path: Path) -> None:
    """Two of four right: the share is one half everywhere, and wrong successes are named."""
    names = iter("xyxy")
    outcomes = run_bench(
        Diary(), lambda folder, baseline: answer(next(names)), clock=ManualClock(), work=tmp_path
    )
    document = json.loads(json.dumps(bench_document("diary", outcomes)))
    assert document["scores"][0]["top"]["1"]["share"] == 0.5
    assert document["scores"][0]["confident_and_wrong"]["share"] == 0.5
    assert [entry["right"] for entry in document["incidents"]] == [True, False, True, False]
    assert all(len(row) == len(COLUMNS) for row in score_rows(outcomes))
    assert wrong_rows(outcomes) == [f"{name}: y released, x was at fault" for name in "bd"]


def test_broken_runs_are_never_mere_low_figures(tmp_path: Path) -> None:
    """A failed tool call and a run without an answer are counted and said; a sound run is neither."""
    results = iter(
        [
            answer("x"),
            replace(answer("y", outcome="FALLBACK"), failed_tools=("rank_causes", "compare_spans")),
            replace(answer("y", outcome="FAILED"), causes=()),
            replace(answer("y", outcome="FALLBACK"), failed_tools=("rank_causes",)),
        ]
    )
    outcomes = run_bench(Diary(), lambda folder, baseline: next(results), clock=ManualClock(), work=tmp_path)
    assert [outcome.broken for outcome in outcomes] == [False, True, True, True]
    assert failure_line(outcomes) == (
        "NOT A MEASUREMENT OF THE WHOLE PATH: 3 of 4 runs broke"
        " (failed tool calls: compare_spans 1, rank_causes 2; runs without an answer: 1)"
    )
    assert failure_line(outcomes[:1]) is None
    document = json.loads(json.dumps(bench_document("diary", outcomes)))
    assert document["scores"][0]["broken"] == 3


def test_demo_faults_refuse_the_seeds_of_development() -> None:
    """Seeds 0 to 99 were looked at; no figure may rest on them."""
    with pytest.raises(InvalidInput, match="used in development"):
        DemoFaults(first_seed=99)
    assert DemoFaults(first_seed=100).first_seed == 100


def test_demo_faults_have_every_kind_for_every_seed(tmp_path: Path) -> None:
    """Five kinds and the sound world, and the same truth whichever process exported them."""
    worlds = DemoFaults(seeds=2)
    ids = worlds.incident_ids()
    assert len(ids) == 12
    assert {incident_id.split("/")[1] for incident_id in ids} == {"1000", "1001"}
    assert worlds.labels([]) == {}
    sound, broken = (
        worlds.export(incident_id, Condition.AS_PUBLISHED, tmp_path) for incident_id in (ids[-1], ids[0])
    )
    labels = worlds.labels(ids)
    assert labels[sound.incident_id].entities == ()
    assert set(labels[broken.incident_id].entities) <= set(broken.entities)
    assert set(broken.owners.values()) <= set(broken.entities)
    assert DemoFaults(seeds=2).labels(ids) == labels
