"""The words of a report in English."""

from __future__ import annotations

from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.report.words import CoverageWords, Headings, NextWords, Words


def english() -> Words:
    """All of them."""
    return Words(
        headings=Headings(
            why="Why",
            nearby="Also happened nearby",
            verified="Verified",
            considered="Also considered, not proven",
            candidates="Candidates, none of them proven",
            looked_at="Looked at",
            missing="Missing",
            next_checks="Next",
            evidence="Evidence",
            kept="Evidence kept",
            in_flight="In flight when it ended",
        ),
        coverage=CoverageWords(
            found="{count} with findings: {tools}",
            empty="{count} empty (nothing seen in that scope and window, and no more than that): {tools}",
            failed="{count} failed: {tools}",
            never_asked="never asked: {tools}",
            nothing_asked="Nothing was asked.",
            not_used="not used: {name}: {note}",
            unread="not read",
            unsearched="read and counted, not yet compared",
            searched={"logs": "searched, not compared", "changes": "listed, not compared"},
            not_compared="{name}: {note} with normal operation",
            everything="everything",
            onset="Onset: {at}, {method}",
            onset_method={
                "given": "given with the question",
                "carried": "taken over from the question before",
                "stated": "stated by the source",
                "alert": "the time of the alert",
                "estimated": "estimated from the indicators",
            },
            alert_at="alert at {at}",
        ),
        next=NextWords(
            look_at="Look at {entity}, {fault}: the strongest candidate neither proven nor ruled out.",
            supply="Supply what was missing: {what}.",
            ask_failed="Find out why {tool} failed ({code}), and ask again.",
            ask_unasked="Ask what this run did not: {tool}.",
            give_baseline="Give normal operation to compare with: --baseline FOLDER.",
            give_onset="Say when it began: --onset TIME.",
            more_time="Ask again with more time: --deadline SECONDS (this run had {limit}).",
            more_budget="Ask again with a larger budget, or a narrower question.",
            ask_again="Ask again: it is a new run, with its own time and budget.",
        ),
        outcome={
            ReleaseOutcome.SUCCESS: "A conclusion that the recorded evidence bears out.",
            ReleaseOutcome.FALLBACK: "No conclusion.",
            ReleaseOutcome.FAILED: "There is no answer.",
            ReleaseOutcome.CANCELLED: "Cancelled before there was an answer.",
        },
        fallback={
            FallbackType.MISSING_REQUIRED_CONTEXT: "No conclusion: what is needed to answer was not there.",
            FallbackType.INSUFFICIENT_EVIDENCE: "No conclusion: the evidence does not prove a cause.",
            FallbackType.EVIDENCE_VALIDATION_FAILED: (
                "No conclusion: one was drafted, but its citations did not stand up to checking."
            ),
            FallbackType.SEMANTIC_UNSUPPORTED: (
                "No conclusion: one was drafted, but the evidence it cites does not bear it out."
            ),
            FallbackType.SEMANTIC_UNAVAILABLE: (
                "No conclusion: one was drafted, but the last check of it could not be made."
            ),
        },
        stop={
            DiagnosisStopReason.INFORMATION_SATURATED: (
                "Collecting stopped: further questions brought nothing new."
            ),
            DiagnosisStopReason.PROGRESS_PROTOCOL_VIOLATED: (
                "Collecting stopped: the agent did not say what its results meant."
            ),
            DiagnosisStopReason.BUDGET_LIMIT_REACHED: "Collecting stopped at the limit of the budget.",
        },
        ended={
            RunState.RUNNING: "",
            RunState.SUCCESS: "",
            RunState.FAILED: "The run failed.",
            RunState.CANCELLED: "",
            RunState.TIMED_OUT: "The time it was given ran out.",
            RunState.BUDGET_EXHAUSTED: "The budget it was given is used up.",
        },
        fault={
            FaultKind.CPU: "CPU",
            FaultKind.MEMORY: "memory",
            FaultKind.NETWORK: "network",
            FaultKind.ERRORS: "errors",
            FaultKind.LATENCY: "latency",
            FaultKind.TRAFFIC: "traffic",
            FaultKind.DEPENDENCY: "dependency",
            FaultKind.UNKNOWN: "kind of fault unknown",
        },
        missing={
            MissingInfo.SOURCE: "a source of telemetry (--from FOLDER, or [sources] in the settings)",
            MissingInfo.METRICS: "metrics",
            MissingInfo.SPANS: "spans of distributed traces",
            MissingInfo.LOGS: "logs",
            MissingInfo.TOPOLOGY: "who calls whom (a topology)",
            MissingInfo.CHANGES: "deploys, flags and other changes",
            MissingInfo.INCIDENT: "telemetry of the incident",
            MissingInfo.BASELINE: "normal operation to compare with (--baseline FOLDER)",
            MissingInfo.ENTITY: "which service is meant",
            MissingInfo.TIME: "when it began (--onset TIME)",
            MissingInfo.PERMISSION: "permission to use a tool",
        },
        missing_name='"{name}", which no telemetry knows',
        cause="{entity} is the cause: {fault}.",
        also_cause="{entity} is a cause as well: {fault}.",
        confidence="Confidence {share} of 1: how well checked evidence bears it out; no probability.",
        part="{fault} ({region})",
        verified_count="Statements verified against evidence: {count}.",
        kept_count="Results of tool calls kept as evidence: {count}.",
        no_diagnosis="It asked for no diagnosis ({path}). The answer is kept with the run, and not here.",
        score="score {score}",
        evidence_for="for",
        evidence_against="against",
        asked_for="asked for",
        whole_record="nothing found in this scope and window",
        window="Incident window: {window}",
        to="{start} to {end}",
        footer="{run_id}: state {state}, outcome {outcome}; {duration} of {limit}",
        spent={
            "llm_calls": "{used} of {limit} decisions",
            "tool_calls": "{used} of {limit} tool calls",
            "total_tokens": "{used} of {limit} tokens",
        },
        items="{count} findings",
        more="and {count} more in the document (--json, --save FILE)",
        comma=", ",
        colon=": ",
    )
