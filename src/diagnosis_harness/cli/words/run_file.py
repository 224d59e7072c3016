"""`diagnose why` and `diagnose trace`."""

from __future__ import annotations

from diagnosis_harness.kernel.language import Text
from diagnosis_harness.trace.timeline import PhaseVerdict

ALTERED = Text(
    en="{file} differs from what was saved; `diagnose verify` shows where.",
    zh="{file} 与保存时的内容不一致；用 `diagnose verify` 查看差异。",
)
NOT_ARISING = Text(en=" (does not apply)", zh="（不存在此情况）")
NO_TRACE = Text(en="This document has no trace.", zh="此文档没有轨迹。")
TIME = Text(en="time", zh="时间")
PHASE = Text(en="phase", zh="阶段")
NAME = Text(en="event", zh="事件")
STATUS = Text(en="status", zh="状态")
TEXT = Text(en="details", zh="内容")
TOOK = Text(en="took", zh="用时")
EVENTS = Text(en="events", zh="事件数")
CAME_TO = Text(en="result", zh="结果")
VERDICTS = {
    PhaseVerdict.DONE: Text(en="done", zh="完成"),
    PhaseVerdict.PARTLY: Text(en="partly", zh="部分完成"),
    PhaseVerdict.FAILED: Text(en="failed", zh="失败"),
    PhaseVerdict.REFUSED: Text(en="refused", zh="被拒绝"),
    PhaseVerdict.OPEN: Text(en="not ended", zh="未结束"),
}
