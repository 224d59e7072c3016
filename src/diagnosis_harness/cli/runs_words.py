"""What `diagnose runs` and `diagnose keys` say, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.kernel.language import Language


class Step(StrEnum):
    """How far a request to a server had come when it failed."""

    CONNECT = "CONNECT"
    TLS = "TLS"
    SEND = "SEND"
    ANSWER = "ANSWER"


@dataclass(frozen=True, slots=True)
class RunsWords:
    """One language. `{names}` are the same in both; wire values of a run stand in it as they are."""

    columns: tuple[str, ...]
    facts: Mapping[str, str]
    ages: tuple[str, str, str, str]
    no_runs: str
    more_runs: str
    in_progress: Mapping[str, str]
    no_answer: str
    still_running: str
    unknown: str
    ambiguous: str
    ambiguous_remedy: str
    no_reference: str
    no_reference_remedy: str
    none_at_all: str
    none_at_all_remedy: str
    not_permitted: str
    store: str
    damaged: str
    effects: Mapping[str, str]
    in_flight: str
    never_started: str
    nothing_in_flight: str
    call: str
    comma: str
    written: str
    not_reached: Mapping[Step, str]
    too_slow: Mapping[Step, str]
    not_understood: str
    problem: str
    no_database: str
    no_database_remedy: str
    not_installed: str
    install: str
    key_columns: tuple[str, ...]
    key_added: str
    key_once: str
    key_taken: str
    key_name: str
    key_name_remedy: str
    key_unknown: str
    key_revoked: str
    no_keys: str
    submitted: str
    joined: str
    lost: str
    go_on: str


def runs_words(language: Language) -> RunsWords:
    """The words of a language."""
    return _chinese() if language is Language.ZH else _english()


def _english() -> RunsWords:
    return RunsWords(
        columns=("run", "status", "outcome", "intent", "asked by", "age", "took", "question"),
        facts={
            "run_id": "run",
            "session_id": "session",
            "status": "status",
            "outcome": "outcome",
            "state": "run state",
            "reason": "reason",
            "fallback": "fallback",
            "stop_reason": "stop reason",
            "intent": "intent",
            "kind": "kind",
            "submitted": "submitted",
            "took": "took",
            "steps": "agent steps",
            "tool_calls": "tool calls",
            "tokens": "tokens",
            "asked_by": "asked by",
            "cancel": "cancel asked for",
            "failure": "failure",
        },
        ages=("{n}s", "{n}m", "{n}h", "{n}d"),
        no_runs="No runs.",
        more_runs="There are more; --limit shows further ones.",
        in_progress={
            "QUEUED": "The run waits for its turn.",
            "RUNNING": "The run goes on. So far:",
        },
        no_answer="No answer: {problem}",
        still_running="Run {run} is still in progress; this is available once it ends.",
        unknown="There is no run {run}, or it is somebody else's; `diagnose runs list` shows what there is.",
        ambiguous="several run ids start with that ({runs})",
        ambiguous_remedy="give more of the id",
        no_reference="it is not a valid run id",
        no_reference_remedy="give an id, the start of one, or `last`",
        none_at_all="there is no run yet",
        none_at_all_remedy="ask something first, or look elsewhere with --server or --settings",
        not_permitted="The role of this key does not allow that.",
        store="The database does not work: {problem}.",
        damaged="What is kept of the run contradicts itself: {problem}.",
        effects={
            "STOPPED": "Cancelled: the run was stopped.",
            "NEVER_STARTED": "Cancelled: the run had not started, and will not.",
            "ENDED_BEFORE": "The run had ended before ({status}); nothing was cancelled.",
            "ASKED": "The process that runs it has been told, and has not answered yet.",
        },
        in_flight="Still in flight then: {calls}.",
        never_started="Will not be started: {calls}.",
        nothing_in_flight="Nothing was in flight.",
        call="{name} ({id})",
        comma=", ",
        written="Written: {file}",
        not_reached={
            Step.CONNECT: "{host} cannot be reached: {problem}; is `diagnose serve` running there?",
            Step.TLS: "{host} cannot be reached safely (TLS): {problem}.",
            Step.SEND: "The request to {host} could not be sent: {problem}.",
            Step.ANSWER: "{host} took the request and broke off before its answer was whole: {problem}.",
        },
        too_slow={
            Step.CONNECT: "{host} did not take the connection within {limit}.",
            Step.TLS: "{host} did not take the connection within {limit}.",
            Step.SEND: "{host} did not take the request within {limit}.",
            Step.ANSWER: "{host} took the request and did not answer within {limit}.",
        },
        not_understood="{host} answered in no form that this program knows ({problem}); is it "
        "`diagnose serve` of this version?",
        problem="{host}: {title}{detail}{instance}",
        no_database="there is no database yet",
        no_database_remedy="name it by DIAGNOSE_DATABASE__URL or --settings, or ask a server with --server",
        not_installed="this needs what is not installed ({module})",
        install="run pip install 'diagnosis-harness[{extra}]'",
        key_columns=("key", "name", "role", "per minute", "concurrent", "made", "revoked"),
        key_added="Key {key_id} for {name} ({role}):",
        key_once="It is shown this once and kept nowhere; clients send it as `Authorization: Bearer KEY`.",
        key_taken="there is a valid key of this name",
        key_name="it is no name of a caller",
        key_name_remedy="give another, of 1 to 64 letters, digits, `.`, `_` and `-`",
        key_unknown="There is no valid key {key_id}; `diagnose keys list` shows what there is.",
        key_revoked="Revoked: {key_id}. A server that runs refuses it within seconds.",
        no_keys="No keys.",
        submitted="Submitted: {run}",
        joined="Joined a run that is not finished: {run}",
        lost="What became of the run: `diagnose runs show {run}`.",
        go_on="To go on with this: --session {session}",
    )


def _chinese() -> RunsWords:
    return RunsWords(
        columns=("运行", "状态", "发布结果", "问题类型", "提问者", "距今", "用时", "问题"),
        facts={
            "run_id": "运行",
            "session_id": "会话",
            "status": "状态",
            "outcome": "发布结果",
            "state": "运行状态",
            "reason": "终止原因",
            "fallback": "兜底类型",
            "stop_reason": "停止原因",
            "intent": "问题类型",
            "kind": "方式",
            "submitted": "提交于",
            "took": "用时",
            "steps": "智能体步数",
            "tool_calls": "工具调用",
            "tokens": "令牌",
            "asked_by": "提问者",
            "cancel": "已请求取消",
            "failure": "失败",
        },
        ages=("{n}秒", "{n}分", "{n}时", "{n}天"),
        no_runs="没有运行。",
        more_runs="还有更多；用 --limit 查看。",
        in_progress={
            "QUEUED": "运行正在排队。",
            "RUNNING": "运行仍在进行。目前为止：",
        },
        no_answer="没有答案：{problem}",
        still_running="运行 {run} 尚未结束；结束后才有此内容。",
        unknown="没有运行 {run}，或不属于您；用 `diagnose runs list` 查看。",
        ambiguous="有多个运行以此开头（{runs}）",
        ambiguous_remedy="请给出更长的编号",
        no_reference="这不是运行编号",
        no_reference_remedy="请给出编号、编号的开头，或 `last`",
        none_at_all="还没有任何运行",
        none_at_all_remedy="请先提问，或用 --server、--settings 指定别处",
        not_permitted="此密钥的角色不允许该操作。",
        store="数据库无法使用：{problem}。",
        damaged="所保存的运行内容自相矛盾：{problem}。",
        effects={
            "STOPPED": "已取消：运行已停止。",
            "NEVER_STARTED": "已取消：运行尚未开始，也不会再开始。",
            "ENDED_BEFORE": "运行此前已结束（{status}）；没有取消任何内容。",
            "ASKED": "已通知正在处理它的进程，尚未收到答复。",
        },
        in_flight="当时仍在进行：{calls}。",
        never_started="不再开始：{calls}。",
        nothing_in_flight="当时没有进行中的调用。",
        call="{name}（{id}）",
        comma="，",
        written="已写入：{file}",
        not_reached={
            Step.CONNECT: "无法连接 {host}：{problem}；那里是否在运行 `diagnose serve`？",
            Step.TLS: "无法安全连接 {host}（TLS）：{problem}。",
            Step.SEND: "无法向 {host} 发送请求：{problem}。",
            Step.ANSWER: "{host} 收到了请求，但在答复完整之前中断：{problem}。",
        },
        too_slow={
            Step.CONNECT: "{host} 未在 {limit} 内接受连接。",
            Step.TLS: "{host} 未在 {limit} 内接受连接。",
            Step.SEND: "{host} 未在 {limit} 内接收请求。",
            Step.ANSWER: "{host} 收到了请求，但未在 {limit} 内答复。",
        },
        not_understood="{host} 的答复无法识别（{problem}）；它是此版本的 `diagnose serve` 吗？",
        problem="{host}：{title}{detail}{instance}",
        no_database="还没有数据库",
        no_database_remedy="用 DIAGNOSE_DATABASE__URL 或 --settings 指定，或用 --server 查询服务器",
        not_installed="缺少所需的组件（{module}）",
        install="运行 pip install 'diagnosis-harness[{extra}]'",
        key_columns=("密钥", "名称", "角色", "每分钟", "并发", "创建于", "吊销于"),
        key_added="{name}（{role}）的密钥 {key_id}：",
        key_once="密钥只显示这一次，不会保存；客户端以 `Authorization: Bearer KEY` 发送。",
        key_taken="此名称已有一个有效密钥",
        key_name="这不是调用者的名称",
        key_name_remedy="请另给一个由 1 到 64 个字母、数字、`.`、`_`、`-` 组成的名称",
        key_unknown="没有有效的密钥 {key_id}；用 `diagnose keys list` 查看。",
        key_revoked="已吊销：{key_id}。运行中的服务器将在数秒内拒绝它。",
        no_keys="没有密钥。",
        submitted="已提交：{run}",
        joined="已并入一个未结束的运行：{run}",
        lost="该运行的结果：`diagnose runs show {run}`。",
        go_on="继续此会话：--session {session}",
    )
