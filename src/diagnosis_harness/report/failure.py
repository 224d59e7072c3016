"""Why nothing could be released, in one plain sentence in either language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from diagnosis_harness.kernel.language import Language, Text
from diagnosis_harness.release.decision import WorkEnd

_SENTENCES: Final[Mapping[WorkEnd, Text]] = {
    WorkEnd.NO_CONCLUSION: Text(
        en="The analysis ended without a conclusion and without a single verified fact.",
        zh="分析结束时既没有结论，也没有任何经过核实的事实。",
    ),
    WorkEnd.SATURATED: Text(
        en="Nothing new was coming in, and nothing of what had come in could be verified.",
        zh="没有新的信息进入，而已有的信息无一能够核实。",
    ),
    WorkEnd.PROTOCOL_STOP: Text(
        en="The analyst did not account for what it was shown, and no fact could be verified.",
        zh="分析方没有说明它所看到的结果，也没有任何事实能够核实。",
    ),
    WorkEnd.DRAFT_ILLEGAL: Text(
        en="The analyst's answer was empty or unreadable, and no fact could be verified.",
        zh="分析方的回答为空或无法读取，也没有任何事实能够核实。",
    ),
    WorkEnd.POLICY_FAILED: Text(
        en="The analyst, or the language model behind it, failed; it was not asked again.",
        zh="分析方或其背后的语言模型调用失败；没有再次调用。",
    ),
    WorkEnd.ROUTER_UNAVAILABLE: Text(
        en="What the question asks for could not be determined, and no path was guessed.",
        zh="无法确定这个问题要问什么；没有猜测任何路径。",
    ),
    WorkEnd.ANSWER_FAILED: Text(
        en="The answer could not be written, or could not be borne out; it was not tried again.",
        zh="答案未能写出，或写出的内容无法得到证实；没有再次尝试。",
    ),
    WorkEnd.ONSET_OUTSIDE_DATA: Text(
        en="The time at which it is said to have begun lies outside of the data that this source holds.",
        zh="给定的开始时间不在该数据源所涵盖的时间范围内。",
    ),
    WorkEnd.SOURCE_UNAVAILABLE: Text(
        en="The source that was to be looked at cannot be read; the log of the service says why.",
        zh="要查看的数据源无法读取；原因见服务日志。",
    ),
    WorkEnd.ENDED_EARLY: Text(
        en="The run was ended from inside before anything could be checked, so nothing is concluded.",
        zh="运行在任何内容得到核查之前就已从内部结束，因此不给出结论。",
    ),
    WorkEnd.EVIDENCE_STORE_UNAVAILABLE: Text(
        en=(
            "The evidence store did not work, so nothing found could be kept; the log of the service says "
            "why."
        ),
        zh="证据存储未能工作，查看到的内容无法保存；原因见服务日志。",
    ),
    WorkEnd.CANCELLED: Text(
        en="The run was cancelled before it had an answer.", zh="运行在得出答案之前被取消。"
    ),
    WorkEnd.INTERNAL_FAILURE: Text(
        en="The run failed inside; no answer is given rather than a doubtful one.",
        zh="运行内部失败；宁可不给答案，也不给可疑的答案。",
    ),
    WorkEnd.BUDGET_REACHED: Text(
        en="A limit of the run was reached before any fact could be verified.",
        zh="在任何事实得到核实之前，运行的某项预算已经用尽。",
    ),
    WorkEnd.DEADLINE_REACHED: Text(
        en="The time given was over before any fact could be verified.",
        zh="在任何事实得到核实之前，给定的时间已经用完。",
    ),
}


def failure_sentence(end: WorkEnd, language: Language) -> str:
    """The sentence for an end that releases nothing; INTERNAL_FAILURE's where the end has none of its own."""
    return _SENTENCES.get(end, _SENTENCES[WorkEnd.INTERNAL_FAILURE]).in_(language)
