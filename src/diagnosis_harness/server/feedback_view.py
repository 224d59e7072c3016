"""Feedback about runs as the HTTP API returns it and the command line reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from diagnosis_harness.application.runs.feedback import Feedback, FeedbackVerdict
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.server.view import DescribedAs, Timestamp, View


class FeedbackView(View):
    """One caller's verdict on one run."""

    run_id: str
    given_by: str
    verdict: Annotated[str, DescribedAs(FeedbackVerdict)]
    cause: str | None
    note: str
    given_at: Timestamp

    @classmethod
    def of(cls, feedback: Feedback) -> FeedbackView:
        """The view of a stored verdict."""
        return cls(
            run_id=feedback.run_id,
            given_by=feedback.given_by,
            verdict=feedback.verdict,
            cause=feedback.cause,
            note=feedback.note,
            given_at=utc_text(feedback.given_s),
        )


class FeedbackListView(View):
    """All verdicts on a run."""

    feedback: list[FeedbackView]

    @classmethod
    def of(cls, verdicts: Sequence[Feedback]) -> FeedbackListView:
        """The views of stored verdicts."""
        return cls(feedback=[FeedbackView.of(one) for one in verdicts])


class WithdrawnView(View):
    """The result of withdrawing a verdict."""

    withdrawn: bool
