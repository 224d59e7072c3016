"""The reference pages are those of the code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_no_generated_page_is_stale() -> None:
    """Commands, exit codes, errors, tools and the document's schema: `make docs` writes them."""
    checked = subprocess.run(
        [sys.executable, "dev/docs.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert checked.returncode == 0, checked.stdout
