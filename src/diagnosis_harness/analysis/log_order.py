"""Compares which line follows which within a span, trace or thread, to find code that stopped early.

An early return or an exception often leaves no line of its own; it shows as an end, or as another line,
where the usual next line was expected (Yu et al., ESEC/FSE 2023, compare such patterns of events). Requests
that take another of the usual branches are no break: only what normal operation hardly ever shows counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from diagnosis_harness.analysis.arrays import Codes, Flags, Floats, Ints
from diagnosis_harness.analysis.log_patterns import SLICES
from diagnosis_harness.analysis.spans import LEAST_SPANS, share_shift

RARE_NEXT: Final = 0.05
"""A continuation that follows at most this share of a line's occurrences, one in twenty, is not a usual
branch."""
USUAL_NEXT: Final = 0.5
"""A continuation from this share on is the usual one. If it ends altogether, that is a break, whatever
follows instead."""
LEAST_BREAK: Final = 0.25
"""If a rare continuation grew by less, most requests are unchanged."""
CUT_S: Final = 1.0
"""A context whose last line is this near the end of a recording may continue after it."""
_PLACE_BITS: Final = 32  # half of a 64-bit number: four billion lines are more than fit in memory
_PLACES: Final = 2**_PLACE_BITS - 1  # the mask of the places
_AT_ONCE: Final = 1_000_000
"""Number of lines whose pairs are numbered at a time."""
NO_NEXT: Final = -1
"""Stands for: nothing follows."""


@dataclass(frozen=True, slots=True)
class OrderedLines:
    """Lines as columns, in the order in which each context wrote them.

    Attributes:
        pattern: index of the pattern, below `patterns`.
        context: the writer of the line (span, trace or thread); -1 for a line without one.
        slice: as in `log_patterns.TimedLines`.
        cut: whether the recording may end before the context did.
    """

    pattern: Codes
    context: Codes
    slice: Codes
    cut: Flags
    patterns: int


@dataclass(frozen=True, slots=True)
class BrokenOrder:
    """Lines that are followed by something else than normally, the strongest break first.

    Attributes:
        first: the pattern of each line.
        z: how much more often a rare continuation follows than normally.
        then: the usual next pattern (or `NO_NEXT`) that decreased most.
        instead: the rare continuation that is most frequent now, or `NO_NEXT`.
        before, after: share of the lines that `then` follows.
        lines_before, lines_after: lines of the pattern.
        null: the strongest break of each slice of normal operation.
    """

    first: Ints
    z: Floats
    then: Ints
    instead: Ints
    before: Floats
    after: Floats
    lines_before: Ints
    lines_after: Ints
    null: Floats


def compare_order(lines: OrderedLines) -> BrokenOrder:
    """Compare what follows each line in normal operation and after the onset."""
    pairs = _pairs_of(lines)
    normal, late = pairs.slice >= 0, pairs.slice == -1
    known = normal.any() and late.any()
    z, grown = _breaks(pairs, late, normal) if known else (np.zeros(lines.patterns), np.zeros(lines.patterns))
    null = (
        [_strongest(*_breaks(pairs, pairs.slice == k, normal & (pairs.slice != k))) for k in range(SLICES)]
        if known
        else []
    )
    broken = np.flatnonzero((grown >= LEAST_BREAK) & (z > 0))
    broken = broken[np.argsort(-z[broken], kind="stable")]
    before, after = pairs.counts(normal), pairs.counts(late)
    written_before, written_after = pairs.lines(normal), pairs.lines(late)
    rows = [_explain(pairs, first, before, after) for first in broken.tolist()]
    then, instead, share_before, share_after = zip(*rows, strict=True) if rows else ((), (), (), ())
    return BrokenOrder(
        broken,
        z[broken],
        np.array(then, dtype=np.int64),
        np.array(instead, dtype=np.int64),
        np.array(share_before, dtype=np.float64),
        np.array(share_after, dtype=np.float64),
        written_before[broken],
        written_after[broken],
        np.array(null, dtype=np.float64),
    )


@dataclass(frozen=True, slots=True)
class _Pairs:
    """For each line, the number of its (pattern, next pattern) pair among all pairs that occur."""

    row: Codes
    slice: Codes
    pair: Codes
    first: Ints
    next: Ints
    patterns: int

    def counts(self, rows: Flags) -> Ints:
        return np.bincount(self.pair[rows], minlength=len(self.first)).astype(np.int64)

    def lines(self, rows: Flags) -> Ints:
        return np.bincount(self.row[rows], minlength=self.patterns).astype(np.int64)


def _pairs_of(lines: OrderedLines) -> _Pairs:
    kept = np.flatnonzero((lines.context >= 0) & (lines.slice >= -1) & ~lines.cut)
    # Context and place are packed into one number, so sorting orders the lines of each context as written.
    ordered = np.sort((lines.context[kept].astype(np.int64) << _PLACE_BITS) | kept)
    del kept
    order, context = ordered & _PLACES, (ordered >> _PLACE_BITS).astype(np.int32)
    del ordered
    pattern = lines.pattern[order]
    following = np.full(len(pattern), lines.patterns, dtype=np.int64)
    if len(pattern) > 1:
        following[:-1] = np.where(context[1:] == context[:-1], pattern[1:], lines.patterns)
    width = lines.patterns + 1
    following += pattern.astype(np.int64) * width
    known, pair = _number(following)
    return _Pairs(
        pattern,
        lines.slice[order],
        pair,
        (known // width).astype(np.int64),
        np.where(known % width == lines.patterns, NO_NEXT, known % width).astype(np.int64),
        lines.patterns,
    )


def _number(code: Ints) -> tuple[Ints, Codes]:
    """The distinct codes in order, and the index of each code among them, computed block by block."""
    blocks = [code[low : low + _AT_ONCE] for low in range(0, len(code), _AT_ONCE)]
    known = np.unique(np.concatenate([np.zeros(0, np.int64), *(np.unique(block) for block in blocks)]))
    places = [np.searchsorted(known, block).astype(np.int32) for block in blocks]
    return known, np.concatenate([np.zeros(0, np.int32), *places])


def _breaks(pairs: _Pairs, late: Flags, normal: Flags) -> tuple[Floats, Floats]:
    """Per pattern the score and share of its break: a rare continuation grew, or the usual one ended.

    A recording that loses lines breaks the order everywhere, so the median over all patterns is subtracted.
    """
    before, after = pairs.counts(normal), pairs.counts(late)
    written, written_late = pairs.lines(normal), pairs.lines(late)
    rare = before <= RARE_NEXT * written[pairs.first]
    hits_before = np.bincount(pairs.first[rare], weights=before[rare], minlength=pairs.patterns)
    hits_late = np.bincount(pairs.first[rare], weights=after[rare], minlength=pairs.patterns)
    enough = (written >= LEAST_SPANS) & (written_late >= LEAST_SPANS)
    grown = hits_late / np.maximum(written_late, 1) - hits_before / np.maximum(written, 1)
    common = max(0.0, float(np.median(grown[enough]))) if enough.any() else 0.0
    hits_late = np.maximum(np.round(hits_late - common * written_late), 0.0).astype(np.int64)
    z = share_shift(hits_before.astype(np.int64), written, hits_late, written_late).z
    share = np.where(enough, grown - common, 0.0)
    lost = share_shift(before, written[pairs.first], after, written_late[pairs.first])
    ended = (lost.baseline >= USUAL_NEXT) & (lost.fault <= RARE_NEXT) & enough[pairs.first]
    np.maximum.at(z, pairs.first[ended], -lost.z[ended])
    np.maximum.at(share, pairs.first[ended], (lost.baseline - lost.fault)[ended])
    return z, share


def _strongest(z: Floats, grown: Floats) -> float:
    return float(np.max(np.where(grown >= LEAST_BREAK, z, 0.0), initial=0.0))


def _explain(pairs: _Pairs, first: int, before: Ints, after: Ints) -> tuple[int, int, float, float]:
    """The usual continuation that decreased most, what follows instead, and the share of the former."""
    own = np.flatnonzero(pairs.first == first)
    share_before = before[own] / max(int(before[own].sum()), 1)
    share_after = after[own] / max(int(after[own].sum()), 1)
    lost = int(np.argmax(share_before - share_after))
    rare = np.where(share_before <= RARE_NEXT, share_after, -1.0)
    now = int(np.argmax(rare))
    return (
        int(pairs.next[own[lost]]),
        int(pairs.next[own[now]]),
        float(share_before[lost]),
        float(share_after[lost]),
    )
