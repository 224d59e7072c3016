"""Whether a question contains anything to diagnose, by its words or by the content of the source. Pure.

A router only sees words. If none of them is a symptom, a time or a name that the source knows, and the source
has neither an alert nor an onset, a diagnosis would answer a question that was not asked.
"""

from __future__ import annotations

import re

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.routing import RoutingDecision, RoutingReason
from diagnosis_harness.diagnosis.common_words import COMMON_EN, COMMON_ZH
from diagnosis_harness.diagnosis.inquiry import Inquiry, OnsetOrigin
from diagnosis_harness.diagnosis.question_form import QuestionForm, Topic

_ENOUGH = frozenset(
    {
        RoutingReason.NAMES_SYMPTOM,
        RoutingReason.NAMES_TIME,
        RoutingReason.NAMES_SUBJECT,
        RoutingReason.PASTED_OUTPUT,
        RoutingReason.FOLLOWS_BEFORE,
        RoutingReason.LLM_JUDGED,
    }
)
"""Reasons that name something to diagnose by themselves."""
_LATIN = re.compile(r"[a-z][a-z'-]+")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_HAN_LEFT = 2
"""With this many unknown Chinese characters, a question has its own subject; one may be a particle."""


_MAY_BE_MEANT = frozenset(
    {
        RoutingReason.OUT_OF_SCOPE,
        RoutingReason.ASKS_MEANING,
        RoutingReason.ASKS_FOR_FACT,
        RoutingReason.GREETING,
    }
)
"""Reasons for another path that a name of the source outweighs: a service `news`, `cart vs news`, and
`is cart ok?`, where `ok` alone is a greeting."""


def in_doubt(decision: RoutingDecision) -> bool:
    """Whether the words alone leave open that there is anything to diagnose."""
    if decision.intent is not IntentType.DIAGNOSIS:
        return decision.reason in _MAY_BE_MEANT
    return _ENOUGH.isdisjoint({decision.reason, *decision.reasons})


def revise_path(decision: RoutingDecision, inquiry: Inquiry) -> RoutingDecision:
    """The decision, or if there is nothing to diagnose SYSTEM_CHAT, which explains what can be asked.

    A question on another path that is about a name or a time of the source is diagnosed.
    """
    if in_doubt(decision) and decision.intent is not IntentType.DIAGNOSIS:
        return _of_the_source(decision, inquiry)
    if not in_doubt(decision) or _is_given(inquiry) or _asks_of_all(inquiry):
        return decision
    if decision.reason is not RoutingReason.NOTHING_RECOGNISED and not _is_of_its_own(decision, inquiry):
        return decision  # `why?` and `what happened?` ask about everything in the source
    return RoutingDecision(IntentType.SYSTEM_CHAT, RoutingReason.NOTHING_TO_DIAGNOSE, decision.matched)


def _of_the_source(decision: RoutingDecision, inquiry: Inquiry) -> RoutingDecision:
    """DIAGNOSIS if the matched words are a name, or the form of the question leaves no doubt."""
    form = inquiry.reading.form
    known = " ".join(each.written.casefold() for each in inquiry.reading.names if each.name is not None)
    is_name = bool(known) and all(phrase in known for phrase in decision.matched)
    is_form = form.form is not QuestionForm.WHY and form.topic is not Topic.ANY and bool(form.subjects)
    is_form = is_form or _asks_of_all(inquiry)
    is_time = form.form is QuestionForm.COMPARE_TIMES and inquiry.reading.time.at_s is not None
    if is_name or is_form or is_time:
        return RoutingDecision(IntentType.DIAGNOSIS, RoutingReason.NAMES_SUBJECT, decision.matched)
    return decision


def _asks_of_all(inquiry: Inquiry) -> bool:
    """Whether the question asks about everything that is recorded: `is everything fine?`."""
    form = inquiry.reading.form
    return form.form is QuestionForm.HEALTH and form.subject is None


def _is_given(inquiry: Inquiry) -> bool:
    """Whether question or source names an entity or a time; an unknown name is answered as unknown."""
    reading = inquiry.reading
    return (
        inquiry.onset_origin is not OnsetOrigin.NOBODY
        or inquiry.alert_entity is not None
        or inquiry.alert_signal is not None
        or bool(reading.names or reading.time.unread)
        or reading.time.at_s is not None
    )


def _is_of_its_own(decision: RoutingDecision, inquiry: Inquiry) -> bool:
    """Whether the question has words besides question words: `why is the sky blue?`."""
    left = inquiry.question.casefold()
    for phrase in sorted((*decision.matched, *COMMON_ZH), key=len, reverse=True):
        if not phrase.isascii():
            left = left.replace(phrase, " ")
    asks = {word for phrase in decision.matched for word in phrase.split()}
    strange = [word for word in _LATIN.findall(left) if word not in COMMON_EN and word not in asks]
    return bool(strange) or len(_HAN.findall(left)) >= _HAN_LEFT
