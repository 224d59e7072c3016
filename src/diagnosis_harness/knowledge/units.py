"""The units of a passage that can be quoted: sentences, list items, code and tables, each whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnosis_harness.knowledge.passage import BlockKind, Passage

_SENTENCE = re.compile(
    r".+?(?:[.!?]['\")\]]*(?=\s|$)|[。！？；][”’）」]*|[:：]$|\n\n|\Z)", re.DOTALL | re.MULTILINE
)
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|approx|cf|no|fig)\.|\b[A-Z]\.|\d\.)$", re.IGNORECASE)
_LEADS = (":", "：")


@dataclass(frozen=True, slots=True)
class Unit:
    """The smallest part that can be quoted.

    Attributes:
        text: verbatim; part of the passage's text.
        lead: place of the unit that announces this one (`Do not:`), which must be quoted with it; or None.
    """

    kind: BlockKind
    text: str
    first_line: int
    last_line: int
    lead: int | None


def units_of(passage: Passage) -> tuple[Unit, ...]:
    """The units of a passage, in order."""
    units: list[Unit] = []
    lead: int | None = None
    for block in passage.blocks:
        if block.kind is BlockKind.TEXT:
            lead = None
            units += [
                Unit(block.kind, text, block.first_line, block.last_line, None)
                for text in _sentences(block.text)
            ]
            if units and units[-1].text.endswith(_LEADS):
                lead = len(units) - 1
        elif text := block.text.strip("\n"):
            units.append(Unit(block.kind, text, block.first_line, block.last_line, lead))
    return tuple(units)


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a paragraph; one that seems to end in an abbreviation continues."""
    sentence = ""
    for match in _SENTENCE.finditer(text):
        sentence += match[0]
        if not _ABBREVIATION.search(sentence.rstrip()):
            if sentence.strip():
                yield sentence.strip()
            sentence = ""
    if sentence.strip():
        yield sentence.strip()
