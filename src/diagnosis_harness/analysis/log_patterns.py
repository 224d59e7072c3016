"""Compares how often lines of each pattern are written in normal operation and after the onset.

A pattern is one template of one entity at one level. Counts are compared by the signed root of the
likelihood ratio of two Poisson rates, which is nearly normal even for small counts. Lines are not
independent: lines of one second belong together, and many services write in bursts, so the score is divided
by how much more a pattern varies than independent events would.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.analysis.arrays import Codes, Floats, Ints

SLICES: Final = 8
"""Slices of normal operation, each compared with the others: as many as for spans."""
LEAST_LINES: Final = 3
"""Minimum number of lines on the larger side; one odd line is no finding."""
LEAST_FACTOR: Final = 2.0
"""Minimum factor between the rates; load varies by as much within a day."""
FALSE_FINDINGS: Final = 0.01
"""Expected number of patterns found by chance in one comparison, whatever their number."""


@dataclass(frozen=True, slots=True)
class TimedLines:
    """Lines as columns: their pattern, time, and side of the comparison.

    Attributes:
        pattern: index of the pattern.
        second: whole seconds.
        slice: the slice of normal operation, 0 to `SLICES` - 1; -1 after the onset; -2 to be left out.
        patterns: the number of patterns.
        normal_s: seconds of normal operation; 0 if none is known.
        fault_s: seconds after the onset.
    """

    pattern: Codes
    second: Codes
    slice: Codes
    patterns: int
    normal_s: float
    fault_s: float


@dataclass(frozen=True, slots=True)
class PatternShift:
    """How the rate of each pattern differs from normal.

    Attributes:
        z: above 0 more often than normal, below 0 less often; 0 if nothing can be compared.
        before, after: number of lines in normal operation and after the onset.
        usual: lines that normal operation would have written in the time after the onset.
        as_far: slices of normal operation that deviate as far from the others, in the same direction.
        null: z of each slice, patterns by slices; no columns if too little is known.
        counts: lines of each slice, patterns by slices.
    """

    z: Floats
    before: Ints
    after: Ints
    usual: Floats
    as_far: Ints
    null: Floats
    counts: Ints


def slice_of(time_s: Floats, start_s: float, normal_s: float, passed_s: float) -> NDArray[np.int8]:
    """The slice of each line in one recording of normal operation that begins at `start_s`.

    Slices are equal parts of all normal time; `passed_s` is the part that earlier recordings cover.
    """
    share = (time_s - start_s + passed_s) / max(normal_s, 1e-9)
    return np.clip(share * SLICES, 0, SLICES - 1).astype(np.int8)


def compare_patterns(lines: TimedLines, demand: Floats) -> PatternShift:
    """Compare each pattern.

    Args:
        lines: lines of all patterns.
        demand: per pattern, the factor by which the work of its entity grew, 1 or more: a rise that is
            explained by more work does not count.
    """
    columns = SLICES + 2
    cell = lines.pattern.astype(np.int32) * np.int32(columns) + (lines.slice + np.int8(2))
    every = np.bincount(cell, minlength=lines.patterns * columns).reshape(lines.patterns, columns)
    del cell
    counts, after = every[:, 2:].astype(np.int64), every[:, 1].astype(np.int64)
    before = counts.sum(axis=1)
    if lines.normal_s <= 0 or lines.fault_s <= 0:
        none = np.zeros(lines.patterns)
        return PatternShift(
            none,
            before,
            after,
            none,
            np.zeros(lines.patterns, np.int64),
            np.zeros((lines.patterns, 0)),
            counts,
        )
    strays = np.sqrt(_dispersion(lines, counts))
    z = _root_of_ratio((after, lines.fault_s), (before, lines.normal_s), demand) / strays
    part_s = lines.normal_s / SLICES
    even = np.ones(lines.patterns)
    null = np.stack(
        [
            _root_of_ratio((counts[:, k], part_s), (before - counts[:, k], lines.normal_s - part_s), even)
            / strays
            for k in range(SLICES)
        ],
        axis=1,
    )
    as_far = ((null * np.sign(z)[:, None] >= np.abs(z)[:, None]) & (z != 0)[:, None]).sum(axis=1)
    usual = before * (lines.fault_s / lines.normal_s)
    return PatternShift(z, before, after, usual, as_far.astype(np.int64), null, counts)


def is_shift(shift: PatternShift) -> NDArray[np.bool_]:
    """Which patterns changed significantly, and by enough lines and a large enough factor."""
    least_z = sqrt(2.0 * log(max(len(shift.z), 1) / FALSE_FINDINGS))
    more, less = np.maximum(shift.after, shift.usual), np.minimum(shift.after, shift.usual)
    return (np.abs(shift.z) >= least_z) & (more >= LEAST_LINES) & (more >= LEAST_FACTOR * less)


def _root_of_ratio(side: tuple[Ints, float], against: tuple[Ints, float], demand: Floats) -> Floats:
    """The signed root of the likelihood ratio that both sides (lines, seconds) have one rate.

    A rise counts only as far as it exceeds the demand.
    """
    (one, one_s), (other, other_s) = side, against
    up = one * other_s > other * one_s
    exposed_s = one_s * np.where(up, demand, 1.0)
    total = (one + other).astype(np.float64)
    expected = total * exposed_s / (exposed_s + other_s)
    ratio = _x_log(one, expected) + _x_log(other, total - expected)
    return np.where(one > expected, 1.0, -1.0) * np.where(
        up & (one <= expected), 0.0, np.sqrt(np.maximum(2.0 * ratio, 0.0))
    )


def _x_log(count: Ints, expected: Floats) -> Floats:
    return np.where(count > 0, count * np.log(np.maximum(count, 1) / np.maximum(expected, 1e-12)), 0.0)


def _dispersion(lines: TimedLines, counts: Ints) -> Floats:
    """How many lines count as one event: those that share a second, or more if the slices vary too much."""
    used = lines.slice >= -1
    pattern, second, side = lines.pattern[used], lines.second[used], lines.slice[used] == -1
    total = np.bincount(pattern, minlength=lines.patterns)
    start = int(second.min()) if len(second) else 0
    span = int(second.max()) - start + 1 if len(second) else 1
    code = np.sort((pattern.astype(np.int64) * 2 + side) * span + (second - start))
    first = np.ones(len(code), dtype=np.bool_)
    first[1:] = code[1:] != code[:-1]
    seconds = np.bincount(code[first] // (2 * span), minlength=lines.patterns)
    burst = total / np.maximum(seconds, 1)
    mean = counts.mean(axis=1)
    spread = counts.var(axis=1, ddof=1) / np.maximum(mean, 1.0)
    strays: Floats = np.maximum(np.maximum(burst, spread), 1.0)
    return strays
