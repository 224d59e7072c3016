"""The examples run as they are printed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_embedding_example_refuses_what_its_agent_invented() -> None:
    """One claim stands, one is refused, one run ends SUCCESS."""
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / "embed.py")], capture_output=True, text=True, check=True, timeout=60
    )
    assert ran.stdout.splitlines() == [
        "stands   queue_depth of worker rose from 12 to 4,800 (400 times).",
        "refused  queue_depth of worker rose to 9,999.",
        "SUCCESS: 2 steps, 1 tool call",
    ]
