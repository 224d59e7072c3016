"""Feedback on a run: whether its answer was right, and what the cause turned out to be."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from diagnosis_harness.application.callers.caller import Caller
from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.runs.reader import RunReader
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import InvalidInput, NotPermitted, RunGoesOn
from diagnosis_harness.kernel.masking import mask_or_withhold
from diagnosis_harness.release.outcome import ReleaseOutcome

CAUSE_LIMIT_CHARACTERS = 128
"""The maximum length of an identifier."""
NOTE_LIMIT_CHARACTERS = 1_000
"""A few sentences; a post-mortem belongs elsewhere."""

_ANSWERED = (ReleaseOutcome.SUCCESS, ReleaseOutcome.FALLBACK)


class FeedbackVerdict(StrEnum):
    """Whether the answer was right. A fallback is right if no conclusion was warranted."""

    RIGHT = "RIGHT"
    WRONG = "WRONG"


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """One caller's verdict on one run. A later one of the same caller replaces it.

    Attributes:
        cause: the name of the actual cause, if the caller gave one.
        note: free text, masked; empty if there is none.
    """

    run_id: str
    given_by: str
    verdict: FeedbackVerdict
    cause: str | None
    note: str
    given_s: float


class FeedbackStore(Protocol):
    """Stores feedback with the runs it is about, and deletes it with them. A failure is `StoreFailure`."""

    async def put(self, feedback: Feedback) -> None:
        """Store it; it replaces this caller's earlier feedback on the run."""
        ...

    async def of_run(self, run_id: str) -> tuple[Feedback, ...]:
        """All feedback about a run, the earliest first."""
        ...

    async def remove(self, run_id: str, given_by: str) -> bool:
        """Remove a caller's feedback on a run; False if there was none."""
        ...


class RunFeedback:
    """Accepts, shows and withdraws feedback on behalf of callers who may see the run."""

    def __init__(self, runs: RunReader, store: FeedbackStore, *, clock: Clock) -> None:
        self._runs = runs
        self._store = store
        self._clock = clock

    async def mark(
        self,
        caller: Caller,
        run_id: str,
        verdict: FeedbackVerdict,
        *,
        cause: str | None = None,
        note: str = "",
    ) -> Feedback:
        """Store the caller's verdict on a run.

        Raises:
            NotPermitted: the caller may only read.
            InvalidInput: the cause or the note cannot be used, or the run gave no diagnosis.
            RunUnknown: there is no such run for this caller.
            RunGoesOn: it has not ended.
            StoreFailure: it cannot be stored.
        """
        _check_may_mark(caller)
        check_cause(cause)
        check_note(note)
        row = await self._runs.row(caller, run_id)
        if row.ending is None or not row.is_closed:
            raise RunGoesOn(row.request.run_id)
        check_gave_a_diagnosis(run_id, row.intent, row.ending.outcome)
        feedback = new_feedback(run_id, caller, verdict, cause=cause, note=note, given_s=self._clock.now_s())
        await self._store.put(feedback)
        return feedback

    async def of_run(self, caller: Caller, run_id: str) -> tuple[Feedback, ...]:
        """The feedback on a run, the earliest first.

        Raises:
            RunUnknown: there is no such run for this caller.
            StoreFailure: it cannot be read.
        """
        row = await self._runs.row(caller, run_id)
        return await self._store.of_run(row.request.run_id)

    async def withdraw(self, caller: Caller, run_id: str) -> bool:
        """Remove the caller's own verdict; False if there was none.

        Raises:
            NotPermitted, RunUnknown, StoreFailure: as `mark`.
        """
        _check_may_mark(caller)
        row = await self._runs.row(caller, run_id)
        return await self._store.remove(row.request.run_id, caller.name)


def new_feedback(
    run_id: str,
    caller: Caller,
    verdict: FeedbackVerdict,
    *,
    cause: str | None,
    note: str,
    given_s: float,
) -> Feedback:
    """The stored form of a verdict whose cause and note were checked; the note is masked."""
    return Feedback(
        run_id=run_id,
        given_by=caller.name,
        verdict=verdict,
        cause=None if cause is None else cause.strip(),
        note=mask_or_withhold(note.strip()),
        given_s=given_s,
    )


def check_cause(cause: str | None) -> None:
    """Refuse a cause that is not a name.

    Raises:
        InvalidInput: it is empty, has several lines, is longer than a name may be, or would be masked.
    """
    if cause is None:
        return
    name = cause.strip()
    if not name or not name.isprintable() or len(name) > CAUSE_LIMIT_CHARACTERS:
        raise InvalidInput(
            "cause", "it is not a name", f"write one line of at most {CAUSE_LIMIT_CHARACTERS} characters"
        )
    if mask_or_withhold(name) != name:
        raise InvalidInput(
            "cause", "it looks like an address or a secret", "write the name of a service, host or change"
        )


def check_note(note: str) -> None:
    """Refuse a note that is too long.

    Raises:
        InvalidInput: it has more than `NOTE_LIMIT_CHARACTERS`.
    """
    if len(note) > NOTE_LIMIT_CHARACTERS:
        raise InvalidInput(
            "note", f"it has {len(note):,} characters", f"write at most {NOTE_LIMIT_CHARACTERS:,}"
        )


def check_gave_a_diagnosis(run_id: str, intent: IntentType | None, outcome: ReleaseOutcome) -> None:
    """Refuse a run whose answer can be neither right nor wrong.

    Raises:
        InvalidInput: it was not a diagnosis, or gave no answer.
    """
    if intent is not IntentType.DIAGNOSIS or outcome not in _ANSWERED:
        raise InvalidInput(
            run_id,
            "it gave no diagnosis that could be right or wrong",
            "mark a run whose outcome is SUCCESS or FALLBACK",
        )


def _check_may_mark(caller: Caller) -> None:
    if not caller.may_ask:
        raise NotPermitted("a viewer may only read")
