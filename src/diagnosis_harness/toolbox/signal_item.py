"""Turns one row of the metric table into an evidence item."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from diagnosis_harness.analysis.clue import NOISE_SHARE, calibrate
from diagnosis_harness.analysis.meaning import SignalSide
from diagnosis_harness.analysis.onset import EarlierStep, find_earlier_step
from diagnosis_harness.analysis.robust import high_rows
from diagnosis_harness.analysis.series import thin
from diagnosis_harness.kernel.json_value import Scalar
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.kernel.window import TimeWindow, utc_text
from diagnosis_harness.toolbox.late_signals import began_at
from diagnosis_harness.toolbox.metric_row import MetricRow
from diagnosis_harness.toolbox.metric_table import MetricTable
from diagnosis_harness.toolbox.rare_events import counts_callers_that_gave_up
from diagnosis_harness.toolbox.wording import digits, quantity, round4, round4_or_none
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind

SHARE = 1.0 - NOISE_SHARE
"""Share of normal windows that may move as far by chance."""
FLAT_BELOW = 1.0  # widths; a smaller move counts as none


@dataclass(frozen=True, slots=True)
class SignalMove:
    """How one row moved.

    `z` is its calibrated score in that direction, `bad` whether the direction is harmful. `as_far` of
    `normal_windows` windows of normal operation moved as far by themselves; `false_alarm` is the resulting
    share (with one added to each number, so never 0), None if no normal operation is known.
    """

    row: int
    direction: Direction
    z: float
    bad: bool
    false_alarm: float | None
    normal_windows: int = 0
    as_far: int = 0


def moves_of(table: MetricTable) -> list[SignalMove]:
    """The move of every row, in the table's order."""
    up, null_up = calibrate(table.shift.up, table.shift.null_up)
    down, null_down = calibrate(table.shift.down, table.shift.null_down)
    windows = null_up.shape[1]
    found = []
    for place, row in enumerate(table.rows):
        rose = bool(up[place] >= down[place])
        z = float(up[place] if rose else down[place])
        null = (null_up if rose else null_down)[place]
        direction = Direction.FLAT if z < FLAT_BELOW else Direction.UP if rose else Direction.DOWN
        harmful = _harms(row, rose=rose)
        as_far = int((null >= z).sum())
        false_alarm = (1.0 + as_far) / (1.0 + windows) if windows else None
        found.append(
            SignalMove(
                place,
                direction,
                z,
                harmful and direction is not Direction.FLAT,
                false_alarm,
                normal_windows=windows,
                as_far=as_far,
            )
        )
    return found


def _harms(row: MetricRow, *, rose: bool) -> bool:
    """Whether a move in this direction is harmful; a busy host means little for a service on it.

    Callers that give up do not harm other entities, but their users notice.
    """
    if counts_callers_that_gave_up(row):
        return rose
    harmful = row.meaning.harmful > 0 if rose else row.meaning.harmful < 0
    return harmful and row.meaning.side is not SignalSide.HOST


def change_window_of(table: MetricTable, onset_s: float) -> TimeWindow:
    """The judged window: from the onset to the end of the recording or the first hour."""
    half = 0.5 * table.step_s
    end_s = float(table.time_s[table.end - 1]) + half if table.end > table.split else onset_s
    return TimeWindow(onset_s, max(onset_s, end_s))


def signal_item(
    table: MetricTable, move: SignalMove, item_id: str, *, onset_s: float, points: int
) -> EvidenceItem:
    """A SIGNAL_CHANGE item.

    `value` is the level that at least two points after the onset reach (a tenth of many), in the direction
    of the move; the median for a flat one. `baseline` is the usual level.
    """
    row = table.rows[move.row]
    earlier = find_step_before(table, move, onset_s=onset_s)
    had_begun_s = earlier.time_s if earlier is not None and earlier.is_clear else None
    is_old = had_begun_s is not None and looks_calm(move)
    if is_old:
        rose = float(table.shift.value[move.row]) >= float(table.shift.level[move.row])
        move = replace(move, direction=Direction.UP if rose else Direction.DOWN, bad=_harms(row, rose=rose))
    value, baseline = _value(table, move), round4_or_none(float(table.shift.level[move.row]))
    began_s = had_begun_s if had_begun_s is not None else _began(table, move, onset_s)
    attributes = _attributes(table, move, value, baseline)
    if is_old:
        attributes["began_before"] = True
    elif earlier is not None and looks_calm(move):
        attributes["unsettled"] = True
    length = max(table.end - table.split, 2)
    first = max(0, table.split - 2 * length)
    course = table.value[move.row, first : table.end]
    attributes["course_start"] = utc_text(float(table.time_s[first]) - 0.5 * table.step_s)
    line = _line(table, move, (value, baseline), ratio=attributes.get("ratio"))
    if began_s is not None:
        line += f" from {utc_text(began_s)} on"
    is_judged = value is not None and move.false_alarm is not None
    if is_judged and not is_old and move.direction is not Direction.FLAT:
        # A move within normal variation must read differently from one beyond it.
        line += f", as far as {move.as_far} of {move.normal_windows} windows of normal operation"
    return EvidenceItem(
        item_id,
        ItemKind.SIGNAL_CHANGE,
        line,
        entity=row.entity,
        peer=row.caller,
        signal=row.signal,
        value=value,
        baseline=baseline,
        unit=row.unit,
        direction=move.direction,
        window=change_window_of(table, onset_s),
        onset_s=began_s,
        score=round4(move.z),
        points=thin(course, points),
        attributes=attributes,
        source_rows=int(table.shift.points[move.row] + table.shift.before[move.row]),
    )


def find_step_before(table: MetricTable, move: SignalMove, *, onset_s: float) -> EarlierStep | None:
    """The step before the onset since which a row has its values after the onset; None if there is none."""
    begins_s = table.time_s[: table.end] - 0.5 * table.step_s
    found = find_earlier_step(begins_s, table.value[move.row, : table.end], onset_s=onset_s)
    return None if found is None else replace(found, time_s=round(found.time_s, 3))


def looks_calm(move: SignalMove) -> bool:
    """Whether a row moved no further around the onset than normal operation shows."""
    return move.direction is Direction.FLAT or move.as_far > SHARE * move.normal_windows


def _value(table: MetricTable, move: SignalMove) -> float | None:
    after = table.value[move.row : move.row + 1, table.split : table.end]
    reached: dict[Direction, Callable[[], float]] = {
        Direction.UP: lambda: float(high_rows(after)[0]),
        Direction.DOWN: lambda: -float(high_rows(-after)[0]),
        Direction.FLAT: lambda: float(table.shift.value[move.row]),
    }
    return round4_or_none(reached[move.direction]())


def _began(table: MetricTable, move: SignalMove, onset_s: float) -> float | None:
    return None if move.direction is Direction.FLAT else began_at(table, move.row, onset_s=onset_s)


def _attributes(
    table: MetricTable, move: SignalMove, value: float | None, baseline: float | None
) -> dict[str, Scalar]:
    row = table.rows[move.row]
    attributes: dict[str, Scalar] = {"kind": row.meaning.kind.value, "bad": move.bad, "z": round4(move.z)}
    if move.false_alarm is not None:
        attributes |= {"false_alarm": round4(move.false_alarm), "normal_windows": move.normal_windows}
        attributes["as_far"] = move.as_far
    if row.meaning.side is not SignalSide.OWN:
        attributes["side"] = row.meaning.side.value
    if row.owner != row.entity:
        attributes["owner"] = row.owner
    if row.rate:
        attributes["rate"] = True
    median = round4_or_none(float(table.shift.value[move.row]))
    if median is not None:
        attributes["median"] = median
    if value is not None and baseline is not None and baseline > 0 and value > baseline:
        attributes["ratio"] = float(f"{value / baseline:.3g}")
    return attributes


def _line(
    table: MetricTable, move: SignalMove, numbers: tuple[float | None, float | None], *, ratio: Scalar
) -> str:
    row = table.rows[move.row]
    caller = "" if row.caller is None else f" in calls from {display_name(row.caller)}"
    name = (
        f"{display_name(row.entity)} {display_name(row.signal)}"
        + (" per second" if row.rate else "")
        + caller
    )
    value, baseline = numbers
    if value is None:
        return f"{name} has no value in the window"
    if baseline is None:
        return f"{name} is {quantity(value, row.unit)}; its usual level is not known"
    if move.direction is Direction.FLAT:
        return f"{name} stayed at {quantity(value, row.unit)}, usually {quantity(baseline, row.unit)}"
    verb = "rose" if move.direction is Direction.UP else "fell"
    times = f" ({digits(ratio)} times)" if isinstance(ratio, float) and ratio >= 1.1 else ""
    return f"{name} {verb} from {quantity(baseline, row.unit)} to {quantity(value, row.unit)}{times}"


def usable(move: SignalMove, table: MetricTable) -> bool:
    """Whether a row can be judged: it has normal points and points after the onset."""
    known = bool(np.isfinite(table.shift.level[move.row]))
    return known and int(table.shift.points[move.row]) > 0
