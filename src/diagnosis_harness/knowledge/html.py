"""HTML as blocks: what a reader of the page sees, without scripts and styles. Never raises."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from diagnosis_harness.knowledge.passage import Block, BlockKind

_HIDDEN = frozenset({"script", "style", "template", "noscript", "svg"})
_HEADINGS = {"title": 0} | {f"h{level}": level for level in range(1, 7)}
_BLOCKS = {
    **dict.fromkeys(_HEADINGS, BlockKind.HEADING),
    **dict.fromkeys(
        ("p", "div", "section", "article", "main", "header", "footer", "nav", "aside", "blockquote", "body"),
        BlockKind.TEXT,
    ),
    **dict.fromkeys(("dd", "dt", "figcaption", "ul", "ol", "dl", "hr"), BlockKind.TEXT),
    "li": BlockKind.ITEM,
    "pre": BlockKind.CODE,
    "table": BlockKind.TABLE,
}
_BREAKS, _CELLS = frozenset({"br", "tr"}), frozenset({"td", "th"})
_WHOLE = frozenset({"pre", "table"})
_UNSEEN = re.compile(r"<!--(?:.*?-->|.*)|<!\[[^>]*>?", re.DOTALL)
"""Comments, and SGML-like markup at which the standard library's parser raises: neither is visible text."""
_DEPTH_MAX = 100
_STRAY = re.compile(r"<(?=[^<>]*(?:<|\Z))")
"""`<` signs that open no tag, for each of which the parser would search to the end of the page."""


def html_blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a page, with the lines of the file that they come from."""
    reader = _Reader()
    seen = _UNSEEN.sub(lambda found: "\n" * found[0].count("\n"), text)
    reader.feed(_STRAY.sub("&lt;", seen))
    reader.close()
    return reader.finish()


class _Reader(HTMLParser):
    """Gathers text until a tag begins or ends a block."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._blocks: list[Block] = []
        self._parts: list[str] = []
        self._lines = (1, 1)
        self._hidden = 0
        self._open_tags: list[str] = []

    def finish(self) -> tuple[Block, ...]:
        self._flush()
        return tuple(self._blocks)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag in _HIDDEN:
            self._hidden += 1
        elif tag in _BREAKS:
            self._parts.append("\n")
        elif tag in _CELLS:
            self._parts.append(" | " if self._parts and not self._parts[-1].endswith("\n") else "")
        elif tag in _BLOCKS and not self._inside_whole(tag):
            self._flush()
            if len(self._open_tags) < _DEPTH_MAX:  # paragraphs that nobody closes, most of all
                self._open_tags.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _HIDDEN:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag in self._open_tags and (tag in _WHOLE or not self._inside_whole(tag)):
            self._flush()
            while self._open_tags.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self._hidden or not data:
            return
        line = self.getpos()[0]
        if data.strip():
            ahead = len(data) - len(data.lstrip())
            first = line + data[:ahead].count("\n")
            last = line + data.rstrip().count("\n")
            self._lines = (self._lines[0] if self._has_text() else first, last)
        self._parts.append(data if self._kind() is BlockKind.CODE else _one_line(data))

    def unknown_decl(self, data: str) -> None:
        """Ignore unknown declarations."""

    def _has_text(self) -> bool:
        return any(part.strip(" |\n") for part in self._parts)

    def _inside_whole(self, tag: str) -> bool:
        """Whether this is inside code or a table, which are not split."""
        return tag not in _HEADINGS and any(outer in _WHOLE for outer in self._open_tags)

    def _kind(self) -> BlockKind:
        """Of the innermost block; a paragraph of an item is the item's."""
        for tag in reversed(self._open_tags):
            kind = _BLOCKS[tag]
            if kind is not BlockKind.TEXT:
                return kind
            if tag in {"ul", "ol", "dl"}:
                break
        return BlockKind.TEXT

    def _flush(self) -> None:
        kind, level = (
            self._kind(),
            next((_HEADINGS[tag] for tag in self._open_tags[::-1] if tag in _HEADINGS), 0),
        )
        text = "".join(self._parts)
        self._parts.clear()
        if kind is BlockKind.CODE:
            text = text.strip("\n")
        else:
            text = "\n".join(" ".join(line.split()) for line in text.split("\n")).strip("\n ")
            text = "\n".join(line for line in text.split("\n") if line)
        if text.strip():
            if kind is BlockKind.HEADING:
                text = " ".join(text.split())
            level = level if kind is BlockKind.HEADING else 0
            self._blocks.append(Block(kind, text, *self._lines, level))


def _one_line(data: str) -> str:
    """Collapse white space to one blank, as a browser shows it."""
    return (
        ("" if not data[0].isspace() else " ")
        + " ".join(data.split())
        + ("" if not data[-1].isspace() or not data.strip() else " ")
    )
