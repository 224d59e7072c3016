"""Scores failure series that are nearly always zero by counts of requests instead of by their width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from diagnosis_harness.analysis.arrays import Floats
from diagnosis_harness.analysis.clue import NOISE_FLOOR
from diagnosis_harness.analysis.meaning import SignalKind
from diagnosis_harness.analysis.rare import LEAST_SHARE, rare_score
from diagnosis_harness.analysis.robust import MOST_WIDTHS_STILL, high_rows
from diagnosis_harness.analysis.shift import Shift
from diagnosis_harness.analysis.signal_vocabulary import GIVEN_UP
from diagnosis_harness.analysis.signal_words import words_of
from diagnosis_harness.toolbox.metric_row import MetricRow

ZERO_SHARE = 0.9  # share of normal points without any failure, from which failures are rare events
_FAILURE_KINDS = frozenset([SignalKind.ERRORS, SignalKind.AVAILABILITY])
_COUNTS = frozenset(["request", "requests", "calls", "rps", "qps", "tps", "invocations", "hits"])
_PER_SECOND = frozenset(["rps", "qps", "tps", "per", "rate"])
_NO_COUNTS = frozenset(["bytes", "packets", "duration", "latency"])


def score_rare_events(
    rows: Sequence[MetricRow],
    shift: Shift,
    *,
    normal: Callable[[int], Floats],
    after: Floats,
    step_s: float,
) -> Shift:
    """The shift with the scores of rare failures replaced; other rows are unchanged.

    Args:
        normal: values of a row before the onset and in the baseline; `after`: from the onset on.
        step_s: seconds per column, for requests counted per second.
    """
    up, down = shift.up.copy(), shift.down.copy()
    null_up, null_down = shift.null_up.copy(), shift.null_down.copy()
    requests = {(row.entity, row.caller): place for place, row in enumerate(rows) if counts_requests(row)}
    for place, row in enumerate(rows):
        if row.meaning.kind not in _FAILURE_KINDS:
            continue
        before, late = _failures(row, normal(place)), _failures(row, after[place])
        if before is None or late is None or not _is_rare(before) or not np.isfinite(late).any():
            continue
        counter = requests.get((row.entity, row.caller))
        if counter is None:
            each = _fewest_requests(before, late)
            score = _score(before, late, np.full(len(before), each), np.full(len(late), each))
        else:
            seconds = step_s if _by_the_second(rows[counter]) else 1.0
            score = _score(before, late, seconds * normal(counter), seconds * after[counter])
        side, null = (up, null_up) if row.meaning.harmful > 0 else (down, null_down)
        side[place] = min(score, MOST_WIDTHS_STILL)
        null[place] = 0.0  # the chance of a count is known without normal windows
    return replace(shift, up=up, down=down, null_up=null_up, null_down=null_down)


def _score(before: Floats, late: Floats, requests_before: Floats, requests_late: Floats) -> float:
    """The score of the failures after the onset among so many requests, given those before."""
    (events, trials), (usual, of) = _counts(late, requests_late), _counts(before, requests_before)
    score = rare_score(events, trials, usual, of)
    if score <= NOISE_FLOOR:
        return score
    # An effect too small for a finding still distinguishes candidates.
    large = float(np.nan_to_num(high_rows(late[None])[0])) >= LEAST_SHARE
    return score if large else min(score, NOISE_FLOOR)


def _counts(share: Floats, requests: Floats) -> tuple[float, float]:
    """Failures and requests, over the columns in which both are known."""
    both = np.isfinite(share) & np.isfinite(requests) & (requests > 0)
    return float((share[both] * requests[both]).sum()), float(requests[both].sum())


def _failures(row: MetricRow, value: Floats) -> Floats | None:
    """The share of requests that failed; None if the row is no share."""
    finite = value[np.isfinite(value)]
    largest = float(finite.max()) if len(finite) else 0.0
    if row.meaning.harmful > 0 and row.meaning.kind is SignalKind.ERRORS and not row.rate:
        scale = 100.0 if row.unit in ("percent", "%") else 1.0
        return value / scale if largest <= scale and _is_share(row) else None
    if row.meaning.harmful < 0 and row.meaning.kind is SignalKind.AVAILABILITY:
        scale = 100.0 if largest > 1.0 else 1.0
        return np.maximum(1.0 - value / scale, 0.0) if largest <= scale else None
    return None


def full_share(row: MetricRow) -> float | None:
    """The value at which all of it is in use; None for a series that is no share."""
    if not _is_share(row):
        return None
    percent = row.unit in ("percent", "%") or bool(
        frozenset(words_of(row.signal)) & {"percent", "percentage"}
    )
    return 100.0 if percent else 1.0


def _is_share(row: MetricRow) -> bool:
    named = frozenset(words_of(row.signal)) & {"rate", "ratio", "share", "percent", "percentage"}
    return row.unit in ("ratio", "1", "percent", "%") or (row.unit is None and bool(named))


def _is_rare(share: Floats) -> bool:
    finite = share[np.isfinite(share)]
    return len(finite) >= 2 and float((finite == 0).mean()) >= ZERO_SHARE


def counts_requests(row: MetricRow) -> bool:
    """Whether a series counts requests, excluding callers that gave up."""
    words = frozenset(words_of(row.signal))
    if row.meaning.kind is not SignalKind.TRAFFIC or counts_callers_that_gave_up(row):
        return False
    return bool(words & _COUNTS) and not words & _NO_COUNTS


def counts_callers_that_gave_up(row: MetricRow) -> bool:
    """Whether a server counts requests whose caller gave up: neither its own failure nor demand."""
    return row.meaning.kind is SignalKind.TRAFFIC and any(map(GIVEN_UP.fullmatch, words_of(row.signal)))


def _fewest_requests(before: Floats, late: Floats) -> float:
    """The assumed requests per point if none are counted: the smallest share was at least one failure."""
    both = np.concatenate((before, late))
    seen = both[np.isfinite(both) & (both > 0)]
    return 1.0 / float(seen.min()) if len(seen) else 1.0


def _by_the_second(row: MetricRow) -> bool:
    return row.rate or (row.unit or "").endswith("/s") or bool(frozenset(words_of(row.signal)) & _PER_SECOND)
