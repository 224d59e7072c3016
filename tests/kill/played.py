"""Players and tools of processes that are killed: what a run does is said by its question's first word."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.routing import RoutingDecision, RoutingReason, RoutingTurn
from diagnosis_harness.bootstrap.players import MakePlayers, choose_players
from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.collection import InformationGain
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, PolicyAnswer, PolicyView, WantedCall
from diagnosis_harness.diagnosis.progress import Assessment
from diagnosis_harness.harness.budget import NO_TOKENS, TokenUsage
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.waiting import sleep
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.errors import FailureKind, LlmFailure
from diagnosis_harness.kernel.ids import RandomIds
from diagnosis_harness.llm.messages import ChatMessage, ChatRequest, ChatRole
from diagnosis_harness.llm.metered import MeteredChatModel
from diagnosis_harness.players.embedded.analyst import EmbeddedAnalyst
from diagnosis_harness.settings import load_settings
from diagnosis_harness.testing.evidence import WINDOW, cause_claim, cause_item, change_claim, change_item
from diagnosis_harness.testing.llm import FakeChatModel, says
from diagnosis_harness.testing.scripted_policy import ScriptedJudge
from diagnosis_harness.testing.scripted_tool import ENTITY_ARG
from diagnosis_harness.tools.spec import ArgumentValue, ToolFindings, ToolSpec
from diagnosis_harness.trace.sink import NullSink

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext

_PATHS = {"greet": IntentType.SYSTEM_CHAT, "consult": IntentType.KNOWLEDGE_QUERY}
_FACT = change_claim(change_item("i1", "payment"), tool_call_id="t1")
_DRAFT = DiagnosisDraft(
    conclusion=(Cause("payment", FaultKind.CPU, ("k0", "k1")),),
    claims=(cause_claim(cause_item(), tool_call_id="t1"), _FACT),
)
_LYING = replace(_DRAFT, claims=(*_DRAFT.claims, replace(_FACT, claim_id="k2", value=77.0)))
_STEP_S = 0.03
STEPS = 12


class PlayedRouter:
    """Routes by the first word. The first attempt of every run fails."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    async def route(
        self, ctx: RunContext, question: str, history: Sequence[RoutingTurn]
    ) -> tuple[RoutingDecision, TokenUsage]:
        """The path."""
        if ctx.run_id not in self._seen:
            self._seen.add(ctx.run_id)
            raise LlmFailure("the router is away", kind=FailureKind.UNAVAILABLE)
        path = _PATHS.get(question.split(maxsplit=1)[0], IntentType.DIAGNOSIS)
        return RoutingDecision(path, RoutingReason.LLM_JUDGED), NO_TOKENS


@dataclass(slots=True)
class PlayedPolicy:
    """One policy for all runs.

    `broad` meets every event of a plain diagnosis, `hang` a tool that outlives its limit, `burst` a callback
    that raises; `steady` looks again and again for a third of a second, `slow` for ever; anything else is
    the embedded analyst's.
    """

    returned: threading.Event
    core: DiagnosisHarnessCore = field(
        default_factory=lambda: DiagnosisHarnessCore(clock=SystemClock(), ids=RandomIds(), sink=NullSink())
    )
    analyst: EmbeddedAnalyst = field(default_factory=EmbeddedAnalyst)

    async def decide(self, ctx: RunContext, view: PolicyView) -> tuple[PolicyAnswer, TokenUsage]:
        """What to do next."""
        match view.question.split(maxsplit=1)[0]:
            case "broad":
                return await self._broad(ctx, view), NO_TOKENS
            case "hang":
                return await self._hang(ctx, view), NO_TOKENS
            case "burst":
                ctx.cancellation.register(_burst)
                self.core.cancel(ctx, CancellationReason.INTERNAL_FAILURE, "as asked")
            case "steady":
                return await self._again(view, STEPS), NO_TOKENS
            case "slow":
                return await self._again(view, 1_000_000), NO_TOKENS
        return await self.analyst.decide(ctx, view)

    async def _broad(self, ctx: RunContext, view: PolicyView) -> PolicyAnswer:
        if not view.records:
            request = ChatRequest(messages=(ChatMessage(ChatRole.USER, "hello"),), max_output_tokens=10)
            await MeteredChatModel(self.core, FakeChatModel([says("hello")])).complete(ctx, request)
            return AskTools((WantedCall("t1", "look", {}), WantedCall("t2", "unknown", {})))
        if len(view.records) == 1:
            return AskTools((WantedCall("t3", "look", {"entity": "nothing"}),), _assess_as_gain(view))
        return GiveDraft(_LYING)

    async def _hang(self, ctx: RunContext, view: PolicyView) -> PolicyAnswer:
        if not view.records:
            return AskTools((WantedCall("t1", "look", {}), WantedCall("t2", "hang", {})))
        await self.core.wait(ctx, lambda _: _set(self.returned))
        return GiveDraft(_DRAFT, _assess_as_gain(view))

    async def _again(self, view: PolicyView, steps: int) -> PolicyAnswer:
        number = len(view.records) + len(view.refused) + 1
        if number > steps:
            return GiveDraft(_DRAFT, _assess_as_gain(view))
        await sleep(self.core.clock, _STEP_S)
        wanted = WantedCall(f"t{number}", "look", {"entity": f"e{number}"})
        return AskTools((wanted,), _assess_as_gain(view))


async def _set(event: threading.Event) -> None:
    while not event.is_set():
        await sleep(SystemClock(), 0.01)


def _burst() -> None:
    raise RuntimeError("a resource that cannot be told")


def _assess_as_gain(view: PolicyView) -> tuple[Assessment, ...]:
    return tuple(
        Assessment(
            call_id,
            InformationGain.GAINED,
            (change_claim(change_item("i1", "payment"), tool_call_id=call_id),),
        )
        for call_id in sorted(view.due)
    )


class PlayedRepairer:
    """Takes out what is false."""

    async def repair(
        self, ctx: RunContext, draft: DiagnosisDraft, findings: object, records: object, *, inquiry: object
    ) -> tuple[DiagnosisDraft, TokenUsage]:
        """The proposal."""
        claims = tuple(claim for claim in draft.claims if claim.claim_id != "k2")
        return replace(draft, claims=claims), NO_TOKENS


@dataclass(frozen=True, slots=True)
class PlayedTool:
    """Reports each execution, then finds what supports the draft; `hang` outlives its limit."""

    spec: ToolSpec
    report: Callable[[str], None]
    returned: threading.Event | None = None

    def run(self, ctx: RunContext, arguments: Mapping[str, ArgumentValue]) -> ToolFindings:
        """What is found."""
        self.report(f"{ctx.run_id} {self.spec.name} {dict(arguments)}")
        if self.returned is not None:
            threading.Event().wait(2 * self.spec.limit_s)
            self.returned.set()
        items = (
            ()
            if arguments.get("entity") == "nothing"
            else (cause_item(), change_item("i1", "payment"), change_item("i2", "checkout"))
        )
        return ToolFindings(items=items, window=WINDOW, looked_at=2)


def cast(report: Callable[[str], None]) -> tuple[MakePlayers, tuple[PlayedTool, ...]]:
    """The players of a process and their tools; `report` is called for every execution of a tool."""
    returned = threading.Event()
    make_embedded = choose_players(load_settings())
    look = ToolSpec(name="look", description="Looks.", parameters=(ENTITY_ARG,))
    hang = ToolSpec(name="hang", description="Hangs.", limit_s=0.5)
    return lambda core: replace(
        make_embedded(core),
        router=PlayedRouter(),
        policy=PlayedPolicy(returned),
        repairer=PlayedRepairer(),
        judge=ScriptedJudge(),
    ), (PlayedTool(look, report), PlayedTool(hang, report, returned))
