"""The examples run as they are printed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from diagnosis_harness.server.problems import ALERT_PATHS

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


def test_the_example_of_alertmanager_sends_to_the_path_that_takes_alerts() -> None:
    """Whoever copies it reaches the webhook, and is told of resolved alerts as well."""
    lines = (EXAMPLES / "alertmanager.yml").read_text(encoding="utf-8").splitlines()
    (url,) = (line.split("url: ")[1] for line in lines if "url: " in line)

    assert urlsplit(url).path in ALERT_PATHS
    assert any(line.split("#")[0].strip() == "send_resolved: true" for line in lines)
