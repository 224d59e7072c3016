"""Whole runs as transcripts: a script, a line of dashes, and everything that then happens.

`pytest tests/scenarios --rewrite` rewrites the lower halves. Read the difference as behaviour, and commit
only what you understand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.scene import Scene
from tests.support.script import read

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.application.diagnose import DiagnosisEnd
from diagnosis_harness.trace.event import TraceEvent

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("*.txt"))
DASHES = "\n----\n"


def render_event(event: TraceEvent, started_s: float) -> str:
    """One event as a line; what is absent or empty is left out."""
    payload = {name: value for name, value in event.payload.items() if value is not None and value != ""}
    words = [
        f"{name}={value if isinstance(value, str) else json.dumps(value, default=list, ensure_ascii=False)}"
        for name, value in payload.items()
        if name not in {"at_s", "limits"}
    ]
    head = f"{event.seq:>3} +{event.at_s - started_s:02.0f}s {event.phase:<7} {event.name:<23}"
    return f"{head} {event.status:<9} {' '.join(words)}".rstrip()


def ending(scene: Scene, end: DiagnosisEnd) -> Iterator[str]:
    """State, outcome, fallback type and stop reason, then what leaves and what is kept."""
    usage = scene.ctx.budget.usage()
    yield f"state {scene.ctx.lifecycle.state}"
    yield f"outcome {end.outcome}"
    yield f"fallback {end.fallback or 'none'}"
    yield f"stop reason {end.stop_reason or 'none'}"
    yield from (f"cause {cause.entity} {cause.fault_kind}" for cause in end.content.causes)
    for claim in end.content.claims:
        refs = " ".join(f"{ref.tool_call_id}/{ref.item_id}" for ref in claim.refs)
        yield f"claim {claim.claim_id}: {claim.predicate} {claim.entity} ({refs})"
    yield from (f"missing {each}" for each in end.content.missing_info)
    for record in end.snapshot.records:
        yield f"record {record.tool_call_id} {record.invocation} {record.error_code or record.evidence}"
    yield f"spent llm_calls {usage.llm_calls}, tool_calls {usage.tool_calls}"


def play_script(script: str) -> str:
    """Everything that happens when a script is played."""
    scene = read(script).scene(MemoryEvidenceStore())
    started_s = scene.clock.now_s()
    end = scene.run()
    unused = sorted(scene.faults.actions)
    assert not unused, f"nothing ever stood at {unused}"
    lines = [render_event(event, started_s) for event in end_of_timeline(scene)]
    return "\n".join([*lines, "", *ending(scene, end)]) + "\n"


def end_of_timeline(scene: Scene) -> tuple[TraceEvent, ...]:
    """The events up to RUN_FINISHED: what a tool that hung returns still later has no fixed moment."""
    events = scene.events()
    (finished,) = (event.seq for event in events if event.name == "RUN_FINISHED")
    return events[:finished]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_scenario_happens_as_it_is_reported(file: Path, pytestconfig: pytest.Config) -> None:
    """The whole timeline and the ending, line by line."""
    script, _, expected = file.read_text(encoding="utf-8").partition(DASHES)
    happened = play_script(script)
    if pytestconfig.getoption("--rewrite"):
        file.write_text(script.rstrip("\n") + "\n" + DASHES + happened, encoding="utf-8")
        return
    assert happened.splitlines() == expected.splitlines()
