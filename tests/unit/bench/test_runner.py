"""The runner: folders in, results out, labels last; what was run once is not run again."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from dev.score import parts, section
from tests.unit.bench.diary import Diary, answer, blame_by_name, blame_x, never

from diagnosis_harness.bench.case import Condition, Diagnosed, RunResult, Truth
from diagnosis_harness.bench.demo_faults import DemoFaults
from diagnosis_harness.bench.html_page import html_page
from diagnosis_harness.bench.report import (
    COLUMNS,
    bench_document,
    failure_line,
    line_of_unused,
    rows_not_scored,
    rows_without_answer,
    score_rows,
    wrong_rows,
)
from diagnosis_harness.bench.results_file import ResultsFile
from diagnosis_harness.bench.runner import Pace, Wanted, run_bench, spread
from diagnosis_harness.bench.work import Bench
from diagnosis_harness.kernel.errors import InvalidInput


def test_labels_are_opened_after_the_last_run(tmp_path: Path) -> None:
    """Every incident is exported and diagnosed before the labels are asked for, once."""
    diary = Diary()

    def diagnose(folder: Path, baseline: Path | None) -> Diagnosed:
        diary.entries.append(f"diagnose {folder.name} {baseline.name if baseline else None}")
        return answer("x")

    result = run_bench(Bench(diary, diagnose, tmp_path))
    assert diary.entries[-1] == "labels"
    assert diary.entries[:2] == ["export a", "diagnose folder-a normal"]
    assert diary.entries.count("labels") == 1
    assert len(result.outcomes) == 4


def test_progress_is_reported_after_each_run(tmp_path: Path) -> None:
    """One of two, two of two."""
    reported: list[tuple[int, int]] = []
    run_bench(
        Bench(Diary(), blame_x, tmp_path),
        Wanted(limit=2),
        pace=Pace(tick=lambda done, total: reported.append((done, total))),
    )
    assert reported == [(1, 2), (2, 2)]


def test_a_limit_spreads_over_all_incidents() -> None:
    """Three of nine are not the first three."""
    assert spread("abcdefghi", 3) == ("a", "d", "g")
    assert spread("abc", 9) == ("a", "b", "c")


def test_folders_are_removed_as_soon_as_they_are_diagnosed(tmp_path: Path) -> None:
    """However many incidents there are, only one folder is on disk at a time; normal operation stays."""
    seen: list[list[str]] = []

    def diagnose(folder: Path, baseline: Path | None) -> Diagnosed:
        seen.append(sorted(path.name for path in tmp_path.iterdir()))
        return answer("x")

    run_bench(Bench(Diary(), diagnose, tmp_path))
    assert seen == [[f"folder-{name}", "normal"] for name in "abcd"]
    assert [path.name for path in tmp_path.iterdir()] == ["normal"]


def test_several_processes_find_the_same_in_the_same_order(tmp_path: Path) -> None:
    """One process or two give equal outcomes, in the order of the data set."""
    found = []
    for jobs in (1, 2):
        work = tmp_path / str(jobs)
        work.mkdir()
        result = run_bench(Bench(Diary(), blame_by_name, work), pace=Pace(jobs=jobs))
        found.append([(o.run.case.incident_id, o.standing) for o in result.outcomes])
    assert found[0] == found[1]
    assert [standing for _, standing in found[0]] == ["released, right", "released, wrong"] * 2


def test_a_bench_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    """Two runs end, the third is cut short in the file: only the missing ones run again."""
    file = tmp_path / "results.jsonl"
    first = run_bench(
        Bench(Diary(), blame_by_name, tmp_path, "code"), Wanted(limit=2), results=ResultsFile(file)
    )
    with file.open("a", encoding="utf-8") as lines:
        lines.write('{"key": "cut sho')
    asked: list[str] = []

    def diagnose(folder: Path, baseline: Path | None) -> Diagnosed:
        asked.append(folder.name)
        return blame_by_name(folder, baseline)

    second = run_bench(Bench(Diary(), diagnose, tmp_path, "code"), results=ResultsFile(file))
    assert (first.reused, second.reused) == (0, 2)
    assert asked == ["folder-b", "folder-d"]
    third = run_bench(Bench(Diary(), never, tmp_path, "code"), results=ResultsFile(file))
    assert third.outcomes == second.outcomes
    assert len(file.read_text(encoding="utf-8").splitlines()) == 4


def test_other_code_or_another_byte_is_another_run(tmp_path: Path) -> None:
    """The key holds the code and every byte of the folder; a bench of other code reuses nothing."""
    file = tmp_path / "results.jsonl"
    run_bench(Bench(Diary(), blame_x, tmp_path, "one"), results=ResultsFile(file))
    other = run_bench(Bench(Diary(), blame_x, tmp_path, "two"), results=ResultsFile(file))
    assert other.reused == 0
    renamed = run_bench(Bench(Diary(name="journal"), blame_x, tmp_path, "one"), results=ResultsFile(file))
    assert renamed.reused == 0


def test_results_that_cannot_be_written_are_said_before_anything_is_run(tmp_path: Path) -> None:
    """One sentence, and no run is lost."""
    with pytest.raises(InvalidInput, match="cannot be used for results"):
        ResultsFile(tmp_path / "nowhere" / "results.jsonl")


def test_what_cannot_be_scored_is_one_sentence_each_and_the_rest_is_scored(tmp_path: Path) -> None:
    """A half-written folder, an incident without truth, a truth that names nothing: one sentence each."""
    diary = Diary(
        half_written="a",
        truths={
            "c": Truth(entities=("nobody",), fault_kind="cpu"),
            "d": Truth(entities=("x",), fault_kind="cpu"),
        },
    )
    result = run_bench(Bench(diary, blame_x, tmp_path))
    assert [outcome.run.case.incident_id for outcome in result.outcomes] == ["d"]
    assert rows_not_scored(result) == [
        "a (as-published): a: it has no metrics; write metrics.csv.",
        "b (as-published): there is no truth for it",
        "c (as-published): its truth names nobody, which is not in the data",
    ]


def test_an_unusable_truth_is_not_scored(tmp_path: Path) -> None:
    """The data set says why."""
    truth = Truth(entities=(), fault_kind="?", unusable="its label is empty")
    result = run_bench(Bench(Diary(truths=dict.fromkeys("abcd", truth)), blame_x, tmp_path))
    assert result.outcomes == ()
    assert rows_not_scored(result)[0] == "a (as-published): its label is empty"


def test_a_culprit_that_leaves_no_telemetry_may_be_unknown_to_the_data(tmp_path: Path) -> None:
    """Where at most a scope can be known, the truth need not be among the entities."""
    truth = Truth(entities=("unseen",), fault_kind="cpu", level="SCOPED")
    result = run_bench(Bench(Diary(truths=dict.fromkeys("abcd", truth)), blame_x, tmp_path))
    assert [outcome.standing for outcome in result.outcomes] == ["released, wrong"] * 4


def test_a_folder_that_the_product_refuses_is_a_broken_run(tmp_path: Path) -> None:
    """It counts: otherwise a product that reads nothing would look well."""

    def refuse(folder: Path, baseline: Path | None) -> Diagnosed:
        raise InvalidInput("metrics.csv", "it is empty", "remove it")

    result = run_bench(Bench(Diary(), refuse, tmp_path))
    assert {(o.broken, o.place, o.run.result.outcome) for o in result.outcomes} == {(True, None, "REFUSED")}


def test_healthy_windows_need_no_truth_and_count_false_alarms(tmp_path: Path) -> None:
    """Whatever the labels say about the incident, in its healthy window nothing was wrong."""
    healthy = Condition.HEALTHY_ALERT
    diary = Diary(conditions=(Condition.AS_PUBLISHED, healthy))
    result = run_bench(Bench(diary, blame_by_name, tmp_path), Wanted((Condition.AS_PUBLISHED, healthy)))
    assert {outcome.standing for outcome in result.under(healthy)} == {"false alarm"}
    figures = {condition: score.figures for condition, score in result.scores() if score.split == "all"}
    assert figures[healthy]["false_alarm"].share == 1.0
    assert "top1" not in figures[healthy]
    assert "false_alarm" not in figures[Condition.AS_PUBLISHED]
    assert len(score_rows(result)) == 2


def test_a_condition_without_incidents_is_refused(tmp_path: Path) -> None:
    """One sentence names the option."""
    with pytest.raises(InvalidInput, match="no incident under this condition"):
        run_bench(Bench(Diary(), never, tmp_path), Wanted((Condition.ALERT,)))


def test_document_and_table_tell_right_from_wrong(tmp_path: Path) -> None:
    """Two of four right: the share is one half everywhere, and wrong releases are named."""
    result = run_bench(Bench(Diary(), blame_by_name, tmp_path))
    (part,) = json.loads(json.dumps(bench_document([result], code="c")))["data_sets"]
    whole = part["scores"][0]
    assert whole["figures"]["top1"]["share"] == whole["figures"]["wrong"]["share"] == 0.5
    assert [entry["standing"] for entry in part["incidents"]] == ["released, right", "released, wrong"] * 2
    assert part["calibration"]["as-published"]["base"]["share"] == 0.25
    assert all(len(row) == len(COLUMNS) for row in score_rows(result))
    assert wrong_rows(result.outcomes) == [f"{name}: y released, x was at fault" for name in "bd"]


def test_broken_runs_are_never_mere_low_figures(tmp_path: Path) -> None:
    """A failed tool call and a run without an answer are counted and said; a sound run is neither."""
    quiet = answer("y", outcome="FALLBACK").result
    results = iter(
        [
            answer("x").result,
            replace(quiet, failed_tools=("rank_causes", "compare_spans")),
            RunResult(outcome="FAILED", causes=(), candidates=()),
            replace(quiet, failed_tools=("rank_causes",)),
        ]
    )
    result = run_bench(Bench(Diary(), lambda folder, baseline: Diagnosed(next(results)), tmp_path))
    assert [outcome.broken for outcome in result.outcomes] == [False, True, True, True]
    assert failure_line(result.outcomes) == (
        "NOT A MEASUREMENT OF THE WHOLE PATH: 3 of 4 runs broke"
        " (failed tool calls: compare_spans 1, rank_causes 2; runs without an answer: 1)"
    )
    assert failure_line(result.outcomes[:1]) is None


def test_demo_faults_refuse_the_seeds_of_development() -> None:
    """Seeds 0 to 99 were looked at; no figure may rest on them."""
    with pytest.raises(InvalidInput, match="used in development"):
        DemoFaults(first_seed=99)
    assert DemoFaults(first_seed=100).first_seed == 100


@pytest.mark.parametrize(("first_seed", "use"), [(5000, "development"), (5001, "published")])
def test_seeds_of_demo_faults_are_all_even_or_all_odd(tmp_path: Path, first_seed: int, use: str) -> None:
    """The group of scores says which, and a case whether anybody may look at it."""
    worlds = DemoFaults(seeds=3, first_seed=first_seed)
    seeds = {int(incident_id.partition("/")[2]) for incident_id in worlds.incident_ids()}
    assert seeds == {first_seed, first_seed + 2, first_seed + 4}
    case = worlds.export(worlds.incident_ids()[0], Condition.AS_PUBLISHED, tmp_path)
    assert (case.group, case.unseen) == (f"simulated, {use} seeds", use == "published")


def test_the_published_score_has_no_seed_of_development() -> None:
    """Of either simulated set."""
    published = [part.data_set for part in parts(None)]
    assert [each.name for each in published] == ["demo-faults", "hard-kinds"]
    ids = [incident_id for each in published for incident_id in each.incident_ids()]
    assert {int(incident_id.partition("/")[2]) % 2 for incident_id in ids} == {1}


def test_demo_faults_have_every_kind_for_every_seed(tmp_path: Path) -> None:
    """Five kinds and the sound world, and the same truth whichever process exported them."""
    worlds = DemoFaults(seeds=2)
    ids = worlds.incident_ids()
    assert len(ids) == 12
    assert {incident_id.split("/")[1] for incident_id in ids} == {"1000", "1002"}
    assert worlds.labels([]) == {}
    sound, broken = (
        worlds.export(incident_id, Condition.AS_PUBLISHED, tmp_path) for incident_id in (ids[-1], ids[0])
    )
    labels = worlds.labels(ids)
    assert labels[sound.incident_id].entities == ()
    assert set(labels[broken.incident_id].entities) <= set(broken.entities)
    assert set(broken.owners.values()) <= set(broken.entities)
    assert DemoFaults(seeds=2).labels(ids) == labels


@pytest.mark.parametrize(
    "trouble",
    [
        EOFError("Compressed file ended before the end-of-stream marker was reached"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
        FileNotFoundError(2, "No such file or directory", "graph.json"),
        KeyError("timestamp"),
        IndexError("list index out of range"),
        AttributeError("'int' object has no attribute 'get'"),
        OverflowError("date value out of range"),
        zlib.error("invalid block type"),
    ],
)
def test_a_damaged_incident_is_one_sentence_and_the_rest_is_scored(
    tmp_path: Path, trouble: Exception
) -> None:
    """Whatever a reader of published files meets in one that is cut or has another form."""
    result = run_bench(Bench(Diary(damaged={"b": trouble}), blame_x, tmp_path))
    assert [outcome.run.case.incident_id for outcome in result.outcomes] == ["a", "c", "d"]
    (row,) = rows_not_scored(result)
    assert row.startswith("b (as-published): its files are not of the form of the set (")
    assert type(trouble).__name__ in row
    assert "\n" not in row


def test_damaged_labels_are_one_sentence(tmp_path: Path) -> None:
    """Nothing can be scored then; nothing is scored on half of them."""
    diary = Diary(damaged={"labels": KeyError("alert")})
    with pytest.raises(InvalidInput, match="its labels are not of the form of the set"):
        run_bench(Bench(diary, blame_x, tmp_path))


def test_a_folder_that_the_product_refuses_is_named_with_the_reason(tmp_path: Path) -> None:
    """It counts as a miss, and who reads the figures sees why."""

    def refuse(folder: Path, baseline: Path | None) -> Diagnosed:
        if folder.name == "folder-c":
            raise InvalidInput("incident.toml", "it is not valid TOML", "correct that line")
        return blame_x(folder, baseline)

    result = run_bench(Bench(Diary(), refuse, tmp_path))
    assert "1 of 4 runs broke" in (failure_line(result.outcomes) or "")
    (line,) = rows_without_answer(result.outcomes)
    assert line.startswith("c (as-published): REFUSED, incident.toml: it is not valid TOML")


def test_wrong_releases_of_published_seeds_are_counted_and_not_shown(tmp_path: Path) -> None:
    """Neither on the page nor in the document, so that nobody tunes to them; whoever asks sees them."""
    result = run_bench(Bench(Diary(unseen=True), blame_by_name, tmp_path))
    page, asked = (html_page([result], code="c", show_unseen=shown) for shown in (False, True))
    assert "y did it" not in page
    assert "counted and not shown, so that nothing is tuned to them: 2" in page
    assert asked.count("<details>") == 2
    assert "y did it" in asked
    assert "did it" not in json.dumps(bench_document([result], code="c"))
    assert "did it" in json.dumps(bench_document([result], code="c", show_unseen=True))
    seen = run_bench(Bench(Diary(), blame_by_name, tmp_path))
    assert html_page([seen], code="c").count("<details>") == 2


def test_every_run_without_an_answer_is_named(tmp_path: Path) -> None:
    """With its condition, its outcome and the reason on one line; an answer is not among them."""
    silent = RunResult("FAILED", (), (), reason="the store could not\nbe written")
    results = iter((answer("x").result, silent, RunResult("CANCELLED", (), ()), answer("y").result))
    result = run_bench(Bench(Diary(), lambda folder, baseline: Diagnosed(next(results)), tmp_path))
    lines = [
        "b (as-published): FAILED, the store could not be written",
        "c (as-published): CANCELLED, no reason given",
    ]
    assert rows_without_answer(result.outcomes) == lines
    assert all(line in html_page([result], code="c") for line in lines)
    assert all(f"- no answer: {line}\n" in section(result) for line in lines)


def test_roles_that_the_product_cannot_use_yet_are_listed(tmp_path: Path) -> None:
    """With how many runs had them; nothing where all is used."""
    result = run_bench(Bench(Diary(unused=("states",)), blame_x, tmp_path))
    assert line_of_unused(result.outcomes) == "written and not used yet: states (of 4 runs)"
    assert line_of_unused(()) is None
