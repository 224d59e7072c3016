"""Diagnose incidents from evidence; release only what the evidence supports.

The names below are the stable interface for programs that embed the harness (docs/embedding.md). Each is
imported on its first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:  # at run time each name is imported when it is first used
    from diagnosis_harness.api.answer import Answer, verify
    from diagnosis_harness.api.folder import IncidentFolder
    from diagnosis_harness.api.harness import Harness
    from diagnosis_harness.api.live_run import LiveRun
    from diagnosis_harness.api.step import RunStep, RunStepKind
    from diagnosis_harness.audit.verification.result import Verification
    from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, FaultKind, Predicate, Quote
    from diagnosis_harness.diagnosis.collection import InformationGain
    from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft, Hypothesis
    from diagnosis_harness.diagnosis.policy import (
        AskTools,
        DiagnosisPolicy,
        GiveDraft,
        PolicyAnswer,
        PolicyView,
        WantedCall,
    )
    from diagnosis_harness.diagnosis.progress import Assessment
    from diagnosis_harness.harness.budget import RunBudgetLimits
    from diagnosis_harness.harness.context import RunContext
    from diagnosis_harness.harness.lease import TokenUsage
    from diagnosis_harness.harness.termination import RunState
    from diagnosis_harness.kernel.errors import DiagnosisHarnessError, FailureKind, InvalidInput, ToolFailure
    from diagnosis_harness.kernel.language import Language
    from diagnosis_harness.kernel.window import TimeWindow
    from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
    from diagnosis_harness.settings import Settings, load_settings
    from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind
    from diagnosis_harness.tools.invocation import EvidenceRecord
    from diagnosis_harness.tools.spec import Parameter, ParameterKind, Tool, ToolFindings, ToolSpec

__all__ = [
    "Answer",
    "AskTools",
    "Assessment",
    "Cause",
    "Claim",
    "DiagnosisDraft",
    "DiagnosisHarnessError",
    "DiagnosisPolicy",
    "Direction",
    "EvidenceItem",
    "EvidenceRecord",
    "EvidenceRef",
    "FailureKind",
    "FallbackType",
    "FaultKind",
    "GiveDraft",
    "Harness",
    "Hypothesis",
    "IncidentFolder",
    "InformationGain",
    "InvalidInput",
    "ItemKind",
    "Language",
    "LiveRun",
    "Parameter",
    "ParameterKind",
    "PolicyAnswer",
    "PolicyView",
    "Predicate",
    "Quote",
    "ReleaseOutcome",
    "RunBudgetLimits",
    "RunContext",
    "RunState",
    "RunStep",
    "RunStepKind",
    "Settings",
    "TimeWindow",
    "TokenUsage",
    "Tool",
    "ToolFailure",
    "ToolFindings",
    "ToolSpec",
    "Verification",
    "WantedCall",
    "load_settings",
    "verify",
]

_HOMES = {
    "Answer": "api.answer",
    "AskTools": "diagnosis.policy",
    "Assessment": "diagnosis.progress",
    "Cause": "diagnosis.draft",
    "Claim": "diagnosis.claim",
    "DiagnosisDraft": "diagnosis.draft",
    "DiagnosisHarnessError": "kernel.errors",
    "DiagnosisPolicy": "diagnosis.policy",
    "Direction": "tools.evidence",
    "EvidenceItem": "tools.evidence",
    "EvidenceRecord": "tools.invocation",
    "EvidenceRef": "diagnosis.claim",
    "FailureKind": "kernel.errors",
    "FallbackType": "release.outcome",
    "FaultKind": "diagnosis.claim",
    "GiveDraft": "diagnosis.policy",
    "Harness": "api.harness",
    "Hypothesis": "diagnosis.draft",
    "IncidentFolder": "api.folder",
    "InformationGain": "diagnosis.collection",
    "InvalidInput": "kernel.errors",
    "ItemKind": "tools.evidence",
    "Language": "kernel.language",
    "LiveRun": "api.live_run",
    "Parameter": "tools.spec",
    "ParameterKind": "tools.spec",
    "PolicyAnswer": "diagnosis.policy",
    "PolicyView": "diagnosis.policy",
    "Predicate": "diagnosis.claim",
    "Quote": "diagnosis.claim",
    "ReleaseOutcome": "release.outcome",
    "RunBudgetLimits": "harness.budget",
    "RunContext": "harness.context",
    "RunState": "harness.termination",
    "RunStep": "api.step",
    "RunStepKind": "api.step",
    "Settings": "settings",
    "TimeWindow": "kernel.window",
    "TokenUsage": "harness.lease",
    "Tool": "tools.spec",
    "ToolFailure": "kernel.errors",
    "ToolFindings": "tools.spec",
    "ToolSpec": "tools.spec",
    "Verification": "audit.verification.result",
    "WantedCall": "diagnosis.policy",
    "load_settings": "settings",
    "verify": "api.answer",
}
"""Where each public name is defined."""


def __getattr__(name: str) -> object:
    """A public name, imported on its first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return [*__all__, "__version__"]
