"""Sentences that earlier releases worded differently, with today's wording.

A run document is verified by composing its sentences again. This table lets documents with an earlier wording
still verify. It cannot hold a sentence with values: such a sentence keeps its wording until the version of
the document changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from diagnosis_harness.kernel.window import parse_utc
from diagnosis_harness.report.timestamps import display_time

_PAIRS: Final = (
    (
        "The analysis ended without a conclusion and without a single verified fact.",
        "The analysis ended without a conclusion and without any verified fact.",
    ),
    (
        "Nothing new was coming in, and nothing of what had come in could be verified.",
        "New queries brought nothing new, and nothing found so far could be verified.",
    ),
    ("没有新的信息进入，而已有的信息无一能够核实。", "新的查询没有带来新信息，而已有的信息都无法核实。"),
    (
        "The analyst did not account for what it was shown, and no fact could be verified.",
        "The agent did not assess its results, and no fact could be verified.",
    ),
    (
        "分析方没有说明它所看到的结果，也没有任何事实能够核实。",
        "智能体没有对结果作出评估，也没有任何事实能够核实。",
    ),
    (
        "The analyst's answer was empty or unreadable, and no fact could be verified.",
        "The agent's answer was empty or unreadable, and no fact could be verified.",
    ),
    (
        "分析方的回答为空或无法读取，也没有任何事实能够核实。",
        "智能体的回答为空或无法读取，也没有任何事实能够核实。",
    ),
    (
        "The analyst, or the language model behind it, failed; it was not asked again.",
        "The agent, or the language model behind it, failed and was not asked again.",
    ),
    ("分析方或其背后的语言模型调用失败；没有再次调用。", "智能体或其背后的语言模型失败；没有再次调用。"),
    (
        "What the question asks for could not be determined, and no path was guessed.",
        "It could not be determined what kind of question this is, and the system does not guess.",
    ),
    ("无法确定这个问题要问什么；没有猜测任何路径。", "无法确定这是哪一类问题，而系统不作猜测。"),
    (
        "The answer could not be written, or could not be borne out; it was not tried again.",
        ("The answer could not be written, or the sources do not support it; it was not tried again."),
    ),
    (
        "答案未能写出，或写出的内容无法得到证实；没有再次尝试。",
        "答案未能写出，或出处不支持它；没有再次尝试。",
    ),
    (
        ("The time at which it is said to have begun lies outside of the data that this source holds."),
        "The stated onset lies outside the data of this source.",
    ),
    ("给定的开始时间不在该数据源所涵盖的时间范围内。", "给定的开始时间不在该数据源的时间范围内。"),
    (
        "The source that was to be looked at cannot be read; the log of the service says why.",
        "The source cannot be read; the service log says why.",
    ),
    ("要查看的数据源无法读取；原因见服务日志。", "数据源无法读取；原因见服务日志。"),
    (
        "The run was ended from inside before anything could be checked, so nothing is concluded.",
        "The run stopped itself before anything could be checked, so there is no conclusion.",
    ),
    (
        "运行在任何内容得到核查之前就已从内部结束，因此不给出结论。",
        "运行在任何内容得到核查之前就自行停止，因此没有结论。",
    ),
    (
        ("The evidence store did not work, so nothing found could be kept; the log of the service says why."),
        "The evidence store failed, so no findings could be stored; the service log says why.",
    ),
    (
        "证据存储未能工作，查看到的内容无法保存；原因见服务日志。",
        "证据存储不可用，因此查询结果无法保存；原因见服务日志。",
    ),
    ("The run was cancelled before it had an answer.", "The run was cancelled before there was an answer."),
    (
        "The run failed inside; no answer is given rather than a doubtful one.",
        "The run failed with an internal error, so there is no answer.",
    ),
    ("运行内部失败；宁可不给答案，也不给可疑的答案。", "运行因内部错误失败，因此没有答案。"),
    (
        "The time given was over before any fact could be verified.",
        "Time ran out before any fact could be verified.",
    ),
    (
        "Give normal operation to compare with: --baseline FOLDER.",
        "Provide a baseline to compare against: --baseline FOLDER.",
    ),
    ("Say when it began: --onset TIME.", "State when it began: --onset TIME."),
    (
        "Ask again: it is a new run, with its own time and budget.",
        "Ask again: a new run has its own time and budget.",
    ),
    ("重新提问：那将是一次新的运行，有自己的时间与预算。", "重新提问：新的运行有自己的时间与预算。"),
    (
        "A conclusion that the recorded evidence bears out.",
        "A conclusion that the recorded evidence supports.",
    ),
    (
        "No conclusion: what is needed to answer was not there.",
        "No conclusion: information needed to answer was missing.",
    ),
    ("没有结论：缺少回答所需的信息。", "暂无结论：缺少回答所需的信息。"),
    ("没有结论：现有证据不足以证明原因。", "暂无结论：现有证据不足以证明原因。"),
    ("没有结论：曾形成草稿，但其引用未通过核对。", "暂无结论：初步结论的引用未通过核对。"),
    ("没有结论：曾形成草稿，但所引证据不支持它。", "暂无结论：所引证据不支持初步结论。"),
    ("没有结论：曾形成草稿，但最后一项检查无法进行。", "暂无结论：初步结论的最后一项检查无法进行。"),
    (
        "No conclusion: one was drafted, but its citations did not stand up to checking.",
        "No conclusion: one was drafted, but its citations failed the check.",
    ),
    (
        "No conclusion: one was drafted, but the evidence it cites does not bear it out.",
        "No conclusion: one was drafted, but the evidence it cites does not support it.",
    ),
    (
        "No conclusion: one was drafted, but the last check of it could not be made.",
        "No conclusion: one was drafted, but the final check could not be run.",
    ),
    (
        "Collecting stopped: further questions brought nothing new.",
        "Collection stopped: further queries brought nothing new.",
    ),
    (
        "Collecting stopped: the agent did not say what its results meant.",
        "Collection stopped: the agent did not assess its results.",
    ),
    ("停止收集：代理没有说明结果的意义。", "停止收集：智能体未对结果作出评估。"),
    ("Collecting stopped at the limit of the budget.", "Collection stopped: the budget limit was reached."),
    ("The time it was given ran out.", "Time ran out."),
    ("给定的时间已用完。", "时间已用完。"),
    ("The budget it was given is used up.", "The budget is used up."),
    ("给定的预算已用完。", "预算已用完。"),
    (
        "The run did not begin in the time it was given for that.",
        "The run did not start before its start deadline.",
    ),
    (
        (
            "No process that takes queued runs has the source that was asked about, so the run "
            "did not begin in the time it was given for that."
        ),
        (
            "No process that takes queued runs has this source, so the run did not start before "
            "its start deadline."
        ),
    ),
    (
        "没有任何处理排队运行的进程拥有所询问的数据源，因此运行未能在规定的时间内开始。",
        "处理排队运行的进程都没有该数据源，因此运行未能在规定的时间内开始。",
    ),
    (
        (
            "The run was cut off: its process is gone, or could not reach the database. Nothing "
            "of it was repeated; it can be started anew."
        ),
        (
            "The run was interrupted: its process died, or could not reach the database. No step "
            "was repeated; you can ask again."
        ),
    ),
    (
        ("运行中断：处理它的进程已不存在，或无法访问数据库。没有任何步骤被重复执行；可以重新发起一次运行。"),
        "运行中断：处理它的进程已退出，或无法访问数据库。没有重复执行任何步骤；可以重新提问。",
    ),
)
_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
REWORDED: Final[Mapping[str, str]] = MappingProxyType(dict(_PAIRS))
"""Sentences of versions up to 0.1.0, in English or Chinese, with today's."""


def in_current_words(sentences: Iterable[str]) -> tuple[str, ...]:
    """The sentences, with earlier wordings and times written as today."""
    return tuple(_INSTANT.sub(_show_time, REWORDED.get(sentence, sentence)) for sentence in sentences)


def _show_time(found: re.Match[str]) -> str:
    """A time as sentences show it today; earlier ones showed some as JSON writes them."""
    try:
        return display_time(parse_utc(found[0]))
    except ValueError:
        return found[0]
