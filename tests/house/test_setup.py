"""Set-up refuses what it cannot work with in one sentence, and works around what it can."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def set_up(folder: Path, lock: str, *, python: str) -> subprocess.CompletedProcess[str]:
    """Run set-up in a folder that holds nothing but its own files and an empty lock."""
    (folder / "dev").mkdir()
    (folder / "requirements").mkdir()
    shutil.copy(ROOT / "dev" / "setup.sh", folder / "dev")
    (folder / "requirements" / f"{lock}.txt").write_text("", encoding="utf-8")
    return subprocess.run(
        ["sh", "dev/setup.sh", lock],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "PYTHON": python, "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def python_that_fails(folder: Path, *patterns: str) -> str:
    """A Python that fails where its arguments hold one of these texts, also in the folders that it makes."""
    folder.mkdir()
    fake = folder / "python"
    fails = "\n".join(f"    *{pattern}*) exit 1 ;;" for pattern in patterns)
    fake.write_text(
        f"""#!/bin/sh
case "$*" in
{fails}
    *--without-pip*) mkdir -p .venv/bin && ln -s {fake} .venv/bin/python && exit ;;
esac
exec "{sys.executable}" "$@"
""",
        encoding="utf-8",
    )
    fake.chmod(0o755)
    return str(fake)


@pytest.mark.parametrize(
    ("fails", "sentence"),
    [
        ("3,?11,?2", "is no Python 3.11.2 or newer; name one: make PYTHON="),
        ("sqlite3", "has no SQLite 3.40 or newer; name another Python: make PYTHON="),
    ],
)
def test_a_python_that_is_too_old_is_refused_in_one_sentence(
    tmp_path: Path, fails: str, sentence: str
) -> None:
    """Before anything is installed, and with what to do instead."""
    ended = set_up(tmp_path, "dev", python=python_that_fails(tmp_path / "bin", fails))

    assert ended.returncode != 0
    assert len(ended.stderr.splitlines()) == 1
    assert sentence in ended.stderr
    assert not (tmp_path / ".venv").exists()


def test_a_python_without_pip_and_ensurepip_is_named_in_one_sentence(tmp_path: Path) -> None:
    """Debian's own Python without the package python3-venv, on a machine that has no pip either."""
    fake = python_that_fails(tmp_path / "bin", "ensurepip", "-m?pip", "-m?venv?.venv")

    ended = set_up(tmp_path, "base", python=fake)

    assert ended.returncode != 0
    assert ended.stderr.splitlines()[-1] == (
        "setup: no pip, ensurepip or uv here; install one (Debian: apt install python3-venv)"
    )
