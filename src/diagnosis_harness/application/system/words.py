"""What the system says about itself, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from diagnosis_harness.application.system.profile import TelemetryKind
from diagnosis_harness.kernel.language import Text

GREETING: Final = Text(
    en="Hello, I am {name}. Ask me why something broke, what a runbook says, or what I can see.",
    zh="你好，我是 {name}。可以问我某个故障的原因、运维手册里怎么写，或者我能看到什么。",
)
THANKS: Final = Text(en="You are welcome.", zh="不客气。")
FAREWELL: Final = Text(en="Goodbye.", zh="再见。")
IDENTITY: Final = Text(
    en=(
        "I am {name} {version}. I diagnose incidents from recorded evidence, and I release a conclusion "
        "only if the evidence supports it."
    ),
    zh="我是 {name} {version}。我根据记录下来的证据诊断故障，证据不支持的结论一律不发布。",
)
NO_LLM: Final = Text(
    en="No language model is used: built-in rules fill every role.",
    zh="没有使用语言模型：所有角色都由内置规则担任。",
)
LLMS: Final = Text(
    en="Besides built-in rules, I use {llms}. The roles:",
    zh="除内置规则外还使用 {llms}。各角色由谁担任：",
)
EMBEDDED: Final = Text(en="built-in rules", zh="内置规则")
ROLES: Final[Mapping[str, Text]] = {
    "ROUTER": Text(en="routing a question", zh="判断问题类型"),
    "SEMANTIC_GUARD": Text(en="reviewing a draft", zh="审核草稿"),
    "DIAGNOSIS_AGENT": Text(en="diagnosis", zh="诊断"),
    "EVIDENCE_REPAIR": Text(en="repairing a draft", zh="修补草稿"),
    "SYSTEM_RESPONDER": Text(en="answering about the system", zh="回答关于系统的问题"),
    "ANSWER_WRITER": Text(en="choosing quotations", zh="选取引文"),
}
ABILITIES: Final = Text(en="I can:", zh="我可以：")
CAN_DIAGNOSE: Final = Text(
    en="explain why something broke, from the telemetry in my sources, with {count} read-only tools",
    zh="用 {count} 个只读工具，根据数据源中的遥测数据说明故障原因",
)
CANNOT_DIAGNOSE: Final = Text(
    en="diagnose incidents once a telemetry source is configured; there is none yet",
    zh="在配置了遥测数据源之后进行诊断；目前没有数据源",
)
CAN_QUOTE: Final = Text(
    en="answer from {count} runbooks and postmortems, quoted verbatim with file and line",
    zh="逐字引用 {count} 份运维手册和复盘来回答，并注明文件和行号",
)
CAN_TELL: Final = Text(
    en="tell you what I am, what I can see and what I cannot", zh="说明我是什么、能看到什么、看不到什么"
)
READ_ONLY_SHORT: Final = Text(en="I only read: I change nothing.", zh="我只读取，不做任何改动。")
READ_ONLY: Final = Text(
    en=(
        "No: I only read. I cannot restart, change, scale or delete anything. I can tell you what the "
        "evidence and the runbooks say; acting on it is up to a person."
    ),
    zh=(
        "不能：我只读取。我不会重启、修改、扩缩容或删除任何东西；我可以说明证据和运维手册的内容，操作由"
        "人来做。"
    ),
)
TOOLS: Final = Text(en="I have {count} tools, all of them read-only:", zh="我有 {count} 个工具，全部只读：")
NO_TOOLS: Final = Text(en="I have no tools here.", zh="这里没有可用的工具。")
SOURCES: Final = Text(
    en="I can see these sources, and no others:", zh="我能看到以下数据源，除此之外没有别的："
)
NO_SOURCES: Final = Text(
    en="No telemetry source is configured, so I cannot see any metrics, logs, spans or changes.",
    zh="没有配置遥测数据源，因此看不到任何指标、日志、跨度或变更。",
)
SOURCE_LINE: Final = Text(en="{name}: {holds}{window}", zh="{name}：{holds}{window}")
WINDOW: Final = Text(en=", {start} to {end}", zh="，{start} 至 {end}")
SERVICES: Final = Text(en="It holds {names}.", zh="其中有：{names}。")
SERVICES_SOME: Final = Text(
    en="It holds {names} and {count} more.", zh="其中有 {names} 等，另有 {count} 个。"
)
HOLDS_NOTHING: Final = Text(en="nothing usable", zh="没有可用的内容")
KIND_COUNTED: Final[Mapping[TelemetryKind, Text]] = {
    TelemetryKind.METRICS: Text(en="metric series", zh="条指标序列"),
    TelemetryKind.LOGS: Text(en="log lines", zh="行日志"),
    TelemetryKind.SPANS: Text(en="spans", zh="个跨度"),
    TelemetryKind.TOPOLOGY: Text(en="calls between services", zh="条服务间调用"),
    TelemetryKind.CHANGES: Text(en="changes", zh="项变更"),
}
KIND_NAMES: Final[Mapping[TelemetryKind, Text]] = {
    TelemetryKind.METRICS: Text(en="metrics", zh="指标"),
    TelemetryKind.LOGS: Text(en="logs", zh="日志"),
    TelemetryKind.SPANS: Text(en="spans", zh="跨度"),
    TelemetryKind.TOPOLOGY: Text(en="a call graph", zh="调用图"),
    TelemetryKind.CHANGES: Text(en="changes", zh="变更"),
}
HOLDS_KIND: Final = Text(en="{source} holds {count} {kind}.", zh="{source} 中有 {count} {kind}。")
NO_KIND: Final = Text(en="None of my sources holds {kind}.", zh="我的数据源中都没有{kind}。")
IS_TOOL: Final = Text(en="{name} is one of my tools: {does}", zh="{name} 是我的工具之一：{does}")
IS_SOURCE: Final = Text(en="I can see {source}.", zh="我能看到 {source}。")
IS_NEITHER: Final = Text(
    en="I have no source or tool named “{name}”.", zh="我没有名为“{name}”的数据源或工具。"
)
RUNBOOKS: Final = Text(
    en="{count} runbooks and postmortems are indexed.", zh="已索引 {count} 份运维手册和复盘。"
)
NO_RUNBOOKS: Final = Text(en="No runbooks are configured.", zh="没有配置运维手册。")
LIMITS: Final = Text(
    en=(
        "One run may use up to {time}, {tool_calls} tool calls and {llm_calls} llm calls. It can be "
        "cancelled at any time."
    ),
    zh="每次运行最多 {time}、{tool_calls} 次工具调用、{llm_calls} 次语言模型调用，随时可以取消。",
)
PRIVACY_EMBEDDED: Final = Text(
    en=(
        "No language model is used: neither your questions nor what I read is sent to one. Secrets are "
        "masked before anything is stored or shown."
    ),
    zh="没有使用语言模型：你的问题和我读到的内容不会发给任何模型。密钥在保存或显示之前都会被遮蔽。",
)
PRIVACY_LLM: Final = Text(
    en=(
        "Questions and evidence are sent to {llms}. Secrets are masked before anything is sent, stored or "
        "shown."
    ),
    zh="问题和证据会发送给 {llms}，发送之前以及保存或显示之前，密钥都会被遮蔽。",
)
HOW_TO_ASK: Final = Text(
    en=(
        "Say what you saw, where and when: “why has {service} been slow since 14:05?”, “is {service} "
        "healthy?”, “when did it start?”, “what do the logs of {service} say?”; or ask for a runbook: “how "
        "do I roll back {service}?”."
    ),
    zh=(
        "请说明看到了什么、在哪里、什么时候，例如“14:05 起 {service} 为什么变慢？”、“{service} 正常吗？”、"
        "“什么时候开始的？”、“{service} 的日志说了什么？”；或者询问运维手册，例如“{service} 怎么回滚？”。"
    ),
)
OUT_OF_SCOPE: Final = Text(en="That is not something I can answer.", zh="这个问题我无法回答。")
COMMA: Final = Text(en=", ", zh="，")
LIST_COMMA: Final = Text(en=", ", zh="、")
