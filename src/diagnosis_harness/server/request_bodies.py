"""The bodies of requests: exact types, known fields only, bounded sizes."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.runs.feedback import (
    CAUSE_LIMIT_CHARACTERS,
    NOTE_LIMIT_CHARACTERS,
    FeedbackVerdict,
)
from diagnosis_harness.application.runs.row import RunStatus
from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.application.runs.submission import QUESTION_LIMIT_CHARACTERS, Submission
from diagnosis_harness.harness.keys import is_safe_segment
from diagnosis_harness.kernel.errors import InvalidInput, RunUnknown
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.window import parse_utc
from diagnosis_harness.release.outcome import ReleaseOutcome

ID_PATTERN = r"^[A-Za-z0-9._-]{1,128}$"
PAGE_SIZE_MAX = 200
_INSTANT = "2024-01-01T14:05:00Z"

ShortName = Annotated[str, Field(max_length=200)]
Instant = Annotated[str, Field(max_length=40, examples=[_INSTANT])]
"""ISO 8601; UTC if it has no zone."""
IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1, max_length=255, description=("A key of your choice; use a new one for each question.")
    ),
]


class Wire(BaseModel):
    """Base of bodies: values are not converted, and unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Ask(Wire):
    """One question to the service."""

    question: Annotated[str, Field(min_length=1, max_length=QUESTION_LIMIT_CHARACTERS)]
    session_id: Annotated[
        str | None,
        Field(
            description=(
                "The session; if omitted, a new one is created. Later questions of a session can follow up "
                "on earlier ones."
            ),
            json_schema_extra={"pattern": ID_PATTERN},
        ),
    ] = None
    language: Annotated[Language | None, Field(strict=False, description="Of the answer.")] = None
    source: Annotated[
        ShortName | None, Field(description="Name of a configured source, or id of one that you sent.")
    ] = None
    onset: Annotated[Instant | None, Field(description="When the incident began, if known.")] = None
    limit_s: Annotated[
        float | None, Field(gt=0, allow_inf_nan=False, description="Time limit of the run.")
    ] = None
    retry_of: Annotated[
        str | None,
        Field(description="An ended run that this one retries.", json_schema_extra={"pattern": ID_PATTERN}),
    ] = None

    def submission(self) -> Submission:
        """The question as the application takes it.

        Raises:
            InvalidInput: `onset` is not a time. RunUnknown: `retry_of` is not well-formed.
        """
        if self.retry_of is not None and not is_safe_segment(self.retry_of):
            raise RunUnknown(self.retry_of)
        return Submission(
            question=self.question,
            session_id=self.session_id,
            language=self.language,
            source=self.source,
            onset_s=None if self.onset is None else parse_instant(self.onset, "onset"),
            limit_s=self.limit_s,
            retry_of=self.retry_of,
        )


class Mark(Wire):
    """A verdict on a run."""

    verdict: Annotated[
        FeedbackVerdict,
        Field(strict=False, description="A fallback is right if no conclusion was warranted."),
    ]
    cause: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=CAUSE_LIMIT_CHARACTERS,
            description="Name of what the cause turned out to be, as the telemetry calls it.",
        ),
    ] = None
    note: Annotated[str, Field(max_length=NOTE_LIMIT_CHARACTERS)] = ""


class RunsAsked(BaseModel):
    """The filter of runs, as query parameters."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    status: RunStatus | None = None
    outcome: ReleaseOutcome | None = None
    intent: IntentType | None = None
    session: Annotated[str | None, Field(pattern=ID_PATTERN)] = None
    asked_by: Annotated[
        str | None,
        Field(pattern=ID_PATTERN, description=("For admins; other callers see only their own runs.")),
    ] = None
    submitted_from: Instant | None = None
    submitted_before: Instant | None = None
    before: Annotated[str | None, Field(max_length=400, description="`next` of the previous page.")] = None
    limit: Annotated[int, Field(ge=1, le=PAGE_SIZE_MAX)] = 50

    def query(self) -> RunQuery:
        """The query as the application takes it.

        Raises:
            InvalidInput: a time is malformed.
        """
        return RunQuery(
            asked_by=self.asked_by,
            session_id=self.session,
            status=self.status,
            outcome=self.outcome,
            intent=self.intent,
            submitted_from_s=_maybe_s(self.submitted_from, "submitted_from"),
            submitted_before_s=_maybe_s(self.submitted_before, "submitted_before"),
            before=self.before,
            limit=self.limit,
        )


Labels = Annotated[
    dict[Annotated[str, Field(max_length=200)], Annotated[str, Field(max_length=10_000)]],
    Field(max_length=100),
]


class Alert(BaseModel):
    """One alert of a group."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    status: Annotated[str, Field(pattern="^(firing|resolved)$")]
    labels: Labels
    annotations: Labels = Field(default_factory=dict)
    startsAt: AwareDatetime | None = None  # noqa: N815 - Alertmanager's own name


class AlertGroup(BaseModel):
    """A notification of Alertmanager's webhook receiver, version 4; fields that we do not use are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    version: Annotated[str, Field(pattern="^4$")]
    groupKey: Annotated[str, Field(min_length=1, max_length=20_000)]  # noqa: N815 - as above
    status: Annotated[str, Field(pattern="^(firing|resolved)$")]
    receiver: Annotated[str, Field(max_length=1_000)] = ""
    commonLabels: Labels = Field(default_factory=dict)  # noqa: N815 - as above
    commonAnnotations: Labels = Field(default_factory=dict)  # noqa: N815 - as above
    alerts: Annotated[tuple[Alert, ...], Field(max_length=5_000)]
    truncatedAlerts: Annotated[int, Field(ge=0)] = 0  # noqa: N815 - as above


def parse_instant(text: str, field: str) -> float:
    """A time as seconds since the epoch.

    Raises:
        InvalidInput: it is malformed.
    """
    try:
        return parse_utc(text)
    except (ValueError, OverflowError):
        raise InvalidInput(field, "it is not a timestamp", f"write it as {_INSTANT}") from None


def _maybe_s(text: str | None, field: str) -> float | None:
    return None if text is None else parse_instant(text, field)
