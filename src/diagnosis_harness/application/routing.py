"""The result of routing: the path of a question, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from diagnosis_harness.application.intent import IntentType


class RoutingReason(StrEnum):
    """Why a router chose a path."""

    ASKS_FOR_CAUSE = "ASKS_FOR_CAUSE"
    ASKS_TO_INVESTIGATE = "ASKS_TO_INVESTIGATE"
    ASKS_FOR_STATE = "ASKS_FOR_STATE"
    NAMES_SYMPTOM = "NAMES_SYMPTOM"
    NAMES_TIME = "NAMES_TIME"
    NAMES_SUBJECT = "NAMES_SUBJECT"  # only a service, a resource or a signal
    PASTED_OUTPUT = "PASTED_OUTPUT"  # an alert, an exception, a line of a log

    NAMES_DOCUMENT = "NAMES_DOCUMENT"
    ASKS_ABOUT_PAST = "ASKS_ABOUT_PAST"  # earlier incidents and their lessons
    ASKS_HOW_TO = "ASKS_HOW_TO"
    ASKS_MEANING = "ASKS_MEANING"
    ASKS_WHO = "ASKS_WHO"
    ASKS_FOR_SETTING = "ASKS_FOR_SETTING"  # a configured or agreed value
    ASKS_FOR_FACT = "ASKS_FOR_FACT"  # "what is ...": documentation, unless another reason is stronger

    ASKS_ABOUT_SYSTEM = "ASKS_ABOUT_SYSTEM"
    OUT_OF_SCOPE = "OUT_OF_SCOPE"
    ADDRESSES_SYSTEM = "ADDRESSES_SYSTEM"
    GREETING = "GREETING"

    FOLLOWS_BEFORE = "FOLLOWS_BEFORE"  # continues the previous question, on the same path
    NOTHING_RECOGNISED = "NOTHING_RECOGNISED"
    LLM_JUDGED = "LLM_JUDGED"
    NOTHING_TO_DIAGNOSE = "NOTHING_TO_DIAGNOSE"  # no known name, no time, no symptom: `application.subject`


@dataclass(frozen=True, slots=True)
class RoutingDecision:
    """The path of one question, and why.

    Attributes:
        reason: the strongest reason for it.
        matched: the words behind the reasons, case folded, in order.
        reasons: every reason for it.
    """

    intent: IntentType
    reason: RoutingReason
    matched: tuple[str, ...] = ()
    reasons: tuple[RoutingReason, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class RoutingTurn:
    """An earlier question of the session, and the path it took."""

    question: str
    intent: IntentType
