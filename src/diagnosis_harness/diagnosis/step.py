"""What the loop does next with a policy's answer; pure and total."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from diagnosis_harness.diagnosis.collection import CollectionState, DiagnosisStopReason
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, PolicyAnswer, WantedCall
from diagnosis_harness.diagnosis.progress import ProgressSnapshot


@dataclass(frozen=True, slots=True)
class RunTools:
    """Pass these calls to the tool boundary."""

    calls: tuple[WantedCall, ...]


@dataclass(frozen=True, slots=True)
class RefuseCalls:
    """Collecting is over, which the policy could not know: refuse its calls and say so in the next view."""

    refused: tuple[WantedCall, ...]
    reason: DiagnosisStopReason


@dataclass(frozen=True, slots=True)
class StopControlled:
    """A tool was asked for after STOP_REQUIRED."""

    refused: tuple[WantedCall, ...]
    reason: DiagnosisStopReason


@dataclass(frozen=True, slots=True)
class Complete:
    """A draft was given."""

    draft: DiagnosisDraft


@dataclass(frozen=True, slots=True)
class EndEmpty:
    """Neither a draft nor a call."""


Action: TypeAlias = RunTools | RefuseCalls | StopControlled | Complete | EndEmpty


def next_action(snapshot: ProgressSnapshot, answer: PolicyAnswer) -> Action:
    """What to do with an answer whose assessments are in the snapshot already.

    A draft is taken in any collection state. Calls run only while COLLECTING. After SATURATED they are
    refused, and once STOP_REQUIRED was delivered they stop the loop.
    """
    match answer:
        case GiveDraft(draft=draft):
            return EndEmpty() if draft is None else Complete(draft)
        case AskTools(calls=()):
            return EndEmpty()
        case AskTools(calls=calls):
            reason = snapshot.stop_reason
            if reason is None or snapshot.collection is CollectionState.COLLECTING:
                return RunTools(calls)
            return StopControlled(calls, reason) if snapshot.stop_required else RefuseCalls(calls, reason)
