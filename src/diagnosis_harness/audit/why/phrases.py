"""Every sentence that can answer a question of "why", in both languages."""

from __future__ import annotations

from enum import Enum, unique

from diagnosis_harness.kernel.language import Text


@unique
class Phrase(Enum):
    """Every sentence of an answer; the value of a member is its text."""

    NO_FALLBACK_SUCCESS = Text(
        en="It was not a fallback: the conclusion was released because the recorded evidence supports it.",
        zh="不是兜底答复：结论得到了已记录证据的支持，因此已发布。",
    )
    NO_FALLBACK_ANSWERED = Text(
        en="It was not a fallback: the question was answered and did not need a diagnosis.",
        zh="不是兜底答复：问题已得到回答，不需要诊断。",
    )
    NO_FALLBACK_FAILED = Text(
        en="It was not a fallback but a failure: there was no safe answer to give.",
        zh="不是兜底答复，而是失败：没有可以给出的安全答案。",
    )
    NO_FALLBACK_CANCELLED = Text(
        en="It was not a fallback: the run was cancelled before there was an answer.",
        zh="不是兜底答复：运行在得出答案之前已取消。",
    )
    NO_FALLBACK_NEVER_STARTED = Text(
        en="It was not a fallback: the run never started.", zh="不是兜底答复：运行从未开始。"
    )
    NO_FALLBACK_NOT_SERVED = Text(
        en=(
            "It was not a fallback: the run never started, because no process that takes queued runs has "
            "its source. Start one that does: `diagnose worker --from FOLDER`, or set [sources] in its "
            "settings."
        ),
        zh=(
            "不是兜底答复：处理排队运行的进程都没有该数据源，因此运行从未开始。请启动一个有该数据源的进程："
            "`diagnose worker --from FOLDER`，或在其设置中写明 [sources]。"
        ),
    )
    FALLBACK_CONTEXT = Text(
        en="Information needed for an answer was missing: {missing}.", zh="缺少回答所需的信息：{missing}。"
    )
    FALLBACK_CONTEXT_UNNAMED = Text(
        en="Information needed for an answer was missing; the agent did not say what.",
        zh="缺少回答所需的信息；智能体没有指明是什么。",
    )
    FALLBACK_TIME = Text(
        en="Time ran out before a conclusion had passed every check.",
        zh="在结论通过全部检查之前，时间已经用完。",
    )
    FALLBACK_BUDGET = Text(
        en="The budget ran out before a conclusion had passed every check.",
        zh="在结论通过全部检查之前，预算已经用尽。",
    )
    FALLBACK_SATURATED = Text(
        en=(
            "Collection stopped because nothing new was coming in, and the evidence collected by then does "
            "not prove a cause."
        ),
        zh="新的查询没有带来新信息，因此停止收集；已有的证据不足以证明任何原因。",
    )
    FALLBACK_PROTOCOL = Text(
        en=(
            "Collection stopped because the agent did not account for its results, which do not prove a "
            "cause."
        ),
        zh="智能体没有对结果作出评估，因此停止收集；已有的结果不足以证明任何原因。",
    )
    FALLBACK_UNREADABLE = Text(
        en="The agent's last answer was empty or unreadable and was discarded.",
        zh="智能体最后的回答为空或无法读取，已被丢弃。",
    )
    FALLBACK_NO_CONCLUSION = Text(
        en="The agent's draft names no cause: the evidence it collected does not prove one.",
        zh="智能体的结论草稿没有指认原因：它收集到的证据不足以证明任何原因。",
    )
    FALLBACK_CITATIONS = Text(
        en=(
            "The agent drafted a conclusion, but EvidenceGuard did not find all of it in the cited evidence."
        ),
        zh="智能体提交了结论草稿，但 EvidenceGuard 未能在其引用的证据中找到全部内容。",
    )
    FALLBACK_UNSUPPORTED = Text(
        en=(
            "The agent drafted a conclusion and its citations held, but SemanticGuard found that the cited "
            "evidence does not support it ({reasons})."
        ),
        zh="智能体提交了结论草稿，引用也通过了核对，但 SemanticGuard 认为这些证据不支持它（{reasons}）。",
    )
    FALLBACK_UNAVAILABLE = Text(
        en=(
            "The agent drafted a conclusion and its citations held, but SemanticGuard could not be asked "
            "(attempts: {attempts}), and nothing is released unchecked."
        ),
        zh=(
            "智能体提交了结论草稿，引用也通过了核对，但无法调用 SemanticGuard（尝试 {attempts} 次），而未经"
            "检查的内容一律不发布。"
        ),
    )
    REPAIR_FAILED = Text(en="One repair was attempted and did not fix it.", zh="修复过一次，仍未通过。")
    FACTS_INCLUDED = Text(
        en="Verified facts still included: {count}.", zh="能够核实的内容仍然发布：{count} 条陈述。"
    )

    NEVER_CALLED = Text(en="It did not call any tool.", zh="它没有调用过任何工具。")
    NEVER_STARTED_CALLING = Text(
        en="The run never started, so no tool was called.", zh="运行从未开始，因此没有调用任何工具。"
    )
    STOP_SATURATED = Text(
        en="Nothing new was coming in, so collection was stopped (tool calls: {calls}).",
        zh="最近的结果没有带来新的信息，因此在 {calls} 次调用后停止收集。",
    )
    STOP_PROTOCOL = Text(
        en=(
            "It repeatedly failed to say what its results meant, so collection was stopped (tool calls: "
            "{calls})."
        ),
        zh="它连续多次没有对结果作出评估，因此在 {calls} 次调用后停止收集。",
    )
    STOP_BUDGET = Text(
        en="A budget limit was reached ({spent}); no tool is called after that.",
        zh="已达到预算上限（{spent}），超过上限后不再调用任何工具。",
    )
    STOP_DRAFTED = Text(
        en="It finished on its own and gave its draft (tool calls: {calls}).",
        zh="它自行结束并提交了结论草稿（共调用 {calls} 次）。",
    )
    STOP_UNREADABLE = Text(
        en="Its answer was empty or unreadable, and it was not asked again (tool calls: {calls}).",
        zh="在 {calls} 次调用后，它的回答为空或无法读取；没有再次调用。",
    )
    STOP_POLICY_FAILED = Text(
        en=(
            "The agent, or the language model behind it, failed and was not asked again (tool calls: "
            "{calls})."
        ),
        zh="在 {calls} 次调用后，智能体或其背后的语言模型失败；没有再次调用。",
    )
    STOP_TIME = Text(
        en="The deadline passed, and nothing starts after it (tool calls: {calls}).",
        zh="在 {calls} 次调用后到达截止时间，此后不再开始任何工作。",
    )
    STOP_CANCELLED = Text(
        en="The run was cancelled, and nothing starts after that (tool calls: {calls}).",
        zh="在 {calls} 次调用后运行被取消，此后不再开始任何工作。",
    )
    STOP_FAILED = Text(
        en="The run failed, and nothing starts after that (tool calls: {calls}).",
        zh="在 {calls} 次调用后运行失败，此后不再开始任何工作。",
    )
    REQUESTS_REFUSED = Text(
        en="Requests refused before they started: {count} ({codes}).",
        zh="有 {count} 个请求在开始之前被拒绝（{codes}）。",
    )
    STORE_FAILED = Text(
        en="The evidence store was not available, and no tool is called whose result cannot be stored.",
        zh="证据存储不可用，而结果无法保存时不会进行查询。",
    )
    REQUESTS_REFUSED_UNNAMED = Text(
        en=(
            "Requests refused before they started: {count}. The reasons are unknown: this document has an "
            "older format that does not record them as data."
        ),
        zh="开始之前被拒绝的请求：{count} 个。原因未知：本文档为旧格式，没有以数据形式保留原因。",
    )

    ALL_FOUND = Text(
        en="Every call found something ({count}), and no request was refused.",
        zh="每次调用都有发现（{count} 次），也没有请求被拒绝。",
    )
    NONE_CALLED = Text(en="No tool was called.", zh="没有调用过工具。")
    CALL_EMPTY = Text(
        en=(
            "{call} ({tool}) found nothing in its scope and time window; this says nothing about anything "
            "outside that scope."
        ),
        zh="{call}（{tool}）在其范围与时间窗内没有发现；这不代表范围之外也没有。",
    )
    CALL_UNFINISHED = Text(
        en="{call} ({tool}) has started, and its record is not finished.",
        zh="{call}（{tool}）已经开始，其记录尚未完成。",
    )
    CALL_REFUSED = Text(
        en="{call} ({tool}) was refused before it started ({code}), so it has no record.",
        zh="{call}（{tool}）在开始之前被拒绝（{code}），因此没有记录。",
    )
    RECORDS_UNKNOWN = Text(
        en="The evidence store is not responding; the following comes from the run's trace.",
        zh="证据存储目前没有响应；以下内容来自本次运行的轨迹。",
    )
    CALL_REFUSED_UNNAMED = Text(
        en=(
            "A request was refused before it started. Which one, and why, is unknown: this document has an "
            "older format that does not record it as data."
        ),
        zh=(
            "有一个请求在开始之前被拒绝。具体是哪一个、为何被拒绝均未知：本文档为旧格式，没有以数据形式保留"
            "这些内容。"
        ),
    )
    CALL_FAILED = Text(en="{call} ({tool}) failed ({code}).", zh="{call}（{tool}）失败（{code}）。")
    CALL_EXECUTION_FAILED = Text(
        en="{call} ({tool}) failed: the tool, or the source behind it, raised an error.",
        zh="{call}（{tool}）失败：工具或其背后的数据源出错。",
    )
    CALL_MEMORY_LIMIT = Text(
        en=(
            "{call} ({tool}) failed: the telemetry that it needs does not fit into the memory that "
            "`folder.memory_limit_mb` allows."
        ),
        zh="{call}（{tool}）失败：所需的遥测数据超出了 `folder.memory_limit_mb` 允许的内存。",
    )
    CALL_TIMED_OUT = Text(
        en="{call} ({tool}) failed: it exceeded the time limit of one call.",
        zh="{call}（{tool}）失败：超过了单次调用的时限。",
    )
    CALL_MASKING_FAILED = Text(
        en="{call} ({tool}) failed: its result could not be masked and was discarded.",
        zh="{call}（{tool}）失败：其结果无法脱敏，已被丢弃。",
    )
    CALL_PROJECTION_FAILED = Text(
        en="{call} ({tool}) failed: its result could not be read as findings.",
        zh="{call}（{tool}）失败：其返回内容无法解析为发现。",
    )
    CALL_TOO_LARGE = Text(
        en="{call} ({tool}) failed: its result exceeded the size limit of one record.",
        zh="{call}（{tool}）失败：其返回内容超过了单条记录的上限。",
    )
    CALL_BUDGET_EXHAUSTED = Text(
        en="{call} ({tool}) failed: keeping its result would have exceeded the budget.",
        zh="{call}（{tool}）失败：保留其结果会超出预算。",
    )
    CALL_STORE_FAILED = Text(
        en="{call} ({tool}) failed: its result could not be stored, so it cannot be cited.",
        zh="{call}（{tool}）失败：其结果未能存储，因此不能引用。",
    )
    CALL_RUN_ENDED = Text(
        en="{call} ({tool}) was still running when the run ended; a late result is discarded.",
        zh="{call}（{tool}）在运行结束时仍未完成；迟到的结果一律丢弃。",
    )
    CALL_ABANDONED = Text(
        en="{call} ({tool}) was abandoned: its record had been started, and nothing it found was kept.",
        zh="{call}（{tool}）已被放弃：其记录已经开始，但没有保留任何发现。",
    )

    WAS_TIME = Text(en="Time: it used all of its {limit}.", zh="超时：给定的 {limit} 已全部用完。")
    WAS_BUDGET = Text(en="Budget: {spent}.", zh="预算耗尽：{spent}。")
    WAS_NEITHER = Text(
        en="Neither: it ended {state} after {duration} of {limit}, and no limit ended it.",
        zh="都不是：运行以 {state} 结束，用时 {duration}（共 {limit}），没有任何上限结束它。",
    )
    WAS_QUEUE = Text(
        en="Neither: it was never started before its start deadline, so none of its {limit} was used.",
        zh="都不是：运行未能在开始时限之前开始，因此没有用到自己的 {limit}。",
    )
    WAS_NOT_STARTED = Text(
        en="Neither: it ended {state} before it started and used none of its {limit}.",
        zh="都不是：运行在开始之前以 {state} 结束，没有用到自己的 {limit}。",
    )
    WAS_NOT_SERVED = Text(
        en=(
            "Neither: no process that takes queued runs has its source, so it never started and used none "
            "of its {limit}."
        ),
        zh="都不是：处理排队运行的进程都没有该数据源，因此运行从未开始，没有用到自己的 {limit}。",
    )

    STATUS_CONCLUDED = Text(en="There is a conclusion.", zh="有结论。")
    STATUS_ANSWERED = Text(
        en=(
            "The status means that the question was answered; a question of this kind ({intent}) has no "
            "conclusion about an incident."
        ),
        zh="status 表示问题已得到回答；这类问题（{intent}）没有关于事故的结论。",
    )
    STATUS_OTHER = Text(en="The status is {status}, not SUCCESS.", zh="status 是 {status}，不是 SUCCESS。")
    STATUS_OF_FALLBACK = Text(
        en=(
            "The status means that the question was handled and a safe answer was produced, not that there "
            "is a conclusion: the released answer is a FALLBACK ({kind})."
        ),
        zh="status 表示问题已得到处理并给出了安全的答案，不表示有结论：发布的是 FALLBACK（{kind}）。",
    )
    STATE_IS_SEPARATE = Text(
        en="How the run itself ended is recorded separately: {state}.",
        zh="运行本身如何结束另行记录：{state}。",
    )

    NO_STREAM = Text(
        en=(
            "There was no stream: the question was asked on the command line, and the run document is the "
            "answer."
        ),
        zh="没有事件流：问题由命令行提出，运行文档就是答案。",
    )
    NO_CLIENT = Text(
        en="A background run has no stream of its own, and no client is connected to it.",
        zh="后台运行没有自己的事件流，也没有客户端连接。",
    )
    DONE_SENT = Text(en="It was sent: done({sent}).", zh="已发送：done({sent})。")
    DONE_NOT_YET = Text(
        en="The stream is still open; `done` is sent once the run has been released.",
        zh="事件流仍然打开；结果发布之后才会发送 `done`。",
    )
    CLIENT_GONE = Text(
        en="The client disconnected, which cancelled the run; there was nobody to send it to.",
        zh="客户端已断开，运行因此被取消，无处可发。",
    )
    CONNECTION_LOST = Text(
        en=(
            "The connection was lost before the end could be sent. The run ended {outcome}; see its document."
        ),
        zh="在发送结尾之前连接已断开。运行以 {outcome} 结束，见其文档。",
    )
    STREAM_UNKNOWN = Text(
        en=(
            "Unknown here: only the process that served the client knows how its stream ended. The run "
            "ended {outcome}; see its document."
        ),
        zh="此处无从得知：客户端的事件流如何结束，只有为其服务的进程知道。运行以 {outcome} 结束，见其文档。",
    )
    DONE_SENT_BEFORE_STORED = Text(
        en="It was sent; the end of the run is not stored yet.", zh="已发送；运行的结尾尚未保存。"
    )
    CONNECTION_LOST_SO_FAR = Text(
        en="The connection to the client was lost; the end of the run is not stored yet.",
        zh="与客户端的连接已断开；运行的结尾尚未保存。",
    )
    STREAM_UNKNOWN_SO_FAR = Text(
        en=(
            "`done` is sent once the run has been released; only the process that serves the client knows "
            "whether it is still connected."
        ),
        zh="结果发布之后才会发送 `done`；客户端是否仍然连接，只有为其服务的进程知道。",
    )

    IS_PREVIOUS_TURN = Text(
        en="It does see it: a diagnosis that ended SUCCESS publishes its result to its session.",
        zh="会看到：以 SUCCESS 结束的诊断会向其会话公布结果。",
    )
    NOT_PREVIOUS_TURN = Text(
        en=(
            "Only a diagnosis that ended SUCCESS publishes a result to the next turn of its session; this "
            "run ended {outcome}."
        ),
        zh="只有以 SUCCESS 结束的诊断才会向会话的下一轮公布结果；本次以 {outcome} 结束。",
    )
    NO_TURN_OF_PATH = Text(
        en=(
            "Only a diagnosis publishes a result to the next turn of its session; this question was not a "
            "diagnosis (intent: {intent})."
        ),
        zh="只有诊断会向会话的下一轮公布结果；本问题不是诊断（intent：{intent}）。",
    )
    NO_TURN_UNROUTED = Text(
        en=(
            "Only a diagnosis publishes a result to the next turn of its session; this question was not "
            "routed."
        ),
        zh="只有诊断会向会话的下一轮公布结果；本问题没有经过路由。",
    )
    OWN_SESSION = Text(
        en="On the command line every run is a session of its own, so no turn follows it.",
        zh="在命令行中，每次运行都是单独的会话，因此其后没有下一轮。",
    )

    IS_QUEUED = Text(en="The run is queued and has not started.", zh="运行正在排队，尚未开始。")
    IN_PROGRESS = Text(en="The run is still in progress.", zh="运行仍在进行。")
    NO_ANSWER_YET = Text(
        en="There is no answer yet, and therefore no fallback.", zh="还没有答案，因此也没有兜底答复。"
    )
    NOT_STOPPED = Text(
        en="It has not stopped (tool calls so far: {calls}).",
        zh="它还没有停止；到目前为止调用了 {calls} 次。",
    )
    NONE_CALLED_YET = Text(en="No tool has been called yet.", zh="还没有调用过工具。")
    ALL_FOUND_SO_FAR = Text(
        en="Every call so far found something ({count}).", zh="到目前为止每次调用都有发现（{count} 次）。"
    )
    TIME_NOT_STARTED = Text(
        en="Neither: the {limit} limit starts when the run does.", zh="都不是：给定的 {limit} 从开始时起算。"
    )
    TIME_SO_FAR = Text(
        en="Neither so far: the {limit} limit counts from its start at {started}.",
        zh="目前都不是：从 {started} 开始，共有 {limit}。",
    )
    CANCEL_REQUESTED = Text(
        en="Cancellation has been requested ({reason}).", zh="已有人请求取消运行（{reason}）。"
    )
    NO_TURN_YET = Text(
        en="The next turn sees a diagnosis that ended SUCCESS; this run has not ended.",
        zh="下一轮能看到以 SUCCESS 结束的诊断；本次运行尚未结束。",
    )
