"""What is evaluated: a case as a run gets it, a result as a run gives it, a label as the scorer sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Case:
    """One incident, ready to be diagnosed. Only `folder` and `baseline` are handed to the run.

    Attributes:
        incident_id: the published id; labels are found by it. It appears in no file of the folder.
        group: the part of the data set that is scored separately; scores of groups do not compare.
        scenario: a finer part, also scored separately; empty where there is none.
        entities: what could be blamed, ordered; the level of chance follows from their number.
        owners: instance to the service it is a part of.
        left_out: entities that the published scoring leaves out of the ranking.
    """

    incident_id: str
    group: str
    folder: Path
    baseline: Path | None
    entities: tuple[str, ...]
    scenario: str = ""
    owners: Mapping[str, str] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Label:
    """The right answer. `entity` is None where nothing was wrong."""

    entity: str | None
    fault_kind: str
    region: str | None = None


@dataclass(frozen=True, slots=True)
class Ranked:
    """One named cause or candidate. Equal scores are a tie; None says that the order is all there is."""

    entity: str
    fault_kind: str
    region: str | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class RunResult:
    """What one run released: `ReleaseOutcome` as its wire value, proven causes, unproven candidates.

    `failed_tools` names the tool of every call that ended in an error, once a call.
    """

    outcome: str
    causes: tuple[Ranked, ...]
    candidates: tuple[Ranked, ...]
    failed_tools: tuple[str, ...] = ()


Diagnose = Callable[[Path, Path | None], RunResult]
"""Diagnose an incident folder, with a folder of normal operation where there is one."""


class DataSet(Protocol):
    """A source of cases. Its labels are a separate door, opened only after all runs have ended."""

    @property
    def name(self) -> str:
        """As the command line knows it."""
        ...

    def incident_ids(self) -> Sequence[str]:
        """All incidents, in a fixed order that reveals nothing about their labels.

        Raises:
            InvalidInput: the data are not in the given folder.
        """
        ...

    def export(self, incident_id: str, target: Path) -> Case:
        """Write one incident below `target`, in a folder with an opaque name.

        Raises:
            InvalidInput: a file of the incident is missing or not of the data set's form.
        """
        ...

    def labels(self) -> Mapping[str, Label]:
        """The right answers by incident id. Never called before the runs have ended."""
        ...
