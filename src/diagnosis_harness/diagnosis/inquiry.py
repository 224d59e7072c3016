"""The incident in question and what the telemetry knows, resolved by code before any player acts.

A policy chooses its own tool calls, so they prove nothing about the question. Guards compare every ranking,
name and absence with the inquiry, which comes from the caller's words and the sources alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from diagnosis_harness.diagnosis.question_reading import QuestionReading
from diagnosis_harness.kernel.window import TimeWindow


class Telemetry(StrEnum):
    """A kind of telemetry, by the name that the inventory and the documents use."""

    METRICS = "metrics"
    SPANS = "spans"
    LOGS = "logs"
    CHANGES = "changes"
    TOPOLOGY = "topology"


class OnsetOrigin(StrEnum):
    """The source of the onset; the first available in this order is used."""

    ASKED = "ASKED"  # the caller, separately from the question
    QUESTION = "QUESTION"  # the only time in the question
    CARRIED = "CARRIED"  # the previous turn, about the same source
    SOURCE = "SOURCE"  # the settings of the source
    ALERT = "ALERT"  # the time of the alert
    NOBODY = "NOBODY"  # nobody stated it: the tools estimate it


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """One entity in the telemetry of the source.

    Attributes:
        owner: the service that an instance is a part of; None for a service, or if unknown.
        telemetry: the kinds that contain it.
    """

    name: str
    owner: str | None = None
    telemetry: frozenset[Telemetry] = frozenset()


@dataclass(frozen=True, slots=True)
class Inventory:
    """What the source contains: names, calls as (caller, callee), kinds of telemetry and recordings."""

    entities: tuple[KnownEntity, ...] = ()
    edges: tuple[tuple[str, str], ...] = ()
    telemetry: frozenset[Telemetry] = frozenset()
    incident: TimeWindow | None = None
    baseline: TimeWindow | None = None
    """A baseline recorded separately from the incident; None if there is none."""

    def entity(self, name: str) -> KnownEntity | None:
        """The entity with exactly this name, or None."""
        return next((each for each in self.entities if each.name == name), None)

    def knows(self, name: str) -> bool:
        """Whether the telemetry has exactly this name, as an entity or as the service of one."""
        return any(name in (each.name, each.owner) for each in self.entities)

    def parts_of(self, name: str) -> frozenset[str]:
        """The instances of a service, without itself."""
        return frozenset(each.name for each in self.entities if each.owner == name and each.name != name)


@dataclass(frozen=True, slots=True)
class Inquiry:
    """The incident that a run is about.

    Attributes:
        question: the asker's words.
        onset_s: when it began, according to `onset_origin`; None if it was not stated.
        affected: the entities that the question names, in order; else that of the alert, if any.
        alert_entity: as the source spells it; `reading` holds how that name was read.
        reading: how the words of the question were read.
    """

    question: str = ""
    onset_s: float | None = None
    onset_origin: OnsetOrigin = OnsetOrigin.NOBODY
    affected: tuple[str, ...] = ()
    alert_entity: str | None = None
    alert_signal: str | None = None
    alert_at_s: float | None = None
    inventory: Inventory = field(default_factory=Inventory)
    reading: QuestionReading = field(default_factory=QuestionReading)
    carried: tuple[str, ...] = ()
    """The entities that `affected` takes over from the previous turn; none if the question names its own."""

    @property
    def asks_of_unknown(self) -> bool:
        """Whether the entities of the question (or, if it names none, of the alert) are unknown.

        Then nothing is concluded: a fault of another service would not answer it.
        """
        return not self.affected and bool(self.reading.unknown)

    @property
    def until_s(self) -> float | None:
        """The end of the time that the question is about; None if it states none."""
        ends = self.onset_s is None or self.onset_origin is OnsetOrigin.QUESTION
        return self.reading.time.until_s if ends else None

    @property
    def stated_s(self) -> float | None:
        """The onset that the caller states, now or in an earlier turn; None if the caller states none."""
        return self.onset_s if self.onset_origin in _BY_THE_ASKER else None


_BY_THE_ASKER = frozenset({OnsetOrigin.ASKED, OnsetOrigin.QUESTION, OnsetOrigin.CARRIED})
