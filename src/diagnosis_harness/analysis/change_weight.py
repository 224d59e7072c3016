"""Decides which changes fit an incident in time, place and words, and why the others are ruled out. Pure.

The result is never a cause: changes happen all day, and most of those before an incident are innocent. It
is an ordered list of changes to examine, with a reason for each.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from diagnosis_harness.analysis.change_words import WordFit

SLACK_S = 60.0  # an onset is known to about a minute
HALF_WORTH_S = 3_600.0  # a change an hour before counts half as much as one right before
LONG_BEFORE_S = 86_400.0  # a change that ran for a day without trouble did not start it
STEP_AWAY = 0.25  # deducted from the place score for each call in between
UNREAD_WORTH = 0.5  # if either side has no words to compare; the best match counts 1
UNPLACED = 0.5  # for a change whose entity is unknown
LEAST_FIT = 0.05  # by weight: a twentieth, since two words in forty are no coincidence
LEAST_WORDS = 2  # one word alone may be coincidence
RIGHT_BEFORE_S = 900.0  # for a change of the affected entity shortly before, one word is enough
CLEAR_LEAD = 0.7  # share of the first's score from which a second candidate counts as equally good


class ChangeVerdict(StrEnum):
    """The verdict on a change."""

    CANDIDATE = "candidate"  # fits in time, place and words
    UNREAD = "unread"  # fits in time and place; what it changed is not recorded
    UNCOMPARED = "uncompared"  # fits in time and place; no new line is recorded to compare its words with
    NO_MATCH = "no-match"  # fits in time and place; nothing new mentions what it changed
    AFTER = "after-the-onset"
    LONG_BEFORE = "long-before"
    ELSEWHERE = "not-on-the-path"
    REVERTED = "reverted"


FITTING = frozenset({ChangeVerdict.CANDIDATE, ChangeVerdict.UNREAD, ChangeVerdict.UNCOMPARED})
"""Verdicts of a change that may have triggered the incident."""


@dataclass(frozen=True, slots=True)
class ChangeFacts:
    """One change, with its deploy if it has one.

    Attributes:
        time_s: when it took effect: the time of its deploy, otherwise its own.
        place: the number of calls between the affected entity and the changed one; None if the changed
            entity is unknown, -1 if it is known to be off the path.
        is_described: whether the record says what was changed, not only that something was.
    """

    time_s: float
    place: int | None
    sha: str | None
    text: str
    is_described: bool = True


@dataclass(frozen=True, slots=True)
class WeighedChange:
    """A change with its score, 0 to 1 and comparable within one incident.

    `leads` is true if no other change of the incident fits nearly as well.
    """

    row: int
    verdict: ChangeVerdict
    score: float
    words: tuple[str, ...]
    leads: bool = False


def weigh(
    changes: Sequence[ChangeFacts],
    matches: Sequence[WordFit],
    *,
    onset_s: float,
    has_new_lines: bool = True,
) -> tuple[WeighedChange, ...]:
    """All changes, the likeliest first, followed by those that are ruled out.

    Args:
        has_new_lines: whether there are new log lines that the words of a change could match.
    """
    best = max((fit.score for fit in matches), default=0.0)
    reverted = rows_reverted(changes, until_s=onset_s)
    found = []
    for row, (change, fit) in enumerate(zip(changes, matches, strict=True)):
        out = _reason_against(change, onset_s=onset_s, is_reverted=row in reverted)
        near = 1.0 / (1.0 + max(0.0, onset_s - change.time_s) / HALF_WORTH_S)
        place = UNPLACED if change.place is None else 1.0 / (1.0 + STEP_AWAY * max(change.place, 0))
        share = fit.score / best if best > 0 else 0.0
        verdict = out or _verdict(change, fit, onset_s=onset_s, has_new_lines=has_new_lines)
        by_place = verdict in (ChangeVerdict.UNREAD, ChangeVerdict.UNCOMPARED) or not change.is_described
        worth = near * place * (UNREAD_WORTH if by_place else share)
        found.append(WeighedChange(row, verdict, worth if out is None else 0.0, fit.words))
    order = list(ChangeVerdict)
    ranked = sorted(
        found, key=lambda one: (order.index(one.verdict), -one.score, -changes[one.row].time_s, one.row)
    )
    others = max((one.score for one in ranked[1:]), default=0.0)
    if ranked and ranked[0].score > 0 and others < CLEAR_LEAD * ranked[0].score:
        ranked[0] = replace(ranked[0], leads=True)
    return tuple(ranked)


def _verdict(change: ChangeFacts, fit: WordFit, *, onset_s: float, has_new_lines: bool) -> ChangeVerdict:
    """The verdict on a change that nothing rules out."""
    if not change.is_described:
        return ChangeVerdict.UNREAD if change.place is not None else ChangeVerdict.NO_MATCH
    right_before = change.place == 0 and onset_s - change.time_s <= RIGHT_BEFORE_S
    least = LEAST_FIT if change.place is not None else LEAST_FIT / UNPLACED
    by_words = len(fit.words) >= LEAST_WORDS and fit.coverage >= least
    if by_words or (right_before and fit.words):
        return ChangeVerdict.CANDIDATE
    by_place = change.place is not None and not has_new_lines
    return ChangeVerdict.UNCOMPARED if by_place else ChangeVerdict.NO_MATCH


def _reason_against(change: ChangeFacts, *, onset_s: float, is_reverted: bool) -> ChangeVerdict | None:
    if change.time_s > onset_s + SLACK_S:
        return ChangeVerdict.AFTER
    if onset_s - change.time_s > LONG_BEFORE_S:
        return ChangeVerdict.LONG_BEFORE
    if is_reverted:
        return ChangeVerdict.REVERTED
    return ChangeVerdict.ELSEWHERE if change.place == -1 else None


_REVERT = re.compile(
    r"\brevert(?:s|ed)?\b[^\w\"]*(?:commit )?(?:\"(?P<title>[^\"]{4,})\"|(?P<sha>[0-9a-f]{7,40})\b)",
    re.IGNORECASE,
)


def rows_reverted(changes: Sequence[ChangeFacts], *, until_s: float) -> frozenset[int]:
    """The changes that another change reverted before the given time."""
    found = set()
    for back in changes:
        named = _REVERT.search(back.text)
        if named is None or back.time_s > until_s:
            continue
        for row, change in enumerate(changes):
            if change is back or change.time_s > back.time_s:
                continue
            by_sha = named["sha"] is not None and (change.sha or "").startswith(named["sha"])
            if by_sha or (named["title"] is not None and named["title"] in change.text):
                found.add(row)
    return frozenset(found)


def count_calls_between(
    entity: str | None, *, below: Mapping[str, int], known: Collection[str]
) -> int | None:
    """The number of calls between the affected entity and another; see `ChangeFacts.place`.

    `below` holds the distance of everything the affected entity calls, including itself; it is empty if the
    affected entity is unknown. `known` are the entities of the call graph.
    """
    if entity is None or not below:
        return None
    return below.get(entity, -1 if entity in known else None)
