"""Checks against the stored records what a published cause says about its test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dev.lying.chosen.evidence import Json, Record

_COMPARES = ("find_changed_signals", "compare_spans", "compare_logs")


def disproof_objections(cause: Json, records: Mapping[str, Record]) -> Iterator[tuple[str, str]]:
    """What is untrue: a test is a call about one entity, uncut, at the times of a ranking of the cause."""
    test = cause.get("disproof") or {"result": "NOT_TESTED", "challenges": []}
    if test["result"] != "HELD":
        if cause.get("level") == "EXPLAINED":
            yield "explained without a test", str(cause["entity"])
        return
    if not test["challenges"]:
        yield "a test of nobody", str(cause["entity"])
    times = [_times_of(each) for each in records.values() if _ranks(each, cause["entity"])]
    for challenge in test["challenges"]:
        record = records.get(challenge["tool_call_id"] or "")
        name = challenge["entity"]
        if record is None or record.tool not in _COMPARES or record.scope.get("entities") != [name]:
            yield "a test of somebody else", f"{cause['entity']}: {name}"
        elif record.omitted or not record.looked_at or record.looked_at != challenge["looked_at"]:
            yield "a test in part", f"{cause['entity']}: {name}"
        elif _times_of(record) not in times:
            yield "a test at another time", f"{cause['entity']}: {name}"


def _ranks(record: Record, name: str) -> bool:
    return record.tool == "rank_causes" and any(each.entity == name for each in record.items.values())


def _times_of(record: Record) -> Json:
    return {each: record.scope[each] for each in ("onset", "until") if each in record.scope}
