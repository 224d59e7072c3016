"""Decides what the loop does with a policy's answer; pure and total."""

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
    """Collection ended before the policy could know: refuse its calls, and list them in the next view."""

    refused: tuple[WantedCall, ...]
    reason: DiagnosisStopReason


@dataclass(frozen=True, slots=True)
class StopControlled:
    """The policy requested a tool after STOP_REQUIRED."""

    refused: tuple[WantedCall, ...]
    reason: DiagnosisStopReason


@dataclass(frozen=True, slots=True)
class Complete:
    """The policy gave a draft."""

    draft: DiagnosisDraft


@dataclass(frozen=True, slots=True)
class EndEmpty:
    """The policy gave neither a draft nor a call."""


Action: TypeAlias = RunTools | RefuseCalls | StopControlled | Complete | EndEmpty


def next_action(snapshot: ProgressSnapshot, answer: PolicyAnswer) -> Action:
    """Decide on an answer whose assessments the snapshot already contains.

    A draft is taken in any collection state. Calls run only while COLLECTING. After SATURATED they are
    refused; once STOP_REQUIRED was delivered they stop the loop.
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
