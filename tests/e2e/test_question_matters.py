"""The question decides entity and time of the answer; one file of metrics is enough for an answer."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from diagnosis_harness.bootstrap.diagnosis import build_diagnosis
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.trace.sink import NullSink

START_S = 1_714_568_400  # 2024-05-01T13:00:00Z
CALLS = "caller,callee\nweb,cart\nweb,search\ncart,stock-db\nsearch,search-index\n"


def incident(folder: Path, *, topology: bool) -> Path:
    """Two troubles at once, at 14:00 and at 14:10, below two callers; no alert, no onset."""
    folder.mkdir()
    levels = {"web": 0.2, "cart": 0.1, "search": 0.15, "stock-db": 0.01, "search-index": 0.02}
    trouble = {"cart": (60, 0.5), "stock-db": (60, 0.4), "search": (70, 0.9), "search-index": (70, 0.8)}
    rows = ["time,entity,signal,value"]
    for minute in range(90):
        for place, (name, level) in enumerate(levels.items()):
            begins, more = trouble.get(name, (999, 0.0))
            wobble = 1 + 0.05 * ((7 * minute + 3 * place) % 5 - 2)
            value = level * wobble + (more if minute >= begins else 0.0)
            rows.append(f"{START_S + 60 * minute},{name},latency_s,{value:.4f}")
    (folder / "metrics.csv").write_text("\n".join(rows) + "\n")
    if topology:
        (folder / "topology.csv").write_text(CALLS)
    return folder


def ask_question(folder: Path, question: str) -> RunDocument:
    """One question, the whole path."""
    with build_diagnosis(
        folder=folder,
        baseline=None,
        onset=None,
        sink=NullSink(),
        progress=lambda _file, _done, _total: None,
    ) as diagnosis:
        return asyncio.run(diagnosis.run(question, language=Language.EN, deadline_s=None))


@pytest.mark.parametrize(
    ("question", "cause"),
    [
        ("why is cart slow since 14:00?", "stock-db"),
        ("cart从14:00起为什么变慢？", "stock-db"),
        ("why is search slow since 14:10?", "search-index"),
    ],
)
def test_two_questions_of_one_folder_have_two_answers(tmp_path: Path, question: str, cause: str) -> None:
    """Whom the question names is what is to be explained, from the time that it names."""
    document = ask_question(incident(tmp_path / "i", topology=True), question)
    assert document.release.outcome is ReleaseOutcome.SUCCESS
    assert [each.entity for each in document.report.causes] == [cause]


def test_one_file_of_metrics_is_enough_for_facts(tmp_path: Path) -> None:
    """Without topology, alert and onset there are verified facts, and no claim that its guard rejects."""
    document = ask_question(incident(tmp_path / "i", topology=False), "what happened?")
    assert document.report.claims
    trace = " ".join(line.text for line in document.trace if line.name.startswith("EVIDENCE_GUARD"))
    assert "NOT_BORNE" not in trace


@pytest.mark.parametrize(
    "question", ["why is cart slow at 2024-04-30T14:00:00Z?", "在 4月30日 14:00 cart 为什么变慢？"]
)
def test_a_question_about_a_time_that_was_not_recorded_is_refused(tmp_path: Path, question: str) -> None:
    """In one sentence, as the same time is that is given with --onset."""
    with pytest.raises(InvalidInput) as refused:
        ask_question(incident(tmp_path / "i", topology=True), question)

    assert str(refused.value) == (
        "QUESTION: the onset 2024-04-30T14:00:00Z lies outside the data, which goes from"
        " 2024-05-01T13:00:00Z to 2024-05-01T14:29:00Z; give a time inside it, and check the zone."
    )
