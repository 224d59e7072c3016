"""`diagnose knowledge`; notes on files are English."""

from __future__ import annotations

from diagnosis_harness.kernel.language import Text

INDEXED = Text(
    en="Indexed: {documents} files with {passages} passages. Read now: {read}; removed: {removed}.",
    zh="已索引 {documents} 个文件、{passages} 个段落。本次读取 {read} 个，移除 {removed} 个。",
)
NOTE = Text(en="{file}: {note}.", zh="{file}：{note}。")
MORE_NOTES = Text(en="… and {count} more notes.", zh="……另有 {count} 条说明。")
FAILED = Text(en="The runbooks could not be searched: {problem}.", zh="无法检索运维手册：{problem}。")
