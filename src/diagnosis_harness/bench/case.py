"""The values of an evaluation: a case for a run, the result of a run, and the truth for the scorer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol


class Condition(StrEnum):
    """What a question states about an incident, or about a healthy window of the same data.

    A shifted time is the published onset or, without one, the alert's time. `ALERT` puts a realistic alert in
    place of the onset: on the entry's moved series, two minutes after the onset. A healthy window holds no
    fault: its alert names a series, its onset a time, and the bare question neither.
    """

    AS_PUBLISHED = "as-published"
    ONSET_60_EARLY = "onset-60s-early"
    ONSET_60_LATE = "onset-60s-late"
    ONSET_120_EARLY = "onset-120s-early"
    ONSET_120_LATE = "onset-120s-late"
    ALERT = "alert"
    NOTHING = "nothing-stated"
    HEALTHY_ALERT = "healthy-alert"
    HEALTHY_ONSET = "healthy-onset"
    HEALTHY_QUESTION = "healthy-question"

    @property
    def shift_s(self) -> float:
        """Seconds to add to the stated time; negative is early."""
        return SHIFTS.get(self, 0.0)

    @property
    def healthy(self) -> bool:
        """Whether the window holds no fault, so that any released cause is a false alarm."""
        return self in HEALTHY


SHIFTS = {
    Condition.ONSET_60_EARLY: -60.0,
    Condition.ONSET_60_LATE: 60.0,
    Condition.ONSET_120_EARLY: -120.0,
    Condition.ONSET_120_LATE: 120.0,
}
HEALTHY = frozenset({Condition.HEALTHY_ALERT, Condition.HEALTHY_ONSET, Condition.HEALTHY_QUESTION})
ALERT_DELAY_S = 120.0  # a rule that waits for two minutes of violation is the usual one


@dataclass(frozen=True, slots=True)
class MovedSeries:
    """The series of the entry that moved at the onset: what a monitor would have raised an alert on.

    `direction` is `up` or `down`, as an incident folder's alert has it.
    """

    entity: str
    signal: str
    direction: str | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One incident, ready to be diagnosed. Only `folder` and `baseline` are handed to the run.

    Attributes:
        incident_id: the published id; the truth is found by it. It appears in no file of the folder.
        group: the part of the data set that is scored separately; scores of different groups are not
            comparable.
        scenario: a finer part, also scored separately; empty if there is none.
        entities: what could be blamed, ordered; the level of chance follows from their number.
        owners: instance to the service it is a part of.
        left_out: entities that the published scoring leaves out of the ranking.
        condition: what was stated; `export` was called with it.
        onset_s: when the incident began, as published; None if it is not published.
        alert_entity: the entity of the alert that the folder states; None if it states none.
        moved: the entry's moved series, where the data show one.
        unused: roles of files that were written but that the product cannot use yet, such as `commits`.
        as_given: the files are the user's own, not written by one of our readers: if the product refuses
            them, that is bad input and not a miss.
        events: how many events each entity has, where the set publishes detected events and no measurements.
        unseen: nobody looks at this incident, so that nothing can be tuned to it: a report counts a wrong
            release of it and does not show it.
    """

    incident_id: str
    group: str
    folder: Path
    baseline: Path | None
    entities: tuple[str, ...]
    scenario: str = ""
    owners: Mapping[str, str] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()
    condition: Condition = Condition.AS_PUBLISHED
    onset_s: float | None = None
    alert_entity: str | None = None
    moved: MovedSeries | None = None
    unused: tuple[str, ...] = ()
    as_given: bool = False
    events: Mapping[str, int] = field(default_factory=dict)
    unseen: bool = False


@dataclass(frozen=True, slots=True)
class Truth:
    """The right answer, as far as the data set provides it. What it does not provide is empty and not scored.

    Attributes:
        entities: everything at fault; empty if nothing was wrong; several if there were several causes.
        fault_kind: the data set's own word for the kind; scores are split by it.
        kinds: `FaultKind` wire values that are right for it. Without a fault (a surge of load) a released
            claim of one of these kinds says so.
        region: the code region, operation, call or instance at fault.
        level: the highest level that the data allow: `LOCALISED`, `EXPLAINED`, `TRIGGER` (and what preceded
            it), `SCOPED` where the culprit leaves no telemetry and at most "it begins at X or in what X
            calls" can be known, or `NONE` where nothing can be known or nothing is wrong.
        scope: the entities X at which such a scoped answer may stop.
        trigger: ids of the commits or changes that caused it, any of which is right.
        without_trigger: the data set says that no commit or change caused it: naming one is wrong.
        also_kinds: further kinds that are right as well; the bench adds them (kinds_also_right.toml).
        decoys: ids of innocent commits or changes that look guilty.
        decoy_entities: innocent entities that look guilty.
        mechanism: groups of alternatives; an answer states the mechanism if it has a word of each group.
        forbidden: words that an answer must not contain.
        unusable: one sentence why this incident cannot be scored; empty if it can.
    """

    entities: tuple[str, ...]
    fault_kind: str
    region: str | None = None
    kinds: frozenset[str] = frozenset()
    level: str = ""
    scope: tuple[str, ...] = ()
    trigger: tuple[str, ...] = ()
    without_trigger: bool = False
    decoys: tuple[str, ...] = ()
    decoy_entities: tuple[str, ...] = ()
    also_kinds: frozenset[str] = frozenset()
    mechanism: tuple[tuple[str, ...], ...] = ()
    forbidden: tuple[str, ...] = ()
    unusable: str = ""

    @property
    def usable(self) -> bool:
        """Whether the incident is scored."""
        return not self.unusable


SOUND = Truth(entities=(), fault_kind="none")
"""The truth of every healthy window."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """One named cause or candidate. Equal scores are a tie; None means that only the order is known.

    Attributes:
        confidence: as released; None for a candidate.
        level: how far the conclusion goes; empty if the document has no levels.
        scope: where the conclusion is scoped, the other entities of which one may be it; else empty.
        decided_by: the kind of evidence that decided its place in the ranking; empty if it is not known.
        margin: its lead over the next one, if the ranking states it.
    """

    entity: str
    fault_kind: str
    region: str | None = None
    score: float | None = None
    confidence: float | None = None
    level: str = ""
    scope: tuple[str, ...] = ()
    decided_by: str = ""
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class NamedChange:
    """A change that the answer cites: the commit and the summary, as the cited record has them.

    Attributes:
        concluded: a claim that supports a released cause is about it.
        as_trigger: and that cause includes its trigger (the level `TRIGGER`).
    """

    text: str
    concluded: bool = False
    as_trigger: bool = False


@dataclass(frozen=True, slots=True)
class Loud:
    """How much the metrics of an entity changed: its loudest series, and all of them together, in widths."""

    entity: str
    widths: float
    together: float = 0.0


@dataclass(frozen=True, slots=True)
class RunResult:
    """What one run released: `ReleaseOutcome` as its wire value, proven causes, unproven candidates.

    Attributes:
        failed_tools: the tool of every call that ended in an error, once for each call.
        fallback: the kind of fallback; empty with another outcome.
        concluded: the released conclusion as text: the summary and the claims that support a cause. Empty
            without a success.
        said: every sentence of the answer, with the regions of its causes and candidates.
        changes: the changes that the answer cites, in its order; those that support a cause come first.
        nothing_unusual: a success whose claims say that nothing unusual was found.
        reason: why there is no answer, if the run ended without one.
        onset: the onset that the run used, in ISO 8601; empty if it used none.
        tool_calls: tools that were called.
        record_bytes: bytes of all records of the calls.
    """

    outcome: str
    causes: tuple[Ranked, ...]
    candidates: tuple[Ranked, ...]
    failed_tools: tuple[str, ...] = ()
    fallback: str = ""
    concluded: str = ""
    said: str = ""
    changes: tuple[NamedChange, ...] = ()
    nothing_unusual: bool = False
    reason: str = ""
    onset: str = ""
    tool_calls: int = 0
    record_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Cost:
    """What one diagnosis took, from reading the folder to the document: seconds, and CPU seconds."""

    elapsed_s: float = 0.0
    cpu_s: float = 0.0


@dataclass(frozen=True, slots=True)
class BenchRun:
    """One finished run; it is scored after the last run has ended.

    Attributes:
        data_bytes: size of the files handed over.
        loudest: the entities whose metrics changed most, found without the product's analysis, loudest first,
            each with how loud it is.
        known: every entity that the telemetry names, as the product reads it; empty if it read nothing.
    """

    case: Case
    result: RunResult
    cost: Cost = Cost()
    data_bytes: int = 0
    loudest: tuple[Loud, ...] = ()
    known: tuple[str, ...] = ()

    @property
    def entities(self) -> tuple[str, ...]:
        """What could be blamed: as the data set says, else what the telemetry names, as services."""
        if self.case.entities:
            return self.case.entities
        return tuple(sorted({self.case.owners.get(name, name) for name in self.known}))


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """The result of a diagnosis for the bench: answer, cost, the loudest entities, and all known ones."""

    result: RunResult
    cost: Cost = Cost()
    loudest: tuple[Loud, ...] = ()
    known: tuple[str, ...] = ()


Diagnose = Callable[[Path, Path | None], Diagnosed]
"""Diagnose an incident folder, with a folder of normal operation where there is one.

Several processes receive it pickled, so it must be a function of a module, or an object that can be pickled.
"""


class DataSet(Protocol):
    """A source of cases. Its labels are read separately, only after all runs have ended."""

    @property
    def name(self) -> str:
        """Its name on the command line."""
        ...

    def incident_ids(self, condition: Condition = Condition.AS_PUBLISHED) -> Sequence[str]:
        """All incidents that exist under a condition, in a fixed order that reveals nothing about the truth.

        Empty if the data set has no such condition. The labels are not opened.

        Raises:
            InvalidInput: the data are not in the given folder.
        """
        ...

    def export(self, incident_id: str, condition: Condition, target: Path) -> Case:
        """Write one incident, as the question states it, below `target`, in a folder with an opaque name.

        A folder of normal operation may be shared: it is written below `target` once and found again. For a
        healthy window the folder holds a window of this incident's data in which nothing was wrong.

        Raises:
            InvalidInput: a file of the incident is missing or not of the data set's form.
        """
        ...

    def labels(self, incident_ids: Sequence[str]) -> Mapping[str, Truth]:
        """The truth of at least these incidents, by id. Never called before the runs have ended.

        The incidents may have been exported by other processes: a simulated world is simulated again.
        An incident whose published truth names nothing or cannot be read is included, with a sentence in
        `unusable`. Healthy windows have none: nothing is wrong in them.
        """
        ...
