"""The bench judges by its targets, compares round by round, and writes into its own section only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dev.speed import page
from dev.speed.figure import Figure, as_markdown, as_text
from dev.speed.rounds import Rounds, Workload, in_turns
from dev.speed.sizes import failure_of


@pytest.mark.parametrize(
    ("measured", "at_most", "verdict"),
    [(1.0, 1.0, "ok"), (1.01, 1.0, "over"), (None, 1.0, "not measured"), (5.0, None, "")],
)
def test_a_figure_is_judged_by_its_target(
    measured: float | None, at_most: float | None, verdict: str
) -> None:
    """A target may be reached; what was not measured is never called ok."""
    assert Figure("topic", "name", measured, "×", at_most).verdict == verdict


@pytest.mark.parametrize(
    ("code", "error", "failure"),
    [
        (0, None, ""),
        (3, None, ""),
        (3, "OUT_OF_MEMORY", "failed: rank_causes (OUT_OF_MEMORY)"),
        (1, None, "exit code 1"),
        (-9, None, "exit code -9"),
    ],
)
def test_the_costs_of_a_run_that_did_not_answer_are_not_a_measurement(
    code: int, error: str | None, failure: str
) -> None:
    """A run that is killed, refused, or whose tools fail is quick and small."""
    document = json.dumps({"records": [{"tool": "rank_causes", "error_code": error}]})
    assert failure_of(code, document.encode()) == failure


def test_ratios_are_taken_round_by_round() -> None:
    """One slow round slows both sides, and changes no ratio."""
    rounds = Rounds({"ours": [1.0, 50.0, 1.0], "theirs": [10.0, 500.0, 10.0]})

    assert rounds.ratio("ours", "theirs") == pytest.approx(0.1)
    assert rounds.cost("ours") == 1.0


def test_workloads_take_turns() -> None:
    """Once to warm up, then one after the other in every round."""
    ran: list[str] = []
    workloads = {
        name: Workload(lambda name=name: ran.append(name), units=1)  # type: ignore[misc]  # a default binds early
        for name in ("a", "b")
    }

    costs = in_turns(workloads, rounds=2)

    assert "".join(ran) == "ababab"
    assert all(len(costs.cost_us[name]) == 2 for name in workloads)


def test_a_table_holds_measured_value_target_and_verdict() -> None:
    """On the terminal and on the page."""
    figures = [Figure("Core", "CPU per step", 33.21, "µs", 20, "noisy"), Figure("Size", "all", 143.4, "MB")]

    assert "CPU per step   33.2 µs  ≤ 20 µs  over  noisy" in as_text(figures)
    assert "| CPU per step | 33.2 µs | ≤ 20 µs | over | noisy |" in as_markdown(figures)


def test_figures_replace_only_their_own_section(tmp_path: Path) -> None:
    """What others wrote on the page stays; an earlier run's figures go."""
    file = tmp_path / "benchmarks.md"
    file.write_text(f"before\n{page.BEGIN}\nold\n{page.END}\nafter\n", encoding="utf-8")

    page.write(file, [Figure("Core", "CPU", 1.0, "µs")], machine="2 cores")

    text = file.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "| CPU | 1 µs |" in text
    assert "old" not in text


def test_a_page_without_the_section_is_refused(tmp_path: Path) -> None:
    """Nothing is written to a page that holds no place for it."""
    file = tmp_path / "page.md"
    file.write_text("text\n", encoding="utf-8")

    with pytest.raises(ValueError, match="no section"):
        page.write(file, [], machine="")
    assert file.read_text(encoding="utf-8") == "text\n"
