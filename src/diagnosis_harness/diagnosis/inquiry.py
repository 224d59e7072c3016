"""The incident that a run is asked about and what telemetry knows, resolved by code before any player acts.

A policy chooses its tool calls, so what its calls asked about proves nothing. Guards compare every ranking,
name and absence with the inquiry, which is made from the asker's words and the sources alone.
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
    """Who stated when the trouble began; the first in this order is used."""

    ASKED = "ASKED"  # stated separately from the question
    QUESTION = "QUESTION"  # the one time that the question's words name
    CARRIED = "CARRIED"  # taken over from the turn before, which looked into the same source
    SOURCE = "SOURCE"  # the settings of the source
    ALERT = "ALERT"  # the time of the alert
    NOBODY = "NOBODY"  # nobody stated it: the tools estimate it


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """One entity that some telemetry of the source holds.

    Attributes:
        owner: the service that an instance is a part of; None for a service, or where it is not known.
        telemetry: the kinds that hold something of it.
    """

    name: str
    owner: str | None = None
    telemetry: frozenset[Telemetry] = frozenset()


@dataclass(frozen=True, slots=True)
class Inventory:
    """What the source holds: names, calls between them as (caller, callee), kinds and recordings."""

    entities: tuple[KnownEntity, ...] = ()
    edges: tuple[tuple[str, str], ...] = ()
    telemetry: frozenset[Telemetry] = frozenset()
    incident: TimeWindow | None = None
    baseline: TimeWindow | None = None
    """A baseline recorded separately from the incident; None where there is none."""

    def entity(self, name: str) -> KnownEntity | None:
        """The entity of exactly this name; None where no telemetry knows it."""
        return next((each for each in self.entities if each.name == name), None)

    def knows(self, name: str) -> bool:
        """Whether any telemetry holds exactly this name, as an entity or as the service of one."""
        return any(name in (each.name, each.owner) for each in self.entities)

    def parts_of(self, name: str) -> frozenset[str]:
        """The instances of a service, without itself."""
        return frozenset(each.name for each in self.entities if each.owner == name and each.name != name)


@dataclass(frozen=True, slots=True)
class Inquiry:
    """The incident that a run is about.

    Attributes:
        question: the asker's words.
        onset_s: when it began, according to `onset_origin`; None where nobody stated it.
        affected: the entities that the question names, in its order; else the alert's; else none.
        alert_entity: as the source has it; how that name was read stands in `reading`.
        reading: what the words of the question were read as.
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
    """The entities that `affected` takes over from the turn before; none where the question names its own."""

    @property
    def asks_of_unknown(self) -> bool:
        """Whether the entities of the question (or, if it names none, of the alert) are unknown.

        Nothing is concluded then: another service's trouble is no answer to it.
        """
        return not self.affected and bool(self.reading.unknown)

    @property
    def until_s(self) -> float | None:
        """The end of the time that the question is about; None where its words state none."""
        ends = self.onset_s is None or self.onset_origin is OnsetOrigin.QUESTION
        return self.reading.time.until_s if ends else None

    @property
    def stated_s(self) -> float | None:
        """The onset as the asker states or stated it; None if only the source, or nobody, states one."""
        return self.onset_s if self.onset_origin in _BY_THE_ASKER else None


_BY_THE_ASKER = frozenset({OnsetOrigin.ASKED, OnsetOrigin.QUESTION, OnsetOrigin.CARRIED})
