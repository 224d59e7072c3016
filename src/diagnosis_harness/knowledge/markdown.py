"""Markdown and plain text as blocks: headings, paragraphs, list items, code and tables. Never raises."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from diagnosis_harness.knowledge.passage import Block, BlockKind

_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})(?:[ \t]+(?P<title>.*))?$")
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)$")
_ITEM = re.compile(
    r"[ \t]*(?:[-*+•]|\d{1,9}[.)、]|[（(]?[一二三四五六七八九十]{1,3}[)）、])(?:[ \t]+|(?<=、)|(?<=）))\S"
)
_UNDERLINE = re.compile(r" {0,3}(?P<mark>=+|-{3,})[ \t]*$")
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_FRONT_MATTER = frozenset({"---", "+++"})
"""The lines around front matter in YAML and in TOML."""
_FIELD = re.compile(r"[A-Za-z_][\w.-]*\s*[:=]")
_TABLE_RULE_CELL = re.compile(r"[ \t]*:?-+:?[ \t]*")


def markdown_blocks(lines: Sequence[str]) -> tuple[Block, ...]:
    """The blocks of the lines of a Markdown document; every non-blank line is in one of them.

    Front matter is left out: it is about the document, and answers nothing. Plain text is read by the same
    rules: they leave what they do not know as paragraphs.
    """
    return _Reader(lines).read()


class _Reader:
    """One pass over the lines; each step takes at least one line."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._at = 0
        self._blocks: list[Block] = []

    def read(self) -> tuple[Block, ...]:
        if self._lines and self._lines[0].lstrip("\ufeff").rstrip() in _FRONT_MATTER:
            self._skip_front_matter()
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if not line.strip():
                self._at += 1
            elif heading := _HEADING.match(line):
                self._heading(heading)
            elif fence := _FENCE.match(line):
                self._read_fenced_block(fence["fence"])
            elif self._is_table(self._at):
                self._add(BlockKind.TABLE, self._while(lambda at: "|" in self._lines[at]))
            elif _ITEM.match(line) and not _RULE.match(line):
                self._item()
            elif line.startswith(("    ", "\t")):
                self._add(BlockKind.CODE, self._while(lambda at: self._lines[at].startswith(("    ", "\t"))))
            else:
                self._paragraph()
        return tuple(self._blocks)

    def _skip_front_matter(self) -> None:
        """Go behind the fields at the head; lines between two rules that hold none of them stay text."""
        fence = self._lines[0].lstrip("\ufeff").rstrip()
        end = next((at for at in range(1, len(self._lines)) if self._lines[at].rstrip() == fence), None)
        if end is not None and any(_FIELD.match(line) for line in self._lines[1:end]):
            self._at = end + 1

    def _heading(self, heading: re.Match[str]) -> None:
        title = _without_closing_marks((heading["title"] or "").strip())
        if title:
            self._add(BlockKind.HEADING, self._at + 1, level=len(heading["marks"]), text=title)
        else:
            self._add(BlockKind.TEXT, self._at + 1)

    def _read_fenced_block(self, fence: str) -> None:
        end = self._at + 1
        while end < len(self._lines):
            closing = self._lines[end].strip()
            end += 1
            if closing.startswith(fence) and not closing.strip(fence[0]):
                break
        self._add(BlockKind.CODE, end)

    def _is_table(self, at: int) -> bool:
        following = self._lines[at + 1] if at + 1 < len(self._lines) else ""
        return "|" in self._lines[at] and "|" in following and _is_table_rule(following)

    def _item(self) -> None:
        """The line of the item, and its continuation lines: neither blank nor the start of another block."""
        self._add(
            BlockKind.ITEM,
            self._while(lambda at: not self._begins_block(at) and not _UNDERLINE.match(self._lines[at])),
        )

    def _paragraph(self) -> None:
        end = self._while(lambda at: not self._begins_block(at) and not _UNDERLINE.match(self._lines[at]))
        underline = _UNDERLINE.match(self._lines[end]) if end < len(self._lines) else None
        if underline is not None and end == self._at + 1 and not _RULE.match(self._lines[self._at]):
            title = self._lines[self._at].strip()
            self._add(BlockKind.HEADING, end + 1, level=1 if "=" in underline["mark"] else 2, text=title)
        else:
            self._add(BlockKind.TEXT, end)

    def _begins_block(self, at: int) -> bool:
        line = self._lines[at]
        return bool(_HEADING.match(line) or _FENCE.match(line) or _ITEM.match(line)) or self._is_table(at)

    def _while(self, goes_on: Callable[[int], bool]) -> int:
        """The line after the block that begins here: the first that is blank or does not continue it."""
        end = self._at + 1
        while end < len(self._lines) and self._lines[end].strip() and goes_on(end):
            end += 1
        return end

    def _add(self, kind: BlockKind, end: int, *, level: int = 0, text: str | None = None) -> None:
        if text is None:
            text = "\n".join(self._lines[self._at : end])
        self._blocks.append(Block(kind, text, self._at + 1, end, level))
        self._at = end


def _is_table_rule(line: str) -> bool:
    """Whether a line divides a table's head from its rows, as `|---|:-:|` does."""
    cells = line.strip(" \t").removeprefix("|").removesuffix("|").split("|")
    return all(_TABLE_RULE_CELL.fullmatch(cell) for cell in cells)


def _without_closing_marks(title: str) -> str:
    """`Title ##` is `Title`; `C#` is itself."""
    before = title.rstrip("#")
    return before.strip() if not before or before[-1] in " \t" else title
