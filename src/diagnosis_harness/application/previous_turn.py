"""The policy on what the next question of a session sees of earlier runs; pure (lifecycle §12.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.application.inquiry import NOTHING_CARRIED, Carried
from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.window import parse_utc
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.compose import conclusion_of
from diagnosis_harness.report.document import Report


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """One stored run of a session.

    Attributes:
        intent: None until it was routed.
        outcome: None while it is in progress.
        published_result: what it published for the next turn; None if it published nothing.
    """

    session_id: str
    run_id: str
    intent: IntentType | None
    outcome: ReleaseOutcome | None
    published_result: JsonValue = None


@dataclass(frozen=True, slots=True)
class PreviousTurn:
    """What the next turn sees."""

    run_id: str
    published_result: JsonValue


@dataclass(frozen=True, slots=True)
class Turn:
    """A question's place in a session of the command line, and what it takes over from the previous turn."""

    session_id: str
    carried: Carried = NOTHING_CARRIED


class NoPreviousTurn(StrEnum):
    """Why the next turn sees nothing."""

    NO_DIAGNOSIS = "NO_DIAGNOSIS"  # the session holds none
    NOT_SUCCESS = "NOT_SUCCESS"  # the latest has not ended SUCCESS: a fallback is not passed on
    NO_PUBLISHED_RESULT = "NO_PUBLISHED_RESULT"


@dataclass(frozen=True, slots=True)
class PublishedResultPolicy:
    """Decides what is stored for the next turn, and what the next turn sees."""

    def publishes(self, intent: IntentType, outcome: ReleaseOutcome) -> bool:
        """Whether a run stores a published result: only a diagnosis that ended SUCCESS does."""
        return intent is IntentType.DIAGNOSIS and outcome is ReleaseOutcome.SUCCESS

    def objection(self, run: EarlierRun) -> NoPreviousTurn | None:
        """Why a run does not count as a previous turn; None if it does."""
        if run.intent is not IntentType.DIAGNOSIS:
            return NoPreviousTurn.NO_DIAGNOSIS
        if run.outcome is not ReleaseOutcome.SUCCESS:
            return NoPreviousTurn.NOT_SUCCESS
        return NoPreviousTurn.NO_PUBLISHED_RESULT if run.published_result is None else None

    def previous_turn(self, session_id: str, runs: Iterable[EarlierRun]) -> PreviousTurn | NoPreviousTurn:
        """What the session's next turn sees.

        Only the latest diagnosis counts: if it gives nothing, no older one replaces it.

        Args:
            runs: in the order in which they were started; those of other sessions are skipped.
        """
        diagnoses = [
            run for run in runs if run.session_id == session_id and run.intent is IntentType.DIAGNOSIS
        ]
        if not diagnoses:
            return NoPreviousTurn.NO_DIAGNOSIS
        latest = diagnoses[-1]
        return self.objection(latest) or PreviousTurn(latest.run_id, latest.published_result)


def result_for_next_turn(
    report: Report,
    *,
    question: str,
    source: str | None,
    language: Language,
    affected: Sequence[str] = (),
) -> JsonValue:
    """What a released diagnosis passes to the next turn; `PublishedResultPolicy` decides whether it does."""
    return {
        "question": question,
        "source": source,
        "conclusion": conclusion_of(report, ReleaseOutcome.SUCCESS, language),
        "causes": [
            {"entity": cause.entity, "fault_kind": cause.fault_kind.value, "region": cause.region}
            for cause in report.causes
        ],
        "affected": list(affected),
        "onset_at": report.onset.at if report.onset else None,
    }


def take_over(previous: PreviousTurn | None, *, source: str | None) -> Carried:
    """What the previous turn published, if it used the same source; nothing after a fallback (PE-04)."""
    result = previous.published_result if previous else None
    if not isinstance(result, dict) or result.get("source") != source:
        return NOTHING_CARRIED
    onset_at, affected = result.get("onset_at"), result.get("affected")
    return Carried(
        parse_utc(onset_at) if isinstance(onset_at, str) else None,
        tuple(str(name) for name in affected) if isinstance(affected, list) else (),
    )
