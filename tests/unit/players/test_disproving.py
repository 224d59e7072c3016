"""When the embedded analyst asks what would disprove a cause: only of one that it is about to conclude."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.unit.players.test_embedded import make_records, view

from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft
from diagnosis_harness.guards.disproof import DISPROVING_TOOLS
from diagnosis_harness.kernel.json_value import Scalar
from diagnosis_harness.players.embedded.analyst import next_answer
from diagnosis_harness.testing.evidence import cause_item, ready_record

CLOSE = (
    ready_record(tool_call_id="t0", tool_name="estimate_onset"),
    ready_record(
        tool_call_id="c1", tool_name="inspect_signal", scope='{"entity":"payment","signal":"latency_p90"}'
    ),
    ready_record(
        tool_call_id="c2", tool_name="walk_topology", scope='{"direction":"callers","entity":"payment"}'
    ),
)


@pytest.mark.parametrize(("attributes", "asks"), [({}, True), ({"strength": 0.1}, False)])
def test_nothing_is_asked_to_disprove_what_is_not_concluded(
    attributes: dict[str, Scalar], asks: bool
) -> None:
    """A candidate that does not stand out stays one, whatever such a query would find."""
    answer = next_answer(view(*make_records(**attributes), *CLOSE))
    assert isinstance(answer, AskTools if asks else GiveDraft)


def test_no_query_is_asked_twice_to_disprove_a_cause() -> None:
    """One that was cut tests nothing; the next telemetry is asked then, and in the end a draft is due."""
    rival = replace(cause_item("c2", "zebra"), score=1.0)
    inventory, facts, ranking = make_records()
    records = [
        inventory,
        facts,
        ready_record(*ranking.items, rival, tool_call_id="t3", tool_name="rank_causes"),
        *CLOSE,
    ]
    asked: list[tuple[str, str]] = []
    while isinstance(answer := next_answer(view(*records)), AskTools):
        for call in answer.calls:
            scope = json.dumps(call.arguments)
            record = ready_record(tool_call_id=f"d{len(records)}", tool_name=call.tool_name, scope=scope)
            assert record.projection is not None
            records.append(replace(record, projection=replace(record.projection, looked_at=9, omitted=3)))
            asked.append((call.tool_name, scope))
        assert len(asked) <= 2 * len(DISPROVING_TOOLS)
    assert {json.loads(scope)["entities"][0] for _, scope in asked} == {"checkout", "zebra"}
    assert len(set(asked)) == len(asked)


def test_nothing_is_asked_to_disprove_a_cause_after_the_stop() -> None:
    """A draft is due then, and its cause is not tested."""
    assert isinstance(next_answer(view(*make_records(), *CLOSE, stop=True)), GiveDraft)
