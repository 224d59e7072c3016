"""What a question asks of the system."""

from __future__ import annotations

from enum import StrEnum


class IntentType(StrEnum):
    """Which way a question goes (seed: harness-lifecycle-and-states §2, §5)."""

    SYSTEM_CHAT = "SYSTEM_CHAT"
    KNOWLEDGE_QUERY = "KNOWLEDGE_QUERY"
    DIAGNOSIS = "DIAGNOSIS"
