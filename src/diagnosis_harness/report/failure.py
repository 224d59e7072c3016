"""Says in one plain sentence, in either language, why nothing could be released."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from diagnosis_harness.kernel.language import Language, Text
from diagnosis_harness.release.decision import WorkEnd

_SENTENCES: Final[Mapping[WorkEnd, Text]] = {
    WorkEnd.NO_CONCLUSION: Text(
        en="The analysis ended without a conclusion and without any verified fact.",
        zh="分析结束时既没有结论，也没有任何经过核实的事实。",
    ),
    WorkEnd.SATURATED: Text(
        en="New queries brought nothing new, and nothing found so far could be verified.",
        zh="新的查询没有带来新信息，而已有的信息都无法核实。",
    ),
    WorkEnd.PROTOCOL_STOP: Text(
        en="The agent did not assess its results, and no fact could be verified.",
        zh="智能体没有对结果作出评估，也没有任何事实能够核实。",
    ),
    WorkEnd.DRAFT_ILLEGAL: Text(
        en="The agent's answer was empty or unreadable, and no fact could be verified.",
        zh="智能体的回答为空或无法读取，也没有任何事实能够核实。",
    ),
    WorkEnd.POLICY_FAILED: Text(
        en="The agent, or the language model behind it, failed and was not asked again.",
        zh="智能体或其背后的语言模型失败；没有再次调用。",
    ),
    WorkEnd.ROUTER_UNAVAILABLE: Text(
        en="It could not be determined what kind of question this is, and the system does not guess.",
        zh="无法确定这是哪一类问题，而系统不作猜测。",
    ),
    WorkEnd.ANSWER_FAILED: Text(
        en="The answer could not be written, or the sources do not support it; it was not tried again.",
        zh="答案未能写出，或出处不支持它；没有再次尝试。",
    ),
    WorkEnd.ONSET_OUTSIDE_DATA: Text(
        en="The stated onset lies outside the data of this source.",
        zh="给定的开始时间不在该数据源的时间范围内。",
    ),
    WorkEnd.SOURCE_UNAVAILABLE: Text(
        en="The source cannot be read; the service log says why.", zh="数据源无法读取；原因见服务日志。"
    ),
    WorkEnd.SOURCE_EXPIRED: Text(
        en="The source that was sent had expired or was deleted before the run could read it; send it again.",
        zh="上传的数据源在运行读取之前已过期或被删除；请重新上传。",
    ),
    WorkEnd.ENDED_EARLY: Text(
        en="The run stopped itself before anything could be checked, so there is no conclusion.",
        zh="运行在任何内容得到核查之前就自行停止，因此没有结论。",
    ),
    WorkEnd.EVIDENCE_STORE_UNAVAILABLE: Text(
        en="The evidence store failed, so no findings could be stored; the service log says why.",
        zh="证据存储不可用，因此查询结果无法保存；原因见服务日志。",
    ),
    WorkEnd.CANCELLED: Text(
        en="The run was cancelled before there was an answer.", zh="运行在得出答案之前被取消。"
    ),
    WorkEnd.INTERNAL_FAILURE: Text(
        en="The run failed with an internal error, so there is no answer.",
        zh="运行因内部错误失败，因此没有答案。",
    ),
    WorkEnd.BUDGET_REACHED: Text(
        en="A limit of the run was reached before any fact could be verified.",
        zh="在任何事实得到核实之前，运行的某项预算已经用尽。",
    ),
    WorkEnd.DEADLINE_REACHED: Text(
        en="Time ran out before any fact could be verified.",
        zh="在任何事实得到核实之前，给定的时间已经用完。",
    ),
}


def failure_sentence(end: WorkEnd, language: Language) -> str:
    """The sentence for an end that releases nothing; that of INTERNAL_FAILURE for ends without one."""
    return _SENTENCES.get(end, _SENTENCES[WorkEnd.INTERNAL_FAILURE]).in_(language)
