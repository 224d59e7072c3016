"""The commit that figures were measured on, for the pages that publish them."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def find_commit() -> str:
    """The last commit that changed the code, short; empty where there is no history."""
    try:
        found = subprocess.run(
            ["git", "log", "-1", "--format=%h", "--abbrev=10", "--", "src"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip()


def describe_commit(commit: str) -> str:
    """How a page names it."""
    return f"Commit `{commit}`" if commit else "A tree without history"
