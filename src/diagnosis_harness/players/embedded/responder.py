"""The embedded SystemResponder: finds which topics about the system a question asks for."""

from __future__ import annotations

import re

from diagnosis_harness.application.system.answer import NAMES_MAX, TOPICS_MAX, SystemAnswer, SystemTopic
from diagnosis_harness.application.system.profile import SystemProfile
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.players.embedded.responder_words import ABOUT, KINDS, PRODUCTS, SMALL_TALK

QUESTION_MAX = 4_000
"""Characters of a question that are searched."""


class EmbeddedResponder:
    """Plays `SystemResponder`; never waits, never fails, spends no tokens."""

    async def respond(
        self, ctx: RunContext, question: str, language: Language, profile: SystemProfile
    ) -> tuple[SystemAnswer, TokenUsage]:
        """The topics and names in the question."""
        del ctx, language  # both languages are searched, since people mix them
        return answer_to(question, profile), TokenUsage(0, 0)


def answer_to(question: str, profile: SystemProfile) -> SystemAnswer:
    """The topics of the answer. Small talk is answered too, or alone if there is no question. Pure."""
    asked = question[:QUESTION_MAX].lower()
    about = [topic for topic, pattern in ABOUT if pattern.search(asked)]
    kinds = tuple(kind for kind, pattern in KINDS if pattern.search(asked))
    names = _names(asked, profile)
    small_talk = [topic for topic, pattern in SMALL_TALK if pattern.search(asked)]
    if SystemTopic.READ_ONLY in about:  # a request to act: the question is not about its object
        return SystemAnswer((SystemTopic.READ_ONLY,))
    if (kinds or names) and not about:
        about = [SystemTopic.SOURCES]
    if not about and not small_talk:
        about = [SystemTopic.OUT_OF_SCOPE, SystemTopic.HOW_TO_ASK]
    topics = tuple(dict.fromkeys((*small_talk[:1], *about)))
    return SystemAnswer(topics[:TOPICS_MAX], names, kinds)


def _names(asked: str, profile: SystemProfile) -> tuple[str, ...]:
    """The products, and the system's own sources and tools, that the question names."""
    known = {name.lower() for name in profile.names} | PRODUCTS
    found = [
        (match.start(), name)
        for name in known
        if name and (match := re.search(rf"(?<![a-z0-9_]){re.escape(name)}(?![a-z0-9_])", asked))
    ]
    return tuple(name for _, name in sorted(found)[:NAMES_MAX])
