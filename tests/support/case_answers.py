"""Asks about a folder from the command line and hands back the document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from diagnosis_harness.audit.verification.verify import verify
from diagnosis_harness.cli.main import run_command

CASES = Path(__file__).parents[1] / "cases"


def ask_about(folder: Path, question: str, tmp_path: Path, *options: str) -> dict[str, Any]:
    """The document of a question about a folder, which verifies."""
    file = tmp_path / "run.json"
    run_command(["ask", question, "--from", str(folder), "--save", str(file), *options])
    assert verify(file.read_bytes(), file=file.name).verified
    content: dict[str, Any] = json.loads(file.read_bytes())
    return content
