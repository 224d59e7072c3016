"""What every `SemanticJudge` must do, as checks that any judge can be run against.

Each check makes the judges that it needs, and raises AssertionError where the contract is broken. Beside a
verdict a judge may give one of `TYPED_FAILURES`; anything else that it raises ends a check as an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.support.expecting import expect
from tests.support.player_material import CASES, TYPED_FAILURES, reports_plausible_usage

from diagnosis_harness.guards.semantic_guard import SemanticCase, SemanticJudge
from diagnosis_harness.guards.verdict import Judgement, SemanticReason, SemanticVerdict
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.testing.runs import Rig

MakeJudge = Callable[[], SemanticJudge]
Check = Callable[[MakeJudge], None]


def _judge(judge: SemanticJudge, case: SemanticCase) -> Judgement | None:
    """The verdict; None where the judge failed in a way that is allowed."""
    try:
        judgement, usage = asyncio.run(judge.judge(Rig().run(), case))
    except TYPED_FAILURES:
        return None
    expect(holds=isinstance(judgement, Judgement), what="a judge gives a judgement")
    expect(holds=reports_plausible_usage(usage), what="a judge says what tokens it took")
    return judgement


def _judgements(make: MakeJudge) -> Iterator[tuple[str, Judgement]]:
    """The verdict of a fresh judge on each case."""
    for name, case in CASES.items():
        judgement = _judge(make(), case)
        if judgement is not None:
            yield name, judgement


def gives_a_verdict_of_the_closed_set(make: MakeJudge) -> None:
    """SUPPORTED or UNSUPPORTED, and reasons of the closed set, none of them twice."""
    for name, given in _judgements(make):
        expect(holds=isinstance(given.verdict, SemanticVerdict), what=f"{name}: a verdict")
        expect(
            holds=all(isinstance(each, SemanticReason) for each in given.reasons),
            what=f"{name}: known reasons",
        )
        expect(holds=len(set(given.reasons)) == len(given.reasons), what=f"{name}: no reason twice")


def gives_reasons_exactly_when_it_refuses(make: MakeJudge) -> None:
    """A refusal needs a reason, and a reason against a supported claim is a contradiction."""
    for name, given in _judgements(make):
        refused = given.verdict is SemanticVerdict.UNSUPPORTED
        expect(holds=refused == bool(given.reasons), what=f"{name}: reasons exactly with UNSUPPORTED")


def judges_the_same_case_the_same_way(make: MakeJudge) -> None:
    """A fresh judge and one that has served other runs agree: a judge holds nothing of a run."""
    used = make()
    for case in CASES.values():
        _judge(used, case)
    for name, case in CASES.items():
        expect(holds=_judge(used, case) == _judge(make(), case), what=f"{name}: the same verdict")


def ignores_the_order_of_the_evidence(make: MakeJudge) -> None:
    """Rankings and observations come in no order that counts."""
    for name, case in CASES.items():
        turned = replace(case, rankings=case.rankings[::-1], observed=case.observed[::-1])
        one, other = _judge(make(), case), _judge(make(), turned)
        if one is not None and other is not None:
            same = one.verdict is other.verdict and set(one.reasons) == set(other.reasons)
            expect(holds=same, what=f"{name}: the same verdict in another order")


def survives_a_cancelled_run(make: MakeJudge) -> None:
    """Asked inside a run that was cancelled, it answers or says that the run has ended; it never hangs."""
    rig = Rig()
    ctx = rig.run()
    rig.core.cancel(ctx, CancellationReason.USER_REQUESTED)
    for case in CASES.values():
        try:
            asyncio.run(asyncio.wait_for(make().judge(ctx, case), timeout=30.0))
        except TYPED_FAILURES:
            continue


CHECKS: tuple[Check, ...] = (
    gives_a_verdict_of_the_closed_set,
    gives_reasons_exactly_when_it_refuses,
    judges_the_same_case_the_same_way,
    ignores_the_order_of_the_evidence,
    survives_a_cancelled_run,
)
