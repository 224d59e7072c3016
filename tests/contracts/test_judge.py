"""Every judge keeps the one contract; a judge that breaks it is caught."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.support.judge_contract import CHECKS, Check, MakeJudge

from diagnosis_harness.guards.semantic_guard import SemanticCase
from diagnosis_harness.guards.verdict import Judgement, SemanticReason, SemanticVerdict
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import FailureKind, LlmFailure, MalformedAnswer
from diagnosis_harness.players.embedded.judge import EmbeddedJudge
from diagnosis_harness.testing.scripted_policy import ScriptedJudge

WEAK = Judgement(SemanticVerdict.UNSUPPORTED, (SemanticReason.WEAK,))
JUDGES: dict[str, MakeJudge] = {
    "embedded": EmbeddedJudge,
    "scripted to believe": ScriptedJudge,
    "scripted to doubt": lambda: ScriptedJudge(WEAK),
    "failing": lambda: ScriptedJudge(LlmFailure("away", kind=FailureKind.UNAVAILABLE)),
    "malformed": lambda: ScriptedJudge(MalformedAnswer("no JSON")),
}


@pytest.mark.parametrize("make", JUDGES.values(), ids=JUDGES)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_judge_keeps_the_contract(check: Check, make: MakeJudge) -> None:
    """One check against one judge."""
    check(make)


class Computed:
    """Judges by a function of the case."""

    def __init__(self, verdict: Callable[[SemanticCase], Judgement]) -> None:
        self._verdict = verdict

    async def judge(self, ctx: RunContext, case: SemanticCase) -> tuple[Judgement, TokenUsage]:
        """The function's verdict."""
        del ctx
        return self._verdict(case), TokenUsage(0, 0)


def _by_the_first(case: SemanticCase) -> Judgement:
    """Believe the first ranking's strength alone."""
    strong = bool(case.rankings) and case.rankings[0].first.number("strength") > 0.5
    return Judgement(SemanticVerdict.SUPPORTED) if strong else WEAK


def _alternating() -> MakeJudge:
    """Every second verdict of any judge is the other one."""
    asked: list[SemanticCase] = []

    def verdict(case: SemanticCase) -> Judgement:
        asked.append(case)
        return WEAK if len(asked) % 2 else Judgement(SemanticVerdict.SUPPORTED)

    return lambda: Computed(verdict)


BROKEN: dict[str, MakeJudge] = {
    "raises an untyped error": lambda: ScriptedJudge(KeyError("payment")),
    "refuses without a reason": lambda: ScriptedJudge(Judgement(SemanticVerdict.UNSUPPORTED)),
    "supports with a reason": lambda: ScriptedJudge(
        Judgement(SemanticVerdict.SUPPORTED, (SemanticReason.WEAK,))
    ),
    "invents a reason": lambda: ScriptedJudge(
        Judgement(SemanticVerdict.UNSUPPORTED, ("A_FEELING",))  # type: ignore[arg-type]  # what it must not give
    ),
    "gives a reason twice": lambda: ScriptedJudge(
        Judgement(SemanticVerdict.UNSUPPORTED, (SemanticReason.WEAK, SemanticReason.WEAK))
    ),
    "gives text for a verdict": lambda: ScriptedJudge(
        "SUPPORTED"  # type: ignore[arg-type]  # likewise
    ),
    "believes whatever comes first": lambda: Computed(_by_the_first),
    "judges by what came before": _alternating(),
}


@pytest.mark.parametrize("make", BROKEN.values(), ids=BROKEN)
def test_a_judge_that_breaks_the_contract_is_caught(make: MakeJudge) -> None:
    """One check or another objects to each of the usual faults."""

    def objects(check: Check) -> bool:
        try:
            check(make)
        except (AssertionError, KeyError, AttributeError):
            return True
        return False

    assert any(objects(check) for check in CHECKS)
