"""The file of finished runs: what is cut is dropped, what is no result is left alone, nothing is lost."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from diagnosis_harness.bench import results_file
from diagnosis_harness.bench.case import BenchRun, Case, RunResult
from diagnosis_harness.bench.results_file import ResultsFile, digest_code
from diagnosis_harness.kernel.errors import InvalidInput

CASE = Case(incident_id="i", group="g", folder=Path("folder"), baseline=None, entities=("a",))
RUN = BenchRun(CASE, RunResult("FALLBACK", (), ()))


def saying(text: str) -> BenchRun:
    """A run whose answer holds this text."""
    return replace(RUN, result=replace(RUN.result, said=text))


@pytest.mark.parametrize("text", ["支付服务变慢", "a\u2028b\x85c", "half \ud800 a pair", "tab\tand\nline"])
def test_every_text_comes_back(tmp_path: Path, text: str) -> None:
    """Whatever the service, its names or its log lines hold."""
    file = tmp_path / "runs.jsonl"
    ResultsFile(file).append("k", saying(text))
    assert ResultsFile(file).run_of("k", CASE) == saying(text)


@pytest.mark.parametrize("cut", range(1, 40, 3))
def test_a_line_that_was_cut_is_dropped_and_the_others_stay(tmp_path: Path, cut: int) -> None:
    """Also in the middle of a character, as files of earlier versions have them; what follows is kept."""
    file = tmp_path / "runs.jsonl"
    kept = ResultsFile(file)
    kept.append("one", RUN)
    whole = file.read_bytes()
    file.write_bytes(whole + '{"key": "two", "incident": "支付服务变慢了一点"}'.encode()[:-cut])
    again = ResultsFile(file)
    assert again.keys == {"one"}
    again.append("three", RUN)
    assert ResultsFile(file).keys == {"one", "three"}


@pytest.mark.parametrize("text", ['{"scores": [1, 2, 3]}', "notes\nof mine\n", '{"key": 1}\n'])
def test_a_file_of_something_else_is_refused_and_left_as_it_is(tmp_path: Path, text: str) -> None:
    """One sentence; not a byte of it is lost."""
    file = tmp_path / "precious.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match="something else than results"):
        ResultsFile(file)
    assert file.read_text(encoding="utf-8") == text


def test_a_damaged_line_is_made_again_and_the_others_stay(tmp_path: Path) -> None:
    """One run is lost, not the file."""
    file = tmp_path / "runs.jsonl"
    ResultsFile(file).append("one", RUN)
    file.write_bytes(b'{"key": "two", \xff\n' + file.read_bytes())
    assert ResultsFile(file).keys == {"one"}


@pytest.mark.parametrize(
    ("file", "decides"),
    [
        ("analysis/conventions.tsv", True),
        ("analysis/rank.py", True),
        ("cli/whole_path.py", True),
        ("bench/answer.py", True),
        ("bench/html_page.py", False),
        ("simulator/world.py", False),
        ("analysis/__pycache__/rank.cpython-311.pyc", False),
    ],
)
def test_what_decides_a_run_is_in_the_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, decides: bool
) -> None:
    """Tables as well as code: after a change of one no earlier run is reused."""
    package = tmp_path / "diagnosis_harness"
    shutil.copytree(results_file.PACKAGE, package)
    monkeypatch.setattr(results_file, "PACKAGE", package)
    before = digest_code()
    place = package / file
    place.parent.mkdir(exist_ok=True)
    place.write_bytes((place.read_bytes() if place.exists() else b"") + b"\n")
    assert (digest_code() != before) is decides


def test_a_line_is_plain_ascii(tmp_path: Path) -> None:
    """So that a tool that splits lines by other rules does not break one."""
    file = tmp_path / "runs.jsonl"
    ResultsFile(file).append("k", saying("支付\u2028"))
    assert file.read_bytes().isascii()
    assert json.loads(file.read_bytes())["key"] == "k"
