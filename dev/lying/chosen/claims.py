"""Compares a published claim, sentence and fields, with the cited item and the world."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from dev.lying.chosen.absences import absence_objections
from dev.lying.chosen.claim_numbers import number_objections
from dev.lying.chosen.claim_truth import truth_objections
from dev.lying.chosen.evidence import SAME_S, Item, Json, Record, items_cited_by, span_of
from dev.lying.chosen.reference import Reference
from dev.lying.chosen.sentences import instants, quotes_in

from diagnosis_harness.kernel.window import parse_utc

if TYPE_CHECKING:
    from dev.lying.chosen.worlds import World

Said = Iterator[tuple[str, str]]
SUPPORTED_BY = {
    "CHANGED": ("SIGNAL_CHANGE",),
    "NORMAL": ("SIGNAL_CHANGE",),
    "SATURATED": ("SIGNAL_CHANGE",),
    "AFFECTED": ("SIGNAL_CHANGE",),
    "BEGAN": ("SIGNAL_CHANGE", "ONSET"),
    "FAILED": ("SPAN_ERRORS",),
    "DROPPED": ("SPAN_ERRORS",),
    "SLOWED": ("SELF_TIME", "EDGE_GAP"),
    "CAUSED": ("CAUSE_SCORE",),
    "UNREMARKABLE": ("OVERVIEW",),
    "INDEPENDENT": ("CAUSE_SCORE",),
    "CALLS": ("CALL_EDGE",),
    "DEPLOYED": ("CHANGE_EVENT",),
    "HAPPENED": ("PLATFORM_EVENT",),
    "IN_STATE": ("STATE",),
    "LOGGED": ("LOG_PATTERN",),
    "BROKE_OFF": ("LOG_ORDER",),
    "COUNTED": ("COUNT",),
    "ABSENT": (),  # supported by a record that found nothing: see `absences`
}
"""Total over the predicates: a test holds it to them."""
_QUALIFIERS = (
    "as far as", "usual level", "usually", "without", " the onset)", "fail on the way", "times)", "searched",
    "from", "margin", "decided by",
)  # fmt: skip
"""Continuations of a line that change the meaning of what comes before."""


def claim_objections(claim: Json, records: Mapping[str, Record], world: World, reference: Reference) -> Said:
    """Everything that is untrue."""
    if claim["predicate"] == "ABSENT":
        yield from absence_objections(claim, records, world)
        return
    sentence = claim["sentence"]
    held = list(items_cited_by(claim["refs"], records))
    bearing = [item for _, _, item in held if item is not None and _bears(claim, item)]
    if len({(ref["tool_call_id"], ref["item_id"]) for ref, _, _ in held}) < len(held):
        yield "the same citation twice", sentence
    if not bearing:
        yield "unsupported statement", f"{sentence} {[ref for ref, _, _ in held]}"
        return
    if len(bearing) < len(held):
        other = next((item.line if item else ref for ref, _, item in held if item not in bearing), "")
        yield "citation that bears nothing", f"{sentence} [{other}]"
    yield from _quotes(claim, records, bearing)
    item = bearing[0]
    yield from _names(claim, item)
    yield from number_objections(claim, item, world)
    yield from _times(claim, item, reference)
    yield from truth_objections(claim, item, world, reference)


def _bears(claim: Json, item: Item) -> bool:
    """Whether the item is about the same as the claim; its numbers are checked separately."""
    predicate, entity = claim["predicate"], claim["entity"]
    if item.kind not in SUPPORTED_BY[predicate]:
        return False
    if predicate == "INDEPENDENT":
        return bool(entity == item.entity and claim["affected"] == item.more.get("independent_of"))
    if predicate == "CALLS":
        return bool(entity == item.peer and claim["affected"] == item.entity)
    if entity not in (item.entity, item.owner):
        return False
    if claim["signal"] is not None and item.signal is not None and claim["signal"] != item.signal:
        return False
    if predicate in ("FAILED", "DROPPED") and ("without" in item.more) != (predicate == "DROPPED"):
        return False
    return predicate != "CAUSED" or claim["affected"] in (item.peer, None)


def _quotes(claim: Json, records: Mapping[str, Record], bearing: list[Item]) -> Said:
    for quote in claim["quotes"]:
        ((_, _, item),) = items_cited_by([quote["ref"]], records)
        text = quote["text"]
        if item is None or item not in bearing:
            yield "quote of what does not bear it", f"{claim['sentence']} [{text}]"
        elif text not in item.line:
            yield "quote that is not there", text
        else:
            rest = item.line.split(text, 1)[1]
            if rest and ((rest[0].isalnum() and text[-1].isalnum()) or any(q in rest for q in _QUALIFIERS)):
                yield "quote cut before its qualifier", f"{text} [{rest.strip()}]"


def _names(claim: Json, item: Item) -> Said:
    """The sentence must name the part that was observed, not the whole entity."""
    sentence, predicate = claim["sentence"], claim["predicate"]
    if predicate in ("CAUSED", "CALLS", "INDEPENDENT"):
        return
    if (
        item.entity
        and item.entity != claim["entity"]
        and item.entity not in sentence
        and item.entity not in quotes_in(sentence)
    ):
        yield "service from one instance", f"{sentence} [{item.line}]"
    told = quotes_in(sentence)
    if item.signal == "all series" and re.search("^all series|所有指标序列", sentence, re.IGNORECASE):
        return  # no name of a series: it is told in words
    if item.signal and item.signal not in sentence and item.signal not in told and item.kind != "ONSET":
        yield "signal left out", f"{sentence} [{item.line}]"
    peer = item.peer if item.kind in ("EDGE_GAP", "SPAN_ERRORS") else None
    if peer and peer not in sentence and peer not in told:
        yield "one end of a way left out", f"{sentence} [{item.line}]"


def _times(claim: Json, item: Item, reference: Reference) -> Said:
    sentence, span = claim["sentence"], item.span
    known = [
        each for each in (item.onset_s, span.start_s if span else None, span.end_s if span else None) if each
    ]
    told = instants(sentence)
    for at_s in told:
        if not any(abs(at_s - each) <= SAME_S for each in known):
            yield "time not as recorded", f"{sentence} [{item.line}]"
    stated = span_of(claim["window"])
    if stated and span and max(abs(stated.start_s - span.start_s), abs(stated.end_s - span.end_s)) > SAME_S:
        yield "time not as recorded", f"{sentence} window {claim['window']}"
    if claim["onset_at"] and (
        item.onset_s is None or abs(parse_utc(claim["onset_at"]) - item.onset_s) > SAME_S
    ):
        yield "time not as recorded", f"{sentence} onset {claim['onset_at']}"
    other = (
        span is not None and reference.onset_s is not None and abs(span.start_s - reference.onset_s) > SAME_S
    )
    if other and not told and claim["predicate"] not in ("CAUSED", "INDEPENDENT"):
        yield "another time, and it does not say so", f"{sentence} [{span}]"
    since_s = item.onset_s if claim["predicate"] == "CAUSED" else None
    if since_s and reference.onset_s is not None and abs(since_s - reference.onset_s) > SAME_S:
        yield "cause of another time", f"{sentence} [{item.line}]"
