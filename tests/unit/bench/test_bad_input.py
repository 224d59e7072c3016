"""What no incident can do to the others: bad folders, labels and errors are one sentence each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.unit.bench.diary import Diary, blame_x

from diagnosis_harness.bench.case import Diagnosed, Truth
from diagnosis_harness.bench.report import rows_not_scored, rows_without_answer
from diagnosis_harness.bench.runner import run_bench
from diagnosis_harness.bench.work import Bench
from diagnosis_harness.kernel.errors import InvalidInput


def test_an_unforeseen_error_of_one_incident_ends_no_bench(tmp_path: Path) -> None:
    """Neither while its folder is written, nor while it is diagnosed: a miss there, and named."""

    def fail(folder: Path, baseline: Path | None) -> Diagnosed:
        if folder.name == "folder-c":
            raise RuntimeError("a bug\nof ours")
        return blame_x(folder, baseline)

    result = run_bench(Bench(Diary(damaged={"b": AssertionError("never")}), fail, tmp_path))
    (row,) = rows_not_scored(result)
    assert row == "b (as-published): it cannot be written as a folder (AssertionError: never)"
    assert [(o.run.case.incident_id, o.broken, o.place) for o in result.outcomes] == [
        ("a", False, 1),
        ("c", True, None),
        ("d", False, 1),
    ]
    assert rows_without_answer(result.outcomes) == ["c (as-published): BROKE, RuntimeError: a bug of ours"]


def test_somebodys_own_folder_that_is_refused_is_not_scored(tmp_path: Path) -> None:
    """It is bad input and no miss; the sentence is the product's own, and the rest is scored."""

    def refuse(folder: Path, baseline: Path | None) -> Diagnosed:
        if folder.name == "folder-c":
            raise InvalidInput("incident.toml", "it is not valid TOML", "correct that line")
        return blame_x(folder, baseline)

    result = run_bench(Bench(Diary(as_given=True), refuse, tmp_path))
    assert [outcome.run.case.incident_id for outcome in result.outcomes] == ["a", "b", "d"]
    assert rows_not_scored(result) == [
        "c (as-published): incident.toml: it is not valid TOML; correct that line."
    ]


def test_a_refused_folder_is_named_as_its_owner_knows_it(tmp_path: Path) -> None:
    """And not as the copy that a run reads, which is gone when the sentence is read."""

    def refuse(folder: Path, baseline: Path | None) -> Diagnosed:
        raise InvalidInput(str(folder), "its files hold no rows of metrics, traces or logs", "add one")

    result = run_bench(Bench(Diary(as_given=True), refuse, tmp_path))
    assert rows_not_scored(result)[0] == (
        "a (as-published): a: its files hold no rows of metrics, traces or logs; add one."
    )


def test_a_misspelt_name_in_somebodys_own_truth_is_not_scored(tmp_path: Path) -> None:
    """With the nearest name that the data have; a set of ours may know one of several."""
    truths = dict.fromkeys("abcd", Truth(entities=("x", "payment-db"), fault_kind="cpu"))

    def diagnose(folder: Path, baseline: Path | None) -> Diagnosed:
        return replace(blame_x(folder, baseline), known=("x", "payments-db"))

    own = run_bench(Bench(Diary(truths=truths, as_given=True), diagnose, tmp_path))
    assert own.outcomes == ()
    assert rows_not_scored(own)[0] == (
        "a (as-published): its truth names payment-db, which is not in the data; did you mean payments-db?"
    )
    assert len(run_bench(Bench(Diary(truths=truths), diagnose, tmp_path)).outcomes) == 4


def test_one_damaged_label_spoils_no_other(tmp_path: Path) -> None:
    """It is one sentence, and the rest is scored."""
    diary = Diary(damaged={"label of b": TypeError("a number")})
    result = run_bench(Bench(diary, blame_x, tmp_path))
    assert [outcome.run.case.incident_id for outcome in result.outcomes] == ["a", "c", "d"]
    assert rows_not_scored(result) == [
        "b (as-published): its label is not of the form of the set (TypeError: a number)"
    ]
