"""Lies about absence: wider than the query, elsewhere, at another time, or where something was found."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
from dev.lying.forged import ForgedEntry, Place, Told, fields_of
from dev.lying.recorded import Case, pick
from dev.lying.told import tell

from diagnosis_harness.diagnosis.claim import WHOLE_RECORD, Claim, EvidenceRef, Predicate
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.tools.evidence import EvidenceStatus
from diagnosis_harness.tools.invocation import EvidenceRecord


def absence(rng: np.random.Generator, case: Case) -> Told | None:
    """A claim of absence that no empty record supports."""
    kinds = (
        _elsewhere,
        _all_the_time,
        _for_ever,
        _of_everything,
        _since,
        _over_findings,
        _with_numbers,
        _wider,
    )
    false = pick(rng, kinds)(rng, case)
    if false is None:
        return None
    fields = fields_of(
        false, "signal", "window", "onset_at", "value", "baseline", "unit", "direction", "affected"
    )
    return tell(rng, case.run, false, (ForgedEntry(Place.CLAIMS, fields),))


def _denial(record: EvidenceRecord, entity: str) -> Claim:
    ref = EvidenceRef(record.tool_call_id, WHOLE_RECORD)
    return Claim("absent-1", Predicate.ABSENT, entity, (ref,))


def _empty(rng: np.random.Generator, case: Case) -> tuple[EvidenceRecord, str] | None:
    """An empty record of a query about one entity, and that entity."""
    asked = [
        (record, json.loads(record.scope).get("entity"))
        for record in case.run.having(EvidenceStatus.NO_EVIDENCE)
    ]
    named = [(record, entity) for record, entity in asked if isinstance(entity, str)]
    return pick(rng, named) if named else None


def _elsewhere(rng: np.random.Generator, case: Case) -> Claim | None:
    """Nothing was found for an entity that was not queried."""
    records = case.run.having(EvidenceStatus.NO_EVIDENCE)
    if not records:
        return None
    record, entity = pick(rng, records), pick(rng, case.run.entities)
    return None if entity in record.scope else _denial(record, entity)


def _all_the_time(rng: np.random.Generator, case: Case) -> Claim | None:
    """Nothing was found, over a longer time than was searched."""
    found = _empty(rng, case)
    if found is None or found[0].projection is None or found[0].projection.window is None:
        return None
    looked = found[0].projection.window
    wider = TimeWindow(looked.start_s - pick(rng, (0.0, 3_600.0)), looked.end_s + pick(rng, (5.0, 86_400.0)))
    return replace(_denial(*found), signal=_text_sought(found[0]), window=wider)


def _for_ever(rng: np.random.Generator, case: Case) -> Claim | None:
    """Nothing was found, without a time; it may be released only with the time that was searched."""
    found = _empty(rng, case)
    if found is None or found[0].projection is None or found[0].projection.window is None:
        return None
    return replace(_denial(*found), signal=_text_sought(found[0]))


def _of_everything(rng: np.random.Generator, case: Case) -> Claim | None:
    """Nothing was found anywhere."""
    records = case.run.having(EvidenceStatus.NO_EVIDENCE)
    words = ("*", "all services", "the system", "everything", "所有服务", "")
    return _denial(pick(rng, records), pick(rng, words)) if records else None


def _since(rng: np.random.Generator, case: Case) -> Claim | None:
    """Nothing was found since a time that is not in the record."""
    found = _empty(rng, case)
    if found is None:
        return None
    moment = 1_700_000_000.0 + float(rng.integers(10_000_000))
    return replace(_denial(*found), signal=_text_sought(found[0]), onset_s=moment)


def _over_findings(rng: np.random.Generator, case: Case) -> Claim | None:
    """Nothing was found, cited from a record that found something."""
    record = pick(rng, case.run.having(EvidenceStatus.EVIDENCE_FOUND))
    item = pick(rng, record.items)
    if item.entity is None:
        return None
    claim = _denial(record, item.entity)
    ref = pick(rng, (claim.refs[0], EvidenceRef(record.tool_call_id, item.item_id)))
    return replace(claim, refs=(ref,), signal=item.signal)


def _with_numbers(rng: np.random.Generator, case: Case) -> Claim | None:
    """An absence that smuggles in a number, a direction or another entity."""
    found = _empty(rng, case)
    if found is None:
        return None
    claim = replace(_denial(*found), signal=_text_sought(found[0]))
    other = pick(rng, case.run.entities)
    false = (
        replace(claim, value=float(rng.integers(1, 99)), unit="percent"),
        replace(claim, baseline=1.0),
        replace(claim, affected=other),
        replace(claim, direction=pick(rng, [item.direction for _, item in case.run.items])),
        replace(claim, unit="furlongs", value=None),
    )
    chosen = pick(rng, false)
    return None if chosen == claim else chosen


def _wider(rng: np.random.Generator, case: Case) -> Claim | None:
    """Nothing at all, or nothing of another kind, was found for an entity that was queried for one thing."""
    found = _empty(rng, case)
    if found is None or _text_sought(found[0]) is None:
        return None
    return replace(_denial(*found), signal=pick(rng, (None, "error_rate", "OutOfMemoryError")))


def _text_sought(record: EvidenceRecord) -> str | None:
    """The text or signal that a record's scope asked for."""
    scope = json.loads(record.scope)
    sought = scope.get("text") or scope.get("signal")
    return sought if isinstance(sought, str) else None
