"""What an answer to "why" is made of: a question, sentences as data, and the places it rests on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from diagnosis_harness.harness.keys import is_safe_segment


class WhyQuestion(StrEnum):
    """The seven questions of the lifecycle document, §15, in its order."""

    FALLBACK = "FALLBACK"
    STOPPED_CALLING = "STOPPED_CALLING"
    NO_EVIDENCE = "NO_EVIDENCE"
    TIME_OR_BUDGET = "TIME_OR_BUDGET"
    STATUS_SUCCESS = "STATUS_SUCCESS"
    NO_DONE = "NO_DONE"
    NO_PREVIOUS_TURN = "NO_PREVIOUS_TURN"


class Say(StrEnum):
    """Everything that can be answered; its words stand in `words_en` and `words_zh`."""

    NO_FALLBACK_SUCCESS = "NO_FALLBACK_SUCCESS"
    NO_FALLBACK_ANSWERED = "NO_FALLBACK_ANSWERED"
    NO_FALLBACK_FAILED = "NO_FALLBACK_FAILED"
    NO_FALLBACK_CANCELLED = "NO_FALLBACK_CANCELLED"
    NO_FALLBACK_NEVER_BEGAN = "NO_FALLBACK_NEVER_BEGAN"
    NO_FALLBACK_NOT_SERVED = "NO_FALLBACK_NOT_SERVED"
    FALLBACK_CONTEXT = "FALLBACK_CONTEXT"
    FALLBACK_CONTEXT_UNNAMED = "FALLBACK_CONTEXT_UNNAMED"
    FALLBACK_TIME = "FALLBACK_TIME"
    FALLBACK_BUDGET = "FALLBACK_BUDGET"
    FALLBACK_SATURATED = "FALLBACK_SATURATED"
    FALLBACK_PROTOCOL = "FALLBACK_PROTOCOL"
    FALLBACK_UNREADABLE = "FALLBACK_UNREADABLE"
    FALLBACK_NO_CONCLUSION = "FALLBACK_NO_CONCLUSION"
    FALLBACK_CITATIONS = "FALLBACK_CITATIONS"
    FALLBACK_UNSUPPORTED = "FALLBACK_UNSUPPORTED"
    FALLBACK_UNAVAILABLE = "FALLBACK_UNAVAILABLE"
    REPAIR_FAILED = "REPAIR_FAILED"
    FACTS_KEPT = "FACTS_KEPT"

    NEVER_CALLED = "NEVER_CALLED"
    NEVER_BEGAN_CALLING = "NEVER_BEGAN_CALLING"
    STOP_SATURATED = "STOP_SATURATED"
    STOP_PROTOCOL = "STOP_PROTOCOL"
    STOP_BUDGET = "STOP_BUDGET"
    STOP_DRAFTED = "STOP_DRAFTED"
    STOP_UNREADABLE = "STOP_UNREADABLE"
    STOP_POLICY_FAILED = "STOP_POLICY_FAILED"
    STOP_TIME = "STOP_TIME"
    STOP_CANCELLED = "STOP_CANCELLED"
    STOP_FAILED = "STOP_FAILED"
    REQUESTS_REFUSED = "REQUESTS_REFUSED"
    STORE_FAILED = "STORE_FAILED"
    REQUESTS_REFUSED_UNNAMED = "REQUESTS_REFUSED_UNNAMED"

    ALL_FOUND = "ALL_FOUND"
    NONE_CALLED = "NONE_CALLED"
    CALL_EMPTY = "CALL_EMPTY"
    CALL_UNFINISHED = "CALL_UNFINISHED"
    CALL_REFUSED = "CALL_REFUSED"
    RECORDS_UNKNOWN = "RECORDS_UNKNOWN"
    CALL_REFUSED_UNNAMED = "CALL_REFUSED_UNNAMED"
    CALL_FAILED = "CALL_FAILED"
    CALL_EXECUTION_FAILED = "CALL_EXECUTION_FAILED"
    CALL_TIMED_OUT = "CALL_TIMED_OUT"
    CALL_MASKING_FAILED = "CALL_MASKING_FAILED"
    CALL_PROJECTION_FAILED = "CALL_PROJECTION_FAILED"
    CALL_TOO_LARGE = "CALL_TOO_LARGE"
    CALL_BUDGET_EXHAUSTED = "CALL_BUDGET_EXHAUSTED"
    CALL_STORE_FAILED = "CALL_STORE_FAILED"
    CALL_RUN_ENDED = "CALL_RUN_ENDED"
    CALL_ABANDONED = "CALL_ABANDONED"

    WAS_TIME = "WAS_TIME"
    WAS_BUDGET = "WAS_BUDGET"
    WAS_NEITHER = "WAS_NEITHER"
    WAS_QUEUE = "WAS_QUEUE"
    WAS_NOT_BEGUN = "WAS_NOT_BEGUN"
    WAS_NOT_SERVED = "WAS_NOT_SERVED"

    STATUS_CONCLUDED = "STATUS_CONCLUDED"
    STATUS_ANSWERED = "STATUS_ANSWERED"
    STATUS_OTHER = "STATUS_OTHER"
    STATUS_OF_FALLBACK = "STATUS_OF_FALLBACK"
    STATE_APART = "STATE_APART"

    NO_STREAM = "NO_STREAM"
    NO_CLIENT = "NO_CLIENT"
    DONE_SENT = "DONE_SENT"
    DONE_NOT_YET = "DONE_NOT_YET"
    CLIENT_GONE = "CLIENT_GONE"
    CONNECTION_LOST = "CONNECTION_LOST"
    STREAM_UNKNOWN = "STREAM_UNKNOWN"
    DONE_SENT_BEFORE_KEPT = "DONE_SENT_BEFORE_KEPT"
    CONNECTION_LOST_SO_FAR = "CONNECTION_LOST_SO_FAR"
    STREAM_UNKNOWN_SO_FAR = "STREAM_UNKNOWN_SO_FAR"

    IS_PREVIOUS_TURN = "IS_PREVIOUS_TURN"
    NOT_PREVIOUS_TURN = "NOT_PREVIOUS_TURN"
    NO_TURN_OF_PATH = "NO_TURN_OF_PATH"
    NO_TURN_UNROUTED = "NO_TURN_UNROUTED"
    OWN_SESSION = "OWN_SESSION"

    IS_QUEUED = "IS_QUEUED"
    GOES_ON = "GOES_ON"
    NO_ANSWER_YET = "NO_ANSWER_YET"
    NOT_STOPPED = "NOT_STOPPED"
    NONE_CALLED_YET = "NONE_CALLED_YET"
    ALL_FOUND_SO_FAR = "ALL_FOUND_SO_FAR"
    TIME_NOT_BEGUN = "TIME_NOT_BEGUN"
    TIME_SO_FAR = "TIME_SO_FAR"
    END_ASKED = "END_ASKED"
    NO_TURN_YET = "NO_TURN_YET"


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence before it has a language: what is said, and the values in it."""

    say: Say
    values: Mapping[str, str]

    @classmethod
    def of(cls, say: Say, **values: object) -> Sentence:
        """A sentence with its values as text."""
        return cls(say, MappingProxyType({name: str(value) for name, value in values.items()}))


def shown_name(name: str) -> str:
    """A name that an agent may have chosen, as a sentence shows it: in quotation marks unless it is plain."""
    return name if is_safe_segment(name) else json.dumps(name, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Fact:
    """What an answer rests on: a place in the run document, and what stands there in short."""

    place: str
    value: str


@dataclass(frozen=True, slots=True)
class WhyAnswer:
    """The answer to one question about one run.

    Attributes:
        sentences: one or more.
        arises: False where the run gives no reason to ask; the sentences say why not.
    """

    question: WhyQuestion
    sentences: tuple[Sentence, ...]
    facts: tuple[Fact, ...]
    arises: bool
