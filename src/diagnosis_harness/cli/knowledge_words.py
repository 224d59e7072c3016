"""What `diagnose knowledge` says, in both languages."""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.kernel.language import Language


@dataclass(frozen=True, slots=True)
class KnowledgeWords:
    """One language. `{names}` are the same in both; notes on files are English."""

    indexed: str
    note: str
    more_notes: str
    failed: str


def knowledge_words(language: Language) -> KnowledgeWords:
    """The words of a language."""
    return _CHINESE if language is Language.ZH else _ENGLISH


_ENGLISH = KnowledgeWords(
    indexed="Indexed: {documents} files with {passages} passages. Read now: {read}; gone: {removed}.",
    note="{file}: {note}.",
    more_notes="… and {count} more notes.",
    failed="The runbooks gave no answer: {problem}.",
)
_CHINESE = KnowledgeWords(
    indexed="已索引 {documents} 个文件、{passages} 个段落。本次读取 {read} 个，移除 {removed} 个。",
    note="{file}：{note}。",
    more_notes="……另有 {count} 条说明。",
    failed="运维手册没有给出答案：{problem}。",
)
