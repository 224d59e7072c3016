"""Finds the entities that a question names, among the names that the telemetry knows. Pure.

A name is matched as written, whatever its case and separators; then as an alias, a plural, or without the
part that all names share; then with a typing error, if only one known name is that close. The answer reports
every name that was not matched as written, unknown names first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum

from diagnosis_harness.diagnosis.common_words import COMMON_EN, COMMON_ZH, KIND_WORDS
from diagnosis_harness.diagnosis.name_slots import Slot, name_slots
from diagnosis_harness.kernel.name_match import fold_name, places_of

LEAST_CLOSE, LONG_NAME = 4, 8
"""The least length of a name matched with one typing error, and with two: shorter names are too similar."""
NEAREST = 3
"""The most known names suggested for an unknown one."""
_SHARED = 3
"""How many names must share a prefix before it may be left out: two may share one by chance."""
_LEAST_VARIANT = 4
_PARTS = frozenset({"service", "svc"})
_READ_MAX = 8
"""The most names reported for one question; questions rarely have more."""


class NameReading(StrEnum):
    """How a name of the question was read."""

    EXACT = "EXACT"  # as in the telemetry, whatever the case and separators
    ALIAS = "ALIAS"  # another name for it, in the settings of the source
    VARIANT = "VARIANT"  # a plural, or without the part that all names share
    KIND = "KIND"  # a word for a kind of component, if the source has just one: `the database`
    CLOSE = "CLOSE"  # with a typing error
    UNKNOWN = "UNKNOWN"  # no telemetry knows it


@dataclass(frozen=True, slots=True)
class NameRead:
    """A name in a question.

    Attributes:
        written: as the caller wrote it.
        name: as the telemetry has it; None for UNKNOWN.
        nearest: for UNKNOWN, similar known names, nearest first.
    """

    written: str
    name: str | None
    how: NameReading
    nearest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownNames:
    """The known names, their aliases, and the variants derived from them."""

    names: tuple[str, ...]
    aliases: Mapping[str, str]
    variants: Mapping[str, str]

    @classmethod
    def of(cls, names: Iterable[str], aliases: Mapping[str, str] | None = None) -> KnownNames:
        """Build from names and aliases; an alias of an unknown name is ignored."""
        unique = tuple(dict.fromkeys(names))
        by_fold = {fold_name(name): name for name in unique}
        resolved = {alias: by_fold.get(fold_name(name)) for alias, name in (aliases or {}).items()}
        known = {alias: name for alias, name in resolved.items() if name is not None}
        return cls(unique, known, _variants(unique))


def read_names(question: str, known: KnownNames) -> tuple[NameRead, ...]:
    """The names in a question, in order, each once."""
    owners = {name: (name, NameReading.EXACT) for name in known.names}
    owners |= {
        written: (name, NameReading.ALIAS) for written, name in known.aliases.items() if written not in owners
    }
    found: list[tuple[int, NameRead]] = []
    taken: list[tuple[int, int]] = []
    folded = fold_name(question)
    for start, end, written in places_of(question, owners):
        name, how = owners[written]
        found.append((start, NameRead(folded[start:end] if how is NameReading.EXACT else written, name, how)))
        taken.append((start, end))
    for start, end, read in (*_variants_in(folded, known), *_kinds_in(question, known)):
        if all(end <= left or start >= right for left, right in taken):
            found.append((start, read))
            taken.append((start, end))
    for slot in name_slots(question):
        start = len(fold_name(question[: slot.start]))
        end = start + len(fold_name(slot.text))
        if any(start < right and left < end for left, right in taken):
            continue
        if (in_slot := _read_slot(slot, known)) is not None:
            found.append((start, in_slot))
            taken.append((start, end))
    reads: dict[str, NameRead] = {}
    for _, read in sorted(found, key=lambda each: each[0]):
        reads.setdefault(read.name or f"?{read.written.casefold()}", read)
    return tuple(reads.values())[:_READ_MAX]


def read_name(written: str, known: KnownNames) -> NameRead:
    """Read a single name, such as the service of an alert."""
    if written in known.names:
        return NameRead(written, written, NameReading.EXACT)
    folded = fold_name(written)
    for name in known.names:
        if fold_name(name) == folded:
            return NameRead(written, name, NameReading.EXACT)
    for alias, name in known.aliases.items():
        if fold_name(alias) == folded:
            return NameRead(written, name, NameReading.ALIAS)
    if folded in known.variants:
        return NameRead(written, known.variants[folded], NameReading.VARIANT)
    near = _close(written, known)
    if near is not None:
        return NameRead(written, near, NameReading.CLOSE)
    return NameRead(written, None, NameReading.UNKNOWN, _nearest(written, known))


def _read_slot(slot: Slot, known: KnownNames) -> NameRead | None:
    """The name in a place of the question; None if the word need not be a name."""
    read = read_name(slot.text, known)
    if read.how is NameReading.UNKNOWN and slot.is_loose:
        return None
    if read.how is NameReading.CLOSE and slot.is_loose and len(slot.text) < LONG_NAME - 2:
        return None  # short ordinary words are close to some name
    return read


def _close(written: str, known: KnownNames) -> str | None:
    """The only known name within one typing error, or two from eight letters on; digits must match."""
    folded = fold_name(written)
    if len(folded) < LEAST_CLOSE or folded in COMMON_EN:
        return None
    most = 2 if len(folded) >= LONG_NAME else 1
    figures = re.findall(r"\d", folded)
    near: set[str] = set()
    forms = [(fold_name(name), name) for name in known.names]
    forms += [(fold_name(alias), name) for alias, name in known.aliases.items()]
    for form, name in forms:
        alike = abs(len(form) - len(folded)) <= most and re.findall(r"\d", form) == figures
        if alike and edit_distance(folded, form, most) <= most:
            near.add(name)
    return next(iter(near)) if len(near) == 1 else None


def edit_distance(one: str, other: str, most: int) -> int:
    """The letters to add, drop or replace to turn one text into the other; at most `most + 1`."""
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, start=1):
        diagonal, row[0] = row[0], place
        for at, against in enumerate(other, start=1):
            cost = min(row[at] + 1, row[at - 1] + 1, diagonal + (letter != against))
            diagonal, row[at] = row[at], cost
        if min(row) > most:
            return most + 1
    return row[-1]


def _nearest(written: str, known: KnownNames) -> tuple[str, ...]:
    forms = {fold_name(name): name for name in known.names}
    return tuple(forms[form] for form in get_close_matches(fold_name(written), forms, n=NEAREST, cutoff=0.6))


def _variants(names: Iterable[str]) -> Mapping[str, str]:
    """Other forms of the names; each belongs to one name only, and none is an ordinary word."""
    folded_names = [fold_name(name) for name in names]
    beginnings: dict[str, int] = {}
    for folded in folded_names:
        first, blank, _ = folded.partition(" ")
        if blank:
            beginnings[first] = beginnings.get(first, 0) + 1
    forms: dict[str, set[str]] = {}
    for name, folded in zip(names, folded_names, strict=True):
        for form in _forms(folded, beginnings):
            forms.setdefault(form, set()).add(name)
    return {
        form: next(iter(owners))
        for form, owners in forms.items()
        if len(owners) == 1 and form not in folded_names and _is_distinctive(form)
    }


def _forms(folded: str, beginnings: Mapping[str, int]) -> set[str]:
    words = folded.split(" ")
    if len(words) > 1 and beginnings.get(words[0], 0) >= _SHARED:
        words = words[1:]
    bare = words[:-1] if len(words) > 1 and words[-1] in _PARTS else words
    last = bare[-1]
    joined = last.removesuffix("service") if len(last) > len("service") + 2 else last
    stems = {" ".join(words), " ".join(bare), " ".join((*bare[:-1], joined))}
    plurals = {stem.removesuffix("s") if stem.endswith("s") else f"{stem}s" for stem in stems}
    return (stems | plurals) - {folded}


def _is_distinctive(form: str) -> bool:
    words = form.split(" ")
    return len(form) >= _LEAST_VARIANT and not all(
        word in COMMON_EN or word in COMMON_ZH or word.isdigit() for word in words
    )


def _variants_in(folded: str, known: KnownNames) -> list[tuple[int, int, NameRead]]:
    found = []
    for start, end, form in places_of(folded, known.variants):
        if form in known.variants:
            found.append((start, end, NameRead(form, known.variants[form], NameReading.VARIANT)))
    return found


def _kinds_in(question: str, known: KnownNames) -> list[tuple[int, int, NameRead]]:
    """For each word for a kind of component: the component, if the source has exactly one of that kind."""
    found = []
    for words, marks in KIND_WORDS:
        components = _without_instances(name for name in known.names if not marks.isdisjoint(_words_of(name)))
        if len(components) != 1:
            continue
        for word in sorted(words, key=len, reverse=True):
            match = re.search(rf"(?<![a-z0-9_./\-]){re.escape(word)}(?![a-z0-9_/\-])", question.casefold())
            if match is not None:
                start = len(fold_name(question[: match.start()]))
                found.append((start, start + len(word), NameRead(word, components[0], NameReading.KIND)))
                break
    return found


def _without_instances(names: Iterable[str]) -> list[str]:
    """The names that do not begin with another name: `payments-db-0` is a part of `payments-db`."""
    known = list(names)
    return [name for name in known if not any(name.startswith(f"{other}-") for other in known)]


def _words_of(name: str) -> set[str]:
    return set(re.findall(r"[a-z]+", name.casefold()))
