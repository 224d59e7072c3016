"""`make score` writes into its own sections only, and one that was not run keeps its figures."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from dev.commit import find_commit
from dev.score import section, write_sections
from tests.unit.bench.diary import Diary, blame_by_name

from diagnosis_harness.bench.case import Cost, Diagnosed
from diagnosis_harness.bench.runner import run_bench
from diagnosis_harness.bench.work import Bench


def test_a_section_is_replaced_and_a_new_one_is_added(tmp_path: Path) -> None:
    """The text before, between and after the sections stays."""
    page = tmp_path / "page.md"
    page.write_text("# Before\n\n<!-- scores: end -->\nafter\n", encoding="utf-8")
    write_sections(page, [("one", "first\n"), ("two", "second\n")])
    write_sections(page, [("two", "third\n")])
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Before\n\n### one\n\n<!-- score one: written by make score -->\nfirst\n")
    assert "third" in text
    assert "second" not in text
    assert text.endswith("<!-- scores: end -->\nafter\n")


def test_a_page_without_a_place_is_refused(tmp_path: Path) -> None:
    """Nothing is written at a guess."""
    page = tmp_path / "page.md"
    page.write_text("# Before\n", encoding="utf-8")
    with pytest.raises(ValueError, match="scores: end"):
        write_sections(page, [("one", "first\n")])


def test_the_same_outcomes_give_the_same_section(tmp_path: Path) -> None:
    """Shares with intervals, wrong of released, calibration; nothing that depends on the machine."""
    texts = [section(run_bench(Bench(Diary(), blame_by_name, tmp_path))) for _ in range(2)]
    assert texts[0] == texts[1]
    assert "| as-published | 4 | 0.50 (0.15–0.85) |" in texts[0]
    assert "Brier score 0.340" in texts[0]


def test_a_section_names_the_commit_and_the_minutes_of_its_runs(tmp_path: Path) -> None:
    """Stored runs count as long as they took when they were made, so that a second page is the same."""
    result = run_bench(Bench(Diary(), blame_slowly, tmp_path))
    line = "Commit `0123456789`: 4 runs, 6.0 minutes one after the other.\n"
    assert section(result, "0123456789").startswith(line)
    assert section(result).startswith("A tree without history: 4 runs")


def blame_slowly(folder: Path, baseline: Path | None) -> Diagnosed:
    """X, after a minute and a half."""
    return replace(blame_by_name(folder, baseline), cost=Cost(elapsed_s=90.0))


def test_the_commit_is_the_last_that_changed_the_code() -> None:
    """Ten characters of it, or nothing where there is no history."""
    assert re.fullmatch(r"[0-9a-f]{10,}|", find_commit())
