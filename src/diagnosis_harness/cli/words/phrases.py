"""Progress, errors and the demo."""

from __future__ import annotations

from diagnosis_harness.kernel.language import Text

READING = Text(en="reading {file}", zh="正在读取 {file}")
STAGES = {
    "ROUTING": Text(en="routing", zh="正在判断问题类型"),
    "SYSTEM_RESPONDING": Text(en="answering", zh="正在回答"),
    "KNOWLEDGE_SEARCHING": Text(en="searching knowledge", zh="正在检索知识"),
    "KNOWLEDGE_ANSWERING": Text(en="answering", zh="正在回答"),
    "DIAGNOSIS_RUNNING": Text(en="diagnosing", zh="正在诊断"),
    "SAFETY_VALIDATING": Text(en="checking what may be published", zh="正在核对可发布的内容"),
}
FOUND = Text(en="{tool}: {count} findings", zh="{tool}：{count} 项发现")
FOUND_ONE = Text(en="{tool}: 1 finding", zh="{tool}：1 项发现")
NOTHING_FOUND = Text(en="{tool}: nothing in this scope", zh="{tool}：此范围内没有发现")
FAILED = Text(en="{tool}: failed ({code})", zh="{tool}：失败（{code}）")
REFUSED = Text(en="{tool}: refused ({code})", zh="{tool}：被拒绝（{code}）")
BUDGET = Text(en="{used} of {limit} tool calls", zh="工具调用 {used}/{limit}")
COMMA = Text(en=", ", zh="，")
CANCELLING = Text(
    en="Cancelling. In flight: {calls}. Press Ctrl+C again to exit at once.",
    zh="正在取消。仍在进行：{calls}。再按一次 Ctrl+C 立即退出。",
)
NOTHING_IN_FLIGHT = Text(en="nothing", zh="无")
LEFT_AT_ONCE = Text(en="Exited at once; calls in flight are lost.", zh="已立即退出，进行中的调用已丢失。")
STOPPED = Text(en="Stopped.", zh="已停止。")
SAVED = Text(en="Saved: {file}", zh="已保存：{file}")
BAD_INPUT = Text(en="Cannot use {place}: {problem}; {remedy}.", zh="无法使用 {place}：{problem}；{remedy}。")
BAD_USAGE = Text(
    en="{message} See `diagnose --help`.",
    zh="用法有误：{message}用 `diagnose --help` 查看用法。",
)
USAGE_ERRORS = {
    "No such option:": Text(en="No such option: ", zh="没有选项 "),
    "No such command": Text(en="No such command ", zh="没有命令 "),
    "Missing argument": Text(en="Missing argument ", zh="缺少参数 "),
    "Missing option": Text(en="Missing option ", zh="缺少选项 "),
    "Missing command": Text(en="Missing command ", zh="缺少命令"),
    "Got unexpected extra argument(s)": Text(en="Got unexpected extra argument(s) ", zh="多余的参数 "),
}
"""How the commonest usage errors of typer start."""
FULL_STOP = Text(en=".", zh="。")
UNWRITTEN = Text(
    en="Cannot write: {problem}. The output is not complete.", zh="无法写入：{problem}。输出不完整。"
)
UNEXPECTED = Text(
    en="Unexpected error ({kind}: {message}).",
    zh="意外错误（{kind}: {message}）。",
)
DEBUG_HINT = Text(
    en="Please report it, with the traceback that `diagnose --debug …` shows.",
    zh="请报告此问题，并附上 `diagnose --debug …` 显示的出错位置。",
)
DEMO_QUESTION = Text(en="Why did the alert fire?", zh="告警为什么触发？")
SIMULATED = Text(
    en="Simulated: this system and its incident were made up for the demo (seed {seed}).",
    zh="模拟：这个系统及其故障是为演示而生成的（种子 {seed}）。",
)
INJECTED = Text(en="Injected: {kind} at {entity}.", zh="注入的故障：{entity} 的 {kind}。")
NAMES_BETWEEN = Text(en=", ", zh="、")
INJECTED_NONE = Text(
    en="Injected: nothing; the system was healthy and the alert only flapped.",
    zh="没有注入故障：系统正常，只是告警抖动。",
)
RIGHT = Text(en="The diagnosis was right: {entity} came first.", zh="诊断正确：{entity} 排在首位。")
RIGHT_NONE = Text(en="The diagnosis was right: it named no cause.", zh="诊断正确：没有指认任何原因。")
CANDIDATE = Text(
    en="The diagnosis reached no conclusion; {entity} is number {place} of its candidates.",
    zh="诊断没有下结论；{entity} 在候选中排第 {place} 位。",
)
WRONG = Text(en="The diagnosis was wrong: it named {named}.", zh="诊断错误：指认了 {named}。")
WRONG_NONE = Text(en="The diagnosis did not find it.", zh="诊断没有找到它。")
NO_ANSWER = Text(
    en="The run gave no answer, so there is nothing to judge.", zh="本次运行没有答案，无从评判。"
)
KEPT_FOLDER = Text(en="Folder: {folder}", zh="文件夹：{folder}")
