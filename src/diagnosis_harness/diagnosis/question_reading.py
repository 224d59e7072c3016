"""How a question was read, which the document shows and `verify` repeats."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC
from enum import StrEnum

from diagnosis_harness.diagnosis.names import KnownNames, NameRead, NameReading, read_name, read_names
from diagnosis_harness.diagnosis.question import TimeRead, read_question_time
from diagnosis_harness.diagnosis.question_form import FormRead, read_form
from diagnosis_harness.diagnosis.zones import zone_of
from diagnosis_harness.kernel.window import TimeWindow

QUESTION_MATCHED_MAX = 8_000
"""The most characters of a question that are searched: an alert with all its labels has about 3,000."""


class ZoneOrigin(StrEnum):
    """Who stated the zone of times without one; the first available in this order is used."""

    ASKED = "ASKED"  # the caller, separately from the question
    SOURCE = "SOURCE"  # the settings of the source
    NOBODY = "NOBODY"  # nobody, so UTC is used


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """How code read a question.

    Attributes:
        names: the names in the question, in its order.
        alert_name: how the name of the alert's entity was read; None without an alert.
        zone: for times without one: an IANA name or an offset.
        time: the times that the question states.
        form: which form of answer it asks for, and about which entities.
    """

    names: tuple[NameRead, ...] = ()
    alert_name: NameRead | None = None
    zone: str = "UTC"
    zone_origin: ZoneOrigin = ZoneOrigin.NOBODY
    time: TimeRead = field(default_factory=TimeRead)
    form: FormRead = field(default_factory=FormRead)

    @property
    def inexact_names(self) -> tuple[NameRead, ...]:
        """The names of question and alert that were not matched exactly as written."""
        alert = () if self.alert_name is None else (self.alert_name,)
        return tuple(each for each in (*self.names, *alert) if each.how is not NameReading.EXACT)

    @property
    def unknown_names(self) -> tuple[str, ...]:
        """The names in the question itself that no telemetry knows."""
        return tuple(each.written for each in self.names if each.name is None)

    @property
    def unknown(self) -> tuple[str, ...]:
        """The names that no telemetry knows, as the caller wrote them."""
        return tuple(each.written for each in self.inexact_names if each.name is None)


@dataclass(frozen=True, slots=True)
class Background:
    """The source facts that a question is read against.

    Attributes:
        recorded: the recording of the incident.
        zone: for times without one; a name that `zones.zone_of` knows.
    """

    known: KnownNames
    alert_entity: str | None = None
    recorded: TimeWindow | None = None
    zone: str = "UTC"
    zone_origin: ZoneOrigin = ZoneOrigin.NOBODY


def shorten_for_matching(question: str) -> str:
    """Shorten a question to the part that is searched for names, times and its form.

    A pasted alert says in its first lines what it is about. The question itself is stored whole.
    """
    return question[:QUESTION_MATCHED_MAX]


def read_question(question: str, background: Background) -> QuestionReading:
    """Read a question, and the name of the alert's entity, against what the source contains. Pure.

    If the source knows no names at all, as with an embedder's own tools, no name of a question is unknown.
    """
    alerted, known, question = background.alert_entity, background.known, shorten_for_matching(question)
    names = read_names(question, known) if known.names else ()
    return QuestionReading(
        names=names,
        alert_name=None if alerted is None or not known.names else read_name(alerted, known),
        zone=background.zone,
        zone_origin=background.zone_origin,
        time=read_question_time(question, background.recorded, zone_of(background.zone) or UTC),
        form=read_form(question, names),
    )
