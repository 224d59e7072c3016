"""A run of the command line, as stored on the user's machine."""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.previous_turn import (
    EarlierRun,
    PublishedResultPolicy,
    result_for_next_turn,
)
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.report.document_file import document_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRun:
    """One run: the fields that lists and follow-ups need, and its document as the bytes that `--save` writes.

    Attributes:
        intent: None for a run that was not a diagnosis.
        folder: the incident folder; None if it was deleted after the run.
        published_result: what a follow-up may see of it (`PublishedResultPolicy`).
    """

    run_id: str
    session_id: str
    started_at: str
    question: str
    intent: IntentType | None
    outcome: ReleaseOutcome
    folder: str | None
    baseline: str | None
    zone: str | None
    published_result: JsonValue
    document: bytes

    @classmethod
    def of(
        cls, document: RunDocument, *, folder: str | None, baseline: str | None, zone: str | None
    ) -> KeptRun:
        """The ended run of a document."""
        run, outcome = document.run, document.release.outcome
        intent = None if document.inquiry is None else IntentType.DIAGNOSIS
        publishes = intent is not None and PublishedResultPolicy().publishes(intent, outcome)
        return cls(
            run_id=run.run_id,
            session_id=run.session_id,
            started_at=run.started_at,
            question=run.question,
            intent=intent,
            outcome=outcome,
            folder=folder,
            baseline=baseline,
            zone=zone,
            published_result=result_for_next_turn(
                document.report,
                question=run.question,
                source=folder,
                language=run.language,
                affected=() if document.inquiry is None else document.inquiry.affected,
            )
            if publishes
            else None,
            document=document_bytes(document),
        )

    @property
    def earlier(self) -> EarlierRun:
        """The run as an earlier turn of its session."""
        return EarlierRun(self.session_id, self.run_id, self.intent, self.outcome, self.published_result)
