"""The recorded cases about files: what is answered, from the command line to the document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from diagnosis_harness.audit.verification.verify import verify
from diagnosis_harness.cli.main import run_command

CASES = Path(__file__).parents[1] / "cases"


def ask_about(folder: Path, question: str, tmp_path: Path, *options: str) -> dict[str, Any]:
    """The document of a question about a folder, which verifies."""
    file = tmp_path / "run.json"
    run_command(["ask", question, "--from", str(folder), "--save", str(file), *options])
    assert verify(file.read_bytes(), file=file.name).verified
    held: dict[str, Any] = json.loads(file.read_bytes())
    return held


@pytest.mark.parametrize(("case", "region"), [("A21", "user_percent"), ("B19", "%user")])
def test_what_the_processor_does_is_cpu_and_a_still_line_beside_it_is_little(
    tmp_path: Path, case: str, region: str
) -> None:
    """`%user` from 30 to 88 is the finding; half a point on a line that never moved is not."""
    document = ask_about(CASES / case / "incident", "Why is pay-1 slow since 09:30?", tmp_path)

    (cause,) = document["report"]["causes"]
    assert (cause["entity"], cause["fault_kind"], cause["region"]) == ("pay-1", "CPU", region)


def test_a42_what_changed_names_both_series_and_blames_nobody(tmp_path: Path) -> None:
    """Of whom they are nothing says, so nobody is a cause; a fall of hits is told beside the rise of load."""
    document = ask_about(CASES / "A42" / "incident", "What changed at 09:30?", tmp_path)

    first = document["report"]["summary"][0]
    assert first.startswith("Before and after 2026-05-06T09:30:00Z: ")
    assert "db-load of system rose" in first
    assert "cache-hits of system fell" in first
    assert document["report"]["causes"] == []
    assert document["report"]["candidates"] == []


def test_a42_what_belongs_to_nobody_is_never_a_cause(tmp_path: Path) -> None:
    """Also where a cause is asked for: what moved is told, and nothing is concluded."""
    document = ask_about(CASES / "A42" / "incident", "Why is the database slow since 09:30?", tmp_path)

    assert document["release"]["outcome"] == "FALLBACK"
    assert document["report"]["causes"] == []
    assert [each["entity"] for each in document["report"]["claims"]][:1] == ["system"]


def test_b17_the_part_of_the_load_that_rose_is_named(tmp_path: Path) -> None:
    """More requests are no harm by themselves, and the answer to where they come from."""
    question = "Where do the requests at gateway come from since 09:30?"
    document = ask_about(CASES / "B17" / "incident", question, tmp_path)

    assert document["report"]["claims"][0]["sentence"].startswith(
        "“requests_per_minute{country=BR}” of gateway rose"
    )
