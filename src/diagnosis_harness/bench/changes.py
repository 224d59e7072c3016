"""Compares the changes that an answer names and concludes with those that the truth knows.

A change counts as named if the answer cites its record, or mentions its id. Hard kinds know a change by its
whole summary, which stands in the cited record only; other sets know it by a commit or another id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from diagnosis_harness.bench.case import RunResult, Truth

SUCCESS = "SUCCESS"  # wire values of ReleaseOutcome and CauseLevel
TRIGGER = "TRIGGER"
SHORT_ID = 7  # characters of a commit's id, as `git log --oneline` shows them
LONG_ID = re.compile(r"[0-9a-f]{12,}")


@dataclass(frozen=True, slots=True)
class ChangeOutcome:
    """None means that the figure does not apply to this incident or answer.

    Attributes:
        first: of the known changes, the first that the answer names caused it.
        named: the answer names the change that caused the incident.
        trigger_right: the conclusion names the change that caused it as the trigger, and no decoy.
        none_right: where no change caused it, a release concludes none. A fallback does not say so; where
            nothing was wrong at all, it is not scored.
        decoy_named: the answer names an innocent change, in whatever sense.
        decoy_concluded: the conclusion rests on an innocent change, or names it.
    """

    first: bool | None
    named: bool | None
    trigger_right: bool | None
    none_right: bool | None
    decoy_named: bool | None
    decoy_concluded: bool | None


def judge_changes(result: RunResult, truth: Truth) -> ChangeOutcome:
    """Compare the changes of an answer with the truth."""
    named = _find((*(change.text for change in result.changes), result.said), truth)
    texts = [each.text for each in result.changes if each.concluded]
    concluded = set(_find((*texts, result.concluded if result.causes else ""), truth))
    guilty, innocent = set(truth.trigger), set(truth.decoys)
    return ChangeOutcome(
        first=bool(named) and named[0] in guilty if guilty else None,
        named=not guilty.isdisjoint(named) if guilty else None,
        trigger_right=_trigger_right(result, truth, concluded) if guilty else None,
        none_right=_none_right(result, truth, concluded) if truth.without_trigger else None,
        decoy_named=not innocent.isdisjoint(named) if innocent else None,
        decoy_concluded=not innocent.isdisjoint(concluded) if innocent else None,
    )


def _trigger_right(result: RunResult, truth: Truth, concluded: set[str]) -> bool:
    """Whether the conclusion names the guilty change as the trigger, by its level or in its own words."""
    texts = [each.text for each in result.changes if each.as_trigger]
    stated = _find((*texts, result.concluded if result.causes else ""), truth)
    return not set(truth.trigger).isdisjoint(stated) and concluded.isdisjoint(truth.decoys)


def _none_right(result: RunResult, truth: Truth, concluded: set[str]) -> bool | None:
    """Whether a release concludes no change, known to the truth or not."""
    if result.outcome != SUCCESS:
        return False if truth.entities else None
    as_trigger = any(change.as_trigger for change in result.changes)
    return not (concluded or as_trigger or any(cause.level == TRIGGER for cause in result.causes))


def _find(texts: Iterable[str], truth: Truth) -> list[str]:
    """Known changes in the order in which texts mention them."""
    known = (*truth.trigger, *truth.decoys)
    found = [
        (place, hit.start(), change)
        for place, text in enumerate(texts)
        for change in known
        if (hit := re.search(_mention_of(change), text, re.IGNORECASE)) is not None
    ]
    return list(dict.fromkeys(change for _, _, change in sorted(found)))


def _mention_of(change: str) -> str:
    """A pattern for an id as a whole: `v2` is not mentioned by `v2.1`, nor `2` by `20 times` or `1.2`.

    A long id may be cut to seven characters.
    """
    if LONG_ID.fullmatch(change):
        return rf"(?<!\w){change[:SHORT_ID]}[0-9a-f]*(?!\w)"
    return rf"(?<!\w)(?<!\d\.){re.escape(change)}(?!\w)(?!\.\d)"
