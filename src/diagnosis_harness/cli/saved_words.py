"""What is said around the answers and the timeline of a saved run, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from diagnosis_harness.kernel.language import Language
from diagnosis_harness.trace.timeline import PhaseVerdict


@dataclass(frozen=True, slots=True)
class SavedWords:
    """One language. `{names}` are the same in both."""

    altered: str
    not_arising: str
    no_trace: str
    time: str
    phase: str
    name: str
    status: str
    text: str
    took: str
    events: str
    came_to: str
    verdicts: Mapping[PhaseVerdict, str]


def saved_words(language: Language) -> SavedWords:
    """The words of a language."""
    return _chinese() if language is Language.ZH else _english()


def _english() -> SavedWords:
    return SavedWords(
        altered="{file} is not byte for byte what was saved; `diagnose verify` shows what differs.",
        not_arising=" (does not arise)",
        no_trace="This document carries no trace.",
        time="time",
        phase="phase",
        name="event",
        status="status",
        text="what it says",
        took="took",
        events="events",
        came_to="came to",
        verdicts={
            PhaseVerdict.DONE: "done",
            PhaseVerdict.PARTLY: "partly",
            PhaseVerdict.FAILED: "failed",
            PhaseVerdict.REFUSED: "refused",
            PhaseVerdict.OPEN: "left open",
        },
    )


def _chinese() -> SavedWords:
    return SavedWords(
        altered="{file} 与保存时的字节不一致；用 `diagnose verify` 查看差异。",
        not_arising="（不存在此情况）",
        no_trace="此文档没有轨迹。",
        time="时间",
        phase="阶段",
        name="事件",
        status="状态",
        text="内容",
        took="用时",
        events="事件数",
        came_to="结果",
        verdicts={
            PhaseVerdict.DONE: "完成",
            PhaseVerdict.PARTLY: "部分完成",
            PhaseVerdict.FAILED: "失败",
            PhaseVerdict.REFUSED: "被拒绝",
            PhaseVerdict.OPEN: "未结束",
        },
    )
