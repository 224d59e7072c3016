"""`diagnose runs`, `diagnose keys`, and failures of the store or server."""

from __future__ import annotations

from enum import StrEnum

from diagnosis_harness.kernel.language import Text


class Step(StrEnum):
    """The step of a request to a server that failed."""

    CONNECT = "CONNECT"
    TLS = "TLS"
    SEND = "SEND"
    ANSWER = "ANSWER"


COLUMNS = (
    Text(en="run", zh="运行"),
    Text(en="status", zh="状态"),
    Text(en="outcome", zh="发布结果"),
    Text(en="intent", zh="问题类型"),
    Text(en="asked by", zh="提问者"),
    Text(en="age", zh="距今"),
    Text(en="took", zh="用时"),
    Text(en="question", zh="问题"),
)
FACTS = {
    "run_id": Text(en="run", zh="运行"),
    "session_id": Text(en="session", zh="会话"),
    "status": Text(en="status", zh="状态"),
    "outcome": Text(en="outcome", zh="发布结果"),
    "state": Text(en="run state", zh="运行状态"),
    "reason": Text(en="reason", zh="终止原因"),
    "fallback": Text(en="fallback", zh="兜底类型"),
    "stop_reason": Text(en="stop reason", zh="停止原因"),
    "intent": Text(en="intent", zh="问题类型"),
    "kind": Text(en="kind", zh="方式"),
    "submitted": Text(en="submitted", zh="提交于"),
    "took": Text(en="took", zh="用时"),
    "steps": Text(en="agent steps", zh="智能体步数"),
    "tool_calls": Text(en="tool calls", zh="工具调用"),
    "tokens": Text(en="tokens", zh="token"),
    "asked_by": Text(en="asked by", zh="提问者"),
    "cancel": Text(en="cancellation", zh="取消请求"),
    "failure": Text(en="failure", zh="失败"),
}
AGES = (
    Text(en="{n}s", zh="{n}秒"),
    Text(en="{n}m", zh="{n}分"),
    Text(en="{n}h", zh="{n}时"),
    Text(en="{n}d", zh="{n}天"),
)
NO_RUNS = Text(en="No runs.", zh="没有运行。")
MORE_RUNS = Text(en="There are more; use --limit to see them.", zh="还有更多；用 --limit 查看。")
IN_PROGRESS = {
    "QUEUED": Text(en="The run is queued.", zh="运行正在排队。"),
    "RUNNING": Text(en="The run is still in progress. So far:", zh="运行仍在进行。目前为止："),
}
STILL_RUNNING = Text(
    en="Run {run} is still in progress; this is available once it ends.",
    zh="运行 {run} 尚未结束；结束后才有此内容。",
)
UNKNOWN = Text(
    en="There is no run {run}, or it belongs to somebody else; `diagnose runs list` shows your runs.",
    zh="没有运行 {run}，或不属于您；用 `diagnose runs list` 查看。",
)
AMBIGUOUS = Text(en="several run ids start with that ({runs})", zh="有多个运行以此开头（{runs}）")
AMBIGUOUS_REMEDY = Text(en="give more of the id", zh="请给出更长的编号")
NO_REFERENCE = Text(en="it is not a valid run id", zh="这不是运行编号")
NO_REFERENCE_REMEDY = Text(
    en="give an id, the start of one, or `last`", zh="请给出编号、编号的开头，或 `last`"
)
NONE_AT_ALL = Text(en="there is no run yet", zh="还没有任何运行")
NONE_AT_ALL_REMEDY = Text(
    en="ask something first, or name another place with --server or --settings",
    zh="请先提问，或用 --server、--settings 指定别处",
)
NOT_PERMITTED = Text(en="The role of this key does not allow that.", zh="此密钥的角色不允许该操作。")
STORE = Text(en="The database failed: {problem}.", zh="数据库无法使用：{problem}。")
DAMAGED = Text(en="The stored run is inconsistent: {problem}.", zh="保存的运行数据不一致：{problem}。")
EFFECTS = {
    "STOPPED": Text(en="Cancelled: the run was stopped.", zh="已取消：运行已停止。"),
    "NEVER_STARTED": Text(
        en="Cancelled: the run had not started and will not start.", zh="已取消：运行尚未开始，也不会再开始。"
    ),
    "ENDED_BEFORE": Text(
        en="The run had already ended ({status}); nothing was cancelled.",
        zh="运行此前已结束（{status}）；没有取消任何内容。",
    ),
    "ASKED": Text(
        en="Cancellation has been requested; the run's process has not answered yet.",
        zh="已请求取消；运行所在的进程尚未答复。",
    ),
}
MARKED = {
    "RIGHT": Text(en="Marked as right: {run}.", zh="已标记为正确：{run}。"),
    "WRONG": Text(en="Marked as wrong: {run}.", zh="已标记为错误：{run}。"),
}
MARKED_CAUSE = Text(en="The cause was {cause}.", zh="实际原因是 {cause}。")
MARKED_NOTE = Text(en="Note: {note}", zh="备注：{note}")
TWO_LASTS = Text(
    en="both this machine ({run}) and the database of the service have a last run",
    zh="本机（{run}）和服务的数据库各有最近一次运行",
)
TWO_LASTS_REMEDY = Text(en="give the id of the run", zh="请给出运行的编号")
NO_VERDICT = Text(en="that is not a verdict", zh="这不是评价")
NO_VERDICT_REMEDY = Text(en="write right or wrong", zh="请写 right（正确）或 wrong（错误）")
IN_FLIGHT = Text(en="Still in flight: {calls}.", zh="当时仍在进行：{calls}。")
NEVER_STARTED = Text(en="Will not be started: {calls}.", zh="不再开始：{calls}。")
NOTHING_IN_FLIGHT = Text(en="Nothing was in flight.", zh="当时没有进行中的调用。")
CALL = Text(en="{name} ({id})", zh="{name}（{id}）")
COMMA = Text(en=", ", zh="，")
WRITTEN = Text(en="Written: {file}", zh="已写入：{file}")
NOT_REACHED = {
    Step.CONNECT: Text(
        en="{host} cannot be reached: {problem}; is `diagnose serve` running there?",
        zh="无法连接 {host}：{problem}；那里是否在运行 `diagnose serve`？",
    ),
    Step.TLS: Text(
        en="No secure connection to {host} (TLS): {problem}.", zh="无法安全连接 {host}（TLS）：{problem}。"
    ),
    Step.SEND: Text(
        en="The request to {host} could not be sent: {problem}.", zh="无法向 {host} 发送请求：{problem}。"
    ),
    Step.ANSWER: Text(
        en="{host} accepted the request, but its answer broke off: {problem}.",
        zh="{host} 收到了请求，但在答复完整之前中断：{problem}。",
    ),
}
TOO_SLOW = {
    Step.CONNECT: Text(
        en="{host} did not accept the connection within {limit}.", zh="{host} 未在 {limit} 内接受连接。"
    ),
    Step.TLS: Text(
        en="{host} did not accept the connection within {limit}.", zh="{host} 未在 {limit} 内接受连接。"
    ),
    Step.SEND: Text(
        en="{host} did not accept the request within {limit}.", zh="{host} 未在 {limit} 内接收请求。"
    ),
    Step.ANSWER: Text(
        en="{host} accepted the request but did not answer within {limit}.",
        zh="{host} 收到了请求，但未在 {limit} 内答复。",
    ),
}
NOT_UNDERSTOOD = Text(
    en="The answer of {host} is not valid ({problem}); is it a `diagnose serve` of this version?",
    zh="{host} 的答复无法识别（{problem}）；它是此版本的 `diagnose serve` 吗？",
)
PROBLEM = Text(en="{host}: {title}{detail}{instance}", zh="{host}：{title}{detail}{instance}")
NO_DATABASE = Text(en="there is no database yet", zh="还没有数据库")
NO_DATABASE_REMEDY = Text(
    en="name one with DIAGNOSE_DATABASE__URL or --settings, or ask a server with --server",
    zh="用 DIAGNOSE_DATABASE__URL 或 --settings 指定，或用 --server 查询服务器",
)
NOT_INSTALLED = Text(en="a required package is not installed ({module})", zh="缺少所需的组件（{module}）")
INSTALL = Text(
    en="run pip install 'diagnosis-harness[{extra}]'", zh="运行 pip install 'diagnosis-harness[{extra}]'"
)
KEY_COLUMNS = (
    Text(en="key", zh="密钥"),
    Text(en="name", zh="名称"),
    Text(en="role", zh="角色"),
    Text(en="per minute", zh="每分钟"),
    Text(en="concurrent", zh="并发"),
    Text(en="created", zh="创建于"),
    Text(en="revoked", zh="吊销于"),
)
KEY_ADDED = Text(en="Key {key_id} for {name} ({role}):", zh="{name}（{role}）的密钥 {key_id}：")
KEY_ONCE = Text(
    en="It is shown only once and not stored; clients send it as `Authorization: Bearer KEY`.",
    zh="密钥只显示这一次，不会保存；客户端以 `Authorization: Bearer KEY` 发送。",
)
KEY_TAKEN = Text(en="a valid key with this name exists", zh="此名称已有一个有效密钥")
KEY_NAME = Text(en="it is not a valid caller name", zh="这不是调用者的名称")
KEY_NAME_REMEDY = Text(
    en="choose another, of 1 to 64 letters, digits, `.`, `_` and `-`",
    zh="请另给一个由 1 到 64 个字母、数字、`.`、`_`、`-` 组成的名称",
)
KEY_UNKNOWN = Text(
    en="There is no valid key {key_id}; `diagnose keys list` shows the keys.",
    zh="没有有效的密钥 {key_id}；用 `diagnose keys list` 查看。",
)
KEY_REVOKED = Text(
    en="Revoked: {key_id}. Running servers refuse it within seconds.",
    zh="已吊销：{key_id}。运行中的服务器将在数秒内拒绝它。",
)
NO_KEYS = Text(en="No keys.", zh="没有密钥。")
SUBMITTED = Text(en="Submitted: {run}", zh="已提交：{run}")
JOINED = Text(en="Joined a run in progress: {run}", zh="已并入一个未结束的运行：{run}")
LOST = Text(
    en="To see what became of the run: `diagnose runs show {run}`.",
    zh="查看该运行的结果：`diagnose runs show {run}`。",
)
FOLDER_SENT = Text(
    en="Sent {files} files; the service keeps them until {until}, for you alone, as --source {source}",
    zh="已发送 {files} 个文件；服务保存至 {until}，仅供您使用：--source {source}",
)
GO_ON = Text(en="To continue this session: --session {session}", zh="继续此会话：--session {session}")
