"""Turns what a caller submits into a request that may be stored: checked, masked, with ids."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from diagnosis_harness.application.callers.caller import Caller
from diagnosis_harness.application.runs.request import RunKind, RunRequest
from diagnosis_harness.application.runs.sources import is_upload_id
from diagnosis_harness.harness.keys import is_safe_segment
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import InvalidInput, NotPermitted
from diagnosis_harness.kernel.ids import IdSource
from diagnosis_harness.kernel.language import Language, language_of
from diagnosis_harness.kernel.masking import mask_or_withhold

QUESTION_LIMIT_CHARACTERS = 50_000
"""A pasted alert fits; all of it is stored, and a part is matched. Masking takes at most half a second."""
EARLIEST_ONSET_S = 1e8
LATEST_ONSET_S = 1e11


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What a caller submits. None leaves the choice to the service.

    Attributes:
        limit_s: time from the start of the run to its deadline.
        fingerprint: of the alert group, or of the retried run; only the service sets it.
        run_id: the id of the run; a question that is sent twice has the same one.
    """

    question: str
    session_id: str | None = None
    language: Language | None = None
    source: str | None = None
    onset_s: float | None = None
    limit_s: float | None = None
    retry_of: str | None = None
    fingerprint: str | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class SubmissionRules:
    """The rules for submissions to this service.

    Attributes:
        sources: names of the configured sources.
        limit_s: the default time limit of a run, and the highest that may be requested.
        start_within_s: how long a queued run may wait for its start.
    """

    sources: tuple[str, ...]
    limit_s: float
    limit_max_s: float
    start_within_s: float


def request_of(
    submission: Submission,
    caller: Caller,
    kind: RunKind,
    *,
    rules: SubmissionRules,
    clock: Clock,
    ids: IdSource,
) -> RunRequest:
    """The request in its stored form.

    Raises:
        NotPermitted: the caller may not ask.
        InvalidInput: a field cannot be used; `place` names it.
    """
    if not caller.may_ask:
        raise NotPermitted("a viewer may only read")
    question = check_question(submission.question)
    now_s = clock.now_s()
    return RunRequest(
        run_id=submission.run_id or ids.new_run_id(),
        session_id=_session(submission.session_id, ids),
        question=mask_or_withhold(question),
        language=submission.language or language_of(question),
        kind=kind,
        asked_by=caller,
        limit_s=_limit(submission.limit_s, rules),
        submitted_s=now_s,
        source=_source(submission.source, rules),
        onset_s=_onset(submission.onset_s),
        start_by_s=now_s + rules.start_within_s if kind is RunKind.BACKGROUND else None,
        fingerprint=submission.fingerprint,
        retry_of=submission.retry_of,
    )


def check_question(question: str) -> str:
    """The question without surrounding space.

    Raises:
        InvalidInput: it is empty, too long, or not text.
    """
    stripped = question.strip()
    if not stripped:
        raise InvalidInput("question", "it is empty", "ask a question")
    if "\x00" in stripped or any("\ud800" <= character <= "\udfff" for character in stripped):
        raise InvalidInput(
            "question", "it contains NUL or invalid characters", "send it as UTF-8 without NUL"
        )
    if len(stripped) > QUESTION_LIMIT_CHARACTERS:
        raise InvalidInput(
            "question",
            f"it is {len(stripped):,} characters long",
            f"ask in at most {QUESTION_LIMIT_CHARACTERS:,}",
        )
    return stripped


def _session(session_id: str | None, ids: IdSource) -> str:
    """Make a session id if none is given; refuse one that is blank or unsafe (LC-11)."""
    if session_id is None:
        return ids.new_session_id()
    if not is_safe_segment(session_id):
        problem = "it is blank" if not session_id.strip() else "it is not a valid session id"
        remedy = "leave it out, or send 1 to 128 of A-Z a-z 0-9 . _ -"
        raise InvalidInput("session_id", problem, remedy)
    return session_id


def _source(name: str | None, rules: SubmissionRules) -> str | None:
    """The chosen source, configured or sent; None only if none is configured."""
    if name is None:
        if len(rules.sources) > 1:
            raise InvalidInput("source", "several are configured", f"choose one: {', '.join(rules.sources)}")
        return rules.sources[0] if rules.sources else None
    if name not in rules.sources and not is_upload_id(name):
        known = ", ".join(rules.sources) or "none is configured"
        raise InvalidInput("source", "it is not configured", f"name one that is: {known}")
    return name


def _onset(onset_s: float | None) -> float | None:
    if onset_s is not None and not (isfinite(onset_s) and EARLIEST_ONSET_S <= onset_s < LATEST_ONSET_S):
        raise InvalidInput(
            "onset", "it is outside the range of possible incident times", "write it as 2024-01-01T14:05:00Z"
        )
    return onset_s


def _limit(limit_s: float | None, rules: SubmissionRules) -> float:
    if limit_s is None:
        return rules.limit_s
    if not (isfinite(limit_s) and 0 < limit_s <= rules.limit_max_s):
        raise InvalidInput(
            "limit_s",
            f"{limit_s:g} s is outside the allowed range",
            f"send more than 0 and at most {rules.limit_max_s:g} seconds",
        )
    return limit_s
