"""`diagnose look`: every file of a folder is explained, with what the folder holds and lacks."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from tests.support.command_line import Diagnose, command_runner
from tests.support.small_sets import SMALL_SETS, SmallSet

from diagnosis_harness.adapters.sources.incident_folder.look import look_at_folder
from diagnosis_harness.adapters.sources.incident_folder.settings_file import SETTINGS_NAME
from diagnosis_harness.adapters.sources.part import ignore_progress
from diagnosis_harness.analysis.meaning import SignalKind, SignalSide
from diagnosis_harness.application.folder_look import DecidedBy, Lack
from diagnosis_harness.cli.main import run_command
from diagnosis_harness.cli.words import look as words

FIRST = 1_700_000_000
CASES = Path(__file__).parents[1] / "cases"
DATA_SETS = ("petshop", "nezha", "rootcausebench", "opensre-synthetic", "tvdiag-events")


@pytest.fixture
def diagnose(capfdbinary: pytest.CaptureFixture[bytes]) -> Diagnose:
    """The command line in this process."""
    return command_runner(capfdbinary)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Metrics with a gap of ten minutes, a log, an image, a file of an unknown form, and a folder."""
    incident = tmp_path / "incident"
    (incident / "old").mkdir(parents=True)
    rows = [
        f"{FIRST + 60 * i},{name},latency_ms,{100 + i % 3}\n"
        for i in range(120)
        for name in ("checkout", "cart")
        if not 50 <= i < 60
    ]
    (incident / "numbers.csv").write_text("time,entity,signal,value\n" + "".join(rows), encoding="utf-8")
    lines = [f"2023-11-14T22:{20 + i}:00Z ERROR checkout pool is full\n" for i in range(30)]
    (incident / "checkout.log").write_text("".join(lines), encoding="utf-8")
    (incident / "graph.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (incident / "notes.md").write_text("# what we saw\nit was slow\n", encoding="utf-8")
    return incident


def look_at(diagnose: Diagnose, folder: Path, *options: str) -> dict[str, Any]:
    """A look as JSON."""
    shown = diagnose("look", str(folder), "--json", *options)
    look: dict[str, Any] = json.loads(shown.out)
    return look


def folders_with_files(root: Path) -> Iterator[tuple[Path, set[str]]]:
    """Every folder below that holds files, and their names."""
    for folder, _, names in os.walk(root):
        if names:
            yield Path(folder), {name for name in names if name != SETTINGS_NAME}


def assert_every_file_is_explained(folder: Path, present: set[str]) -> None:
    """Each file has a note; what was read has a role, a form and a reason for it."""
    look = look_at_folder(folder, baseline=None, memory_limit_mb=256, progress=ignore_progress)
    names = {file.name for file in look.files}
    of_archives = {name.partition("/")[0] for name in names}
    assert present <= names | of_archives, folder
    for file in look.files:
        assert file.note, file
        assert (file.role is None) == (not file.form), file
        assert file.role is None or file.decided_by is not None, file
    assert look.obstacle is None or (look.obstacle.problem and look.obstacle.remedy)


def test_each_file_says_how_it_is_read_and_why(diagnose: Diagnose, folder: Path) -> None:
    """Also those that are not read, with the reason and what to do."""
    files = {file["name"]: file for file in look_at(diagnose, folder)["files"]}

    numbers, log = files["numbers.csv"], files["checkout.log"]
    assert (numbers["role"], numbers["form"], numbers["decided_by"]) == ("metrics", "csv", "content")
    assert (numbers["rows"], numbers["step_s"]) == (220, 60.0)
    assert numbers["gaps"] == [{"start": "2023-11-14T23:02:20Z", "end": "2023-11-14T23:13:20Z"}]
    assert (log["role"], log["rows"]) == ("logs", 30)
    assert "PNG" in files["graph.png"]["note"]
    assert "a page about the data" in files["notes.md"]["note"]
    assert "not a file" in files["old"]["note"]


def test_a_look_says_what_the_folder_holds_and_lacks(diagnose: Diagnose, folder: Path) -> None:
    """Services, signals with their meaning, times, and what is missing."""
    look = look_at(diagnose, folder)

    assert [service["name"] for service in look["services"]] == ["cart", "checkout"]
    (latency,) = look["signals"]
    assert latency == {
        "name": "latency_ms",
        "unit": "ms",
        "kind": "latency",
        "side": "own",
        "harmful": 1,
        "series": 2,
        "points": 220,
    }
    assert look["window"]["start"] == "2023-11-14T22:13:20Z"
    assert look["missing"] == ["spans", "topology", "changes", "alert", "onset", "baseline"]
    assert look["obstacle"] is None


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_look_fits_a_terminal(diagnose: Diagnose, folder: Path, language: str) -> None:
    """No line is wider than the terminal, every file is named, in both languages."""
    shown = diagnose("look", str(folder), "--lang", language)

    assert shown.code == 0
    assert max(map(cell_len, shown.out.splitlines())) <= 80
    for name in ("numbers.csv", "checkout.log", "graph.png", "notes.md", "latency_ms"):
        assert name in shown.out
    assert ("a rise is harmful" if language == "en" else "上升有害") in shown.out


def test_what_prevents_any_diagnosis_is_reported_first(diagnose: Diagnose, tmp_path: Path) -> None:
    """Two clocks: the files are still explained, each with its times."""
    for name, start in (("metrics-a.csv", FIRST), ("metrics-b.csv", FIRST + 86_400)):
        rows = [f"{start + 60 * i},checkout,latency_ms,1\n" for i in range(30)]
        (tmp_path / name).write_text("time,entity,signal,value\n" + "".join(rows), encoding="utf-8")

    shown = diagnose("look", str(tmp_path))

    assert shown.code == 2
    assert "clocks do not agree" in " ".join(shown.out.split())
    assert "11-14 22:13" in shown.out
    assert "11-15 22:13" in shown.out


def test_what_is_written_is_read_back_and_changes_nothing(diagnose: Diagnose, folder: Path) -> None:
    """Roles as they were understood; unusable files ignored; the folder is read as before."""
    before = look_at(diagnose, folder, "--fix")

    after = look_at(diagnose, folder)

    rows = {file["name"]: (file["role"], file["rows"]) for file in before["files"]}
    assert {file["name"]: (file["role"], file["rows"]) for file in after["files"]} == rows
    by = {file["name"]: file["decided_by"] for file in after["files"]}
    assert by["numbers.csv"] == "settings"
    assert "asks" in next(file["note"] for file in after["files"] if file["name"] == "graph.png")


def test_an_incident_toml_that_is_there_is_never_overwritten(diagnose: Diagnose, folder: Path) -> None:
    """One sentence, exit code 2, and the file as it was."""
    file = folder / SETTINGS_NAME
    file.write_text('[incident]\nname = "ours"\n', encoding="utf-8")

    shown = diagnose("look", str(folder), "--fix")

    assert shown.code == 2
    assert "it is there already" in shown.err
    assert file.read_text(encoding="utf-8") == '[incident]\nname = "ours"\n'


def test_hostile_names_cannot_write_keys_of_their_own(diagnose: Diagnose, folder: Path) -> None:
    """A name with quotes and line ends stays a name; what is written is still read back."""
    (folder / 'x"]\n[alert]\nentity = "cart.csv').write_text("nothing", encoding="utf-8")

    assert diagnose("look", str(folder), "--fix").code == 0
    written = (folder / SETTINGS_NAME).read_text(encoding="utf-8")
    assert "\n[alert]" not in written


@pytest.mark.parametrize(
    "case", sorted(case.name for case in CASES.iterdir() if (case / "incident").is_dir())
)
def test_every_file_of_the_small_cases_is_explained(case: str) -> None:
    """Whatever else is wrong with them."""
    for folder, present in folders_with_files(CASES / case):
        assert_every_file_is_explained(folder, present)


@pytest.mark.parametrize("small", SMALL_SETS, ids=lambda small: small.name)
def test_every_file_of_a_data_set_in_small_is_explained(small: SmallSet, tmp_path: Path) -> None:
    """The layouts of the public data sets, as they are published."""
    small.make(tmp_path)
    for folder, present in folders_with_files(tmp_path):
        assert_every_file_is_explained(folder, present)


@pytest.mark.data
@pytest.mark.parametrize("name", DATA_SETS)
def test_every_file_of_a_public_data_set_is_explained(data_folder: Path, name: str) -> None:
    """The first folders of each, as they are published."""
    for folder, present in list(folders_with_files(data_folder / name))[:4]:
        assert_every_file_is_explained(folder, present)


def test_the_words_cover_every_kind() -> None:
    """A new kind, side, lack or reason cannot be shown without its words."""
    assert set(words.KINDS) == {kind.value for kind in SignalKind}
    assert set(words.SIDES) == {side.value for side in SignalSide}
    assert set(words.LACKS) == set(Lack)
    assert set(words.DECIDED) == set(DecidedBy)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("README.md", "# What this is\n", "a page about the data, and holds none"),
        ("LICENSE", "You may copy this.\n", "a page about the data, and holds none"),
        ("nodes.json", '{"nodes": [{"name": "n1", "ready": true}]}', "1 rows in 'nodes' (name, ready)"),
        ("found.json", '{"warnings": []}', "its list 'warnings' is empty"),
        ("held.json", '{"of": "x", "lines": [{"time": 1, "size": 2}]}', "no time between 1990 and 2100"),
        ("patterns.json", '[{"signature": "x", "count": 3}]', "no column says when"),
    ],
)
def test_what_is_not_a_recording_is_explained(
    tmp_path: Path, name: str, content: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it is, and what can be done with it; the files beside it are read."""
    (tmp_path / name).write_text(content)
    (tmp_path / "metrics.csv").write_text(
        "time,entity,signal,value\n2026-05-06T09:30:00Z,booking,latency_s,0.14\n"
    )

    run_command(["look", str(tmp_path)])

    shown = " ".join(capsys.readouterr().out.split())
    assert message in shown
    assert "1 of 2 files read" in shown
