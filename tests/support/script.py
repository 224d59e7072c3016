"""The script of a scene as text: who says what, and what goes wrong where.

A directive is a line `name: value`; lines that are indented belong to it. `let NAME: JSON` makes `$NAME`
stand for that text further down. The first line is a title; lines that start with `#` are remarks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from tests.support.faults import ALTERED, HUNG, LOST, store_fails, tool_crashes, tool_fails
from tests.support.inquiries import inquiry
from tests.support.scene import Scene

from diagnosis_harness.diagnosis.agent import DiagnosisTask
from diagnosis_harness.diagnosis.collection import CollectionThresholds
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.policy import PolicyAnswer, PolicyView
from diagnosis_harness.diagnosis.wire import decode_answer
from diagnosis_harness.guards.verdict import Judgement, SemanticReason, SemanticVerdict
from diagnosis_harness.kernel.canonical import canonical_json
from diagnosis_harness.kernel.errors import FailureKind, LlmFailure
from diagnosis_harness.testing.evidence import WINDOW
from diagnosis_harness.testing.runs import limits
from diagnosis_harness.testing.scripted_policy import (
    ScriptedAnswer,
    ScriptedJudge,
    ScriptedPolicy,
    ScriptedRepairer,
)
from diagnosis_harness.testing.scripted_tool import ENTITY_ARG, ScriptedTool
from diagnosis_harness.tools.spec import Parameter, ParameterKind, ToolFindings, ToolSpec
from diagnosis_harness.tools.store import EvidenceStore
from diagnosis_harness.tools.stored import read_stored

SINCE = Parameter("since", ParameterKind.INSTANT, "From when.")
_FAULT = re.compile(r"(?P<what>.+?) (?:before|during|at|after) (?P<place>\w+ \w+)")


@dataclass(slots=True)
class Script:
    """What a text asks for, collected directive by directive."""

    question: str = "why?"
    limits: dict[str, int] = field(default_factory=dict)
    thresholds: dict[str, int] = field(default_factory=lambda: {"no_gain": 2, "protocol_violations": 2})
    names: dict[str, str] = field(default_factory=dict)
    tools: list[ScriptedTool] = field(default_factory=list)
    answers: list[ScriptedAnswer] = field(default_factory=list)
    mend: Callable[[DiagnosisDraft], DiagnosisDraft] | Exception = lambda draft: draft
    verdicts: list[Judgement | Exception] = field(default_factory=list)
    faults: list[tuple[str, str]] = field(default_factory=list)

    def scene(self, store: EvidenceStore) -> Scene:
        """The run that the script describes."""
        the_end = AssertionError("the policy is asked more than the script says")
        scene = Scene(
            policy=ScriptedPolicy(*self.answers, the_end),
            store=store,
            tools=self.tools,
            judge=ScriptedJudge(*self.verdicts),
            repairer=ScriptedRepairer(self.mend),
            limits=limits(**self.limits),
            thresholds=CollectionThresholds(**self.thresholds),
            task=DiagnosisTask(self.question, inquiry()),
        )
        actions: dict[str, Callable[[], str | None]] = {
            "cancel": scene.cancel,
            "disconnect": scene.disconnect,
            "deadline": scene.deadline,
            "time-out": scene.slow,
            "tool fails": tool_fails,
            "tool crashes": tool_crashes,
            "store fails": store_fails,
            "store hangs": lambda: HUNG,
            "store loses": lambda: LOST,
            "store alters": lambda: ALTERED,
        }
        scene.faults.actions = {place: actions[what] for what, place in self.faults}
        return scene


def read(text: str) -> Script:
    """The script in a text.

    Raises:
        KeyError, ValueError: a line that is no directive, or a value that does not fit its directive.
    """
    script = Script()
    for name, which, given in _directives(text):
        value = re.sub(r"\$(\w+)", lambda used: script.names[used[1]], given)
        _DIRECTIVES[name](script, which, value)
    return script


def _directives(text: str) -> Iterator[tuple[str, str, str]]:
    """Name, the word after it where there is one, and value."""
    joined = re.sub(r"\n[ ]+", "\n ", text.partition("\n")[2])
    for block in re.split(r"\n(?! )", joined):
        if not block.strip() or block.startswith("#"):
            continue
        head, _, value = block.partition(":")
        first, _, last = head.rpartition(" ")
        name, which = (head, "") if head in _DIRECTIVES else (first, last)
        yield name, which, value.replace("\n ", "\n").strip()


def _let(script: Script, which: str, value: str) -> None:
    script.names[which] = value.replace("\n", " ")


def _question(script: Script, _: str, value: str) -> None:
    script.question = value


def _limits(script: Script, _: str, value: str) -> None:
    script.limits = _counts(value)


def _thresholds(script: Script, _: str, value: str) -> None:
    script.thresholds = _counts(value)


def _counts(value: str) -> dict[str, int]:
    return {name: int(count) for name, count in (each.split() for each in value.split(","))}


def _tool(script: Script, name: str, value: str) -> None:
    """A tool that finds the items given, one JSON object a line, or `nothing`."""
    lines = [] if value == "nothing" else value.splitlines()
    shell = {"tool": name, "scope": "{}", "window": None, "looked_at": 1, "omitted": 0, "narrow": None}
    stored = canonical_json({**shell, "note": None, "items": [json.loads(line) for line in lines]})
    read = read_stored(stored).projection.items
    # What was seen was seen in the window that was looked at, unless the script says otherwise.
    items = tuple(replace(item, window=item.window or WINDOW) for item in read)
    findings = ToolFindings(items=items, window=WINDOW, looked_at=1)
    script.tools.append(ScriptedTool(lambda: findings, ToolSpec(name, "Looks.", (ENTITY_ARG, SINCE))))


def _policy(script: Script, _: str, value: str) -> None:
    """Read when it is said, so that what cannot be read is the run's affair."""

    def says(view: PolicyView) -> PolicyAnswer:
        del view
        return decode_answer(value)

    script.answers.append(says)


def _policy_fails(script: Script, _: str, value: str) -> None:
    script.answers.append(LlmFailure("away", kind=FailureKind(value)))


def _repair_drops(script: Script, _: str, value: str) -> None:
    dropped = frozenset(value.split())
    script.mend = lambda draft: replace(
        draft, claims=tuple(claim for claim in draft.claims if claim.claim_id not in dropped)
    )


def _repair_fails(script: Script, _: str, value: str) -> None:
    script.mend = LlmFailure("away", kind=FailureKind(value))


def _judge(script: Script, _: str, value: str) -> None:
    verdict, *reasons = value.split()
    script.verdicts.append(
        Judgement(SemanticVerdict(verdict), tuple(SemanticReason(reason) for reason in reasons))
    )


def _judge_fails(script: Script, _: str, value: str) -> None:
    script.verdicts.append(LlmFailure("away", kind=FailureKind(value)))


def _fault(script: Script, _: str, value: str) -> None:
    found = _FAULT.fullmatch(value)
    if found is None:
        raise ValueError(f"no fault: {value}")
    script.faults.append((found["what"], found["place"]))


_DIRECTIVES: dict[str, Callable[[Script, str, str], None]] = {
    "question": _question,
    "limits": _limits,
    "thresholds": _thresholds,
    "let": _let,
    "tool": _tool,
    "policy": _policy,
    "policy fails": _policy_fails,
    "repair drops": _repair_drops,
    "repair fails": _repair_fails,
    "judge": _judge,
    "judge fails": _judge_fails,
    "fault": _fault,
}
