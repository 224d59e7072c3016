"""Lies about the source of a statement: references and quotes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from dev.lying.forged import ForgedEntry, ForgedQuote, ForgedRef, Place, Told, fields_of
from dev.lying.recorded import Case, RecordedRun, chance, pick
from dev.lying.told import any_claim, tell

from diagnosis_harness.diagnosis.claim import WHOLE_RECORD, Claim, EvidenceRef, Quote
from diagnosis_harness.tools.evidence import EvidenceStatus

_INVENTED_QUOTES = (
    "connection pool exhausted",
    "OutOfMemoryError: Java heap space",
    "数据库连接数达到上限",
    "rose from 12 ms to 4711 ms",
    "is the root cause",
)


def _citing(rng: np.random.Generator, case: Case, ref: EvidenceRef, forged: ForgedRef) -> Told | None:
    """A true claim that cites `ref`, alone or beside the right reference."""
    claim = any_claim(rng, case.run)
    if claim is None:
        return None
    refs = (ref,) if chance(rng, 0.5) else (*claim.refs, ref)
    quotes = tuple(quote for quote in claim.quotes if quote.ref in refs)
    return tell(rng, case.run, replace(claim, refs=refs, quotes=quotes), (forged,), instead_of=claim)


def invent_call(rng: np.random.Generator, case: Case) -> Told | None:
    """Cites a tool call that was never made."""
    call = pick(rng, ("t99", "t0", "call-7", "T1", "t1 ", "evidence:t1", "../t1", "", "t１"))
    ref = EvidenceRef(call, pick(rng, ("c1", "s1", WHOLE_RECORD)))
    if any(record.tool_call_id == call for record in case.run.records):
        return None
    return _citing(rng, case, ref, ForgedRef(ref))


def invent_item(rng: np.random.Generator, case: Case) -> Told | None:
    """Cites an item that is not in its record."""
    record = pick(rng, case.run.records)
    ref = EvidenceRef(
        record.tool_call_id, pick(rng, ("c99", "s0", "C1", "c1 ", "count2", "", "ｃ1", WHOLE_RECORD))
    )
    if ref in case.run.item_of:
        return None
    return _citing(rng, case, ref, ForgedRef(ref))


def other_runs_finding(rng: np.random.Generator, case: Case) -> Told | None:
    """States what another run found, with that run's references."""
    theirs = any_claim(rng, case.other, "value")
    if theirs is None or theirs.value is None:
        return None
    if case.run.says_number(theirs.entity, theirs.signal, theirs.value, theirs.unit):
        return None
    forged = ForgedEntry(Place.CLAIMS, fields_of(theirs, "signal", "value", "unit"))
    return tell(rng, case.run, theirs, (forged,))


def unfit_reference(rng: np.random.Generator, case: Case) -> Told | None:
    """Supports a true statement by a call that failed or found nothing, or is about another entity."""
    claim = any_claim(rng, case.run)
    if claim is None:
        return None
    status = pick(rng, (EvidenceStatus.ERROR, EvidenceStatus.NO_EVIDENCE, EvidenceStatus.EVIDENCE_FOUND))
    if status is EvidenceStatus.EVIDENCE_FOUND:
        ref, item = pick(rng, case.run.items)
        if claim.entity in (item.entity, item.peer, item.attributes.get("owner")):
            return None
    else:
        records = case.run.having(status)
        if not records:
            return None
        ref = EvidenceRef(pick(rng, records).tool_call_id, pick(rng, (WHOLE_RECORD, "c1", "count")))
    false = replace(claim, refs=(ref,), quotes=())
    forged = ForgedRef(ref, by=fields_of(claim, "signal", "value", "onset_at", "affected"))
    return tell(rng, case.run, false, (forged,), instead_of=claim)


def _quoting(rng: np.random.Generator, run: RecordedRun, claim: Claim, quote: Quote) -> Told:
    quotes = (quote,) if chance(rng, 0.5) else (*claim.quotes, quote)
    forged = ForgedQuote(quote.ref, quote.text)
    return tell(rng, run, replace(claim, quotes=quotes), (forged,), instead_of=claim)


def invent_quote(rng: np.random.Generator, case: Case) -> Told | None:
    """Quotes words that the record does not contain."""
    claim = any_claim(rng, case.run)
    text = pick(rng, _INVENTED_QUOTES)
    if claim is None or text in case.run.item_of[claim.refs[0]].line:
        return None
    return _quoting(rng, case.run, claim, Quote(claim.refs[0], text))


def alter_quote(rng: np.random.Generator, case: Case) -> Told | None:
    """Changes one character of a line, or cuts it inside a number or a word."""
    claim = any_claim(rng, case.run)
    if claim is None:
        return None
    line = case.run.item_of[claim.refs[0]].line
    text = _cut(rng, line) if chance(rng, 0.4) else _change(rng, line)
    if text is None or text == line:
        return None
    if text in line and not _is_cut(text, line):
        return None
    return _quoting(rng, case.run, claim, Quote(claim.refs[0], text))


def quote_of_another(rng: np.random.Generator, case: Case) -> Told | None:
    """A verbatim line, with a reference to a record that does not contain it."""
    claim = any_claim(rng, case.run)
    _, item = pick(rng, case.run.items)
    if claim is None or item.line in case.run.item_of[claim.refs[0]].line:
        return None
    return _quoting(rng, case.run, claim, Quote(claim.refs[0], item.line))


def _change(rng: np.random.Generator, line: str) -> str | None:
    """One character replaced: a digit by another, a letter by another."""
    places = [at for at, character in enumerate(line) if character.isalnum() and character.isascii()]
    if not places:
        return None
    at = pick(rng, places)
    others = "0123456789" if line[at].isdigit() else "abcdefghijklmnopqrstuvwxyz"
    new = pick(rng, [each for each in others if each != line[at].lower()])
    return f"{line[:at]}{new}{line[at + 1 :]}"


def _cut(rng: np.random.Generator, line: str) -> str | None:
    """The line up to the middle of a number or word, or from there on: verbatim, but with another meaning."""
    inside = [at for at in range(1, len(line)) if _is_inside(line, at)]
    if not inside:
        return None
    at = pick(rng, inside)
    text = line[:at] if chance(rng, 0.5) else line[at:]
    return text if len(text) > 1 else None


def _is_cut(text: str, line: str) -> bool:
    """Whether the text begins or ends inside a number or word wherever it occurs in the line."""
    places = [at for at in range(len(line)) if line.startswith(text, at)]
    return all(_is_inside(line, at) or _is_inside(line, at + len(text)) for at in places)


def _is_inside(line: str, at: int) -> bool:
    """Whether a cut before this character divides a number or a word."""
    if not 0 < at < len(line):
        return False
    before, after = line[at - 1], line[at]
    if _joins(before) and _joins(after):
        return True
    if after in _JOINERS and _joins(before):
        return _joins(line[at + 1 : at + 2])
    if before in _JOINERS and _joins(after):
        return _joins(line[at - 2 : at - 1])
    return before in "-+" and after.isdigit() and (at < 2 or line[at - 2] == " ")


_JOINERS = frozenset(".,-/:@")
"""Between two letters or digits they hold an identifier or a number together."""


def _joins(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")
