"""No secret gets past the tool boundary: not into a record, not into the store, not into the trace."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.harness.keys import ToolCallKeyFactory
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.testing.evidence import WINDOW, change_item
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.testing.scripted_tool import ENTITY_ARG, ScriptedTool
from diagnosis_harness.tools.access import ScopeAccess
from diagnosis_harness.tools.boundary import ToolBoundary, ToolBoundaryResult
from diagnosis_harness.tools.evidence import EvidenceStatus
from diagnosis_harness.tools.invocation import ErrorCode
from diagnosis_harness.tools.masked_findings import mask_findings
from diagnosis_harness.tools.spec import ToolFindings, ToolRequest, ToolSpec
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase, bound_payload

HIDDEN = "hunter2-x9"


def leaking() -> ToolFindings:
    """Findings with a secret in every place that holds text."""
    secret = f"password={HIDDEN}"
    item = replace(
        change_item(),
        line=f"{secret} rose",
        entity=secret,
        peer=secret,
        signal=secret,
        attributes={"owner": secret, "token": HIDDEN, "count": 3, secret: "x"},
    )
    return ToolFindings(items=(item,), window=WINDOW, looked_at=1, narrow=secret, note=secret)


@dataclass
class House:
    """One boundary over one tool."""

    tool: ScriptedTool
    rig: Rig = field(default_factory=Rig)
    store: MemoryEvidenceStore = field(default_factory=MemoryEvidenceStore)

    def ask(self, tool_name: str = "look", **arguments: JsonValue) -> ToolBoundaryResult:
        """One call."""
        self.ctx = self.rig.run()
        boundary = ToolBoundary(
            self.rig.core,
            tools=[self.tool],
            store=self.store,
            access=ScopeAccess({"local": frozenset({"*"})}),
            keys=ToolCallKeyFactory("evidence"),
        )
        (result,) = asyncio.run(boundary.invoke(self.ctx, [ToolRequest("t1", tool_name, arguments)]))
        return result

    def trace(self) -> str:
        """Every payload as text."""
        return str([dict(event.payload) for event in self.rig.sink.events()])


def _look(answer: Callable[[], ToolFindings]) -> ScriptedTool:
    return ScriptedTool(answer, ToolSpec("look", "Looks.", parameters=(ENTITY_ARG,)))


def test_every_text_of_a_record_is_masked_before_it_is_stored() -> None:
    """Lines, names, attributes, note; in the record, in its stored bytes and in the store."""
    house = House(_look(leaking))
    record = house.ask().record
    assert record is not None
    assert record.projection is not None
    assert HIDDEN not in repr(record)
    assert HIDDEN.encode() not in record.projection.stored
    assert HIDDEN not in repr(asyncio.run(house.store.of_run(house.ctx)))
    (item,) = record.items
    assert (item.line, item.attributes["count"]) == ("password=[masked:secret] rose", 3)


def test_advice_on_narrowing_is_masked() -> None:
    """`narrow` may name what was found."""
    assert mask_findings(leaking()).narrow == "password=[masked:secret]"


def test_a_scope_is_kept_masked_and_the_tool_is_asked_with_the_argument_as_given() -> None:
    """Who searches for an address finds it; the record does not hold it."""
    house = House(_look(leaking))
    record = house.ask(entity="alice@example.com").record
    assert record is not None
    assert record.scope == '{"entity":"[masked:email]"}'
    assert house.tool.runs == [{"entity": "alice@example.com"}]
    assert "alice" not in house.trace()


def test_a_refusal_reveals_no_secret() -> None:
    """The message names what was asked for, without its secret, to the policy and to the trace."""
    house = House(_look(leaking))
    result = house.ask(f"rm password={HIDDEN}")
    assert result.refusal is not None
    assert result.refusal.message == "there is no tool 'rm password=[masked:secret]'"
    assert house.rig.sink.events_named(TraceName.TOOL_REQUEST_REJECTED)
    assert HIDDEN not in house.trace()


def test_what_cannot_be_masked_ends_in_its_own_error_and_is_thrown_away() -> None:
    """A line that is no text cannot be masked, so nothing of the answer is kept."""

    def bytes_as_a_line() -> ToolFindings:
        item = replace(change_item(), line="x")
        object.__setattr__(item, "line", f"password={HIDDEN}".encode())
        return ToolFindings(items=(item, change_item("i2")), window=WINDOW, looked_at=1)

    house = House(_look(bytes_as_a_line))
    result = house.ask()
    assert result.record is not None
    assert (result.record.error_code, result.status) == (ErrorCode.MASKING_FAILED, EvidenceStatus.ERROR)
    assert HIDDEN not in repr(result.record) + house.trace()


def test_findings_that_are_none_fail_closed_too() -> None:
    """A tool that returns something else than findings has failed."""
    nothing: Callable[[], ToolFindings] = lambda: None  # type: ignore[assignment, return-value]  # noqa: E731 - what is tested
    result = House(_look(nothing)).ask()
    assert result.record is not None
    assert result.record.error_code is ErrorCode.EXECUTION_FAILED


def test_the_trace_masks_what_it_is_given() -> None:
    """Whoever writes an event, its texts are masked, keys and nested values included."""
    rig = Rig()
    payload: Mapping[str, JsonValue] = {
        "question": f"why? password={HIDDEN}",
        "list": [{"k": f"token={HIDDEN}"}],
    }
    rig.core.emit(rig.run(), TraceName.RUN_STARTED, TracePhase.RUN, TraceEventStatus.STARTED, payload)
    (event,) = rig.sink.events_named(TraceName.RUN_STARTED)
    assert HIDDEN not in str(dict(event.payload))


def test_half_a_secret_at_the_end_of_a_long_text_is_left_out() -> None:
    """A text is masked before it is cut, and what may be cut through is not shown."""
    text = (
        "-----BEGIN RSA PRIVATE KEY-----" + "x" * 3900 + "-----END RSA PRIVATE KEY----- a token=" + HIDDEN * 9
    )
    shown = bound_payload({"text": text})["text"]
    assert shown == "[masked:pem] a…"
