"""`diagnose knowledge` as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from diagnosis_harness.cli.main import run_command

RUNBOOKS = Path(__file__).parents[1] / "knowledge" / "runbooks"


@pytest.fixture(autouse=True, name="kept")
def index_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the index: not the home of the user who runs the tests."""
    monkeypatch.setenv("DIAGNOSE_KNOWLEDGE__INDEX_FOLDER", str(tmp_path / "kept"))
    return tmp_path / "kept"


def test_a_folder_is_indexed_and_then_only_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    """The second time nothing is read."""
    assert run_command(["knowledge", "index", "--folder", str(RUNBOOKS)]) == 0
    assert run_command(["knowledge", "index", "--folder", str(RUNBOOKS)]) == 0

    output = capsys.readouterr().out.splitlines()
    assert output == [
        "Indexed: 48 files with 104 passages. Read now: 48; removed: 0.",
        "Indexed: 48 files with 104 passages. Read now: 0; removed: 0.",
    ]


def test_a_question_is_answered_with_places(capsys: pytest.CaptureFixture[str]) -> None:
    """Word for word, without the service."""
    asked = "The new version of checkout has a high error ratio, how do I undo it?"
    assert run_command(["knowledge", "search", asked, "--folder", str(RUNBOOKS / "en")]) == 0

    output = capsys.readouterr().out
    assert "argocd app rollback checkout-service" in output
    assert "[1] deploy-rollback.md, Going back to the previous release > Steps, lines 7 to 12" in output


def test_the_language_is_that_of_the_question(capsys: pytest.CaptureFixture[str]) -> None:
    """Unless another is asked for."""
    command = [
        "knowledge",
        "search",
        "热点键失效后数据库被相同语句打爆，怎么缓解？",
        "--folder",
        str(RUNBOOKS / "zh"),
    ]
    assert run_command(command) == 0
    assert capsys.readouterr().out.startswith("运维手册中写道：")
    assert run_command([*command, "--lang", "en"]) == 0
    assert capsys.readouterr().out.startswith("The runbooks say:")


def test_that_nothing_answers_is_not_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    """As JSON, too."""
    command = ["knowledge", "search", "Where is the printer on the third floor?", "--json"]
    assert run_command([*command, "--folder", str(RUNBOOKS / "en")]) == 0

    body = json.loads(capsys.readouterr().out)
    assert (body["kind"], body["found"], body["retrievals"]) == ("KNOWLEDGE_QUERY", False, 1)


def test_without_a_folder_a_search_says_how_to_configure_one(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing was searched, and nothing failed."""
    assert run_command(["knowledge", "search", "how do I roll back?"]) == 0

    assert capsys.readouterr().out.startswith("No runbooks are configured, so nothing was searched.")


def test_the_configured_folder_is_used(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From settings or environment."""
    monkeypatch.setenv("DIAGNOSE_KNOWLEDGE__FOLDER", str(RUNBOOKS / "zh"))

    assert run_command(["knowledge", "index", "--lang", "zh"]) == 0
    assert capsys.readouterr().out.startswith("已索引 24 个文件")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ["index", "--folder", "nowhere"],
            "Cannot use nowhere: there is no such folder; name one that holds",
        ),
        (["search", "why?", "--folder", "nowhere"], "Cannot use nowhere: there is no such folder"),
        (["index", "--folder", "a.md"], "Cannot use a.md: it is a file; name the folder that holds it."),
        (
            ["index", "--folder", "empty"],
            "Cannot use empty: it contains no Markdown, text or HTML file with text",
        ),
        (["index"], "Cannot use --folder: no folder of runbooks is configured"),
        (["search", "  "], "Cannot use QUESTION: it is empty"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(
    arguments: list[str],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """On standard error, with the exit code of bad input."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_text("# A\n\ntext\n")
    (tmp_path / "empty").mkdir()

    assert run_command(["knowledge", *arguments]) == 2
    output = capsys.readouterr().err.splitlines()
    assert len(output) == 1
    assert output[0].startswith(problem)


def test_what_is_not_used_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """File by file; the rest is indexed."""
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\ntext\n")
    (folder / "b.md").write_bytes(b"\x00\x01")
    (folder / "c.md").write_bytes("磁盘".encode("gb18030"))

    assert run_command(["knowledge", "index", "--folder", str(folder)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "b.md: not used: it is binary, or UTF-16.",
        "c.md: not used: it is not UTF-8 (byte 1).",
        "Indexed: 1 files with 1 passages. Read now: 3; removed: 0.",
    ]
