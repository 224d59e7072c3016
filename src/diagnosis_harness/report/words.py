"""All texts of a report except the sentences of claims; the tables are total over their enums."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.diagnosis.draft import CauseLevel, DisproofResult
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.guards.verdict import SemanticReason
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.language import Text
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome

HEADING_WHY: Final = Text(en="Why", zh="依据")
HEADING_NEARBY: Final = Text(en="Also happened around that time", zh="同一时段还发生了")
"""Heading for changes that no cause rests on."""
HEADING_VERIFIED: Final = Text(en="Verified", zh="已核实")
HEADING_CONSIDERED: Final = Text(en="Also considered, not proven", zh="其他可能原因（未证实）")
HEADING_CANDIDATES: Final = Text(en="Candidates, none of them proven", zh="可能原因（均未证实）")
NOT_CONCLUDED: Final = Text(en="Not concluded: {reasons}.", zh="未下结论的原因：{reasons}。")
"""Objections to the first candidate."""
SEMANTIC_OBJECTIONS: Final[Mapping[SemanticReason, Text]] = {
    SemanticReason.OF_UNKNOWN_NAME: Text(
        en="the telemetry does not contain what the question is about", zh="遥测数据中没有问题所问的对象"
    ),
    SemanticReason.WEAK: Text(en="the evidence differs too little from normal", zh="证据与正常情况相差太小"),
    SemanticReason.HARMLESS_DIRECTION: Text(en="the change is harmless", zh="变化并无危害"),
    SemanticReason.AFTER_ITS_EFFECT: Text(
        en="the cause began after its effect", zh="原因开始于它要解释的现象之后"
    ),
    SemanticReason.EFFECT_NOT_SEEN: Text(
        en="nothing shows whether cause or effect began first", zh="无法判断原因与现象谁先开始"
    ),
    SemanticReason.EFFECT_NORMAL: Text(
        en="what it would explain shows nothing unusual", zh="它所要解释的部分没有异常"
    ),
    SemanticReason.EFFECT_MISFITS: Text(
        en="what was found of it cannot bring about what the affected entity shows",
        zh="在它身上发现的问题不会造成受影响实体的表现",
    ),
    SemanticReason.SYMPTOM_ONLY: Text(
        en="nothing is known of it but the symptom that is to be explained",
        zh="除了待解释的症状，对它一无所知",
    ),
    SemanticReason.SCOPE_TOO_WIDE: Text(
        en="too many of what it calls are unrecorded, so nothing is narrowed down",
        zh="它调用的对象中未被记录的太多，无法缩小范围",
    ),
    SemanticReason.ONSET_SEARCHED: Text(
        en="nobody said when it began, and the whole recording was searched for it",
        zh="没有人说明何时开始，开始时间是在整个记录中搜索得到的",
    ),
    SemanticReason.NO_PATH: Text(
        en="no recorded call leads to it from the affected entity", zh="没有记录到从受影响实体通向它的调用"
    ),
    SemanticReason.DISPROVED: Text(
        en="what was asked to disprove it contradicts it", zh="用于反证的查询结果与它矛盾"
    ),
    SemanticReason.EXPLAINED_BY_OTHER: Text(en="a dependency explains it better", zh="某个依赖能更好地解释"),
    SemanticReason.NO_MARGIN: Text(en="another candidate is as good", zh="另一个候选同样有力"),
    SemanticReason.NOT_INDEPENDENT: Text(
        en="a second cause is not shown to be independent of the first",
        zh="没有证据表明第二个原因独立于第一个",
    ),
    SemanticReason.NOT_RANKED: Text(
        en="no ranking for this question names it", zh="关于所问问题的排名中没有它"
    ),
    SemanticReason.CONTRADICTED: Text(
        en="another ranking for this question names another cause", zh="关于所问问题的另一个排名指向别的原因"
    ),
    SemanticReason.OVERRULED: Text(en="a judge disagreed", zh="评审不同意"),
}
"""Why a cause is not concluded."""
HEADING_LOOKED_AT: Final = Text(en="Looked at", zh="已检查的内容")
HEADING_MISSING: Final = Text(en="Missing", zh="缺少")
HEADING_NEXT_CHECKS: Final = Text(en="Next", zh="下一步")
HEADING_EVIDENCE: Final = Text(en="Evidence", zh="证据")
HEADING_KEPT: Final = Text(en="Stored evidence", zh="已保存的证据")
HEADING_IN_FLIGHT: Final = Text(en="In flight when it ended", zh="结束时仍在进行")


FOUND: Final = Text(en="{count} with findings: {tools}", zh="{count} 项有结果：{tools}")
EMPTY: Final = Text(
    en="{count} without findings in their scope and window: {tools}",
    zh="{count} 项在其范围与时间窗内无结果：{tools}",
)
FAILED: Final = Text(en="{count} failed: {tools}", zh="{count} 项失败：{tools}")
NEVER_ASKED: Final = Text(en="not called: {tools}", zh="未检查：{tools}")
NOTHING_ASKED: Final = Text(en="No tool was called.", zh="没有进行任何查询。")
NOT_USED: Final = Text(en="not used: {name}: {note}", zh="未使用：{name}：{note}")
UNREAD: Final = Text(en="not read", zh="未读取")
UNSEARCHED: Final = Text(en="read and counted, not yet compared", zh="已读取并计数，尚未比较")
"""For files that were read and counted but neither searched nor compared."""
SEARCHED: Final[Mapping[str, Text]] = {
    "logs": Text(en="searched, not compared", zh="已检索，未作比较"),
    "changes": Text(en="listed, not compared", zh="已列出，未作比较"),
}
"""For files that a call searched and nothing compares, by the role of the file."""
NOT_COMPARED: Final = Text(en="{name}: {note} with normal operation", zh="{name}：{note}")
EVERYTHING: Final = Text(en="all data", zh="全部数据")
ONSET: Final = Text(en="Onset: {at}, {method}", zh="开始时间：{at}，{method}")
ONSET_METHOD: Final[Mapping[str, Text]] = {
    "given": Text(en="given with the question", zh="由提问给出"),
    "carried": Text(en="taken over from the question before", zh="沿用上一个问题的时间"),
    "stated": Text(en="stated by the source", zh="由数据源说明"),
    "alert": Text(en="the time of the alert", zh="即告警时间"),
    "estimated": Text(en="estimated from the indicators", zh="由指标估计"),
}
"""The origin of the onset, by the wire value of its method."""
ALERT_AT: Final = Text(en="alert at {at}", zh="告警时间 {at}")


NEXT_LOOK_AT: Final = Text(
    en="Look at {entity}, {fault}: the strongest candidate neither proven nor ruled out.",
    zh="检查 {entity} 的{fault}：这是最强的、尚未证实也未排除的候选。",
)
NEXT_SUPPLY: Final = Text(en="Supply what was missing: {what}.", zh="补充缺少的信息：{what}。")
NEXT_ASK_FAILED: Final = Text(
    en="Find out why {tool} failed ({code}), and ask again.",
    zh="查明 {tool} 失败的原因（{code}），然后重新提问。",
)
NEXT_MORE_MEMORY: Final = Text(
    en=(
        "{tool} needs more memory than the settings allow ({code}): raise `folder.memory_limit_mb`, or cut "
        "the data to the hours around the incident."
    ),
    zh="{tool} 所需内存超出了设置（{code}）：调高 `folder.memory_limit_mb`，或只保留故障前后几小时的数据。",
)
NEXT_ASK_UNASKED: Final = Text(en="Ask what this run did not: {tool}.", zh="查询本次没有问到的内容：{tool}。")
NEXT_GIVE_BASELINE: Final = Text(
    en="Provide a baseline to compare against: --baseline FOLDER.",
    zh="提供正常运行时的数据用于对比：--baseline FOLDER。",
)
NEXT_GIVE_ONSET: Final = Text(
    en="State when it began: --onset TIME.", zh="说明故障开始的时间：--onset TIME。"
)
NEXT_MORE_TIME: Final = Text(
    en="Ask again with more time: --deadline SECONDS (this run had {limit}).",
    zh="给更多时间后重新提问：--deadline SECONDS（本次为 {limit}）。",
)
NEXT_MORE_BUDGET: Final = Text(
    en="Ask again with a larger budget, or a narrower question.", zh="用更大的预算，或更具体的问题重新提问。"
)
NEXT_ASK_AGAIN: Final = Text(
    en="Ask again: a new run has its own time and budget.", zh="重新提问：新的运行有自己的时间与预算。"
)

OUTCOME: Final[Mapping[ReleaseOutcome, Text]] = {
    ReleaseOutcome.SUCCESS: Text(
        en="A conclusion that the recorded evidence supports.", zh="结论得到了已记录证据的支持。"
    ),
    ReleaseOutcome.FALLBACK: Text(en="No conclusion.", zh="没有结论。"),
    ReleaseOutcome.FAILED: Text(en="There is no answer.", zh="没有答案。"),
    ReleaseOutcome.CANCELLED: Text(en="Cancelled before there was an answer.", zh="在得出答案之前已取消。"),
}
FALLBACK: Final[Mapping[FallbackType, Text]] = {
    FallbackType.MISSING_REQUIRED_CONTEXT: Text(
        en="No conclusion: information needed to answer was missing.", zh="暂无结论：缺少回答所需的信息。"
    ),
    FallbackType.INSUFFICIENT_EVIDENCE: Text(
        en="No conclusion: the evidence does not prove a cause.", zh="暂无结论：现有证据不足以证明原因。"
    ),
    FallbackType.EVIDENCE_VALIDATION_FAILED: Text(
        en="No conclusion: one was drafted, but its citations failed the check.",
        zh="暂无结论：初步结论的引用未通过核对。",
    ),
    FallbackType.SEMANTIC_UNSUPPORTED: Text(
        en="No conclusion: one was drafted, but the evidence it cites does not support it.",
        zh="暂无结论：所引证据不支持初步结论。",
    ),
    FallbackType.SEMANTIC_UNAVAILABLE: Text(
        en="No conclusion: one was drafted, but the final check could not be run.",
        zh="暂无结论：初步结论的最后一项检查无法进行。",
    ),
}
STOP_REASON: Final[Mapping[DiagnosisStopReason, Text]] = {
    DiagnosisStopReason.INFORMATION_SATURATED: Text(
        en="Collection stopped: further queries brought nothing new.",
        zh="停止收集：新的查询没有带来新的信息。",
    ),
    DiagnosisStopReason.PROGRESS_PROTOCOL_VIOLATED: Text(
        en="Collection stopped: the agent did not assess its results.",
        zh="停止收集：智能体未对结果作出评估。",
    ),
    DiagnosisStopReason.BUDGET_LIMIT_REACHED: Text(
        en="Collection stopped: the budget limit was reached.", zh="停止收集：已达到预算上限。"
    ),
}
RUN_STATE: Final[Mapping[RunState, Text]] = {
    RunState.RUNNING: Text(en="", zh=""),
    RunState.SUCCESS: Text(en="", zh=""),
    RunState.FAILED: Text(en="The run failed.", zh="运行失败。"),
    RunState.CANCELLED: Text(en="", zh=""),
    RunState.TIMED_OUT: Text(en="Time ran out.", zh="时间已用完。"),
    RunState.BUDGET_EXHAUSTED: Text(en="The budget is used up.", zh="预算已用完。"),
}
"""How a run ended; empty if the outcome already states it."""
FAULT: Final[Mapping[FaultKind, Text]] = {
    FaultKind.CPU: Text(en="CPU", zh="CPU"),
    FaultKind.MEMORY: Text(en="memory", zh="内存"),
    FaultKind.LEAK: Text(en="memory leak", zh="内存泄漏"),
    FaultKind.SATURATION: Text(en="saturation", zh="资源饱和"),
    FaultKind.LOCK: Text(en="lock", zh="锁等待"),
    FaultKind.CRASH: Text(en="crash", zh="进程崩溃"),
    FaultKind.CONFIGURATION: Text(en="configuration", zh="配置错误"),
    FaultKind.CODE: Text(en="code error", zh="代码错误"),
    FaultKind.NETWORK: Text(en="network", zh="网络"),
    FaultKind.ERRORS: Text(en="errors", zh="错误"),
    FaultKind.LATENCY: Text(en="latency", zh="延迟"),
    FaultKind.TRAFFIC: Text(en="traffic", zh="流量"),
    FaultKind.DEPENDENCY: Text(en="dependency", zh="依赖"),
    FaultKind.UNKNOWN: Text(en="kind of fault unknown", zh="故障类型未知"),
}
MISSING: Final[Mapping[MissingInfo, Text]] = {
    MissingInfo.SOURCE: Text(
        en="a source of telemetry (--from FOLDER, or [sources] in the settings)",
        zh="可供查看的遥测数据源（--from FOLDER，或设置中的 [sources]）",
    ),
    MissingInfo.METRICS: Text(en="metrics", zh="指标"),
    MissingInfo.SPANS: Text(en="spans of distributed traces", zh="分布式调用链"),
    MissingInfo.LOGS: Text(en="logs", zh="日志"),
    MissingInfo.TOPOLOGY: Text(en="who calls whom (a topology)", zh="调用关系（拓扑）"),
    MissingInfo.CHANGES: Text(en="deploys, flags and other changes", zh="发布、开关及其他变更"),
    MissingInfo.INCIDENT: Text(en="telemetry of the incident", zh="故障期间的遥测数据"),
    MissingInfo.BASELINE: Text(
        en="normal operation to compare with (--baseline FOLDER)",
        zh="用于对比的正常运行数据（--baseline FOLDER）",
    ),
    MissingInfo.ENTITY: Text(en="which service is meant", zh="指的是哪个服务"),
    MissingInfo.TIME: Text(en="when it began (--onset TIME)", zh="何时开始（--onset TIME）"),
    MissingInfo.PERMISSION: Text(en="permission to use a tool", zh="使用某个工具的权限"),
}
UNKNOWN_NAME: Final = Text(
    en=('"{name}", a name that is not in the telemetry'), zh="“{name}”：遥测数据中没有这个名称"
)
"""A name of the question that no telemetry knows."""
CAUSE: Final = Text(en="{entity} is the cause: {fault}.", zh="{entity} 是原因：{fault}。")
CONCLUDED: Final[Mapping[CauseLevel, Text]] = {
    CauseLevel.LOCALISED: Text(
        en="It starts at {entity}: {fault}. What happened there is not shown.",
        zh="异常始于 {entity}：{fault}。那里发生了什么，尚无证据。",
    ),
    CauseLevel.EXPLAINED: Text(en="{entity} is the cause: {fault}.", zh="{entity} 是原因：{fault}。"),
    CauseLevel.TRIGGER: Text(
        en="{entity} is the cause: {fault}. A change to it came before; that it set this off is not shown.",
        zh="{entity} 是原因：{fault}。此前它有过变更；没有证据表明是该变更触发的。",
    ),
}
DISPROOF: Final[Mapping[DisproofResult, Text]] = {
    DisproofResult.HELD: Text(
        en="Tried to disprove this by looking at {entities} alone: nothing seen there got worse before it.",
        zh="为反证这一点，单独查看了 {entities}：所见之中没有更早出现的恶化。",
    ),
    DisproofResult.DISPROVED: Text(
        en="Tried to disprove this by looking at {entities} alone, and that contradicts it.",
        zh="为反证这一点，单独查看了 {entities}，结果与之矛盾。",
    ),
    DisproofResult.NOT_TESTED: Text(
        en="Not tested: what could have disproved this was not looked at in full, of {entities}.",
        zh="未经检验：可能推翻这一点的数据，未能完整查看 {entities} 的部分。",
    ),
}
"""The result of trying to disprove a cause. A contradicted one is never released: only `verify` needs those
words, for a document that was changed."""
NOBODY_TO_LOOK_AT: Final = Text(
    en="Not tested: the records name nobody whose data could have disproved this.",
    zh="未经检验：记录中没有可用来推翻这一点的对象。",
)
SCOPED: Final = Text(
    en="It starts at {entity} or in what it calls: {fault}. Of its callee {unseen} too little is recorded.",
    zh="异常始于 {entity} 或它所调用的对象：{fault}。它调用的 {unseen} 记录不足。",
)
SCOPED_UNNAMED: Final = Text(
    en="It starts at {entity} or in something it calls that nothing records: {fault}.",
    zh="异常始于 {entity}，或始于它所调用而没有任何记录的对象：{fault}。",
)
AND: Final = Text(en=" and ", zh=" 和 ")
ALSO_CAUSE: Final = Text(en="{entity} is a cause as well: {fault}.", zh="{entity} 也是原因：{fault}。")
NOTHING_UNUSUAL: Final = Text(
    en="Nothing unusual was found in what was checked, so no cause is named.",
    zh="在已核对的内容中没有发现异常，因此不指出任何原因。",
)
INDEPENDENTLY: Final = Text(en="Independently of {first}: {said}", zh="独立于 {first}：{said}")
CONFIDENCE: Final = Text(
    en=(
        "Confidence {share} (0 to 1): how strongly the verified evidence supports this. It is not a "
        "probability."
    ),
    zh="置信度 {share}（满分 1）：表示核实过的证据对它的支持程度，不是概率。",
)
FAULT_IN_REGION: Final = Text(en="{fault} ({region})", zh="{fault}（{region}）")
VERIFIED_COUNT: Final = Text(
    en="Statements verified against evidence: {count}.", zh="已对照证据核实的陈述：{count} 条。"
)
KEPT_COUNT: Final = Text(
    en="Results of tool calls kept as evidence: {count}.", zh="作为证据保留的工具调用结果：{count} 个。"
)
NO_DIAGNOSIS: Final = Text(
    en="It asked for no diagnosis ({path}). The answer is kept with the run, and not here.",
    zh="该问题不需要诊断（{path}）。答案与运行一同保存，不在此处。",
)
"""For a run that was answered on another path."""
SCORE: Final = Text(en="score {score}", zh="得分 {score}")
EVIDENCE_FOR: Final = Text(en="for", zh="支持")
EVIDENCE_AGAINST: Final = Text(en="against", zh="反对")
SCOPE: Final = Text(en="scope", zh="查询范围")
NOTHING_FOUND: Final = Text(en="nothing found in this scope and window", zh="在此范围与时间窗内没有发现")
WINDOW: Final = Text(en="Incident window: {window}", zh="故障时间窗：{window}")
INTERVAL: Final = Text(en="{start} to {end}", zh="{start} 至 {end}")
FOOTER: Final = Text(
    en="{run_id}: state {state}, outcome {outcome}; {duration} of {limit}",
    zh="{run_id}：状态 {state}，结果 {outcome}；{duration} / {limit}",
)
SPENT: Final[Mapping[str, Text]] = {
    "llm_calls": Text(en="{used} of {limit} agent steps", zh="步数 {used}/{limit}"),
    "tool_calls": Text(en="{used} of {limit} tool calls", zh="工具调用 {used}/{limit}"),
    "total_tokens": Text(en="{used} of {limit} tokens", zh="token {used}/{limit}"),
}
"""The counters in the footer, by name."""
FINDING_COUNT: Final = Text(en="{count} findings", zh="{count} 项发现")
MORE_ITEMS: Final = Text(
    en="and {count} more in the document (--json, --save FILE)",
    zh="另有 {count} 项，见完整文档（--json、--save FILE）",
)
COMMA: Final = Text(en=", ", zh="，")
COLON: Final = Text(en=": ", zh="：")
SEMICOLON: Final = Text(en="; ", zh="；")
