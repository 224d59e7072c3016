"""Where no cause is concluded, the answer says what speaks against the strongest candidate."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from diagnosis_harness.cli.main import run_command
from diagnosis_harness.guards.verdict import SemanticReason
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report import words as report_words
from diagnosis_harness.report.document_file import parse_document
from diagnosis_harness.report.markdown import escape, markdown
from diagnosis_harness.report.objections import objections_to_first
from diagnosis_harness.report.reading import read_document

FIRST, STEPS, ONSET = 1_700_000_000, 140, 120
INCIDENT = f"""[incident]
onset = {FIRST + 60 * ONSET}
[alert]
entity = "web"
signal = "orders"
time = {FIRST + 60 * (ONSET + 2)}
"""


def write_incident(folder: Path, *, web_feels: bool) -> None:
    """Payments clearly slow; web calls it, and its own latency follows or stays as it was."""
    rng = np.random.default_rng(3)
    rows = ["time,entity,signal,value"]
    for place in range(STEPS):
        late = place >= ONSET
        for entity, slow in (("pay", late), ("web", late and web_feels)):
            value = (0.5 if slow else 0.1) * rng.lognormal(0.0, 0.05)
            rows.append(f"{FIRST + 60 * place},{entity},latency,{value:.5f}")
    folder.mkdir()
    (folder / "metrics.csv").write_text("\n".join(rows) + "\n")
    (folder / "topology.csv").write_text("caller,callee\nweb,pay\n")
    (folder / "incident.toml").write_text(INCIDENT)


@pytest.mark.parametrize("language", Language)
def test_the_answer_says_why_the_first_candidate_is_no_conclusion(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], language: Language
) -> None:
    """On the terminal and in Markdown, in its language, from the saved document alone."""
    write_incident(tmp_path / "calm", web_feels=False)
    saved = tmp_path / "run.json"
    order = ["ask", "What is the cause?", "--from", str(tmp_path / "calm"), "--lang", language.value]

    code = run_command([*order, "--save", str(saved)])

    shown = "".join(capsys.readouterr().out.split())
    document = read_document(parse_document(saved.read_bytes(), file=str(saved)))
    sentence = report_words.SEMANTIC_OBJECTIONS[SemanticReason.EFFECT_NORMAL].in_(language)
    assert code == 3
    assert SemanticReason.EFFECT_NORMAL in objections_to_first(document)
    assert "".join(sentence.split()) in shown
    assert escape(sentence) in markdown(document)


def test_a_concluded_cause_has_no_objections(tmp_path: Path) -> None:
    """The affected service follows its dependency: payments are concluded."""
    write_incident(tmp_path / "felt", web_feels=True)
    saved = tmp_path / "run.json"

    run_command(["ask", "What is the cause?", "--from", str(tmp_path / "felt"), "--save", str(saved)])

    document = read_document(parse_document(saved.read_bytes(), file=str(saved)))
    assert [cause.entity for cause in document.report.causes] == ["pay"]
    assert objections_to_first(document) == ()
