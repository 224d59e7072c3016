"""What every evidence store must do, as checks that any store can be run against.

A store is used as the boundary uses it: by runs that go on at the same time, never twice for one key. Each
check gets a store that holds nothing and two open runs, and raises AssertionError where the contract is
broken.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from diagnosis_harness.testing.evidence import change_item, projecting_record, ready_record
from diagnosis_harness.tools.invocation import ErrorCode, EvidenceRecord
from diagnosis_harness.tools.store import EvidenceStore

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext

Check = Callable[[EvidenceStore, "RunContext", "RunContext"], Awaitable[None]]


def _expect(*, holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(what)


def _of(ctx: RunContext, record: EvidenceRecord) -> EvidenceRecord:
    """The record as one of this run."""
    return replace(record, run_id=ctx.run_id, key=f"evidence:{ctx.run_id}:{record.tool_call_id}")


async def begins_a_key_once(store: EvidenceStore, ctx: RunContext, other: RunContext) -> None:
    """The second begin of a key changes nothing and says so; another run's key is another key."""
    record = _of(ctx, projecting_record("t1"))
    _expect(holds=await store.begin(ctx, record), what="a new key begins")
    twin = replace(record, tool_name="another")
    _expect(holds=not await store.begin(ctx, twin), what="a key begins once")
    _expect(holds=await store.get(ctx, record.key) == record, what="the first begin stands")
    _expect(holds=await store.begin(other, _of(other, record)), what="another run's key is another")


async def finishes_a_record_once(store: EvidenceStore, ctx: RunContext, other: RunContext) -> None:
    """READY and ERROR are final: a stored end cannot be replaced."""
    del other
    begun = _of(ctx, projecting_record("t1"))
    ready = _of(ctx, ready_record(change_item(), tool_call_id="t1"))
    failed = begun.with_error(ErrorCode.EXECUTION_FAILED, at_s=ready.started_s + 2)
    await store.begin(ctx, begun)
    _expect(holds=await store.finish(ctx, ready), what="a begun record finishes")
    _expect(holds=not await store.finish(ctx, failed), what="a final record stays")
    _expect(holds=not await store.finish(ctx, ready), what="a final record is not written twice")
    _expect(holds=await store.get(ctx, ready.key) == ready, what="the first end stands")


async def finishes_nothing_that_did_not_begin(
    store: EvidenceStore, ctx: RunContext, other: RunContext
) -> None:
    """No record appears without its begin."""
    del other
    ready = _of(ctx, ready_record(change_item(), tool_call_id="t9"))
    _expect(holds=not await store.finish(ctx, ready), what="nothing had begun")
    _expect(holds=await store.get(ctx, ready.key) is None, what="nothing stands there")


async def gives_back_the_very_bytes(store: EvidenceStore, ctx: RunContext, other: RunContext) -> None:
    """Items, stored bytes, digest, times and names come back equal, also where they are not ASCII."""
    del other
    item = replace(
        change_item(), line="结账 latency_p90 \u202e rose 'from' \"0.21 s\" to 3.204 s", entity="结账"
    )
    ready = _of(ctx, ready_record(item, tool_call_id="t1", scope='{"entity":"结账"}'))
    await store.begin(ctx, _of(ctx, projecting_record("t1", scope='{"entity":"结账"}')))
    await store.finish(ctx, ready)
    back = await store.get(ctx, ready.key)
    _expect(holds=back == ready, what="the record comes back equal")
    stored = back.projection.stored if back and back.projection else b""
    _expect(holds=ready.projection is not None and stored == ready.projection.stored, what="byte for byte")


async def lists_a_run_in_the_order_of_its_begins(
    store: EvidenceStore, ctx: RunContext, other: RunContext
) -> None:
    """By begin, not by end or by name; other runs' records are not among them."""
    for call_id in ("t2", "t10", "t1"):
        await store.begin(ctx, _of(ctx, projecting_record(call_id)))
        await store.begin(other, _of(other, projecting_record(call_id)))
    await store.finish(ctx, _of(ctx, ready_record(tool_call_id="t1")))
    listed = await store.of_run(ctx)
    _expect(holds=[r.tool_call_id for r in listed] == ["t2", "t10", "t1"], what="in the order of begins")
    _expect(holds={r.run_id for r in listed} == {ctx.run_id}, what="of this run alone")


async def knows_nothing_of_what_is_not_there(
    store: EvidenceStore, ctx: RunContext, other: RunContext
) -> None:
    """An unknown key is None, a run without records is empty; neither is an error."""
    del other
    _expect(holds=await store.get(ctx, "evidence:nobody:t1") is None, what="an unknown key is None")
    _expect(holds=await store.of_run(ctx) == (), what="a run without records is empty")


CHECKS: tuple[Check, ...] = (
    begins_a_key_once,
    finishes_a_record_once,
    finishes_nothing_that_did_not_begin,
    gives_back_the_very_bytes,
    lists_a_run_in_the_order_of_its_begins,
    knows_nothing_of_what_is_not_there,
)
