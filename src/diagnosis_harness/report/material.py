"""The material of a report: values that passed the guards, and what was examined."""

from __future__ import annotations

from dataclasses import dataclass, field

from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.result import NO_CONTENT, ReleaseContent
from diagnosis_harness.report.document import Release
from diagnosis_harness.toolbox.ports import FileNote
from diagnosis_harness.tools.invocation import EvidenceRecord


@dataclass(frozen=True, slots=True)
class ReportMaterial:
    """Everything that a report is composed from.

    Attributes:
        records: final records of the run, in the order in which they were asked for.
        tools: names of all tools that this run could have called. files: how the files behind the sources
            were used. has_baseline: whether there was normal operation to compare with. has_onset: whether
            the question or the alert stated when it began.
        inquiry: what was asked, as code resolved it. limit_s: the time limit of the run.
    """

    language: Language
    release: Release
    state: RunState
    limit_s: float
    content: ReleaseContent = NO_CONTENT
    records: tuple[EvidenceRecord, ...] = ()
    tools: tuple[str, ...] = ()
    files: tuple[FileNote, ...] = ()
    has_baseline: bool = False
    has_onset: bool = False
    inquiry: Inquiry = field(default_factory=Inquiry)
