"""What the commands that stay say on standard error, in both languages."""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.release.language import Language


@dataclass(frozen=True, slots=True)
class ProcessWords:
    """Sentences; names in braces are filled in."""

    working: str
    listening: str
    no_source: str
    open_to_all: str
    no_key: str
    stopping: str
    stopped: str
    cannot_start: str
    store_away: str


_ENGLISH = ProcessWords(
    working="Working as {owner}, {parallel} runs at a time. Ctrl+C stops.",
    listening="Listening on {url}. Ctrl+C stops.",
    no_source="No source is configured: a diagnosis will say that it lacks one. Name a folder with --from.",
    open_to_all="No API key is asked for: whoever is on this machine may ask.",
    no_key="An API key is asked for, and there is none: make one with `diagnose keys add`.",
    stopping="Stopping: no more runs are taken; those at work may end.",
    stopped="Stopped.",
    cannot_start="Cannot start: {problem}; see database.url and queue.url in the settings.",
    store_away="Until it works, no diagnosis can be made: {problem}; see evidence.url in the settings.",
)
_CHINESE = ProcessWords(
    working="正以 {owner} 工作，同时处理 {parallel} 个运行。按 Ctrl+C 停止。",
    listening="正在监听 {url}。按 Ctrl+C 停止。",
    no_source="没有配置数据源：诊断会说明缺少数据源。请用 --from 指定文件夹。",
    open_to_all="不要求 API 密钥：本机上的任何人都可以提问。",
    no_key="需要 API 密钥，但还没有任何密钥：请用 `diagnose keys add` 创建。",
    stopping="正在停止：不再接收新的运行；进行中的运行可以结束。",
    stopped="已停止。",
    cannot_start="无法启动：{problem}；请检查设置中的 database.url 和 queue.url。",
    store_away="在它恢复之前无法进行诊断：{problem}；请检查设置中的 evidence.url。",
)


def process_words(language: Language) -> ProcessWords:
    """The words of a language."""
    return _CHINESE if language is Language.ZH else _ENGLISH
