"""Turns the bytes of a file into passages without secrets: form by name, UTF-8 only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import PurePosixPath

from diagnosis_harness.kernel.canonical import digest
from diagnosis_harness.kernel.errors import MaskingFailed
from diagnosis_harness.kernel.masking import mask
from diagnosis_harness.knowledge.chunking import passages_of
from diagnosis_harness.knowledge.html import html_blocks
from diagnosis_harness.knowledge.markdown import markdown_blocks
from diagnosis_harness.knowledge.passage import Block, Passage

_HTML = frozenset({".html", ".htm"})
SUFFIXES = frozenset({".md", ".markdown", ".txt", ".text"}) | _HTML
"""Names of files that are read, in lower case."""


@dataclass(frozen=True, slots=True)
class Document:
    """The passages of a file, or why it is not used.

    Attributes:
        passages: none when it is not used.
        note: one sentence without a full stop; empty when there is nothing to say.
    """

    file: str
    digest: str
    passages: tuple[Passage, ...] = ()
    note: str = ""


def read_runbook(file: str, data: bytes, *, size: int) -> Document:
    """The passages of a file, at most `size` characters each where that can be."""
    file_digest = digest(data)
    if b"\x00" in data:
        return Document(file, file_digest, note="not used: it is binary, or UTF-16")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        note = f"not used: it is not UTF-8 (byte {error.start + 1})"
        return Document(file, file_digest, note=note)
    try:
        blocks = _blocks(file, text)
    except MaskingFailed:
        return Document(file, file_digest, note="not used: its secrets could not be masked")
    passages = passages_of(file, file_digest, blocks, size=size)
    return Document(file, file_digest, passages, "" if passages else "not used: it contains no text")


def _blocks(file: str, text: str) -> Sequence[Block]:
    """The blocks without secrets.

    Lines are masked together, since a key may take many; then the lines that are left are where they were.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if PurePosixPath(file).suffix.lower() in _HTML:
        return [replace(block, text=mask(block.text).text) for block in html_blocks(text)]
    lines, masked = text.split("\n"), mask(text).text.split("\n")
    blocks = markdown_blocks(masked)
    if len(lines) == len(masked):
        return blocks
    first, last = _places(lines, masked)
    return [
        replace(block, first_line=first[block.first_line - 1], last_line=last[block.last_line - 1])
        for block in blocks
    ]


def _places(lines: Sequence[str], masked: Sequence[str]) -> tuple[list[int], list[int]]:
    """For each masked line, the first and last line of the file that it replaces, counted from 1."""
    first, last = [1] * len(masked), [1] * len(masked)
    for kind, begin, end, place, to in SequenceMatcher(None, lines, masked).get_opcodes():
        for at in range(place, to):
            same = begin + at - place + 1
            first[at], last[at] = (same, same) if kind == "equal" else (begin + 1, max(end, begin + 1))
    return first, last
