"""Looks for known fabrications in what was published.

It reads only the published JSON and the generator's list. It shares no code with the guards, so it does not
overlook what they do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dev.lying.forged import (
    Fabrication,
    ForgedEntry,
    ForgedLack,
    ForgedQuote,
    ForgedRef,
    ForgedSupport,
    ForgedText,
    ForgedWindow,
)

from diagnosis_harness.diagnosis.claim import EvidenceRef
from diagnosis_harness.kernel.json_value import JsonValue

Entry = Mapping[str, JsonValue]


def leaks(report: Entry, forged: Iterable[Fabrication]) -> tuple[Fabrication, ...]:
    """The fabrications that are in a report (`report` of a run document, as JSON)."""
    return tuple(each for each in forged if _stands(report, each))


def _stands(report: Entry, forged: Fabrication) -> bool:
    match forged:
        case ForgedText(text=text):
            return any(text in told for held in report.values() for told in _texts(held))
        case ForgedRef(ref=ref, by=by):
            return any(
                _same_ref(cited, ref)
                for entry in (*_entries(report, "claims"), *_entries(report, "candidates"))
                if by is None or _has(entry, by)
                for cited in _entries_cited(entry)
            )
        case ForgedQuote(ref=ref, text=text):
            return any(
                quote.get("text") == text and _same_ref(_entry(quote.get("ref")), ref)
                for claim in _entries(report, "claims")
                for quote in _entries(claim, "quotes")
            )
        case ForgedEntry(place=place, fields=fields):
            return any(_has(entry, fields) for entry in _entries(report, place.value))
        case ForgedSupport(entity=entity, fields=fields):
            return _is_supported(report, entity, fields)
        case ForgedWindow(start=start, end=end):
            return report.get("window") == {"start": start, "end": end}
        case ForgedLack(words=words):
            return not set(words).isdisjoint(map(str, _list(report.get("missing_info"))))


def _is_supported(report: Entry, entity: str, fields: Entry) -> bool:
    """Whether a cause of this entity names a claim with these fields among those that support it."""
    false = {claim.get("claim_id") for claim in _entries(report, "claims") if _has(claim, fields)}
    return any(
        cause.get("entity") == entity and not false.isdisjoint(_list(cause.get("claim_ids")))
        for cause in _entries(report, "causes")
    )


def _texts(value: JsonValue) -> Iterator[str]:
    """Every string below a value, except keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for held in value.values():
            yield from _texts(held)
    elif isinstance(value, list):
        for held in value:
            yield from _texts(held)


def _entries(holder: Entry, name: str) -> Iterator[Entry]:
    return (_entry(each) for each in _list(holder.get(name)))


def _entries_cited(entry: Entry) -> Iterator[Entry]:
    for name in ("refs", "evidence_for", "evidence_against"):
        yield from _entries(entry, name)
    for quote in _entries(entry, "quotes"):
        yield _entry(quote.get("ref"))


def _same_ref(cited: Entry, ref: EvidenceRef) -> bool:
    return cited.get("tool_call_id") == ref.tool_call_id and cited.get("item_id") == ref.item_id


def _has(entry: Entry, fields: Entry) -> bool:
    return all(entry.get(name) == value for name, value in fields.items())


def _entry(value: JsonValue) -> Entry:
    return value if isinstance(value, Mapping) else {}


def _list(value: JsonValue) -> Sequence[JsonValue]:
    return value if isinstance(value, list) else ()
