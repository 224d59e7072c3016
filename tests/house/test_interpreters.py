"""What depends on the interpreter runs on every one that is there, and one that fails is not overlooked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from dev.interpreters import OLDEST, USER, Interpreter, candidates, describe_roles, find_interpreters

ROOT = Path(__file__).parents[2]


def pretend(file: Path, version: str) -> Path:
    """A program that says it is such a Python, and can do nothing else."""
    file.parent.mkdir(parents=True)
    words = version.replace(".", " ")
    file.write_text(
        f'#!/bin/sh\ncase "$*" in *base_prefix*) echo {words} True ;; *) exit 1 ;; esac\n', encoding="utf-8"
    )
    file.chmod(0o755)
    return file


@pytest.mark.parametrize(
    "place",
    [
        ".pyenv/versions/3.98.1/bin/python3.98",
        ".asdf/installs/python/3.98.1/bin/python3",
        ".local/share/uv/python/cpython-3.98.1/bin/python3.98",
        "elsewhere/bin/python3.98",
    ],
)
def test_a_python_is_found_where_people_have_theirs(tmp_path: Path, place: str) -> None:
    """In the folders of version managers, on PATH or not, and on PATH itself."""
    file = pretend(tmp_path / place, "3.98.1")

    found = find_interpreters(candidates(tmp_path, str(tmp_path / "elsewhere" / "bin")))

    assert file in [interpreter.path for interpreter in found]
    assert all(interpreter.version[:2] >= OLDEST for interpreter in found)
    assert len({interpreter.version for interpreter in found}) == len(found)


def test_a_python_that_is_too_old_is_not_taken(tmp_path: Path) -> None:
    """The package does not claim it."""
    pretend(tmp_path / ".pyenv/versions/3.10.13/bin/python3.10", "3.10.13")

    assert (3, 10, 13) not in [
        interpreter.version for interpreter in find_interpreters(candidates(tmp_path, ""))
    ]


def test_an_interpreter_that_fails_fails_all(tmp_path: Path) -> None:
    """Named, with its time, and by the exit code."""
    pretend(tmp_path / ".pyenv/versions/3.98.1/bin/python3.98", "3.98.1")

    ended = subprocess.run(
        [sys.executable, "dev/interpreters.py", "--only", "3.98"],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 1, ended.stderr
    assert "interpreters: 3.98.1 as" in ended.stdout
    assert "FAILED" in ended.stdout


@pytest.mark.parametrize("uid", [0, 1000])
def test_a_line_says_as_whom_an_interpreter_runs(uid: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root reads there which interpreters the user could not start; a user has no other rights to compare."""
    monkeypatch.setattr(os, "getuid", lambda: uid)
    python = Interpreter(Path("/opt/python3.98"), (3, 98, 1))
    missing = f"; {USER} may not start it" if uid == 0 else ""

    assert describe_roles(python, [USER, "root"]).endswith(f"(/opt/python3.98) as {USER} and as root")
    assert describe_roles(python, ["root"]).endswith(f"(/opt/python3.98) as root{missing}")
    assert describe_roles(python, []).endswith(f"the whole suite runs on it{missing}")
