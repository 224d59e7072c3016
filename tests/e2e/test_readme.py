"""What the README shows of `make demo` is what it prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_readme_shows_what_the_demo_prints() -> None:
    """Every line of the README's block is in the demo's output, in that order."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    block = page[page.index("? Why did the alert fire?") :].split("```")[0]
    shown = [line for line in block.splitlines() if line.strip()]
    assert len(shown) >= 8
    ran = subprocess.run(
        [sys.executable, "-m", "diagnosis_harness", "demo"],
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=100,
    )
    printed = iter(ran.stdout.splitlines())
    missing = [line for line in shown if line not in printed]  # consumes the output, so order counts
    assert missing == []
