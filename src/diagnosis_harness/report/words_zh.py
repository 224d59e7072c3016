"""The words of a report in Chinese."""

from __future__ import annotations

from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.report.words import CoverageWords, Headings, NextWords, Words


def chinese() -> Words:
    """All of them."""
    return Words(
        headings=Headings(
            why="依据",
            nearby="附近还发生了",
            verified="已核实",
            considered="其他候选，未证实",
            candidates="候选原因，均未证实",
            looked_at="查询范围",
            missing="缺少",
            next_checks="下一步",
            evidence="证据",
            kept="已保留的证据",
            in_flight="结束时仍在进行",
        ),
        coverage=CoverageWords(
            found="{count} 次有发现：{tools}",
            empty="{count} 次无发现（仅限该范围与时间窗）：{tools}",
            failed="{count} 次失败：{tools}",
            never_asked="从未查询：{tools}",
            nothing_asked="没有进行任何查询。",
            not_used="未使用：{name}：{note}",
            unread="未读取",
            unsearched="已读取并计数，尚未比较",
            searched={"logs": "已检索，未作比较", "changes": "已列出，未作比较"},
            not_compared="{name}：{note}",
            everything="全部",
            onset="开始时间：{at}，{method}",
            onset_method={
                "given": "由提问给出",
                "carried": "沿用上一个问题的时间",
                "stated": "由数据源说明",
                "alert": "即告警时间",
                "estimated": "由指标估计",
            },
            alert_at="告警时间 {at}",
        ),
        next=NextWords(
            look_at="检查 {entity} 的{fault}：这是最强的、尚未证实也未排除的候选。",
            supply="补充缺少的信息：{what}。",
            ask_failed="查明 {tool} 失败的原因（{code}），然后重新提问。",
            ask_unasked="查询本次没有问到的内容：{tool}。",
            give_baseline="提供正常运行时的数据用于对比：--baseline FOLDER。",
            give_onset="说明故障开始的时间：--onset TIME。",
            more_time="给更多时间后重新提问：--deadline SECONDS（本次为 {limit}）。",
            more_budget="用更大的预算，或更具体的问题重新提问。",
            ask_again="重新提问：那将是一次新的运行，有自己的时间与预算。",
        ),
        outcome={
            ReleaseOutcome.SUCCESS: "结论得到了已记录证据的支持。",
            ReleaseOutcome.FALLBACK: "没有结论。",
            ReleaseOutcome.FAILED: "没有答案。",
            ReleaseOutcome.CANCELLED: "在得出答案之前已取消。",
        },
        fallback={
            FallbackType.MISSING_REQUIRED_CONTEXT: "没有结论：缺少回答所需的信息。",
            FallbackType.INSUFFICIENT_EVIDENCE: "没有结论：现有证据不足以证明原因。",
            FallbackType.EVIDENCE_VALIDATION_FAILED: "没有结论：曾形成草稿，但其引用未通过核对。",
            FallbackType.SEMANTIC_UNSUPPORTED: "没有结论：曾形成草稿，但所引证据不支持它。",
            FallbackType.SEMANTIC_UNAVAILABLE: "没有结论：曾形成草稿，但最后一项检查无法进行。",
        },
        stop={
            DiagnosisStopReason.INFORMATION_SATURATED: "停止收集：新的查询没有带来新的信息。",
            DiagnosisStopReason.PROGRESS_PROTOCOL_VIOLATED: "停止收集：代理没有说明结果的意义。",
            DiagnosisStopReason.BUDGET_LIMIT_REACHED: "停止收集：已达到预算上限。",
        },
        ended={
            RunState.RUNNING: "",
            RunState.SUCCESS: "",
            RunState.FAILED: "运行失败。",
            RunState.CANCELLED: "",
            RunState.TIMED_OUT: "给定的时间已用完。",
            RunState.BUDGET_EXHAUSTED: "给定的预算已用完。",
        },
        fault={
            FaultKind.CPU: "CPU",
            FaultKind.MEMORY: "内存",
            FaultKind.NETWORK: "网络",
            FaultKind.ERRORS: "错误",
            FaultKind.LATENCY: "延迟",
            FaultKind.TRAFFIC: "流量",
            FaultKind.DEPENDENCY: "依赖",
            FaultKind.UNKNOWN: "故障类型未知",
        },
        missing={
            MissingInfo.SOURCE: "可供查看的遥测数据源（--from FOLDER，或设置中的 [sources]）",
            MissingInfo.METRICS: "指标",
            MissingInfo.SPANS: "分布式调用链",
            MissingInfo.LOGS: "日志",
            MissingInfo.TOPOLOGY: "调用关系（拓扑）",
            MissingInfo.CHANGES: "发布、开关及其他变更",
            MissingInfo.INCIDENT: "故障期间的遥测数据",
            MissingInfo.BASELINE: "用于对比的正常运行数据（--baseline FOLDER）",
            MissingInfo.ENTITY: "指的是哪个服务",
            MissingInfo.TIME: "何时开始（--onset TIME）",
            MissingInfo.PERMISSION: "使用某个工具的权限",
        },
        missing_name="“{name}”：遥测数据中没有这个名称",
        cause="{entity} 是原因：{fault}。",
        also_cause="{entity} 也是原因：{fault}。",
        confidence="置信度 {share}（最高为 1）：表示核对过的证据支持它的程度，不是概率。",
        part="{fault}（{region}）",
        verified_count="已对照证据核实的陈述：{count} 条。",
        kept_count="作为证据保留的工具调用结果：{count} 个。",
        no_diagnosis="该问题不需要诊断（{path}）。答案与运行一同保存，不在此处。",
        score="得分 {score}",
        evidence_for="支持",
        evidence_against="反对",
        asked_for="查询",
        whole_record="在此范围与时间窗内没有发现",
        footer="{run_id}：状态 {state}，结果 {outcome}；{duration} / {limit}",
        spent={
            "llm_calls": "决策 {used}/{limit}",
            "tool_calls": "工具调用 {used}/{limit}",
            "total_tokens": "词元 {used}/{limit}",
        },
        items="{count} 项发现",
        more="另有 {count} 项，见完整文档（--json、--save FILE）",
        window="故障时间窗：{window}",
        to="{start} 至 {end}",
        comma="，",
        colon="：",
    )
