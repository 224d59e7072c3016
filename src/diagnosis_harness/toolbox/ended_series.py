"""Finds services whose series all end at the onset while those of others continue: they no longer report."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from math import expm1, log1p
from typing import Final

import numpy as np

from diagnosis_harness.analysis.clue import NOISE_FLOOR, Clue, Modality
from diagnosis_harness.analysis.graph import CallGraph, reachable
from diagnosis_harness.kernel.names import display_name, quote_text
from diagnosis_harness.kernel.window import TimeWindow, utc_text
from diagnosis_harness.toolbox.metric_table import MetricTable
from diagnosis_harness.tools.evidence import SERIES_ENDED, EvidenceItem, ItemKind

LEAST_BEFORE: Final = 10
"""Steps before the onset that must have a value; fewer do not establish a habit."""
USUALLY_REPORTED: Final = 0.8
"""Share of the steps before the onset with a value: a series that reports rarely may just be between two
values."""
LEAST_MISSED: Final = 3
"""Steps without a value up to the end: the last one or two of a recording are often late."""
NEAR_ONSET: Final = 2
"""Steps by which the end may lie before or after the onset, which is accurate to about a minute."""


_EXCESS: Final = 2.0
"""Score in the log units of a clue, equal to that of a fault reported by a platform; no other value was
tried."""
_SURE_WINDOWS: Final = 12
"""Number of normal windows it is worth: that everything ends at once is no coincidence, like a platform
report."""

_PASSED_ON: Final = frozenset({Modality.SYMPTOM, Modality.ERRORS})
"""Kinds of faults that a caller shows when its callee is gone; its self time and resources are its own."""


def find_ended_series(table: MetricTable) -> Mapping[str, float]:
    """Each service that stopped reporting, and since when; none unless most others report to the end."""
    own = [place for place, row in enumerate(table.rows) if row.caller is None]
    owners = sorted({table.rows[place].owner for place in own})
    numbers = {name: number for number, name in enumerate(owners)}
    reported = np.zeros((len(owners), table.end), dtype=np.bool_)
    for place in own:
        reported[numbers[table.rows[place].owner]] |= np.isfinite(table.value[place, : table.end])
    last = [int(np.flatnonzero(row)[-1]) if row.any() else -1 for row in reported]
    going = sum(place >= table.end - LEAST_MISSED for place in last)
    if 2 * going <= len(owners):
        return {}
    found = {}
    for name, row, place in zip(owners, reported, last, strict=True):
        before = row[: table.split]
        usual = before.sum() >= LEAST_BEFORE and before.mean() >= USUALLY_REPORTED
        missed = table.end - 1 - place
        if usual and missed >= LEAST_MISSED and abs(place + 1 - table.split) <= NEAR_ONSET:
            found[name] = float(table.time_s[place + 1])
    return found


def items_of_ended(table: MetricTable, window: TimeWindow | None) -> Iterator[EvidenceItem]:
    """One STATE item for each service."""
    for number, (name, at_s) in enumerate(find_ended_series(table).items(), start=1):
        yield EvidenceItem(
            f"e{number}",
            ItemKind.STATE,
            f"{quote_text(SERIES_ENDED[0])} of {display_name(name)}: {quote_text(SERIES_ENDED[1])}, from"
            f" {utc_text(at_s)} on",
            entity=name,
            signal=SERIES_ENDED[0],
            window=window,
            onset_s=at_s,
            attributes={"state": SERIES_ENDED[1], "bad": True},
        )


def clues_of_ended(table: MetricTable) -> list[Clue]:
    """One clue for each service: one that no longer reports has most likely stopped running."""
    return [
        Clue(
            name,
            Modality.STATE,
            expm1(log1p(NOISE_FLOOR) + _EXCESS),
            NOISE_FLOOR,
            SERIES_ENDED[0],
            "CRASH",
            null_windows=_SURE_WINDOWS,
        )
        for name in find_ended_series(table)
    ]


def leave_out_callers_of_ended(clues: Iterable[Clue], graph: CallGraph, ended: Collection[str]) -> list[Clue]:
    """The clues without failures and waits of callers that are explained by an ended callee."""
    below = {name: frozenset(ended) & reachable(graph, name) - {name} for name in graph.callees}
    return [
        replace(clue, explained=log1p(clue.z), explained_by=min(gone))
        if clue.modality in _PASSED_ON and (gone := below.get(clue.entity))
        else clue
        for clue in clues
    ]
