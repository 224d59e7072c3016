"""The rules of the embedded router as data: the reasons for a path, with their weights.

The phrases are in a file for each language. A line is a sequence of words; `a|b` means either word. A
word is a Latin word in lower case, a single CJK character (so `重启` is two), or a class that `router.tokens`
recognises: `<clock>`, `<status>`, `<measure>`, `<exception>`. Of overlapping phrases the longest counts,
from the left.
"""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.routing import RoutingReason
from diagnosis_harness.players.embedded import router_chinese, router_english


@dataclass(frozen=True, slots=True)
class RoutingRule:
    """The path that a reason supports, and its weight."""

    reason: RoutingReason
    intent: IntentType
    weight: int


ROUTER_RULES = (
    RoutingRule(RoutingReason.ASKS_FOR_CAUSE, IntentType.DIAGNOSIS, 4),
    RoutingRule(RoutingReason.ASKS_TO_INVESTIGATE, IntentType.DIAGNOSIS, 3),
    RoutingRule(RoutingReason.ASKS_FOR_STATE, IntentType.DIAGNOSIS, 3),
    RoutingRule(RoutingReason.NAMES_SYMPTOM, IntentType.DIAGNOSIS, 3),
    RoutingRule(RoutingReason.NAMES_TIME, IntentType.DIAGNOSIS, 2),
    RoutingRule(RoutingReason.PASTED_OUTPUT, IntentType.DIAGNOSIS, 4),
    RoutingRule(RoutingReason.NAMES_SUBJECT, IntentType.DIAGNOSIS, 1),
    RoutingRule(RoutingReason.NAMES_DOCUMENT, IntentType.KNOWLEDGE_QUERY, 10),
    RoutingRule(RoutingReason.ASKS_ABOUT_PAST, IntentType.KNOWLEDGE_QUERY, 8),
    RoutingRule(RoutingReason.ASKS_HOW_TO, IntentType.KNOWLEDGE_QUERY, 8),
    RoutingRule(RoutingReason.ASKS_MEANING, IntentType.KNOWLEDGE_QUERY, 8),
    RoutingRule(RoutingReason.ASKS_WHO, IntentType.KNOWLEDGE_QUERY, 8),
    RoutingRule(RoutingReason.ASKS_FOR_SETTING, IntentType.KNOWLEDGE_QUERY, 6),
    RoutingRule(RoutingReason.ASKS_FOR_FACT, IntentType.KNOWLEDGE_QUERY, 3),
    RoutingRule(RoutingReason.ASKS_ABOUT_SYSTEM, IntentType.SYSTEM_CHAT, 9),
    RoutingRule(RoutingReason.OUT_OF_SCOPE, IntentType.SYSTEM_CHAT, 9),
    RoutingRule(RoutingReason.ADDRESSES_SYSTEM, IntentType.SYSTEM_CHAT, 4),
    RoutingRule(RoutingReason.GREETING, IntentType.SYSTEM_CHAT, 1),
)

FOLLOWING_WEIGHT = 3
"""The weight of a continuation for the previous path."""

ROUTER_PHRASES = (*router_english.PHRASES.items(), *router_chinese.PHRASES.items())
ROUTER_REQUESTS = router_english.REQUESTS + router_chinese.REQUESTS
