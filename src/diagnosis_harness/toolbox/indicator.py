"""The alerting series: its score, and whether there is enough data to judge it.

If the alert's entity has no series of its own, the mean over its instances is used: one noisy instance is
not the service.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diagnosis_harness.analysis.arrays import Floats
from diagnosis_harness.analysis.clue import NOISE_FLOOR, NOISE_SHARE, Nature, calibrate
from diagnosis_harness.analysis.meaning import SYMPTOMS, SignalKind
from diagnosis_harness.analysis.robust import mean_rows
from diagnosis_harness.analysis.shift import shift_of
from diagnosis_harness.analysis.signal_words import words_of
from diagnosis_harness.toolbox.metric_table import MetricTable, zero_rows

KNOWN_POINTS = 4
"""Points after the onset needed to call a series calm: with fewer, one late scrape would decide."""
KNOWN_WINDOWS = 4
"""Normal windows needed to know how far a series varies by itself; `calibrate` needs as many."""
HABIT = 2
"""Number of separate times at which a series went as far, from which that is its normal behaviour."""


@dataclass(frozen=True, slots=True)
class Indicator:
    """The judgement of one series, or of the mean of several instances.

    Attributes:
        rows: its rows in the table, several for a mean over instances.
        z: calibrated score in the harmful direction.
        moved: whether it is further from its level than the noise, and further than it varies by itself.
        known: whether there are enough points and enough normal operation to trust a small score.
    """

    rows: tuple[int, ...]
    kind: SignalKind
    z: float
    moved: bool
    known: bool

    @property
    def nature(self) -> Nature:
        """Whether it indicates slowness or failure."""
        return nature_of(self.kind)

    def course(self, value: Floats) -> Floats:
        """Its row in a matrix of all rows: the mean over the finite values."""
        return mean_rows(value, self.rows)


def nature_of(kind: SignalKind) -> Nature:
    """How callers experience a symptom of a kind.

    A saturated resource or extreme load makes an entity slow.
    """
    return Nature.FAILING if kind in (SignalKind.ERRORS, SignalKind.AVAILABILITY) else Nature.SLOW


def find_indicator(
    table: MetricTable, *, entity: str, signal: str, statistic: str | None
) -> Indicator | None:
    """The alerting series: has all words of the alert's signal, and its statistic if there is one."""
    wanted, exact = frozenset(words_of(signal)), frozenset(words_of(statistic or ""))
    named = [
        place
        for place, row in enumerate(table.rows)
        if entity in (row.owner, row.entity)
        and row.caller is None
        and wanted <= frozenset(words_of(row.signal))
    ]
    own = [place for place in named if table.rows[place].entity == entity] or named
    fitting = [place for place in own if exact <= frozenset(words_of(table.rows[place].signal))] or own
    if not fitting:
        return None
    if table.rows[fitting[0]].entity == entity:
        return instance_mean(table, fitting[:1])
    signal = table.rows[fitting[0]].signal
    return instance_mean(table, [place for place in fitting if table.rows[place].signal == signal])


def symptoms_of(table: MetricTable, places: Sequence[int]) -> list[Indicator]:
    """Each symptom among some rows: an entity's own series, otherwise the mean of its instances'.

    Series about the calls of different callers are different symptoms.
    """
    grouped: dict[tuple[str, str, str | None, bool], list[int]] = {}
    for place in places:
        row = table.rows[place]
        if row.meaning.kind in SYMPTOMS:
            key = (row.owner, row.signal, row.caller, row.entity == row.owner)
            grouped.setdefault(key, []).append(place)
    return [instance_mean(table, found) for found in grouped.values()]


def instance_mean(table: MetricTable, places: Sequence[int]) -> Indicator:
    """The judgement of one series, or of the mean of several instances' series of one signal."""
    meaning = table.rows[places[0]].meaning
    if len(places) == 1:
        shift, at = table.shift, places[0]
    else:
        value = mean_rows(table.value, places)[None]
        baseline = mean_rows(table.baseline, places)[None]
        zero = zero_rows([table.rows[places[0]]], value, baseline)
        shift = shift_of(value[:, : table.split], value[:, table.split : table.end], baseline, zero=zero)
        at = 0
    score, null = (shift.up, shift.null_up) if meaning.harmful >= 0 else (shift.down, shift.null_down)
    raw, strays = float(score[at]), _strays(null[at], float(score[at]))
    score, null = calibrate(score[at : at + 1], null[at : at + 1])
    moved = float(score[0]) > NOISE_FLOOR or (raw > NOISE_FLOOR and not strays)
    known = shift.points[at] >= KNOWN_POINTS and null.shape[1] >= KNOWN_WINDOWS
    return Indicator(tuple(places), meaning.kind, float(score[0]), moved, bool(known))


def _strays(null: Floats, score: float) -> bool:
    """Whether a series goes as far by itself: in one normal window of twenty, and more than once.

    Two times are separate only with a calm window between them, so one earlier trouble in the recording is
    not mistaken for normal behaviour.
    """
    reached = null >= score
    if not len(reached) or float(reached.mean()) < 1.0 - NOISE_SHARE:
        return False
    times, calm = 0, True
    for here, value in zip(reached.tolist(), null.tolist(), strict=True):
        times += here and calm
        calm = not here and (calm or value <= NOISE_FLOOR)
    return times >= HABIT
