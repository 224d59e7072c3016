"""How the stream of a run's client ended: what is known of it, and the answer to "why no `done`"."""

from __future__ import annotations

from enum import StrEnum

from diagnosis_harness.application.runs.request import RunKind
from diagnosis_harness.application.runs.row import RunRow
from diagnosis_harness.audit.why.answer import Fact, Say, Sentence, WhyAnswer, WhyQuestion
from diagnosis_harness.harness.termination import CancellationReason
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.document import RunDocument


class StreamSeen(StrEnum):
    """How the stream of the run's client ended; no document says it."""

    COMMAND_LINE = "COMMAND_LINE"  # nobody was streamed to, and the run was a session of its own
    BACKGROUND = "BACKGROUND"  # nobody was streamed to; watchers have streams of their own
    OPEN = "OPEN"
    TERMINAL = "TERMINAL"
    DISCONNECTED = "DISCONNECTED"
    UNKNOWN = "UNKNOWN"  # another process served it


def stream_seen(row: RunRow, known: StreamSeen | None) -> StreamSeen:
    """How the stream of the run's own client stands.

    Args:
        known: what this process itself saw of it; None where it served another run, or none. The row tells
            only of a client that went away and so ended its run; for all else UNKNOWN is the true answer.
    """
    if row.request.kind is RunKind.BACKGROUND:
        return StreamSeen.BACKGROUND
    if known is not None:
        return known
    reason = None if row.ending is None else row.ending.termination.reason
    gone = reason is CancellationReason.CLIENT_DISCONNECTED
    return StreamSeen.DISCONNECTED if gone else StreamSeen.UNKNOWN


_ENDED = {
    StreamSeen.COMMAND_LINE: Say.NO_STREAM,
    StreamSeen.BACKGROUND: Say.NO_CLIENT,
    StreamSeen.OPEN: Say.DONE_NOT_YET,
    StreamSeen.TERMINAL: Say.DONE_SENT,
    StreamSeen.DISCONNECTED: Say.CONNECTION_LOST,
    StreamSeen.UNKNOWN: Say.STREAM_UNKNOWN,
}
_GOING_ON = {
    **_ENDED,
    StreamSeen.TERMINAL: Say.DONE_SENT_BEFORE_KEPT,
    StreamSeen.DISCONNECTED: Say.CONNECTION_LOST_SO_FAR,
    StreamSeen.UNKNOWN: Say.STREAM_UNKNOWN_SO_FAR,
}
_NOTHING_MISSING = (Say.NO_STREAM, Say.NO_CLIENT, Say.DONE_SENT, Say.DONE_SENT_BEFORE_KEPT)


def no_done(document: RunDocument, stream: StreamSeen) -> WhyAnswer:
    """Why no `done` was streamed by a run that has ended."""
    termination = document.run.termination
    reason = termination.reason if termination else None
    facts = [Fact("run.state", document.run.state), Fact("run.termination.reason", reason or "-")]
    if stream is not StreamSeen.COMMAND_LINE:
        facts.insert(0, Fact("stream", stream))
    said = _ENDED[stream]
    if reason is CancellationReason.CLIENT_DISCONNECTED and stream is not StreamSeen.TERMINAL:
        said = Say.CLIENT_GONE  # it had a client then, whoever asks now
    outcome = document.release.outcome
    told = ReleaseOutcome.FAILED if outcome is ReleaseOutcome.CANCELLED else outcome
    sentence = Sentence.of(said, told=told, outcome=outcome)
    facts.append(Fact("release.outcome", outcome))
    return WhyAnswer(WhyQuestion.NO_DONE, (sentence,), tuple(facts), arises=said not in _NOTHING_MISSING)


def no_done_yet(row: RunRow, stream: StreamSeen) -> WhyAnswer:
    """The same of a run that has not ended."""
    said = _GOING_ON[stream]
    facts = (Fact("stream", stream), Fact("status", row.status))
    return WhyAnswer(WhyQuestion.NO_DONE, (Sentence.of(said),), facts, arises=said not in _NOTHING_MISSING)
