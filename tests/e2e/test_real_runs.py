"""The command line as a process over the real system: simulated incidents, and unusable folders."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs" / "reference" / "run-document.schema.json").read_text(encoding="utf-8"))
PLAIN = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "COLUMNS": "100", "OMP_NUM_THREADS": "1"}


def diagnose(*arguments: str) -> subprocess.CompletedProcess[str]:
    """One command line, run to its end."""
    return subprocess.run(
        [sys.executable, "-m", "diagnosis_harness", *arguments],
        env=PLAIN,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=110,
        check=False,
    )


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], Path]:
    """A demo, and the folder that it kept."""
    kept = tmp_path_factory.mktemp("kept")
    ended = diagnose("demo", "--fault", "cpu", "--seed", "1", "--keep", str(kept), "--json")
    return ended, next(kept.iterdir())


def test_the_demo_says_that_it_is_simulated_and_what_had_been_injected(
    demo: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    """Before the run that nothing here happened, after it what was broken."""
    ended, _ = demo

    output = ended.stderr.splitlines()
    assert output[0].startswith("Simulated:")
    assert "Injected: cpu at " in ended.stderr
    assert output[-1].startswith("The diagnosis ")


def test_the_right_answer_is_not_in_the_folder(
    demo: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    """Neither a file nor a name tells the run what was injected."""
    ended, folder = demo

    document = json.loads(ended.stdout)
    names = {path.name for path in folder.iterdir()}
    assert not [name for name in names if "truth" in name or "label" in name]
    assert "cpu" not in folder.name
    assert "injected" not in json.dumps(document)


def test_a_demo_in_which_nothing_was_injected_ends_0_where_no_cause_is_named() -> None:
    """The fallback is the right answer there, and no error to `make`."""
    ended = diagnose("demo", "--fault", "none", "--json")

    assert json.loads(ended.stdout)["release"]["outcome"] == "FALLBACK"
    assert "The diagnosis was right: it named no cause." in ended.stderr
    assert ended.returncode == 0


def test_a_real_run_gives_a_document_of_the_schema_whose_digests_hold(
    demo: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    """With at least one record, and an exit code that fits."""
    ended, _ = demo

    document = json.loads(ended.stdout)
    jsonschema.validate(document, SCHEMA)
    assert ended.returncode == {"SUCCESS": 0, "FALLBACK": 3}[document["release"]["outcome"]]
    ready = [record for record in document["records"] if record["status"] == "READY"]
    assert ready
    for record in ready:
        assert record["digest"] == "sha256:" + hashlib.sha256(record["stored"].encode()).hexdigest()
        assert record["size_bytes"] == len(record["stored"].encode())


def test_every_released_quote_is_in_its_record(
    demo: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    """A quote is a verbatim part of the cited item's line."""
    document = json.loads(demo[0].stdout)

    lines = {
        (record["tool_call_id"], item["item_id"]): item["line"]
        for record in document["records"]
        if record["stored"]
        for item in json.loads(record["stored"])["items"]
    }
    quotes = [quote for claim in document["report"]["claims"] for quote in claim["quotes"]]
    assert quotes
    for quote in quotes:
        assert quote["text"] in lines[quote["ref"]["tool_call_id"], quote["ref"]["item_id"]]


def test_a_kept_folder_can_be_asked_again_in_chinese(
    demo: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    """The same folder, the same outcome, a Chinese report."""
    ended, folder = demo

    again = diagnose("ask", "告警为什么触发", "--from", str(folder))

    assert again.returncode == ended.returncode
    assert "已检查的内容" in again.stdout
    assert "正在诊断" in again.stderr


def test_a_run_without_time_ends_124_or_as_a_safe_answer(
    demo: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    """A millisecond is no time to find anything out."""
    ended = diagnose("ask", "why", "--from", str(demo[1]), "--deadline", "0.001", "--json")

    document = json.loads(ended.stdout)
    jsonschema.validate(document, SCHEMA)
    assert document["run"]["state"] == "TIMED_OUT"
    assert ended.returncode == 124


def test_ctrl_c_ends_a_run_whose_backend_hangs_and_keeps_its_evidence(
    demo: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    """What had come back is in the document, what had not is named, and the process does end."""
    stuck = Path(__file__).with_name("stuck_diagnose.py")
    process = subprocess.Popen(
        [sys.executable, str(stuck), "ask", "why", "--from", str(demo[1]), "--json"],
        env=PLAIN,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stderr is not None
    awaited = {"stuck\n", "answered: describe_sources\n"}
    while awaited:
        line = process.stderr.readline()
        assert line, "the process ended early"
        awaited.discard(line)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)

    document = json.loads(out)
    jsonschema.validate(document, SCHEMA)
    assert process.returncode == 130
    assert "Cancelling. In flight: " in err
    assert document["release"]["outcome"] == "CANCELLED"
    assert document["run"]["termination"]["reason"] == "USER_REQUESTED"
    assert document["run"]["in_flight"]
    assert "describe_sources" in {record["tool"] for record in document["records"] if record["digest"]}


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_a_folder_that_cannot_be_used_is_one_sentence(tmp_path: Path, name: str) -> None:
    """It names the folder, and nothing is printed as an answer."""
    if name == "empty":
        (tmp_path / name).mkdir()

    ended = diagnose("ask", "why", "--from", str(tmp_path / name))

    assert ended.returncode == 2
    assert ended.stdout == ""
    assert len(ended.stderr.splitlines()) == 1
    assert str(tmp_path / name) in ended.stderr


def test_help_is_quick() -> None:
    """At most 0.3 s of processor time: nothing heavy is imported for it (the best of three counts)."""
    spent = []
    for _ in range(3):
        before = os.times()
        assert diagnose("--help").returncode == 0
        after = os.times()
        spent.append(
            after.children_user + after.children_system - before.children_user - before.children_system
        )

    assert min(spent) <= 0.3
