"""Services whose series all end at the onset while those of others go on: nobody reports of them any more."""

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
"""Steps before the onset that must hold a value: fewer show no habit that could end."""
USUALLY_REPORTED: Final = 0.8
"""Share of the steps before the onset with a value: what reports seldom may only be between two values."""
LEAST_MISSED: Final = 3
"""Steps without a value up to the end: one or two are late, as the last ones of a recording often are."""
NEAR_ONSET: Final = 2
"""Steps by which the end may lie before or after the onset, which is known to about a minute."""


_EXCESS: Final = 2.0
"""In the log units of a clue, as much as a fault that a platform reports; no other value was tried."""
_SURE_WINDOWS: Final = 12
"""That everything ends at once is no matter of chance, as a platform's own words are not."""

_PASSED_ON: Final = frozenset({Modality.SYMPTOM, Modality.ERRORS})
"""What a caller shows of a callee that is gone; its own time and resources are its own."""


def find_ended_series(table: MetricTable) -> Mapping[str, float]:
    """Each service that fell silent, and since when; none unless most of the others report to the end."""
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
    """One STATE item for each."""
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
    """One clue for each: what nobody reports of any more most likely runs no more."""
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
    """The clues, where what fails or waits since something that it calls is gone is explained by that."""
    below = {name: frozenset(ended) & reachable(graph, name) - {name} for name in graph.callees}
    return [
        replace(clue, explained=log1p(clue.z), explained_by=min(gone))
        if clue.modality in _PASSED_ON and (gone := below.get(clue.entity))
        else clue
        for clue in clues
    ]
