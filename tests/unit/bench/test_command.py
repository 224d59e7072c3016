"""`diagnose bench` as a command line, over a diagnosis that always releases the same success."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.support import documents
from tests.support.own_incidents import make_own

from diagnosis_harness.application.previous_turn import Turn
from diagnosis_harness.application.routed_question import RoutedAnswer
from diagnosis_harness.audit.verification.recheck import Recheck
from diagnosis_harness.bench.answer import result_of
from diagnosis_harness.bench.datasets.catalog import NAMES
from diagnosis_harness.cli.main import run_command
from diagnosis_harness.cli.ports import LoadProgress
from diagnosis_harness.diagnosis.question import OnsetWords
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.trace.sink import TraceSink

KNOWN = ", ".join((*NAMES, "demo-faults", "hard-kinds"))


class SureOfItself:
    """Reads nothing and releases one and the same success."""

    async def run(
        self, question: str, *, language: Language, deadline_s: float | None, zone: str | None = None
    ) -> RunDocument:
        """The success of the sample documents."""
        return documents.success(language)

    async def ask(
        self,
        question: str,
        *,
        language: Language,
        deadline_s: float | None,
        zone: str | None = None,
        turn: Turn | None = None,
    ) -> RoutedAnswer:
        """Never asked: a bench diagnoses."""
        raise AssertionError(question)

    async def ask_again(self, document: RunDocument) -> Recheck:
        """Never asked."""
        raise AssertionError(document)

    def cancel(self, reason: object) -> None:
        """Never needed."""

    def close(self) -> None:
        """It holds nothing."""


def open_sure(
    *,
    folder: Path,
    baseline: Path | None,
    onset: float | OnsetWords | None,
    sink: TraceSink,
    progress: LoadProgress,
) -> SureOfItself:
    """Whatever the folder; it must be there, and hold what a run needs."""
    assert (folder / "incident.toml").exists()
    return SureOfItself()


def test_result_names_what_the_document_names() -> None:
    """Outcome, causes and candidates keep their order."""
    success, fallback = documents.success(), documents.fallback()
    assert result_of(success).outcome == "SUCCESS"
    assert [c.entity for c in result_of(success).causes] == [c.entity for c in success.report.causes]
    assert [c.entity for c in result_of(fallback).candidates] == [
        c.entity for c in fallback.report.candidates
    ]
    assert result_of(fallback).causes == ()


def test_simulated_faults_end_in_a_table_and_a_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Six kinds, one seed: the table on standard output, everything in the file, exit code 0."""
    out = tmp_path / "scores.json"
    code = run_command(
        ["bench", "demo-faults", "--seeds", "1", "--first-seed", "5000", "--json", str(out)],
        open_diagnosis=open_sure,
    )
    shown = capsys.readouterr()
    document = json.loads(out.read_text(encoding="utf-8"))
    assert code == 0
    (part,) = document["data_sets"]
    assert part["data_set"] == "demo-faults"
    assert len(part["incidents"]) == 6
    assert part["scores"][0]["figures"]["released"]["share"] == 1.0
    sound = next(entry for entry in part["incidents"] if entry["id"].startswith("none/"))
    assert sound["standing"] == "false alarm"
    assert "demo-faults: 6 runs" in shown.out
    assert "released and wrong: none/5000" in shown.out
    assert shown.err == ""


def test_a_folder_of_ones_own_incidents_is_a_data_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its name is the heading of the table, and no option is needed."""
    make_own(tmp_path / "ours")
    assert run_command(["bench", str(tmp_path / "ours")], open_diagnosis=open_sure) == 0
    assert "ours: 2 runs" in capsys.readouterr().out


def test_a_second_bench_repeats_no_run_and_writes_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a results file all runs come from it, and every incident has the same result."""
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file in files:
        arguments = ["bench", "demo-faults", "--seeds", "1", "--first-seed", "5000", "--limit", "2"]
        arguments += ["--results", str(tmp_path / "runs.jsonl"), "--json", str(file)]
        assert run_command(arguments, open_diagnosis=open_sure) == 0
    assert "2 runs, 2 of them from the results file" in capsys.readouterr().out
    assert files[0].read_bytes() == files[1].read_bytes()
    assert run_command(["bench", "--compare", *map(str, files)], open_diagnosis=open_sure) == 0
    assert capsys.readouterr().out.splitlines() == [
        "2 incidents in both",
        "0 better, 0 worse (by luck alone p = 1.000)",
        "0 equally good, with another entity first",
    ]


def test_the_page_is_self_contained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One file of HTML that loads nothing, with the wrong release and what was said for it."""
    page = tmp_path / "bench.html"
    arguments = ["bench", "demo-faults", "--seeds", "1", "--first-seed", "5000", "--limit", "1"]
    assert run_command([*arguments, "--html", str(page)], open_diagnosis=open_sure) == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert not re.search(r"(src|href)=|<script|url\(|@import", text)
    assert "checkout is the cause" in text
    assert "released" in capsys.readouterr().out


def test_table_cuts_no_cell_on_a_narrow_screen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Forty columns: every heading, row name and figure is whole."""
    monkeypatch.setenv("COLUMNS", "40")
    run_command(["bench", "demo-faults", "--seeds", "1", "--first-seed", "5000"], open_diagnosis=open_sure)
    out = capsys.readouterr().out
    assert "…" not in out
    for words in ("simulated, development seeds: errors-after-deploy", "released", "chance", "s each"):
        assert words in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["bench", "petshop", "--data", "EMPTY"], "holds no incidents"),
        (
            ["bench", "nowhere", "--data", "EMPTY"],
            f"choose one of {KNOWN}",
        ),
        (["bench", "demo-faults", "--first-seed", "7"], "used in development"),
        (["bench"], "no data set is named; choose one of petshop"),
        (["bench", "demo-faults", "--condition", "loudly"], "choose all, or some of as-published"),
        (["bench", "demo-faults", "--results", "EMPTY/no/file"], "cannot be used for results"),
        (["bench", "--compare", "EMPTY/a.json", "EMPTY/b.json"], "cannot be read as JSON"),
    ],
)
def test_bad_input_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    """No data, no such data set, a seed of development: exit code 2 and one line."""
    given = [argument.replace("EMPTY", str(tmp_path)) for argument in arguments]
    assert run_command(given, open_diagnosis=open_sure) == 2
    shown = capsys.readouterr().err
    assert sentence in shown
    assert shown.count("\n") == 1


def test_missing_data_option_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without --data and DIAGNOSIS_DATA the sentence names both."""
    monkeypatch.delenv("DIAGNOSIS_DATA", raising=False)
    assert run_command(["bench", "nezha"], open_diagnosis=open_sure) == 2
    assert "--data or DIAGNOSIS_DATA" in capsys.readouterr().err


def test_an_unknown_data_set_is_said_before_data_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No folder could help with it."""
    monkeypatch.delenv("DIAGNOSIS_DATA", raising=False)
    assert run_command(["bench", "nowhere"], open_diagnosis=open_sure) == 2
    output = capsys.readouterr().err
    assert f"'nowhere' is not a known data set; choose one of {KNOWN}." in output
    assert "--data" not in output
