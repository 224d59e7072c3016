"""What the commands that stay say on standard error, in both languages."""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.kernel.language import Language


@dataclass(frozen=True, slots=True)
class ProcessWords:
    """Sentences; names in braces are filled in."""

    database: str
    waiting: str
    no_database: str
    no_database_remedy: str
    working: str
    listening: str
    no_source: str
    no_source_here: str
    open_to_all: str
    no_key: str
    stopping: str
    stopped: str
    cannot_start: str
    store_away: str


_ENGLISH = ProcessWords(
    database="Database: {database}",
    waiting="The database does not answer yet ({problem}): waiting for it, {limit:g} s at most.",
    no_database="there is no database at {database}",
    no_database_remedy=(
        "start `diagnose serve` first, in the same folder, or name its database by DIAGNOSE_DATABASE__URL or"
        " --settings"
    ),
    working="Working as {owner}, {parallel} runs at a time. Ctrl+C stops.",
    listening="Listening on {url}. Ctrl+C stops.",
    no_source="No source is configured: a diagnosis will say that it lacks one. Name a folder with --from.",
    no_source_here=(
        "No source is configured here: only runs that ask about none are taken. Name a folder with --from."
    ),
    open_to_all="No API key is asked for: whoever is on this machine may ask.",
    no_key="An API key is asked for, and there is none: make one with `diagnose keys add`.",
    stopping="Stopping: no more runs are taken; those at work may end.",
    stopped="Stopped.",
    cannot_start="Cannot start: {problem}; see database.url and queue.url in the settings.",
    store_away="Until it works, no diagnosis can be made: {problem}; see evidence.url in the settings.",
)
_CHINESE = ProcessWords(
    database="数据库：{database}",
    waiting="数据库尚无响应（{problem}）：最多等待 {limit:g} 秒。",
    no_database="{database} 处没有数据库",
    no_database_remedy=(
        "请先在同一文件夹中启动 `diagnose serve`，或用 DIAGNOSE_DATABASE__URL 或 --settings 指定它的数据库"
    ),
    working="正以 {owner} 工作，同时处理 {parallel} 个运行。按 Ctrl+C 停止。",
    listening="正在监听 {url}。按 Ctrl+C 停止。",
    no_source="没有配置数据源：诊断会说明缺少数据源。请用 --from 指定文件夹。",
    no_source_here="此处没有配置数据源：只处理不涉及数据源的运行。请用 --from 指定文件夹。",
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
