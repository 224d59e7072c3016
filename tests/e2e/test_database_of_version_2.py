"""A database that the version before left behind: its runs are listed, reread, explained and verified."""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path

import pytest
from tests.support.command_line import Diagnose, command_runner

LEFT_BEHIND = Path(__file__).parents[1] / "version_2" / "database.sql.gz"
OUTCOMES = {"SUCCESS": 3, "FALLBACK": 1, "FAILED": 2, None: 1}
"""Two diagnoses and a chat about the system; a fallback; two failures; one run that is still queued."""


@pytest.fixture
def diagnose(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> Diagnose:
    """One command line in this process, over a copy of that database."""
    file = tmp_path / "diagnosis-harness.db"
    database = sqlite3.connect(file)
    database.executescript(gzip.decompress(LEFT_BEHIND.read_bytes()).decode())
    database.close()
    monkeypatch.setenv("DIAGNOSE_DATABASE__URL", str(file))
    return command_runner(capfdbinary)


def test_every_run_of_before_is_listed(diagnose: Diagnose) -> None:
    """An upgrade loses no history."""
    listed = [json.loads(line) for line in diagnose("runs", "list", "--json").out.splitlines()]

    outcomes = [row["outcome"] for row in listed]
    assert {outcome: outcomes.count(outcome) for outcome in OUTCOMES} == OUTCOMES
    assert len(listed) == sum(OUTCOMES.values())


def test_every_ended_run_of_before_is_reread_and_verified(diagnose: Diagnose, tmp_path: Path) -> None:
    """A diagnosis stays a document of version 2 and says what it cannot carry; other documents are new."""
    listed = [json.loads(line) for line in diagnose("runs", "list", "--json").out.splitlines()]
    ended = [row["run_id"] for row in listed if row["outcome"] is not None]

    verified = [diagnose("runs", "verify", run_id) for run_id in ended]

    assert [sentence.code for sentence in verified] == [0] * len(ended), [s.out for s in verified if s.code]
    assert sum("version 2" in sentence.out or "版本 2" in sentence.out for sentence in verified) == 3


def test_every_ended_run_of_before_says_why(diagnose: Diagnose) -> None:
    """The audit of last month's incident can still be read."""
    listed = [json.loads(line) for line in diagnose("runs", "list", "--json").out.splitlines()]
    ended = [row["run_id"] for row in listed if row["outcome"] is not None]

    output = [diagnose("runs", "why", run_id) for run_id in ended]

    assert all(each.code == 0 and each.out.strip() for each in output), [each.err for each in output]
