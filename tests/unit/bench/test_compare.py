"""Two benches of the same incidents: what got better, what got worse, and how likely that is luck."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.bench.diary import Diary, answer, blame_by_name, blame_x

from diagnosis_harness.bench.case import Condition, Diagnose
from diagnosis_harness.bench.compare import compare_benches, comparison_lines, read_bench
from diagnosis_harness.bench.html_page import html_page
from diagnosis_harness.bench.report import bench_document
from diagnosis_harness.bench.runner import Wanted, run_bench
from diagnosis_harness.bench.work import Bench
from diagnosis_harness.kernel.errors import InvalidInput


def save(folder: Path, name: str, diagnose: Diagnose, *, limit: int | None = None) -> Path:
    """The document of a bench over the diary."""
    result = run_bench(Bench(Diary(), diagnose, folder), Wanted(limit=limit))
    file = folder / f"{name}.json"
    file.write_text(json.dumps(bench_document([result], code="c")), encoding="utf-8")
    return file


def test_each_incident_is_held_against_itself(tmp_path: Path) -> None:
    """Two wrong releases became right ones; the other two did not change."""
    before = read_bench(save(tmp_path, "before", blame_by_name))
    after = read_bench(save(tmp_path, "after", blame_x))
    found = compare_benches(before, after)
    assert (found.shared, len(found.changes), found.chance) == (4, 2, 0.5)
    assert comparison_lines(found) == [
        "4 incidents in both",
        "2 better, 0 worse (by luck alone p = 0.500)",
        "0 equally good, with another entity first",
        "  2 × released, wrong → released, right",
        "better: diary b (as-published): released, wrong [y] → released, right [x]",
        "better: diary d (as-published): released, wrong [y] → released, right [x]",
    ]
    assert [line for line in comparison_lines(compare_benches(after, before)) if line.startswith("worse")]


def test_incidents_of_one_bench_alone_are_counted(tmp_path: Path) -> None:
    """Nothing is compared with what is not there, and that is said."""
    before = read_bench(save(tmp_path, "before", blame_x, limit=2))
    after = read_bench(save(tmp_path, "after", blame_x))
    assert "not compared: 0 only in the first file, 2 only in the second" in comparison_lines(
        compare_benches(before, after)
    )


def test_another_first_candidate_is_a_change_but_no_improvement(tmp_path: Path) -> None:
    """A fallback that names another wrong entity first is listed last."""
    before = read_bench(save(tmp_path, "before", lambda f, b: answer("y", outcome="FALLBACK"), limit=1))
    after = read_bench(save(tmp_path, "after", lambda f, b: answer("z", outcome="FALLBACK"), limit=1))
    assert comparison_lines(compare_benches(before, after))[-1] == (
        "changed: diary a (as-published): not first [y] → not first [z]"
    )


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[]", "the text: expected an object, found a list"),
        ('{"format": 1, "data_sets": []}', "format: expected 2"),
        ('{"format": 2}', "field 'data_sets'"),
        ('{"format": 2, "data_sets": [{"incidents": [{}]}]}', r"data_sets\[0\]: expected field 'data_set'"),
        ('{"format": 2, "data_sets": [{"data_set": "x", "incidents": [{}]}]}', r"incidents\[0\]: expected"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str, place: str) -> None:
    """One sentence says what was expected, and where."""
    file = tmp_path / "other.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=f"not a bench document of format 2 .*{place}"):
        read_bench(file)


def test_names_of_a_data_set_cannot_write_into_the_page(tmp_path: Path) -> None:
    """An entity that is HTML is shown as the text that it is."""
    evil = '<img src=x onerror="alert(1)">'
    result = run_bench(Bench(Diary(), lambda folder, baseline: answer(evil), tmp_path))
    page = html_page([result], code="c")
    assert "<img" not in page
    assert "&lt;img" in page


def test_wrong_releases_and_false_alarms_have_plots_of_their_own(tmp_path: Path) -> None:
    """One does not hide the other, and each data set is reached from the top of the page."""
    asked = (Condition.AS_PUBLISHED, Condition.HEALTHY_ALERT)
    sets = [
        run_bench(
            Bench(Diary(name=name, conditions=asked), lambda folder, baseline: answer("a"), tmp_path / name),
            Wanted(asked),
        )
        for name in ("one", "two")
    ]
    page = html_page(sets, code="c")
    assert page.count("<figcaption>wrong of released, by condition") == 2
    assert page.count("<figcaption>false alarms where nothing was wrong") == 2
    assert 'href="#two"' in page
    assert 'id="two"' in page
