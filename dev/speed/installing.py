"""The size of the base install, without byte code."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from dev.speed.figure import Figure
from dev.speed.fresh_process import ROOT

TOPIC = "Base install"
NAME = "requirements/base.txt, installed"


def measure() -> list[Figure]:
    """The files that the base lock puts into site-packages, in MB (10^6 bytes)."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet",
                "--no-compile", "--no-deps", "--require-hashes",
                "--requirement", "requirements/base.txt", "--target", folder,
            ],
            cwd=ROOT, check=False, capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode != 0:
            return [Figure(TOPIC, NAME, None, "MB", 150, note="pip could not install it")]
        size_of = {
            package: _size_mb(Path(folder) / package) for package in ("duckdb", "numpy", "numpy.libs", "")
        }
        size_of["duckdb"] += sum(_size_mb(file) for file in Path(folder).glob("_duckdb*.so"))
    return [
        Figure(TOPIC, NAME, size_of[""], "MB", 150),
        Figure(TOPIC, "  of it duckdb", size_of["duckdb"], "MB"),
        Figure(TOPIC, "  of it numpy", size_of["numpy"] + size_of["numpy.libs"], "MB"),
    ]


def _size_mb(place: Path) -> float:
    files = [place] if place.is_file() else place.rglob("*")
    return sum(file.stat().st_size for file in files if file.is_file() and file.suffix != ".pyc") / 1e6
