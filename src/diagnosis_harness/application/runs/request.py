"""A request to the service, as stored from its submission on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.application.callers.caller import Caller
from diagnosis_harness.application.runs.sources import Lane, SourceStamp, lane_of
from diagnosis_harness.kernel.language import Language


class RunKind(StrEnum):
    """What the lifetime of a run depends on."""

    CHAT = "CHAT"  # the connection that started it: it ends when the client disconnects
    BACKGROUND = "BACKGROUND"  # nothing: it is queued, and watchers do not affect it


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """One question.

    Attributes:
        question: masked; the raw text is not kept anywhere.
        asked_by: the caller at that time, whose role decides what the tools may do.
        source: name of the configured source to diagnose; None is the only one, or none.
        stamp: the state of that source when the question was asked; None for runs stored by an older program.
        onset_s: when the trouble began, if the caller stated it.
        limit_s: time limit, from the start of the run to its deadline.
        submitted_s: when it was accepted.
        start_by_s: a queued run that has not started by then ends TIMED_OUT; None for a chat.
        fingerprint: the alert group that it is about; it joins an unfinished run of the same group.
        retry_of: the ended run that this one retries, with a budget of its own.
        unfinished_max: how many runs of the caller may be queued or running, including this one; checked when
                the row is inserted, and not stored. None is without a limit.
    """

    run_id: str
    session_id: str
    question: str
    language: Language
    kind: RunKind
    asked_by: Caller
    limit_s: float
    submitted_s: float
    source: str | None = None
    stamp: SourceStamp | None = None
    onset_s: float | None = None
    start_by_s: float | None = None
    fingerprint: str | None = None
    retry_of: str | None = None
    unfinished_max: int | None = None

    @property
    def lane(self) -> Lane:
        """The part of the queue that it waits in."""
        return lane_of(self.source, None if self.stamp is None else self.stamp.identity)
