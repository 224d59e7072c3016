"""The map in ARCHITECTURE.md answers "where is X decided?" with a file that exists."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "diagnosis_harness"

WHERE_IS_DECIDED = {
    "whether a call of a run may start": "harness/gate.py",
    "which of two ends of a run stands": "harness/lifecycle.py",
    "what one run may spend": "harness/budget.py",
    "which failures are retried": "harness/retry_policy.py",
    "who charges an llm call": "llm/role.py",
    "whether a tool call is refused": "tools/preflight.py",
    "how much of a tool's findings is recorded": "tools/projection.py",
    "which tools there are": "toolbox/catalog.py",
    "what the name of a signal means": "analysis/name_meaning.py",
    "what an event of a platform means": "analysis/platform_event.py",
    "which changes fit an incident": "analysis/change_weight.py",
    "what a question is about": "application/inquiry.py",
    "when collecting stops": "diagnosis/progress.py",
    "what the loop does next": "diagnosis/step.py",
    "which items support a predicate": "diagnosis/predicate_rule.py",
    "which kinds of faults there are": "diagnosis/claim.py",
    "whether a claim holds": "guards/evidence_guard.py",
    "whether a conclusion follows": "guards/semantic_rules.py",
    "which words an agent may use": "guards/wording.py",
    "how far a conclusion goes": "guards/levels.py",
    "what may be published": "release/decision.py",
    "which forms of a question a cause answers": "release/form_table.py",
    "how a claim reads in English": "report/sentence_en.py",
    "what a saved run must satisfy": "audit/verification/verify.py",
    "which path a question takes": "players/embedded/router.py",
    "when a run counts as abandoned": "application/runs/liveness.py",
    "which HTTP status an error gets": "server/problems.py",
    "who may call the service": "server/auth.py",
    "which kinds of sources there are": "adapters/sources/kinds.py",
    "which formats of files are read": "adapters/sources/incident_folder/formats/readers.py",
    "what may come out of an archive": "adapters/sources/incident_folder/archive_reading.py",
    "who may use an upload, and how long": "application/uploads/upload_service.py",
    "who plays a role": "bootstrap/players.py",
    "which earlier names of settings are read": "earlier_settings.py",
    "what the library offers": "__init__.py",
    "which room may import which": "floors.toml",
}


@pytest.mark.parametrize(("question", "file"), WHERE_IS_DECIDED.items())
def test_the_map_answers_where_something_is_decided(question: str, file: str) -> None:
    """The words of the question and its file are in one row, and the file is there."""
    rows = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()
    (row,) = (row for row in rows if row.startswith(f"| {question} |"))

    assert f"`{file}`" in row
    assert (PACKAGE / file).is_file() or (ROOT / file).is_file()
