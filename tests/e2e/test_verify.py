"""`diagnose verify` as a process: a saved demo, flipped, forged, mixed up, and asked again of its folder."""

from __future__ import annotations

import csv
import json
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from diagnosis_harness.audit.verification.result import CheckName

PLAIN = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "COLUMNS": "100", "OMP_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class Demo:
    """A saved run, and the incident folder behind it."""

    file: Path
    folder: Path


def diagnose(*arguments: object) -> subprocess.CompletedProcess[str]:
    """One command line, run to its end."""
    return subprocess.run(
        [sys.executable, "-m", "diagnosis_harness", *map(str, arguments)],
        env=PLAIN,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=110,
        check=False,
    )


def _demo(place: Path, *options: str) -> Demo:
    file = place / "run.json"
    (place / "kept").mkdir()
    assert diagnose("demo", "--keep", place / "kept", "--save", file, *options).returncode in (0, 3)
    return Demo(file, next((place / "kept").iterdir()))


@pytest.fixture(scope="module")
def english(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """A concluded run."""
    return _demo(tmp_path_factory.mktemp("english"), "--seed", "1")


@pytest.fixture(scope="module")
def chinese(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """A Chinese one of another incident."""
    return _demo(
        tmp_path_factory.mktemp("chinese"), "--fault", "network-delay", "--seed", "2", "--lang", "zh"
    )


def run_verify(data: bytes, place: Path) -> tuple[int, Any]:
    """Exit code and JSON answer for a file that holds these bytes."""
    file = place / "run.json"
    file.write_bytes(data)
    ended = diagnose("verify", file, "--json")
    return ended.returncode, json.loads(ended.stdout) if ended.stdout else None


def failing(answer: Any) -> set[str]:
    """The checks that fail."""
    return {check["name"] for check in answer["checks"] if check["result"] == "FAILS"}


def test_a_saved_run_is_verified(english: Demo) -> None:
    """In words if there is no terminal; the root digest is printed too, to compare with a noted one."""
    ended = diagnose("verify", english.file)

    assert ended.returncode == 0
    assert ended.stderr == ""
    assert f"Verified: all {len(CheckName)} checks hold." in ended.stdout
    assert json.loads(english.file.read_bytes())["root_digest"] in ended.stdout
    assert "FAILS" not in ended.stdout
    assert "✓" not in ended.stdout


def test_what_json_prints_is_what_save_writes(english: Demo, tmp_path: Path) -> None:
    """Both are the one byte form; a run piped into a file verifies as well."""
    ended = diagnose("ask", "why", "--from", english.folder, "--json")

    code, answer = run_verify(ended.stdout.encode(), tmp_path)

    assert code == 0
    assert answer["verified"] is True
    assert answer["root_digest"] == json.loads(ended.stdout)["root_digest"]


def test_a_chinese_run_is_verified_in_chinese(chinese: Demo) -> None:
    """The run's own language; columns fit although its characters are two cells wide."""
    ended = diagnose("verify", chinese.file)

    assert ended.returncode == 0
    assert f"已核实：全部 {len(CheckName)} 项检查通过。" in ended.stdout
    assert "claims" not in ended.stdout


def test_the_language_can_be_chosen(chinese: Demo) -> None:
    """`--lang` wins over the run's."""
    assert (
        f"Verified: all {len(CheckName)} checks hold."
        in diagnose("verify", chinese.file, "--lang", "en").stdout
    )


@pytest.mark.parametrize("share", [0.01, 0.2, 0.4, 0.6, 0.8, 0.99])
def test_a_flipped_byte_is_found(english: Demo, tmp_path: Path, share: float) -> None:
    """Exit code 1, or 2 where the file is no JSON any more; never 0."""
    data = bytearray(english.file.read_bytes())
    data[round(share * len(data))] ^= 0x01

    code, answer = run_verify(bytes(data), tmp_path)

    assert code == (2 if answer is None else 1)


def test_records_of_another_run_do_not_pass(english: Demo, chinese: Demo, tmp_path: Path) -> None:
    """Swapped in whole, so that each digest holds; calls that the other has not made stay."""
    stored, other = (json.loads(demo.file.read_bytes()) for demo in (english, chinese))
    made = {each["tool_call_id"] for each in other["records"]}
    stored["records"] = [
        *other["records"], *(each for each in stored["records"] if each["tool_call_id"] not in made)
    ]  # fmt: skip

    code, answer = run_verify(json.dumps(stored, ensure_ascii=False, indent=2).encode() + b"\n", tmp_path)

    assert code == 1
    assert {"ROOT_DIGEST", "CLAIMS", "COVERAGE"} <= failing(answer)
    assert "RECORD_DIGESTS" not in failing(answer)


def test_a_flaw_names_its_place(english: Demo, tmp_path: Path) -> None:
    """A reader finds it: check, path in the document, what is stated and what should be."""
    stored = json.loads(english.file.read_bytes())
    stored["report"]["claims"][0]["sentence"] = "Nobody did it."
    file = tmp_path / "run.json"
    file.write_text(json.dumps(stored, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")

    ended = diagnose("verify", file)

    assert ended.returncode == 1
    assert f"NOT VERIFIED: 2 of {len(CheckName)} checks fail, 0 could not be run." in ended.stdout
    assert (
        "report.claims[0].sentence: the sentence does not match the claim [SENTENCE_DIFFERS]" in ended.stdout
    )
    assert "stated: Nobody did it." in ended.stdout


def test_all_facts_hold_against_the_folder_itself(english: Demo) -> None:
    """Every repeated query returns the same bytes."""
    ended = diagnose("verify", english.file, "--against", english.folder, "--json")

    answer = json.loads(ended.stdout)
    assert ended.returncode == 0
    assert answer["against"]["holds"] is True
    assert {query["status"] for query in answer["against"]["queries"]} == {"SAME"}
    assert {fact["status"] for fact in answer["against"]["facts"]} == {"HOLDS"}
    assert [cause["codes"] for cause in answer["against"]["causes"]] == [[]]


def test_a_fact_that_changed_is_listed_with_old_and_new_value(english: Demo, tmp_path: Path) -> None:
    """One signal of the folder was rewritten since: other facts still hold, and the file verifies."""
    stored = json.loads(english.file.read_bytes())
    claim = next(each for each in stored["report"]["claims"] if each["predicate"] == "CHANGED")
    folder = tmp_path / "since"
    shutil.copytree(english.folder, folder)
    _double_series(folder / "metrics.csv", claim["entity"], claim["signal"])

    ended = diagnose("verify", english.file, "--against", folder)
    again = json.loads(diagnose("verify", english.file, "--against", folder, "--json").stdout)

    facts = {fact["claim_id"]: fact for fact in again["against"]["facts"]}
    changed = facts[claim["claim_id"]]
    assert ended.returncode == 1
    assert f"Verified: all {len(CheckName)} checks hold." in ended.stdout
    assert changed["status"] == "CHANGED"
    assert "VALUE_NOT_BORNE" in changed["codes"]
    assert changed["old"] == claim["quotes"][0]["text"]
    assert changed["new"].startswith(f"{claim['entity']} {claim['signal']} ")
    assert changed["new"] != changed["old"]
    holding = sum(fact["status"] == "HOLDS" for fact in facts.values())
    assert 0 < holding < len(facts)
    assert f"{holding} of {len(facts)} facts still hold." in ended.stdout
    assert f"now: {changed['new'][:40]}" in ended.stdout


def _double_series(file: Path, entity: str, signal: str) -> None:
    with file.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    for row in rows:
        if (row["entity"], row["signal"]) == (entity, signal):
            row["value"] = str(2 * float(row["value"]))
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


def test_no_fact_holds_against_another_incident(english: Demo, chinese: Demo) -> None:
    """The file itself verifies all the same: it says what was found then and there."""
    ended = diagnose("verify", english.file, "--against", chinese.folder)

    assert ended.returncode == 1
    assert f"Verified: all {len(CheckName)} checks hold." in ended.stdout
    assert "\n0 of " in ended.stdout
    assert "would no longer be concluded" in ended.stdout


def test_a_stated_onset_is_part_of_the_run(english: Demo, tmp_path: Path) -> None:
    """Its windows come from the onset that was stated, so the queries are asked again with it."""
    file = tmp_path / "run.json"
    diagnose("ask", "why", "--from", english.folder, "--onset", "2024-02-16T11:00:00Z", "--save", file)

    ended = diagnose("verify", file, "--against", english.folder, "--json")

    assert json.loads(file.read_bytes())["run"]["onset_at"] == "2024-02-16T11:00:00Z"
    queries = json.loads(ended.stdout)["against"]["queries"]
    assert ended.returncode == 0
    assert {query["status"] for query in queries} == {"SAME"}


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (None, (), "cannot be read"),
        (b"{", (), "is not JSON"),
        (b'{"answer": 42}', (), "is not a run document"),
        (b"{}", ("--baseline", "."), "--baseline"),
    ],
)
def test_what_cannot_be_verified_at_all_is_bad_input(
    tmp_path: Path, content: bytes | None, arguments: tuple[str, ...], message: str
) -> None:
    """One sentence, exit code 2, nothing on standard output."""
    file = tmp_path / "run.json"
    if content is not None:
        file.write_bytes(content)

    ended = diagnose("verify", file, *arguments)

    assert ended.returncode == 2
    assert ended.stdout == ""
    assert message in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_a_folder_that_cannot_be_used_is_bad_input(english: Demo, tmp_path: Path) -> None:
    """It is no verdict on the run."""
    ended = diagnose("verify", english.file, "--against", tmp_path)

    assert ended.returncode == 2
    assert str(tmp_path) in ended.stderr


def test_a_deadline_inside_a_library_call_does_not_abort_the_process(english: Demo) -> None:
    """The threads of tools that are still at work are left behind, not unwound."""
    codes = {
        diagnose("ask", "why", "--from", english.folder, "--deadline", "0.15").returncode for _ in range(4)
    }

    assert codes <= {0, 3, 124}


def test_ctrl_c_ends_asking_again_and_what_was_not_asked_is_not_a_verdict(english: Demo) -> None:
    """Exit code 130; facts whose queries had not come back could not be asked, the others are judged."""
    stuck = Path(__file__).with_name("stuck_diagnose.py")
    process = subprocess.Popen(
        [
            sys.executable, str(stuck), "verify", str(english.file),
            "--against", str(english.folder), "--json",
        ],
        env=PLAIN,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )  # fmt: skip
    assert process.stderr is not None
    assert any("stuck" in line for line in process.stderr)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)

    answer = json.loads(out)
    assert process.returncode == 130
    assert "Cancelling. In flight: " in err
    assert answer["verified"] is True
    assert answer["against"]["state"] == "CANCELLED"
    codes = {query["code"] for query in answer["against"]["queries"] if query["status"] == "NOT_ASKED"}
    assert "RUN_ENDED" in codes
    assert "NOT_ASKED" in {fact["status"] for fact in answer["against"]["facts"]}
    assert answer["against"]["holds"] is False
