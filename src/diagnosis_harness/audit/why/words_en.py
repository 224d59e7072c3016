"""The answers to "why" in English."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from diagnosis_harness.audit.why.answer import Say, WhyQuestion

QUESTIONS_EN: Final[Mapping[WhyQuestion, str]] = {
    WhyQuestion.FALLBACK: "Why was the answer a fallback?",
    WhyQuestion.STOPPED_CALLING: "Why did the agent stop calling tools?",
    WhyQuestion.NO_EVIDENCE: "Why has a tool no evidence?",
    WhyQuestion.TIME_OR_BUDGET: "Was it the time or the budget?",
    WhyQuestion.STATUS_SUCCESS: "Why is the status SUCCESS without a conclusion?",
    WhyQuestion.NO_DONE: "Why was no `done` streamed?",
    WhyQuestion.NO_PREVIOUS_TURN: "Why does the next turn not see this one?",
}

SAID_EN: Final[Mapping[Say, str]] = {
    Say.NO_FALLBACK_SUCCESS: "It was none: a conclusion left that the recorded evidence bears out.",
    Say.NO_FALLBACK_ANSWERED: "It was none: the question was answered, and asked for no diagnosis.",
    Say.NO_FALLBACK_FAILED: "It was none, but a failure: there was no safe answer to give.",
    Say.NO_FALLBACK_CANCELLED: "It was none: the run was cancelled before there was an answer.",
    Say.NO_FALLBACK_NEVER_BEGAN: "It was none: the run never began.",
    Say.NO_FALLBACK_NOT_SERVED: (
        "It was none: the run never began, as no process that takes queued runs has its source. Start one"
        " that has it: `diagnose worker --from FOLDER`, or [sources] in its settings."
    ),
    Say.FALLBACK_CONTEXT: "What is needed to answer was not there: {missing}.",
    Say.FALLBACK_CONTEXT_UNNAMED: "What is needed to answer was not there; the agent did not name it.",
    Say.FALLBACK_TIME: "The time was over before a conclusion had passed every check.",
    Say.FALLBACK_BUDGET: "The budget was used up before a conclusion had passed every check.",
    Say.FALLBACK_SATURATED: (
        "Collecting stopped as nothing new was coming in, and what had come in proves no cause."
    ),
    Say.FALLBACK_PROTOCOL: (
        "Collecting stopped as the agent did not account for its results, and these prove no cause."
    ),
    Say.FALLBACK_UNREADABLE: "The agent's last answer was empty or unreadable, and was thrown away.",
    Say.FALLBACK_NO_CONCLUSION: "The agent's draft names no cause: what it had collected proves none.",
    Say.FALLBACK_CITATIONS: (
        "A conclusion was drafted, but EvidenceGuard did not find all of it in the evidence that it cites."
    ),
    Say.FALLBACK_UNSUPPORTED: (
        "A conclusion was drafted and its citations held, but SemanticGuard found that they do not bear it "
        "out ({reasons})."
    ),
    Say.FALLBACK_UNAVAILABLE: (
        "A conclusion was drafted and its citations held, but SemanticGuard could not be asked "
        "(attempts: {attempts}), and nothing leaves unchecked."
    ),
    Say.REPAIR_FAILED: "It was repaired once, which did not mend it.",
    Say.FACTS_KEPT: "Verified statements that were released all the same: {count}.",
    Say.NEVER_CALLED: "It had called none.",
    Say.NEVER_BEGAN_CALLING: "The run never began, so nothing was called.",
    Say.STOP_SATURATED: "Nothing new was coming in, so collecting was stopped (tool calls: {calls}).",
    Say.STOP_PROTOCOL: (
        "It did not say what its results meant, several times in a row, so collecting was stopped "
        "(tool calls: {calls})."
    ),
    Say.STOP_BUDGET: "A limit of the budget was reached ({spent}), and beyond it nothing is called.",
    Say.STOP_DRAFTED: "It had asked what it wanted and gave its draft by itself (tool calls: {calls}).",
    Say.STOP_UNREADABLE: "Its answer could not be read, and it is not asked again (tool calls: {calls}).",
    Say.STOP_POLICY_FAILED: (
        "The agent, or the language model behind it, failed, and it is not asked again (tool calls: {calls})."
    ),
    Say.STOP_TIME: "The deadline came, and after it nothing begins (tool calls: {calls}).",
    Say.STOP_CANCELLED: "The run was cancelled, and after that nothing begins (tool calls: {calls}).",
    Say.STOP_FAILED: "The run failed, and after that nothing begins (tool calls: {calls}).",
    Say.REQUESTS_REFUSED: "Requests refused before they began: {count} ({codes}).",
    Say.STORE_FAILED: "The evidence store did not work, and what cannot be kept is not looked at.",
    Say.REQUESTS_REFUSED_UNNAMED: (
        "Requests refused before they began: {count}. Why is unknown: this document is of an older form, "
        "which does not keep it as data."
    ),
    Say.ALL_FOUND: "Every call found something ({count}), and no request was refused.",
    Say.NONE_CALLED: "No tool was called.",
    Say.CALL_EMPTY: (
        "{call} ({tool}) found nothing in its scope and window; of what lies outside it says nothing."
    ),
    Say.CALL_UNFINISHED: "{call} ({tool}) has begun, and its record is not finished.",
    Say.CALL_REFUSED: "{call} ({tool}) was refused before it began ({code}), so it has no record.",
    Say.RECORDS_UNKNOWN: (
        "The evidence store does not answer now; this is what the trace of the run says of its calls."
    ),
    Say.CALL_REFUSED_UNNAMED: (
        "A request was refused before it began. Which one and why is unknown: this document is of an older "
        "form, which does not keep it as data."
    ),
    Say.CALL_FAILED: "{call} ({tool}) failed ({code}).",
    Say.CALL_EXECUTION_FAILED: "{call} ({tool}) failed: the tool, or the source behind it, raised an error.",
    Say.CALL_TIMED_OUT: "{call} ({tool}) failed: it took longer than one call of it may.",
    Say.CALL_MASKING_FAILED: (
        "{call} ({tool}) failed: what it found could not be masked, and was thrown away."
    ),
    Say.CALL_PROJECTION_FAILED: "{call} ({tool}) failed: what it returned could not be read as findings.",
    Say.CALL_TOO_LARGE: "{call} ({tool}) failed: what it returned was larger than one record may be.",
    Say.CALL_BUDGET_EXHAUSTED: "{call} ({tool}) failed: keeping its result would have exceeded the budget.",
    Say.CALL_STORE_FAILED: "{call} ({tool}) failed: its result could not be stored, so it cannot be cited.",
    Say.CALL_RUN_ENDED: "{call} ({tool}) was still at work when the run ended; what comes later is dropped.",
    Say.CALL_ABANDONED: (
        "{call} ({tool}) was given up: its record had been begun, and nothing that it found was kept."
    ),
    Say.WAS_TIME: "The time: all of the {limit} that it was given.",
    Say.WAS_BUDGET: "The budget: {spent}.",
    Say.WAS_NEITHER: "Neither: it ended {state} after {duration} of {limit}, and no limit had ended it.",
    Say.WAS_QUEUE: "The time in which it was to begin: it never began, and used nothing of its own {limit}.",
    Say.WAS_NOT_SERVED: (
        "Neither: no process that takes queued runs has its source, so it never began, and used nothing of"
        " its {limit}."
    ),
    Say.WAS_NOT_BEGUN: "Neither: it ended {state} before it began, and used nothing of its {limit}.",
    Say.STATUS_CONCLUDED: "There is a conclusion.",
    Say.STATUS_ANSWERED: (
        "The status says that the question was answered; one of its kind ({intent}) has no conclusion "
        "about an incident."
    ),
    Say.STATUS_OTHER: "The status is {status}, not SUCCESS.",
    Say.STATUS_OF_FALLBACK: (
        "The status says that the question was dealt with and a safe answer formed, not that there is a "
        "conclusion: what left is a FALLBACK ({kind})."
    ),
    Say.STATE_APART: "How the run itself ended is kept apart from that: {state}.",
    Say.NO_STREAM: "There was no stream: it was asked at the command line, and the document is the answer.",
    Say.NO_CLIENT: "A run in the background has no stream of its own, and nobody is connected to it.",
    Say.DONE_SENT: "It was: done({told}).",
    Say.DONE_NOT_YET: "The stream is still open; `done` comes when the run has been released.",
    Say.CLIENT_GONE: "The client had gone, which cancelled the run; there was nobody to send it to.",
    Say.CONNECTION_LOST: (
        "The connection was lost before the end could be sent. The run ended {outcome}, as its document says."
    ),
    Say.STREAM_UNKNOWN: (
        "That is not known here: how the stream of a client ended is known only to the process that served "
        "it. The run ended {outcome}, as its document says."
    ),
    Say.DONE_SENT_BEFORE_KEPT: "It was; the end of the run is not kept yet.",
    Say.CONNECTION_LOST_SO_FAR: "The connection to its client was lost; the end of the run is not kept yet.",
    Say.STREAM_UNKNOWN_SO_FAR: (
        "`done` comes when the run has been released; whether its client is still connected is known only to "
        "the process that serves it."
    ),
    Say.IS_PREVIOUS_TURN: "It would: a diagnosis that ended SUCCESS publishes its result to its session.",
    Say.NOT_PREVIOUS_TURN: (
        "Only a diagnosis that ended SUCCESS publishes a result to the next turn of its session; this one "
        "ended {outcome}."
    ),
    Say.NO_TURN_OF_PATH: (
        "Only a diagnosis hands a result to the next turn of its session; this question was none "
        "(intent: {intent})."
    ),
    Say.NO_TURN_UNROUTED: (
        "Only a diagnosis hands a result to the next turn of its session; this question was not routed."
    ),
    Say.OWN_SESSION: "At the command line every run is a session of its own, so no turn follows it.",
    Say.IS_QUEUED: "The run is queued and has not begun.",
    Say.GOES_ON: "The run goes on.",
    Say.NO_ANSWER_YET: "There is no answer yet, and so no fallback.",
    Say.NOT_STOPPED: "It has not stopped (tool calls so far: {calls}).",
    Say.NONE_CALLED_YET: "No tool has been called yet.",
    Say.ALL_FOUND_SO_FAR: "Every call so far found something ({count}).",
    Say.TIME_NOT_BEGUN: "Neither: its {limit} count from its start.",
    Say.TIME_SO_FAR: "Neither so far: it has {limit} from its start at {started}.",
    Say.END_ASKED: "That it end has been asked for ({reason}).",
    Say.NO_TURN_YET: "The next turn sees a diagnosis that ended SUCCESS; this run has not ended.",
}
