"""Every row of the specifications that this code owes is held up by tests that exist."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
OWNERS = {"core", "evidence", "service", "llm"}
REVIEWED = {"EV", "FI", "GU", "JS", "LG", "OP", "RS", "SM", "SV"}
"""Rows that reviews of the product added. The others are in the specifications: their number is fixed."""


def _table() -> dict[str, Any]:
    with (ROOT / "docs" / "conformance.toml").open("rb") as file:
        return tomllib.load(file)


TABLE = _table()
ROWS: dict[str, dict[str, Any]] = {row: entry for row, entry in TABLE.items() if isinstance(entry, dict)}
OWNED = sorted(row for row, entry in ROWS.items() if entry["owner"] in TABLE["owned"])
SERVED = {row: entry["tests"] for row, entry in ROWS.items() if entry["tests"] != "later"}


def test_all_rows_of_the_specifications_are_listed() -> None:
    """No row can be dropped to make the table green."""
    counted = Counter(entry["owner"] for row, entry in ROWS.items() if row.partition("-")[0] not in REVIEWED)

    assert counted == {"core": 39, "evidence": 45, "service": 32, "llm": 1}
    assert set(TABLE["owned"]) <= OWNERS


@pytest.mark.parametrize("row", OWNED)
def test_an_owned_row_has_tests_and_a_break(row: str) -> None:
    """A row that is owed names its tests and the wrong change they catch."""
    entry = ROWS[row]

    assert isinstance(entry["tests"], list), "still later"
    assert entry["tests"], "no tests"
    assert set(entry.get("break", {})) == {"file", "find", "replace"}


def test_the_named_tests_exist() -> None:
    """A row cannot lean on a test that was renamed or deleted."""
    named = {test for tests in SERVED.values() for test in tests}
    files = sorted({test.partition("::")[0] for test in named})
    missing_files = [file for file in files if not (ROOT / file).is_file()]
    assert not missing_files
    if not files:
        return
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *files]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    existing = set(listed.stdout.splitlines())
    existing |= {test.partition("[")[0] for test in existing}
    existing |= {test.rpartition("::")[0] for test in existing if test.count("::") > 1}

    assert not named - existing


def test_no_test_serves_more_than_three_rows() -> None:
    """A test that is said to prove everything proves nothing."""
    serves = Counter(test for tests in SERVED.values() for test in set(tests))

    assert not {test: count for test, count in serves.items() if count > 3}


def test_every_break_applies_exactly_once() -> None:
    """A break that no longer fits its file would show nothing; `make mutants` then runs it."""
    for row, entry in ROWS.items():
        if change := entry.get("break"):
            text = (ROOT / change["file"]).read_text(encoding="utf-8")
            assert text.count(change["find"]) == 1, row
            assert change["find"] != change["replace"], row
