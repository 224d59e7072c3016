"""Blocks of a document, and the passages that they are gathered into."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.kernel.canonical import digest


class BlockKind(StrEnum):
    """What a passage of a document is."""

    HEADING = "HEADING"
    TEXT = "TEXT"
    ITEM = "ITEM"  # of a list, with its continuation lines
    CODE = "CODE"
    TABLE = "TABLE"


@dataclass(frozen=True, slots=True)
class Block:
    """One passage of a document.

    Attributes:
        text: as in the document (HTML: as a reader sees it), without secrets.
        first_line, last_line: its place in the file, counted from 1, both included.
        level: of a heading, 1 to 6, 0 for the title of a page; 0 for everything else.
    """

    kind: BlockKind
    text: str
    first_line: int
    last_line: int
    level: int = 0


@dataclass(frozen=True, slots=True)
class Passage:
    """Some blocks under one heading: what is searched, and what is cited.

    Attributes:
        passage_id: `file#heading-slug-n`, unique in its folder.
        file: path inside the folder, with forward slashes.
        headings: the headings above it, outermost first; may be empty.
        blocks: one or more, in order; a heading is a block only if nothing is below it.
        file_digest: of the bytes of the file.
    """

    passage_id: str
    file: str
    headings: tuple[str, ...]
    blocks: tuple[Block, ...]
    file_digest: str

    @property
    def first_line(self) -> int:
        """Where it begins in the file, counted from 1."""
        return self.blocks[0].first_line

    @property
    def last_line(self) -> int:
        """Its last line in the file."""
        return max(block.last_line for block in self.blocks)

    @property
    def text(self) -> str:
        """Its blocks, separated by an empty line where the document has one."""
        parts = [self.blocks[0].text]
        for before, block in zip(self.blocks, self.blocks[1:], strict=False):
            parts += ("\n\n" if block.first_line > before.last_line + 1 else "\n", block.text)
        return "".join(parts)

    @property
    def digest(self) -> str:
        """Of its text."""
        return digest(self.text.encode("utf-8", "replace"))
