"""Blocks to passages: by heading, within a size, whole blocks where they fit. No text is lost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from diagnosis_harness.knowledge.passage import Block, BlockKind, Passage

_SENTENCE_END = re.compile(r"[.!?][ \t]+|[。！？；]|\n")
_NO_WORD = re.compile(r"[\W_]+")
_SLUG_MAX = 60


def passages_of(file: str, file_digest: str, blocks: Sequence[Block], *, size: int) -> tuple[Passage, ...]:
    """The passages of a file: the blocks below each heading, `size` characters in one where that can be.

    A longer section is divided between blocks. A longer block is divided between lines; a longer line,
    between sentences or else anywhere. A heading with nothing below it is a passage of its own.
    """
    counted: Counter[str] = Counter()
    passages: list[Passage] = []
    for headings, section in _sections(blocks):
        slug = _slug(headings[-1] if headings else "")
        for group in _groups(section, size):
            counted[slug] += 1
            passages.append(
                Passage(f"{file}#{slug}-{counted[slug]}", file, headings, tuple(group), file_digest)
            )
    return tuple(passages)


def _sections(blocks: Sequence[Block]) -> Iterator[tuple[tuple[str, ...], list[Block]]]:
    """The content below each heading, with the headings above it."""
    path: list[Block] = []
    section: list[Block] = []
    for place, block in enumerate(blocks):
        if block.kind is not BlockKind.HEADING:
            section.append(block)
            continue
        if section:
            yield _titles(path), section
            section = []
        path = [outer for outer in path if outer.level < block.level] + [block]
        after = blocks[place + 1] if place + 1 < len(blocks) else None
        if after is None or (after.kind is BlockKind.HEADING and after.level <= block.level):
            yield _titles(path), [block]
    if section:
        yield _titles(path), section


def _titles(path: Iterable[Block]) -> tuple[str, ...]:
    return tuple(block.text for block in path)


def _slug(heading: str) -> str:
    return _NO_WORD.sub("-", heading.casefold()).strip("-")[:_SLUG_MAX].strip("-") or "top"


def _groups(section: Sequence[Block], size: int) -> Iterator[list[Block]]:
    group: list[Block] = []
    length = 0
    for block in (part for whole in section for part in _parts(whole, size)):
        if group and length + len(block.text) > size:
            yield group
            group, length = [], 0
        group.append(block)
        length += len(block.text) + 2
    if group:
        yield group


def _parts(block: Block, size: int) -> Iterator[Block]:
    """A block that is too long, in parts that are not."""
    if len(block.text) <= size:
        yield block
        return
    lines = block.text.split("\n")
    exact = block.last_line - block.first_line + 1 == len(
        lines
    )  # HTML has the line of a block, not of each of its lines
    block_lines: list[str] = []
    first = 0
    for place, line in enumerate(lines):
        if block_lines and sum(map(len, block_lines)) + len(block_lines) + len(line) > size:
            yield _part(block, "\n".join(block_lines), first, place - 1, exact=exact)
            block_lines, first = [], place
        if len(line) > size:
            for piece in _pieces(line, size):
                yield _part(block, piece, place, place, exact=exact)
            first = place + 1
        else:
            block_lines.append(line)
    if block_lines:
        yield _part(block, "\n".join(block_lines), first, len(lines) - 1, exact=exact)


def _part(block: Block, text: str, first: int, last: int, *, exact: bool) -> Block:
    if not exact:
        return replace(block, text=text)
    return replace(block, text=text, first_line=block.first_line + first, last_line=block.first_line + last)


def _pieces(line: str, size: int) -> Iterator[str]:
    """A line in pieces that add up to it."""
    at = 0
    while len(line) - at > size:
        ends = [found.end() for found in _SENTENCE_END.finditer(line, at, at + size)]
        end = ends[-1] if ends else at + size
        yield line[at:end]
        at = end
    if at < len(line):
        yield line[at:]
