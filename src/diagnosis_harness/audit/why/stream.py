"""How the stream of a run's client ended, and the answer to "why was no `done` event sent"."""

from __future__ import annotations

from enum import StrEnum

from diagnosis_harness.application.runs.request import RunKind
from diagnosis_harness.application.runs.row import RunRow
from diagnosis_harness.audit.why.answer import Fact, Sentence, WhyAnswer, WhyQuestion
from diagnosis_harness.audit.why.phrases import Phrase
from diagnosis_harness.harness.termination import CancellationReason
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.document import RunDocument


class StreamSeen(StrEnum):
    """How the stream of the run's client ended; no document records it."""

    COMMAND_LINE = "COMMAND_LINE"  # no stream; the run was a session of its own
    BACKGROUND = "BACKGROUND"  # no stream; watchers of the run have streams of their own
    OPEN = "OPEN"
    TERMINAL = "TERMINAL"
    DISCONNECTED = "DISCONNECTED"
    UNKNOWN = "UNKNOWN"  # another process served it


def stream_seen(row: RunRow, known: StreamSeen | None) -> StreamSeen:
    """The state of the stream of the run's own client.

    Args:
        known: what this process saw of the stream; None if it did not serve the run. The row records only
            a client that disconnected and thereby ended its run; everything else is UNKNOWN.
    """
    if row.request.kind is RunKind.BACKGROUND:
        return StreamSeen.BACKGROUND
    if known is not None:
        return known
    reason = None if row.ending is None else row.ending.termination.reason
    disconnected = reason is CancellationReason.CLIENT_DISCONNECTED
    return StreamSeen.DISCONNECTED if disconnected else StreamSeen.UNKNOWN


_ENDED = {
    StreamSeen.COMMAND_LINE: Phrase.NO_STREAM,
    StreamSeen.BACKGROUND: Phrase.NO_CLIENT,
    StreamSeen.OPEN: Phrase.DONE_NOT_YET,
    StreamSeen.TERMINAL: Phrase.DONE_SENT,
    StreamSeen.DISCONNECTED: Phrase.CONNECTION_LOST,
    StreamSeen.UNKNOWN: Phrase.STREAM_UNKNOWN,
}
_IN_PROGRESS = {
    **_ENDED,
    StreamSeen.TERMINAL: Phrase.DONE_SENT_BEFORE_STORED,
    StreamSeen.DISCONNECTED: Phrase.CONNECTION_LOST_SO_FAR,
    StreamSeen.UNKNOWN: Phrase.STREAM_UNKNOWN_SO_FAR,
}
_NOTHING_MISSING = (Phrase.NO_STREAM, Phrase.NO_CLIENT, Phrase.DONE_SENT, Phrase.DONE_SENT_BEFORE_STORED)


def no_done(document: RunDocument, stream: StreamSeen) -> WhyAnswer:
    """Why a run that has ended sent no `done`."""
    termination = document.run.termination
    reason = termination.reason if termination else None
    facts = [Fact("run.state", document.run.state), Fact("run.termination.reason", reason or "-")]
    if stream is not StreamSeen.COMMAND_LINE:
        facts.insert(0, Fact("stream", stream))
    phrase = _ENDED[stream]
    if reason is CancellationReason.CLIENT_DISCONNECTED and stream is not StreamSeen.TERMINAL:
        phrase = Phrase.CLIENT_GONE  # the run had a client, whoever asks now
    outcome = document.release.outcome
    sent = ReleaseOutcome.FAILED if outcome is ReleaseOutcome.CANCELLED else outcome
    sentence = Sentence.of(phrase, sent=sent, outcome=outcome)
    facts.append(Fact("release.outcome", outcome))
    return WhyAnswer(WhyQuestion.NO_DONE, (sentence,), tuple(facts), arises=phrase not in _NOTHING_MISSING)


def no_done_yet(row: RunRow, stream: StreamSeen) -> WhyAnswer:
    """Why a run that has not ended sent no `done` yet."""
    phrase = _IN_PROGRESS[stream]
    facts = (Fact("stream", stream), Fact("status", row.status))
    return WhyAnswer(
        WhyQuestion.NO_DONE, (Sentence.of(phrase),), facts, arises=phrase not in _NOTHING_MISSING
    )
