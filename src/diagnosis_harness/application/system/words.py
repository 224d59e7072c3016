"""What the system says of itself, in English, and the form of such words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from diagnosis_harness.application.system.profile import TelemetryKind


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemWords:
    """One language. `{names}` are the same in both."""

    greeting: str
    thanks: str
    farewell: str
    identity: str
    no_llm: str
    llms: str
    embedded: str
    roles: Mapping[str, str]
    abilities: str
    can_diagnose: str
    cannot_diagnose: str
    can_quote: str
    can_tell: str
    read_only_short: str
    read_only: str
    tools: str
    no_tools: str
    tool_lines: Mapping[str, str] = field(default_factory=dict)
    """What tools do, by their names; what is not here is said in the tool's own words."""
    sources: str
    no_sources: str
    source: str
    window: str
    holds_nothing: str
    kinds: Mapping[TelemetryKind, str]
    """What is counted of each kind."""
    kind_names: Mapping[TelemetryKind, str]
    holds_kind: str
    no_kind: str
    is_tool: str
    is_source: str
    is_neither: str
    runbooks: str
    no_runbooks: str
    limits: str
    privacy_embedded: str
    privacy_llm: str
    how_to_ask: str
    out_of_scope: str
    comma: str


ENGLISH = SystemWords(
    greeting="Hello, I am {name}. Ask me why something broke, what a runbook says, or what I can see.",
    thanks="You are welcome.",
    farewell="Goodbye.",
    identity="I am {name} {version}. I diagnose incidents from recorded evidence, and I release no conclusion"
    " that the evidence does not bear out.",
    no_llm="No language model: embedded rules play every role.",
    llms="Beside embedded rules: {llms}. Who plays which role:",
    embedded="embedded rules",
    roles={
        "ROUTER": "choosing a question's path",
        "SEMANTIC_GUARD": "judging a draft",
        "DIAGNOSIS_AGENT": "diagnosis",
        "EVIDENCE_REPAIR": "repairing a draft",
        "SYSTEM_RESPONDER": "answering about the system",
        "ANSWER_WRITER": "choosing quotations",
    },
    abilities="I can:",
    can_diagnose="say why something broke, from the telemetry of my sources, with {count} read-only tools",
    cannot_diagnose="diagnose only once a source of telemetry is configured; there is none",
    can_quote="answer from {count} runbooks and postmortems, word for word, with the place of each quotation",
    can_tell="say what I am, what I can see and what I cannot",
    read_only_short="I only read: I change nothing.",
    read_only="No: I only read. I restart, change, scale and delete nothing; I can say what the evidence and"
    " the runbooks say, and a person acts.",
    tools="I have {count} tools, all of them read-only:",
    no_tools="I have no tools here.",
    sources="I can see these sources, and no others:",
    no_sources="No source of telemetry is configured, so I can see no metrics, logs, spans or changes.",
    source="{name}: {holds}{window}",
    window=", {} to {}",
    holds_nothing="nothing that can be used",
    kinds={
        TelemetryKind.METRICS: "metric series",
        TelemetryKind.LOGS: "log lines",
        TelemetryKind.SPANS: "spans",
        TelemetryKind.TOPOLOGY: "calls between services",
        TelemetryKind.CHANGES: "changes",
    },
    kind_names={
        TelemetryKind.METRICS: "metrics",
        TelemetryKind.LOGS: "logs",
        TelemetryKind.SPANS: "spans",
        TelemetryKind.TOPOLOGY: "a call graph",
        TelemetryKind.CHANGES: "changes",
    },
    holds_kind="{source} holds {count} {kind}.",
    no_kind="None of my sources holds {kind}.",
    is_tool="{name} is one of my tools: {does}",
    is_source="I can see {source}.",
    is_neither="I have no source and no tool of the name “{name}”.",
    runbooks="{count} runbooks and postmortems are indexed.",
    no_runbooks="No runbooks are configured.",
    limits="One run may take {time}, {tool_calls} tool calls and {llm_calls} llm calls. It can be cancelled"
    " at any time.",
    privacy_embedded="No language model is asked: what you ask and what I read goes to none. Secrets"
    " are masked before anything is kept or shown.",
    privacy_llm="Questions and evidence go to {llms}, with secrets masked before they leave, and before"
    " anything is kept or shown.",
    how_to_ask="Say what you saw, where and when, such as “why is checkout slow since 14:05?”; or ask for a"
    " runbook, such as “how do I roll back checkout?”.",
    out_of_scope="That is not something I can answer.",
    comma=", ",
)
