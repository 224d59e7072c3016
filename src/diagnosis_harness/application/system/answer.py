"""The answer of a responder: topics from a closed set, and names from the question."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.application.system.profile import TelemetryKind
from diagnosis_harness.kernel.errors import AnswerRefused, FailureKind

TOPICS_MAX = 4
NAMES_MAX = 5
ENTITY_NAME_MAX = 60


class SystemTopic(StrEnum):
    """A topic that the system can answer about itself."""

    GREETING = "GREETING"
    THANKS = "THANKS"
    FAREWELL = "FAREWELL"
    IDENTITY = "IDENTITY"
    PLAYERS = "PLAYERS"  # which players fill the roles: embedded rules, or a language model
    ABILITIES = "ABILITIES"
    TOOLS = "TOOLS"
    SOURCES = "SOURCES"
    RUNBOOKS = "RUNBOOKS"
    LIMITS = "LIMITS"
    READ_ONLY = "READ_ONLY"  # it was asked to act on the observed system
    PRIVACY = "PRIVACY"
    HOW_TO_ASK = "HOW_TO_ASK"
    OUT_OF_SCOPE = "OUT_OF_SCOPE"


@dataclass(frozen=True, slots=True)
class SystemAnswer:
    """The topics of the answer, in order; code words it from the profile, and a responder does not.

    Attributes:
        asked_about: names in the question that may be sources or tools, which code looks up.
        kinds: kinds of telemetry that the question asks about, which code looks up in the sources.
    """

    topics: tuple[SystemTopic, ...]
    asked_about: tuple[str, ...] = ()
    kinds: tuple[TelemetryKind, ...] = ()


def check_answer(answer: SystemAnswer, question: str) -> SystemAnswer:
    """Return the answer if everything in it comes from the closed sets and the question.

    Raises:
        AnswerRefused: it contains something else.
    """
    if not 1 <= len(answer.topics) <= TOPICS_MAX or len(set(answer.topics)) != len(answer.topics):
        raise _refusal("it names no topic, too many, or the same one twice")
    if not all(isinstance(topic, SystemTopic) for topic in answer.topics):
        raise _refusal("it names an unknown topic")
    if not all(isinstance(kind, TelemetryKind) for kind in answer.kinds) or len(answer.kinds) > NAMES_MAX:
        raise _refusal("it names an unknown kind of telemetry")
    asked = question.casefold()
    for name in answer.asked_about:
        if not name.strip() or len(name) > ENTITY_NAME_MAX:
            raise _refusal("a name that it was asked about is not a name")
        if name.casefold() not in asked:
            raise _refusal("it names something that the question does not")
    if len(answer.asked_about) > NAMES_MAX:
        raise _refusal("it names too many things")
    return answer


def _refusal(problem: str) -> AnswerRefused:
    return AnswerRefused(f"the answer was refused: {problem}", kind=FailureKind.INVALID_OUTPUT)
