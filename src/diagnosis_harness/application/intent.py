"""The intent of a question."""

from __future__ import annotations

from enum import StrEnum


class IntentType(StrEnum):
    """The path that a question takes (seed: harness-lifecycle-and-states §2, §5)."""

    SYSTEM_CHAT = "SYSTEM_CHAT"
    KNOWLEDGE_QUERY = "KNOWLEDGE_QUERY"
    DIAGNOSIS = "DIAGNOSIS"
