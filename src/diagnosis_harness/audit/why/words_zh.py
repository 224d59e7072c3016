"""The answers to "why" in Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from diagnosis_harness.audit.why.answer import Say, WhyQuestion

QUESTIONS_ZH: Final[Mapping[WhyQuestion, str]] = {
    WhyQuestion.FALLBACK: "为什么得到的是回退答案？",
    WhyQuestion.STOPPED_CALLING: "代理为什么停止调用工具？",
    WhyQuestion.NO_EVIDENCE: "工具为什么没有证据？",
    WhyQuestion.TIME_OR_BUDGET: "是超时还是预算耗尽？",
    WhyQuestion.STATUS_SUCCESS: "为什么 status 是 SUCCESS 却没有结论？",
    WhyQuestion.NO_DONE: "为什么没有流式发送 `done`？",
    WhyQuestion.NO_PREVIOUS_TURN: "下一轮为什么看不到本轮？",
}

SAID_ZH: Final[Mapping[Say, str]] = {
    Say.NO_FALLBACK_SUCCESS: "不是回退：发布的是得到已记录证据支持的结论。",
    Say.NO_FALLBACK_ANSWERED: "不是回退：问题已得到回答，且不需要诊断。",
    Say.NO_FALLBACK_FAILED: "不是回退，而是失败：没有可以给出的安全答案。",
    Say.NO_FALLBACK_CANCELLED: "不是回退：运行在得出答案之前已取消。",
    Say.NO_FALLBACK_NEVER_BEGAN: "不是回退：运行从未开始。",
    Say.NO_FALLBACK_NOT_SERVED: (
        "不是回退：没有任何处理排队运行的进程拥有该数据源，因此运行从未开始。请启动一个拥有它的进程："
        "`diagnose worker --from FOLDER`，或在其设置中写明 [sources]。"
    ),
    Say.FALLBACK_CONTEXT: "缺少回答所需的信息：{missing}。",
    Say.FALLBACK_CONTEXT_UNNAMED: "缺少回答所需的信息；代理没有指明是什么。",
    Say.FALLBACK_TIME: "在结论通过全部检查之前，时间已经用完。",
    Say.FALLBACK_BUDGET: "在结论通过全部检查之前，预算已经用尽。",
    Say.FALLBACK_SATURATED: "因为没有新的信息进入而停止收集，已有的信息不足以证明任何原因。",
    Say.FALLBACK_PROTOCOL: "因为代理没有说明结果的意义而停止收集，已有的结果不足以证明任何原因。",
    Say.FALLBACK_UNREADABLE: "代理最后的回答为空或无法读取，已被丢弃。",
    Say.FALLBACK_NO_CONCLUSION: "代理的草稿没有指认原因：它收集到的信息不足以证明任何原因。",
    Say.FALLBACK_CITATIONS: "曾形成带结论的草稿，但 EvidenceGuard 未能在其引用的证据中找到全部内容。",
    Say.FALLBACK_UNSUPPORTED: (
        "曾形成带结论的草稿，引用也通过了核对，但 SemanticGuard 认为这些证据不支持它（{reasons}）。"
    ),
    Say.FALLBACK_UNAVAILABLE: (
        "曾形成带结论的草稿，引用也通过了核对，但无法询问 SemanticGuard（尝试 {attempts} 次），"
        "而未经检查的内容一律不发布。"
    ),
    Say.REPAIR_FAILED: "修复过一次，仍未通过。",
    Say.FACTS_KEPT: "能够核实的内容仍然发布：{count} 条陈述。",
    Say.NEVER_CALLED: "它没有调用过任何工具。",
    Say.NEVER_BEGAN_CALLING: "运行从未开始，因此没有调用任何工具。",
    Say.STOP_SATURATED: "最近的结果没有带来新的信息，因此在 {calls} 次调用后停止收集。",
    Say.STOP_PROTOCOL: "它连续多次没有说明结果的意义，因此在 {calls} 次调用后停止收集。",
    Say.STOP_BUDGET: "已达到预算上限（{spent}），超过上限后不再调用任何工具。",
    Say.STOP_DRAFTED: "它已查完想查的内容：在 {calls} 次调用后自行给出了草稿。",
    Say.STOP_UNREADABLE: "在 {calls} 次调用后，它的回答为空或无法读取；没有再次询问。",
    Say.STOP_POLICY_FAILED: "在 {calls} 次调用后，代理或其背后的语言模型失败；没有再次询问。",
    Say.STOP_TIME: "在 {calls} 次调用后到达截止时间，此后不再开始任何工作。",
    Say.STOP_CANCELLED: "在 {calls} 次调用后运行被取消，此后不再开始任何工作。",
    Say.STOP_FAILED: "在 {calls} 次调用后运行失败，此后不再开始任何工作。",
    Say.REQUESTS_REFUSED: "有 {count} 个请求在开始之前被拒绝（{codes}）。",
    Say.STORE_FAILED: "证据存储未能工作，而无法保存的内容不会去查看。",
    Say.REQUESTS_REFUSED_UNNAMED: (
        "开始之前被拒绝的请求：{count} 个。原因未知：本文档为旧格式，没有以数据形式保留原因。"
    ),
    Say.ALL_FOUND: "每次调用都有发现（{count} 次），也没有请求被拒绝。",
    Say.NONE_CALLED: "没有调用过工具。",
    Say.CALL_EMPTY: "{call}（{tool}）在其范围与时间窗内没有发现；这不说明范围之外的情况。",
    Say.CALL_UNFINISHED: "{call}（{tool}）已经开始，其记录尚未完成。",
    Say.CALL_REFUSED: "{call}（{tool}）在开始之前被拒绝（{code}），因此没有记录。",
    Say.RECORDS_UNKNOWN: "证据存储目前没有响应；以下是本次运行的轨迹对各次调用的记载。",
    Say.CALL_REFUSED_UNNAMED: (
        "有一个请求在开始之前被拒绝。具体是哪一个、为何被拒绝均未知：本文档为旧格式，没有以数据形式保留这些内容。"
    ),
    Say.CALL_FAILED: "{call}（{tool}）失败（{code}）。",
    Say.CALL_EXECUTION_FAILED: "{call}（{tool}）失败：工具或其背后的数据源出错。",
    Say.CALL_TIMED_OUT: "{call}（{tool}）失败：超过了单次调用的时限。",
    Say.CALL_MASKING_FAILED: "{call}（{tool}）失败：其结果无法脱敏，已被丢弃。",
    Say.CALL_PROJECTION_FAILED: "{call}（{tool}）失败：其返回内容无法读作发现。",
    Say.CALL_TOO_LARGE: "{call}（{tool}）失败：其返回内容超过了单条记录的上限。",
    Say.CALL_BUDGET_EXHAUSTED: "{call}（{tool}）失败：保留其结果会超出预算。",
    Say.CALL_STORE_FAILED: "{call}（{tool}）失败：其结果未能存储，因此不能引用。",
    Say.CALL_RUN_ENDED: "{call}（{tool}）在运行结束时仍未完成；迟到的结果一律丢弃。",
    Say.CALL_ABANDONED: "{call}（{tool}）已被放弃：其记录已经开始，但没有保留任何发现。",
    Say.WAS_TIME: "超时：给定的 {limit} 已全部用完。",
    Say.WAS_BUDGET: "预算耗尽：{spent}。",
    Say.WAS_NEITHER: "都不是：运行以 {state} 结束，用时 {duration}（共 {limit}），没有任何上限结束它。",
    Say.WAS_QUEUE: "是等待开始的时限：运行从未开始，没有用到自己的 {limit}。",
    Say.WAS_NOT_SERVED: (
        "都不是：没有任何处理排队运行的进程拥有该数据源，因此运行从未开始，没有用到自己的 {limit}。"
    ),
    Say.WAS_NOT_BEGUN: "都不是：运行在开始之前以 {state} 结束，没有用到自己的 {limit}。",
    Say.STATUS_CONCLUDED: "有结论。",
    Say.STATUS_ANSWERED: "status 表示问题已得到回答；这类问题（{intent}）没有关于事故的结论。",
    Say.STATUS_OTHER: "status 是 {status}，不是 SUCCESS。",
    Say.STATUS_OF_FALLBACK: (
        "status 表示问题已被正常处理并形成安全内容，不表示有结论：发布的是 FALLBACK（{kind}）。"
    ),
    Say.STATE_APART: "运行本身如何结束另行记录：{state}。",
    Say.NO_STREAM: "没有流：本次运行由命令行发起，其文档就是答案。",
    Say.NO_CLIENT: "后台运行没有自己的流，也没有客户端连接。",
    Say.DONE_SENT: "已发送：done({told})。",
    Say.DONE_NOT_YET: "流仍然打开；运行发布之后才会发送 `done`。",
    Say.CLIENT_GONE: "客户端已断开，运行因此被取消；没有可以发送的对象。",
    Say.CONNECTION_LOST: "在发送结尾之前连接已断开。运行以 {outcome} 结束，见其文档。",
    Say.STREAM_UNKNOWN: (
        "此处无从得知：客户端的流如何结束，只有为其服务的进程知道。运行以 {outcome} 结束，见其文档。"
    ),
    Say.DONE_SENT_BEFORE_KEPT: "已发送；运行的结尾尚未保存。",
    Say.CONNECTION_LOST_SO_FAR: "与客户端的连接已断开；运行的结尾尚未保存。",
    Say.STREAM_UNKNOWN_SO_FAR: "运行发布之后才会发送 `done`；客户端是否仍然连接，只有为其服务的进程知道。",
    Say.IS_PREVIOUS_TURN: "会看到：以 SUCCESS 结束的诊断会向其会话公布结果。",
    Say.NOT_PREVIOUS_TURN: "只有以 SUCCESS 结束的诊断才会向会话的下一轮公布结果；本次以 {outcome} 结束。",
    Say.NO_TURN_OF_PATH: "只有诊断会向会话的下一轮公布结果；本问题不是诊断（intent：{intent}）。",
    Say.NO_TURN_UNROUTED: "只有诊断会向会话的下一轮公布结果；本问题没有经过路由。",
    Say.OWN_SESSION: "在命令行中，每次运行都是单独的会话，因此其后没有下一轮。",
    Say.IS_QUEUED: "运行正在排队，尚未开始。",
    Say.GOES_ON: "运行仍在进行。",
    Say.NO_ANSWER_YET: "还没有答案，因此也没有回退。",
    Say.NOT_STOPPED: "它还没有停止；到目前为止调用了 {calls} 次。",
    Say.NONE_CALLED_YET: "还没有调用过工具。",
    Say.ALL_FOUND_SO_FAR: "到目前为止每次调用都有发现（{count} 次）。",
    Say.TIME_NOT_BEGUN: "都不是：给定的 {limit} 从开始时起算。",
    Say.TIME_SO_FAR: "目前都不是：从 {started} 开始，共有 {limit}。",
    Say.END_ASKED: "已有请求要求结束运行（{reason}）。",
    Say.NO_TURN_YET: "下一轮能看到以 SUCCESS 结束的诊断；本次运行尚未结束。",
}
