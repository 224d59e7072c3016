"""The tool boundary: the only way in for evidence (DESIGN §5).

Every request is inspected in order, charged at the gate, begun as a canonical record, run in the bounded
pool, projected, and finished READY or ERROR. No tool can forget its record: recording is done here. What a
tool returns after its limit, or after the run's end, is discarded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from diagnosis_harness.harness.budget import ToolLease
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.keys import ToolCallKeyFactory
from diagnosis_harness.harness.waiting import WaitLane, gather_bounded
from diagnosis_harness.kernel.errors import (
    FailureKind,
    MaskingFailed,
    MemoryLimit,
    ProjectionTooLarge,
    RunAborted,
    StoredBytesInvalid,
    TechnicalFailure,
    ToolFailure,
)
from diagnosis_harness.kernel.faults import error_text
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.tools.access import ToolAccess
from diagnosis_harness.tools.evidence import EvidenceStatus, InvocationStatus
from diagnosis_harness.tools.invocation import ErrorCode, EvidenceRecord
from diagnosis_harness.tools.masked_findings import mask_findings
from diagnosis_harness.tools.preflight import Admissible, Refusal, RefusalCode, inspect
from diagnosis_harness.tools.projection import project
from diagnosis_harness.tools.spec import ProjectionBounds, Tool, ToolFindings, ToolRequest, ToolSpec
from diagnosis_harness.tools.store import EvidenceStore
from diagnosis_harness.tools.stored import read_stored
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase


@dataclass(frozen=True, slots=True)
class ToolBoundaryResult:
    """The result of one request: a final record, or a refusal without a record.

    The status of a refusal is ERROR too: the caller has no evidence.
    """

    request: ToolRequest
    record: EvidenceRecord | None = None
    refusal: Refusal | None = None

    @property
    def status(self) -> EvidenceStatus:
        """What the request found, objectively."""
        if self.record is None or self.record.evidence is None:
            return EvidenceStatus.ERROR
        return self.record.evidence


CEILING = ProjectionBounds(items=1_000, size_bytes=1_000_000)
"""The default upper bounds of what a tool may declare."""


@dataclass(frozen=True, slots=True)
class BoundarySettings:
    """Bounds of the boundary itself.

    Attributes:
        parallel: calls of one batch at work at a time.
        finalise_timeout_s: how long ending a record may take; outside the run's deadline.
        ceiling: bounds that no tool's own may pass.
    """

    parallel: int = 4
    finalise_timeout_s: float = 5.0
    ceiling: ProjectionBounds = CEILING

    def bounds(self, spec: ToolSpec) -> ProjectionBounds:
        """The bounds of a tool's projection: its own, under the ceiling."""
        return ProjectionBounds(
            items=min(spec.bounds.items, self.ceiling.items),
            size_bytes=min(spec.bounds.size_bytes, self.ceiling.size_bytes),
        )


class ToolBoundary:
    """Runs the tool requests of one run; not shared between runs, since it remembers the ids used."""

    def __init__(
        self,
        core: DiagnosisHarnessCore,
        *,
        tools: Sequence[Tool],
        store: EvidenceStore,
        access: ToolAccess,
        keys: ToolCallKeyFactory,
        settings: BoundarySettings | None = None,
    ) -> None:
        self._core = core
        self._tools = {tool.spec.name: tool for tool in tools}
        self._store = store
        self._access = access
        self._keys = keys
        self._settings = settings or BoundarySettings()
        self._used_ids: set[str] = set()
        self._owed: dict[str, EvidenceRecord] = {}  # ends that the store did not take

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools there are, in the order they were given."""
        return tuple(tool.spec for tool in self._tools.values())

    async def invoke(
        self, ctx: RunContext, requests: Sequence[ToolRequest]
    ) -> tuple[ToolBoundaryResult, ...]:
        """Run a batch; one result for each request, in order. A request that fails raises nothing.

        Calls are admitted in order. Admitted calls settle first; then the first call over a limit meets the
        gate and ends the run, and it and all after it are refused. After a cancel or deadline the rest is
        refused likewise.

        Raises:
            CancelledError: the waiting task was cancelled by its host; every record that had begun has ended,
                as far as the store works, and every reservation has gone back.
        """
        inspected = [self._inspect(ctx, request) for request in requests]
        admissible = [place for place, found in enumerate(inspected) if isinstance(found, Admissible)]
        leases = self._admit(ctx, [requests[place] for place in admissible])
        try:
            calls = [
                partial(self._call, ctx, requests[place], found, lease)
                for place, lease in zip(admissible, leases, strict=False)
                if isinstance(found := inspected[place], Admissible)
            ]
            lanes = [self._lane(requests[place]) for place, _ in zip(admissible, leases, strict=False)]
            settled = await gather_bounded(calls, parallel_max=self._settings.parallel, lanes=lanes)
        finally:
            for lease in leases:  # those of calls that a host's cancel kept from running at all
                self._core.return_tool_call(ctx, lease)
        results = dict(zip(admissible, settled, strict=False))
        for place, found in enumerate(inspected):
            if isinstance(found, Refusal):
                results[place] = self._refuse(ctx, requests[place], found)
            elif place not in results:
                results[place] = self._refuse_over_limit(ctx, requests[place])
        return tuple(results[place] for place in range(len(requests)))

    async def settle(self, ctx: RunContext) -> None:
        """End records that an unavailable store left open, if the store works again; raises nothing.

        Called when no further call of this run comes.
        """
        for failed in tuple(self._owed.values()):
            if await self._finish(ctx, failed) is None:
                return  # still away: the others would wait as long, each for itself

    def _lane(self, request: ToolRequest) -> WaitLane:
        return WaitLane(request.tool_name, self._tools[request.tool_name].spec.parallel)

    def _admit(self, ctx: RunContext, requests: Sequence[ToolRequest]) -> tuple[ToolLease, ...]:
        try:
            return self._core.admit_tool_calls(
                ctx, [(request.tool_name, request.tool_call_id) for request in requests]
            )
        except RunAborted:
            return ()

    def _inspect(self, ctx: RunContext, request: ToolRequest) -> Admissible | Refusal:
        try:
            self._core.check_active(ctx)
        except RunAborted as aborted:
            return Refusal(RefusalCode.RUN_NOT_ACTIVE, str(aborted))
        found = inspect(ctx, request, tools=self._tools, used_ids=self._used_ids, access=self._access)
        if isinstance(found, Admissible):
            self._used_ids.add(request.tool_call_id)
        return found

    def _refuse_over_limit(self, ctx: RunContext, request: ToolRequest) -> ToolBoundaryResult:
        """Send a call that no admission covers through the gate, which refuses it and says why."""
        try:
            lease = self._core.start_tool_call(ctx, request.tool_name, request.tool_call_id)
        except RunAborted as aborted:
            over = aborted.reason == "BUDGET_EXHAUSTED"
            code = RefusalCode.BUDGET_EXHAUSTED if over else RefusalCode.RUN_NOT_ACTIVE
            return self._refuse(ctx, request, Refusal(code, str(aborted)))
        # A limit that was met by reservations of this batch has room again, since one of them went back.
        self._core.return_tool_call(ctx, lease)
        return self._refuse(
            ctx, request, Refusal(RefusalCode.STORE_UNAVAILABLE, "an earlier call could not begin")
        )

    def _refuse(self, ctx: RunContext, request: ToolRequest, refusal: Refusal) -> ToolBoundaryResult:
        self._core.emit(
            ctx,
            TraceName.TOOL_REQUEST_REJECTED,
            TracePhase.TOOL,
            TraceEventStatus.REJECTED,
            {
                "tool": request.tool_name,
                "tool_call_id": request.tool_call_id,
                "code": refusal.code.value,
                "message": refusal.message,
            },
        )
        return ToolBoundaryResult(request, refusal=refusal)

    async def _call(
        self, ctx: RunContext, request: ToolRequest, found: Admissible, lease: ToolLease
    ) -> ToolBoundaryResult:
        record = EvidenceRecord(
            key=self._keys.key(ctx.run_id, request.tool_call_id),
            run_id=ctx.run_id,
            tool_call_id=request.tool_call_id,
            tool_name=request.tool_name,
            scope=found.scope,
            caller=request.caller,
            started_s=self._core.clock.now_s(),
            invocation=InvocationStatus.PROJECTING,
            evidence=None,
        )
        refusal = await self._start(ctx, record)
        if refusal is not None:
            self._core.return_tool_call(ctx, lease)
            return self._refuse(ctx, request, refusal)
        self._emit_status(ctx, record, TraceEventStatus.STARTED)
        ended = self._end_as_error(record, ErrorCode.ABANDONED)
        try:
            ended = await self._outcome(ctx, record, found, lease)
            final = await self._complete(ctx, ended, record)
        except GeneratorExit:
            raise  # the coroutine is being closed: nothing can be waited for any more
        except BaseException:
            await self._abandon(ctx, ended, record)
            raise
        self._emit_end(ctx, final)
        return ToolBoundaryResult(request, record=final)

    async def _start(self, ctx: RunContext, record: EvidenceRecord) -> Refusal | None:
        # Bookkeeping like the end of a record: cut short, a store may still take it when its end has come by.
        try:
            self._core.check_active(ctx)
            created = await self._core.finalise(
                ctx, lambda ctx: self._store.begin(ctx, record), limit_s=self._settings.finalise_timeout_s
            )
            self._core.check_active(ctx)
        except RunAborted as aborted:
            refusal = Refusal(RefusalCode.RUN_NOT_ACTIVE, str(aborted))
        except Exception as failure:  # noqa: BLE001 - a store's fault, typed or not, is no answer to the request
            refusal = _unbegun(ctx, failure)
        except GeneratorExit:
            raise
        except BaseException:
            await self._finish(ctx, self._end_as_error(record, ErrorCode.ABANDONED))
            raise
        else:
            if created:
                return None
            return Refusal(RefusalCode.TOOL_CALL_ID_REUSED, f"a record of {record.tool_call_id} exists")
        # Nobody knows whether the store had taken it: one that it holds must not stay PROJECTING for ever.
        await self._finish(ctx, self._end_as_error(record, ErrorCode.ABANDONED))
        return refusal

    async def _outcome(
        self, ctx: RunContext, record: EvidenceRecord, found: Admissible, lease: ToolLease
    ) -> EvidenceRecord:
        """The record as the call left it: READY, or ERROR with the code of what went wrong."""
        try:
            findings = await self._core.call_blocking_tool(
                ctx, lease, lambda ctx: _run(ctx, found), limit_s=found.tool.spec.limit_s
            )
            written = project(
                record.tool_name, record.scope, findings, self._settings.bounds(found.tool.spec)
            )
            # The run continues with what the stored bytes say, to the millisecond, as any store gives it
            # back.
            projection = read_stored(written.stored).projection
            self._core.reserve_bytes(ctx, len(projection.stored))
        except RunAborted as aborted:
            return self._end_as_error(record, _code_of_end(aborted))
        except ToolFailure as failure:
            return self._end_as_error(record, _code_of_failure(failure))
        except MaskingFailed:
            return self._end_as_error(record, ErrorCode.MASKING_FAILED)
        except ProjectionTooLarge:
            return self._end_as_error(record, ErrorCode.TOO_LARGE)
        except (ValueError, TypeError, StoredBytesInvalid):
            return self._end_as_error(record, ErrorCode.PROJECTION_FAILED)
        except Exception:  # noqa: BLE001 - findings of whatever shape end their record, and nothing else
            return self._end_as_error(record, ErrorCode.PROJECTION_FAILED)
        return record.ready(projection, at_s=self._core.clock.now_s())

    async def _complete(
        self, ctx: RunContext, ended: EvidenceRecord, begun: EvidenceRecord
    ) -> EvidenceRecord:
        """Store the final record and read it back; a record that comes back altered is no evidence."""
        try:
            kept = await self._core.finalise(
                ctx, lambda ctx: self._persist(ctx, ended), limit_s=self._settings.finalise_timeout_s
            )
        except Exception:  # noqa: BLE001 - a store's fault, typed or not: the record is not known to be kept
            kept = False
        if kept:
            return ended
        is_error = ended.invocation is InvocationStatus.ERROR
        failed = ended if is_error else self._end_as_error(begun, ErrorCode.STORE_FAILED)
        await self._finish(ctx, failed)
        return failed

    async def _finish(self, ctx: RunContext, failed: EvidenceRecord) -> bool | None:
        """Replace the PROJECTING record. False if there is none; None if the store failed, to be retried."""
        self._owed[failed.key] = failed
        try:
            taken = await self._core.finalise(
                ctx, lambda ctx: self._store.finish(ctx, failed), limit_s=self._settings.finalise_timeout_s
            )
        except Exception:  # noqa: BLE001 - a store's fault, typed or not
            return None
        self._owed.pop(failed.key, None)
        return taken

    async def _abandon(self, ctx: RunContext, ended: EvidenceRecord, begun: EvidenceRecord) -> None:
        """End the record of a call that its host has interrupted, and emit its state.

        `ended` is how the call had left it: where the store had taken that end before, it stands.
        """
        final = self._end_as_error(begun, ErrorCode.ABANDONED)
        try:
            if await self._finish(ctx, final) is False:
                final = ended
        finally:
            self._emit_end(ctx, final)

    async def _persist(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        if not await self._store.finish(ctx, record):
            return False
        return await self._store.get(ctx, record.key) == record

    def _end_as_error(self, record: EvidenceRecord, code: ErrorCode) -> EvidenceRecord:
        return record.with_error(code, at_s=self._core.clock.now_s())

    def _emit_end(self, ctx: RunContext, final: EvidenceRecord) -> None:
        failed = final.invocation is InvocationStatus.ERROR
        self._emit_status(ctx, final, TraceEventStatus.FAILED if failed else TraceEventStatus.SUCCEEDED)

    def _emit_status(self, ctx: RunContext, record: EvidenceRecord, status: TraceEventStatus) -> None:
        payload: dict[str, JsonValue] = {
            "tool": record.tool_name,
            "tool_call_id": record.tool_call_id,
            "scope": record.scope,
        }
        if status is not TraceEventStatus.STARTED:
            payload["invocation"] = record.invocation.value
            payload["evidence"] = record.evidence.value if record.evidence else None
            payload["items"] = len(record.items)
            payload["bytes"] = record.size_bytes
            payload["error_code"] = record.error_code.value if record.error_code else None
        self._core.emit(ctx, TraceName.TOOL_INVOCATION, TracePhase.TOOL, status, payload)


def _run(ctx: RunContext, found: Admissible) -> ToolFindings:
    """Run the tool and mask its findings; anything it raises becomes a `ToolFailure`.

    Masking runs in the tool's thread and within its limit, so that a large answer delays nobody else.
    """
    try:
        return mask_findings(found.tool.run(ctx, found.arguments))
    except (ToolFailure, MaskingFailed, RunAborted):
        raise
    except BaseException as error:
        # Also CancelledError, SystemExit and KeyboardInterrupt: in a tool's thread they come from the tool.
        raise ToolFailure(f"{found.tool.spec.name} failed: {type(error).__name__}") from error


def _unbegun(ctx: RunContext, failure: Exception) -> Refusal:
    """Why a call whose store failed did not begin; if the run has ended meanwhile, that is the reason."""
    if ctx.lifecycle.termination is not None:
        return Refusal(RefusalCode.RUN_NOT_ACTIVE, str(ctx.lifecycle.abort_error()))
    # An untyped fault may say anything; its name is enough.
    typed = isinstance(failure, TechnicalFailure)
    message = error_text(failure) if typed else f"the store failed: {type(failure).__name__}"
    return Refusal(RefusalCode.STORE_UNAVAILABLE, message)


def _code_of_failure(failure: ToolFailure) -> ErrorCode:
    if isinstance(failure, MemoryLimit):
        return ErrorCode.MEMORY_LIMIT
    return ErrorCode.TIMED_OUT if failure.kind is FailureKind.TIMEOUT else ErrorCode.EXECUTION_FAILED


def _code_of_end(aborted: RunAborted) -> ErrorCode:
    return ErrorCode.BUDGET_EXHAUSTED if aborted.reason == "BUDGET_EXHAUSTED" else ErrorCode.RUN_ENDED
