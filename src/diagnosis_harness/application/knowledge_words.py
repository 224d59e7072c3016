"""Answers from runbooks as a person reads them, in both languages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.names import named
from diagnosis_harness.knowledge.passage import BlockKind, Passage
from diagnosis_harness.knowledge.retrieval import Retrieval
from diagnosis_harness.knowledge.units import Unit
from diagnosis_harness.report.timestamps import shown

Quoted: TypeAlias = tuple[tuple[Unit, Passage], ...]
"""What an answer quotes, in its order: a unit, and the passage that it stands in."""


_APART = frozenset({BlockKind.CODE, BlockKind.TABLE})
"""What a number behind it would be read as part of."""


@dataclass(frozen=True, slots=True)
class _Words:
    found: str
    sources: str
    lines: str
    line: str
    nothing: str
    nothing_indexed: str
    nearest: str
    stale: str
    not_configured: str


_ENGLISH = _Words(
    found="The runbooks say:",
    sources="Sources",
    lines="lines {first} to {last}",
    line="line {first}",
    nothing="None of the runbooks answers this: {documents} files with {passages} passages were searched.",
    nothing_indexed="There is no runbook to search: the folder holds no text that can be used.",
    nearest="The nearest headings, which are no answer:",
    stale="The folder of the runbooks could not be read just now; this is what it held before.",
    not_configured="No runbooks are configured, so nothing was searched. Name a folder of Markdown, text or"
    " HTML files in the settings (`folder` in the table `[knowledge]`) or in DIAGNOSE_KNOWLEDGE__FOLDER.",
)
_CHINESE = _Words(
    found="运维手册中写道：",
    sources="出处",
    lines="第 {first} 至 {last} 行",
    line="第 {first} 行",
    nothing="运维手册中没有答案：共检索了 {documents} 个文件、{passages} 个段落。",
    nothing_indexed="没有可检索的运维手册：文件夹中没有可用的文本。",
    nearest="最接近的标题如下，但它们不是答案：",
    stale="运维手册的文件夹刚才无法读取，以下是之前的内容。",
    not_configured="没有配置运维手册，因此没有检索任何内容。请在设置的 `[knowledge]` 表中用 `folder`，"
    "或用环境变量 DIAGNOSE_KNOWLEDGE__FOLDER 指定一个包含 Markdown、文本或 HTML 文件的文件夹。",
)


def answer_text(quoted: Quoted, language: Language, *, is_stale: bool) -> str:
    """The quotations, each with the number of its passage, and where the passages stand."""
    words = _words(language)
    passages = list(dict.fromkeys(passage for _, passage in quoted))
    parts = [words.stale] if is_stale else []
    parts += [words.found, _quotations(quoted, passages)]
    parts.append(
        "\n".join(
            (
                words.sources,
                *(f"[{number}] {_where(one, words)}" for number, one in enumerate(passages, start=1)),
            )
        )
    )
    return "\n\n".join(parts)


def _quotations(quoted: Quoted, passages: list[Passage]) -> str:
    """Each with the number of its passage; the items of a list stand together."""
    text, before = "", None
    for unit, passage in quoted:
        if text:
            text += "\n" if before is unit.kind is BlockKind.ITEM else "\n\n"
        apart = "\n" if unit.kind in _APART else " "
        text += f"{_safe(unit.text)}{apart}[{passages.index(passage) + 1}]"
        before = unit.kind
    return text


def nothing_found_text(found: Retrieval, language: Language) -> str:
    """That nothing answers, how much was searched, and what came nearest."""
    words, searched = _words(language), found.searched
    if searched.passages == 0:
        return words.nothing_indexed
    parts = [words.stale] if found.is_stale else []
    parts.append(words.nothing.format(documents=searched.documents, passages=searched.passages))
    if found.nearest:
        parts.append("\n".join((words.nearest, *(f"- {_where(one, words)}" for one in found.nearest))))
    return "\n\n".join(parts)


def not_configured_text(language: Language) -> str:
    """That there is nothing to search, and how to change that."""
    return _words(language).not_configured


def _words(language: Language) -> _Words:
    return _CHINESE if language is Language.ZH else _ENGLISH


def _where(passage: Passage, words: _Words) -> str:
    first, last = passage.first_line, passage.last_line
    lines = words.line.format(first=first) if first == last else words.lines.format(first=first, last=last)
    headings = " > ".join(shown(heading) for heading in passage.headings)
    return ", ".join(part for part in (named(passage.file), headings, lines) if part)


def _safe(text: str) -> str:
    """A text from a document as a terminal may show it: line by line, nothing invisible."""
    return "\n".join(shown(line.replace("\t", "    ")) for line in text.split("\n"))
