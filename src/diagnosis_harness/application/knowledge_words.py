"""Words answers from runbooks, in both languages."""

from __future__ import annotations

from typing import Final, TypeAlias

from diagnosis_harness.kernel.language import Language, Text
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.knowledge.passage import BlockKind, Passage
from diagnosis_harness.knowledge.retrieval import Retrieval
from diagnosis_harness.knowledge.units import Unit
from diagnosis_harness.report.timestamps import escape_line

Quoted: TypeAlias = tuple[tuple[Unit, Passage], ...]
"""The quotations of an answer, in order: a unit of text and its passage."""


_APART = frozenset({BlockKind.CODE, BlockKind.TABLE})
"""Blocks after which a citation number would look like a part of their text."""


_FOUND: Final = Text(en="The runbooks say:", zh="运维手册中写道：")
_SOURCES: Final = Text(en="Sources", zh="出处")
_LINES: Final = Text(en="lines {first} to {last}", zh="第 {first} 至 {last} 行")
_LINE: Final = Text(en="line {first}", zh="第 {first} 行")
_NOTHING: Final = Text(
    en="No runbook answers this: {documents} files with {passages} passages were searched.",
    zh="运维手册中没有答案：共检索了 {documents} 个文件、{passages} 个段落。",
)
_NOTHING_INDEXED: Final = Text(
    en="There is no runbook to search: the folder contains no usable text.",
    zh="没有可检索的运维手册：文件夹中没有可用的文本。",
)
_NEAREST: Final = Text(
    en="The closest headings, which do not answer the question:", zh="最接近的标题如下，但它们不是答案："
)
_STALE: Final = Text(
    en="The runbook folder cannot be read right now; this comes from the last time it was read.",
    zh="运维手册文件夹暂时无法读取，以下内容来自上一次读取。",
)
_NOT_CONFIGURED: Final = Text(
    en=(
        "No runbooks are configured, so nothing was searched. Name a folder of Markdown, text or HTML "
        "files in the settings (`folder` in the table `[knowledge]`) or in DIAGNOSE_KNOWLEDGE__FOLDER."
    ),
    zh=(
        "没有配置运维手册，因此没有检索任何内容。请在设置的 `[knowledge]` 表中用 `folder`，或用环境变量"
        " DIAGNOSE_KNOWLEDGE__FOLDER 指定一个包含 Markdown、文本或 HTML 文件的文件夹。"
    ),
)


def answer_text(quote_text: Quoted, language: Language, *, is_stale: bool) -> str:
    """The quotations, each with the number of its passage, and the places of the passages."""
    passages = list(dict.fromkeys(passage for _, passage in quote_text))
    parts = [_STALE.in_(language)] if is_stale else []
    parts += [_FOUND.in_(language), _quotations(quote_text, passages)]
    parts.append(
        "\n".join(
            (
                _SOURCES.in_(language),
                *(f"[{number}] {_where(one, language)}" for number, one in enumerate(passages, start=1)),
            )
        )
    )
    return "\n\n".join(parts)


def _quotations(quote_text: Quoted, passages: list[Passage]) -> str:
    """Each quotation with the number of its passage; the items of a list are kept together."""
    text, before = "", None
    for unit, passage in quote_text:
        if text:
            text += "\n" if before is unit.kind is BlockKind.ITEM else "\n\n"
        separator = "\n" if unit.kind in _APART else " "
        text += f"{_safe(unit.text)}{separator}[{passages.index(passage) + 1}]"
        before = unit.kind
    return text


def nothing_found_text(found: Retrieval, language: Language) -> str:
    """States that nothing answers, how much was searched, and which headings are closest."""
    searched = found.searched
    if searched.passages == 0:
        return _NOTHING_INDEXED.in_(language)
    parts = [_STALE.in_(language)] if found.is_stale else []
    parts.append(_NOTHING.render(language, documents=searched.documents, passages=searched.passages))
    if found.nearest:
        parts.append(
            "\n".join((_NEAREST.in_(language), *(f"- {_where(one, language)}" for one in found.nearest)))
        )
    return "\n\n".join(parts)


def not_configured_text(language: Language) -> str:
    """States that there is nothing to search, and how to change that."""
    return _NOT_CONFIGURED.in_(language)


def _where(passage: Passage, language: Language) -> str:
    first, last = passage.first_line, passage.last_line
    lines = (
        _LINE.render(language, first=first)
        if first == last
        else _LINES.render(language, first=first, last=last)
    )
    headings = " > ".join(escape_line(heading) for heading in passage.headings)
    return ", ".join(part for part in (display_name(passage.file), headings, lines) if part)


def _safe(text: str) -> str:
    """A text from a document that is safe for a terminal: line by line, without invisible characters."""
    return "\n".join(escape_line(line.replace("\t", "    ")) for line in text.split("\n"))
