"""Whether a question asks what to do, and which sections of a runbook answer that. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ASKS = re.compile(
    r"\bwhat\s+(?:do|can|should|must|shall)\s+(?:i|we|one)\b|\bwhat\s+(?:to do|now|next|helps)\b"
    r"|\bhow\s+(?:do|can|should|must)\s+(?:i|we|one|you)\b|\bhow\s+to\b"
    r"|\b(?:mitigat\w*|remed\w*|resol(?:ve|ution)\w*|fix|work\s?around|recover\w*)\b"
    r"|怎么办|怎么(?:处理|解决|修|恢复|做|缓解)|如何(?:处理|解决|修复|恢复|缓解|应对|处置)|该(?:怎么|做什么|如何)"
    r"|处理(?:步骤|方法|办法)|(?:要|应该?|需要)做(?:什么|哪些)",
    re.IGNORECASE,
)
_SECTION = re.compile(
    r"\b(?:mitigat\w*|remed\w*|resolution|resolving|how to (?:fix|resolve|recover)|fix(?:es|ing)?|recovery"
    r"|recovering|workarounds?|what to do|actions?|(?:response|recovery|resolution|action) steps?|steps"
    r"|procedure|rollback|roll back)\b"
    r"|缓解|处理|处置|解决|恢复|修复|应对|止损|操作步骤|怎么办|回滚",
    re.IGNORECASE,
)


def asks_what_to_do(question: str) -> bool:
    """Whether a question asks for a remedy."""
    return _ASKS.search(question) is not None


def without_asking(question: str) -> str:
    """A question without the words that ask what to do: no runbook need hold these."""
    return _ASKS.sub(" ", question)


def says_what_to_do(headings: Sequence[str]) -> bool:
    """Whether a section says what helps, by its own heading or one above it.

    The title of a document is about all of it, so it says nothing of one of its sections.
    """
    return any(_SECTION.search(heading) for heading in headings[1:] or headings)
