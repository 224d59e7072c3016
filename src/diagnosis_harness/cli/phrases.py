"""What the terminal itself says, apart from the report, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from diagnosis_harness.kernel.language import Language, language_of

_USAGE_ZH = {
    "No such option:": "没有选项 ",
    "No such command": "没有命令 ",
    "Missing argument": "缺少参数 ",
    "Missing option": "缺少选项 ",
    "Missing command": "缺少命令",
    "Got unexpected extra argument(s)": "多余的参数 ",
}


@dataclass(frozen=True, slots=True)
class Phrases:
    """One language. `{names}` are the same in both."""

    reading: str
    stages: Mapping[str, str]
    found: str
    found_one: str
    nothing_found: str
    failed: str
    refused: str
    budget: str
    comma: str
    cancelling: str
    nothing_in_flight: str
    left_at_once: str
    stopped: str
    saved: str
    bad_input: str
    bad_usage: str
    usage_begins: Mapping[str, str]
    """How the commonest complaints of the command line begin, and how they begin in this language."""
    full_stop: str
    unwritten: str
    unexpected: str
    debug_hint: str
    demo_question: str
    simulated: str
    injected: str
    injected_none: str
    right: str
    right_none: str
    candidate: str
    wrong: str
    wrong_none: str
    no_answer: str
    kept_folder: str

    def usage_error(self, complaint: str) -> str:
        """A complaint of the command line (typer's, in English) as one sentence; an uncommon one as it is."""
        said = " ".join(complaint.split())
        for begin, ours in self.usage_begins.items():
            if said.startswith(begin):
                said = f"{ours}{said.removeprefix(begin).strip().removesuffix('.')}".strip()
                break
        message = said if said.endswith((".", "?")) else said + self.full_stop
        return self.bad_usage.format(message=message)


def phrases_of(language: Language) -> Phrases:
    """The phrases of a language."""
    return _chinese() if language is Language.ZH else _english()


def language_of_command_line(arguments: list[str]) -> Language:
    """The language to complain in when the command line itself is wrong: `--lang`, else by its script."""
    for place, argument in enumerate(arguments):
        name, _, value = argument.partition("=")
        following = arguments[place + 1] if place + 1 < len(arguments) else ""
        if name == "--lang" and (value or following) in set(Language):
            return Language(value or following)
    return language_of(" ".join(arguments))


def _english() -> Phrases:
    return Phrases(
        reading="reading {file}",
        stages={
            "ROUTING": "routing",
            "SYSTEM_RESPONDING": "answering",
            "KNOWLEDGE_SEARCHING": "searching knowledge",
            "KNOWLEDGE_ANSWERING": "answering",
            "DIAGNOSIS_RUNNING": "diagnosing",
            "SAFETY_VALIDATING": "checking what may be released",
        },
        found="{tool}: {count} findings",
        found_one="{tool}: 1 finding",
        nothing_found="{tool}: nothing in this scope",
        failed="{tool}: failed ({code})",
        refused="{tool}: refused ({code})",
        budget="{used} of {limit} tool calls",
        comma=", ",
        cancelling="Cancelling. In flight: {calls}. Ctrl+C again leaves at once.",
        nothing_in_flight="nothing",
        stopped="Stopped.",
        left_at_once="Left at once; what was in flight is lost.",
        saved="Saved: {file}",
        bad_input="Cannot use {place}: {problem}; {remedy}.",
        bad_usage="{message} `diagnose --help` shows what there is.",
        usage_begins={begin: f"{begin} " for begin in _USAGE_ZH},
        full_stop=".",
        unwritten="Cannot write: {problem}. The output is not complete.",
        unexpected="Something went wrong that should not have ({kind}: {message}).",
        debug_hint="`diagnose --debug …` shows where; please report it.",
        demo_question="Why did the alert fire?",
        simulated="Simulated: this system and its incident were made up for the demo (seed {seed}).",
        injected="What had been injected: {kind} at {entity}.",
        injected_none="What had been injected: nothing; the system was sound and the alert only flapped.",
        right="The diagnosis was right: {entity} came first.",
        right_none="The diagnosis was right: it named no cause.",
        candidate="The diagnosis concluded nothing; {entity} is number {place} of its candidates.",
        wrong="The diagnosis was wrong: it named {named}.",
        wrong_none="The diagnosis did not find it.",
        no_answer="The run gave no answer, so there is nothing to judge.",
        kept_folder="Folder: {folder}",
    )


def _chinese() -> Phrases:
    return Phrases(
        reading="正在读取 {file}",
        stages={
            "ROUTING": "正在判断问题类型",
            "SYSTEM_RESPONDING": "正在回答",
            "KNOWLEDGE_SEARCHING": "正在检索知识",
            "KNOWLEDGE_ANSWERING": "正在回答",
            "DIAGNOSIS_RUNNING": "正在诊断",
            "SAFETY_VALIDATING": "正在核对可发布的内容",
        },
        found="{tool}：{count} 项发现",
        found_one="{tool}：1 项发现",
        nothing_found="{tool}：此范围内没有发现",
        failed="{tool}：失败（{code}）",
        refused="{tool}：被拒绝（{code}）",
        budget="工具调用 {used}/{limit}",
        comma="，",
        cancelling="正在取消。仍在进行：{calls}。再按一次 Ctrl+C 立即退出。",
        nothing_in_flight="无",
        stopped="已停止。",
        left_at_once="已立即退出，进行中的内容已丢失。",
        saved="已保存：{file}",
        bad_input="无法使用 {place}：{problem}；{remedy}。",
        bad_usage="用法有误：{message}用 `diagnose --help` 查看用法。",
        usage_begins=_USAGE_ZH,
        full_stop="。",
        unwritten="无法写入：{problem}。输出不完整。",
        unexpected="出现了不应有的错误（{kind}: {message}）。",
        debug_hint="用 `diagnose --debug …` 查看出错位置，并请报告此问题。",
        demo_question="告警为什么触发？",
        simulated="模拟：这个系统及其故障是为演示而生成的（种子 {seed}）。",
        injected="注入的故障：{entity} 的 {kind}。",
        injected_none="没有注入故障：系统正常，只是告警抖动。",
        right="诊断正确：{entity} 排在首位。",
        right_none="诊断正确：没有指认任何原因。",
        candidate="诊断没有下结论；{entity} 在候选中排第 {place} 位。",
        wrong="诊断错误：指认了 {named}。",
        wrong_none="诊断没有找到它。",
        no_answer="本次运行没有答案，无从评判。",
        kept_folder="文件夹：{folder}",
    )
