"""The first sentence for questions other than "why", from released causes and checked claims alone.

Pure. It confirms a cause only if that cause was released. It describes behaviour by checked claims with their
windows, and never says that nothing is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from diagnosis_harness.diagnosis.claim import Claim, Predicate
from diagnosis_harness.diagnosis.draft import Cause, CauseLevel
from diagnosis_harness.diagnosis.inquiry import Inquiry, OnsetOrigin, Telemetry
from diagnosis_harness.diagnosis.question_form import QuestionForm, Topic
from diagnosis_harness.guards.answering import answering_claims, claims_about, state_claims, unusual_claims
from diagnosis_harness.kernel.language import Language, Text
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.report.opening import COMMA
from diagnosis_harness.report.sentence import sentence
from diagnosis_harness.report.timestamps import display_time, span
from diagnosis_harness.tools.invocation import EvidenceRecord

ANSWER_YES: Final = Text(
    en="Yes, as far as the recorded evidence goes: {entity} is the cause.",
    zh="是的，就已记录的证据而言：{entity} 是原因。",
)
ANSWER_STARTS: Final = Text(
    en="That {entity} is the cause is not shown, but it starts at {entity}.",
    zh="尚不能证明 {entity} 是原因，但问题始于 {entity}。",
)
ANSWER_STARTS_NEAR: Final = Text(
    en="That {entity} is the cause is not shown; it starts at {entity} or in what it calls.",
    zh="尚不能证明 {entity} 是原因；问题始于 {entity} 或它所调用的对象。",
)
ANSWER_OTHER: Final = Text(
    en="The evidence does not show that {entity} is the cause; it points to {other}.",
    zh="没有证据表明 {entity} 是原因；证据指向 {other}。",
)
ANSWER_OTHER_STARTS: Final = Text(
    en="The evidence does not show that {entity} is the cause; by what was checked it starts at {other}.",
    zh="没有证据表明 {entity} 是原因；就已核对的内容而言，问题始于 {other}。",
)
ANSWER_OTHER_STARTS_NEAR: Final = Text(
    en=(
        "The evidence does not show that {entity} is the cause; by what was checked it starts at {other} or "
        "in what that calls."
    ),
    zh="没有证据表明 {entity} 是原因；就已核对的内容而言，问题始于 {other} 或它所调用的对象。",
)
ANSWER_OPEN: Final = Text(
    en="The evidence does not show whether {entity} is the cause.",
    zh="现有证据无法说明 {entity} 是否为原因。",
)
ANSWER_CHANGE: Final = Text(
    en="{change} The evidence does not show that it caused this.", zh="{change}但没有证据表明是它导致的。"
)
ANSWER_NO_CHANGE: Final = Text(
    en="The evidence does not show that a change caused this.", zh="没有证据表明是变更导致的。"
)
ANSWER_UNUSUAL: Final = Text(
    en="{entity} is not behaving as usual: {claim}", zh="{entity} 与平时不同：{claim}"
)
ANSWER_USUAL: Final = Text(
    en=(
        "As usual between {start} and {end}, in what was checked of {entity}: {signals} moved no further "
        "than normal."
    ),
    zh="{start} 至 {end}，{entity} 在已核对的范围内与平时一致：{signals} 的波动没有超出正常范围。",
)
THE_WHOLE: Final = Text(en="the system", zh="整个系统")
WHOLE_UNUSUAL: Final = Text(en="Not everything is as usual: {claim}", zh="并非一切如常：{claim}")
WHOLE_UNCLEAR: Final = Text(
    en="Whether everything is as usual is not clear: {claim}", zh="是否一切如常尚不明确：{claim}"
)
SIGNAL_OF: Final = Text(en="{signal} of {entity}", zh="{entity} 的 {signal}")
ANSWER_UNSEEN: Final = Text(
    en="Nothing that was checked shows the state of {entity}.", zh="已核对的内容无法说明 {entity} 的状况。"
)
ANSWER_UNCLEAR: Final = Text(
    en="Whether {entity} is as usual is not clear: {claim}", zh="{entity} 是否与平时一致尚不明确：{claim}"
)
ANSWER_NAMED: Final = Text(en="The evidence names {entity} as the cause.", zh="证据指出原因是 {entity}。")
ANSWER_NAMED_STARTS: Final = Text(
    en="By what was checked it starts at {entity}; the cause is not shown.",
    zh="就已核对的内容而言，问题始于 {entity}；原因尚未证明。",
)
ANSWER_NAMED_STARTS_NEAR: Final = Text(
    en="By what was checked it starts at {entity} or in what it calls; the cause is not shown.",
    zh="就已核对的内容而言，问题始于 {entity} 或它所调用的对象；原因尚未证明。",
)
ANSWER_NEITHER: Final = Text(
    en="The evidence names neither of them as the cause, but {entity}.",
    zh="证据指出的原因不是这两者，而是 {entity}。",
)
ANSWER_NEITHER_STARTS: Final = Text(
    en="The evidence names neither of them as the cause; by what was checked it starts at {entity}.",
    zh="没有证据表明这两者是原因；就已核对的内容而言，问题始于 {entity}。",
)
ANSWER_NEITHER_STARTS_NEAR: Final = Text(
    en=(
        "The evidence names neither of them as the cause; by what was checked it starts at {entity} or in "
        "what that calls."
    ),
    zh="没有证据表明这两者是原因；就已核对的内容而言，问题始于 {entity} 或它所调用的对象。",
)
ANSWER_UNCOMPARED: Final = Text(
    en="Which of {names} is in trouble is not shown.", zh="{names} 中哪个有问题，尚无证据。"
)
ANSWER_TIMES: Final = Text(en="Before and after {at}: {claims}", zh="{at} 前后对比：{claims}")
ANSWER_NO_TIMES: Final = Text(
    en="What differed before and after that time is not shown.", zh="该时间前后有何不同，尚无证据。"
)
ANSWER_NO_TIME_STATED: Final = Text(
    en="Before and after which time? Say it as `before and after 14:00`.",
    zh="请说明以哪个时间为界，例如“14:00 前后”。",
)
ANSWER_STATED: Final[Mapping[OnsetOrigin, Text]] = {
    OnsetOrigin.ASKED: Text(
        en="As it was asked, it began at {at}; no signal that was checked shows when.",
        zh="按提问时指定的时间，从 {at} 开始；已核对的信号都无法说明何时开始。",
    ),
    OnsetOrigin.QUESTION: Text(
        en="By the question it began at {at}; no signal that was checked shows when.",
        zh="按问题所述从 {at} 开始；已核对的信号都无法说明何时开始。",
    ),
    OnsetOrigin.CARRIED: Text(
        en="By the answer before it began at {at}; no signal that was checked shows when.",
        zh="按上一次回答从 {at} 开始；已核对的信号都无法说明何时开始。",
    ),
    OnsetOrigin.SOURCE: Text(
        en="By the settings of the source it began at {at}; no signal that was checked shows when.",
        zh="按数据源的设置从 {at} 开始；已核对的信号都无法说明何时开始。",
    ),
    OnsetOrigin.ALERT: Text(
        en="By the alert it began at {at}; no signal that was checked shows when.",
        zh="按告警所述从 {at} 开始；已核对的信号都无法说明何时开始。",
    ),
}
"""The sentence for each origin of a stated onset that no signal shows."""
ANSWER_MOVED: Final = Text(en="When it began is not shown: {claim}", zh="何时开始尚无证据：{claim}")
ANSWER_NO_WHEN: Final = Text(
    en="When it began is not shown: no signal that was checked clearly left its normal range.",
    zh="何时开始尚无证据：已核对的信号都没有明显偏离正常范围。",
)
ANSWER_NOT_RECORDED: Final = Text(
    en="The data holds no {topic}, so there are none to show.", zh="数据中没有{topic}，无法展示。"
)
ANSWER_NOT_SHOWN: Final = Text(
    en="Nothing that was checked is about the {topic} asked for.", zh="已核对的内容中没有所问的{topic}。"
)


@dataclass(frozen=True, slots=True)
class _NamingTexts:
    """The texts about a cause, by whether the question names it and whether it names one or two."""

    yes: Text
    other: Text
    named: Text
    neither: Text


_SHOWN = _NamingTexts(ANSWER_YES, ANSWER_OTHER, ANSWER_NAMED, ANSWER_NEITHER)
_STARTS = _NamingTexts(ANSWER_STARTS, ANSWER_OTHER_STARTS, ANSWER_NAMED_STARTS, ANSWER_NEITHER_STARTS)
_STARTS_NEAR = _NamingTexts(
    ANSWER_STARTS_NEAR, ANSWER_OTHER_STARTS_NEAR, ANSWER_NAMED_STARTS_NEAR, ANSWER_NEITHER_STARTS_NEAR
)
NAMING_TEXTS: Final[Mapping[tuple[CauseLevel, bool], _NamingTexts]] = {
    (CauseLevel.LOCALISED, False): _STARTS,
    (CauseLevel.LOCALISED, True): _STARTS_NEAR,
    (CauseLevel.EXPLAINED, False): _SHOWN,
    (CauseLevel.EXPLAINED, True): _STARTS_NEAR,
    (CauseLevel.TRIGGER, False): _SHOWN,
    (CauseLevel.TRIGGER, True): _STARTS_NEAR,
}
"""Answers by the level of a cause, and whether it may lie in a callee; only the highest says "yes"."""
TOPICS: Final[Mapping[Topic, Text]] = {
    Topic.LOGS: Text(en="logs", zh="日志"),
    Topic.CHANGES: Text(en="changes", zh="变更"),
    Topic.ERRORS: Text(en="errors", zh="错误"),
    Topic.LATENCY: Text(en="latency", zh="延迟"),
    Topic.ANY: Text(en="recordings", zh="记录"),
}
_TELEMETRY: Final[Mapping[Topic, Telemetry]] = {Topic.LOGS: Telemetry.LOGS, Topic.CHANGES: Telemetry.CHANGES}
_SENTENCES_MAX = 3
"""Claims in the first sentence; the others follow below it."""


def answer_sentences(
    inquiry: Inquiry,
    causes: Sequence[Cause],
    claims: Sequence[Claim],
    *,
    records: Sequence[EvidenceRecord],
    language: Language,
) -> Iterator[str]:
    """The answer to the form of the question; none for WHY, whose answer is the conclusion itself.

    Args:
        causes: the released ones.
        claims: those that are published.
    """
    read = inquiry.reading.form
    match read.form:
        case QuestionForm.CONFIRM if read.subject is not None:
            yield _confirm(read.subject, inquiry, causes, language)
        case QuestionForm.CONFIRM_CHANGE:
            made = [each for each in claims if each.predicate is Predicate.DEPLOYED]
            fits = [each for each in made if read.subject in (None, each.entity)]
            if fits:
                yield ANSWER_CHANGE.render(language, change=sentence(fits[0], language))
            else:
                yield ANSWER_NO_CHANGE.in_(language)
        case QuestionForm.HEALTH | QuestionForm.FOLLOW_UP:
            own = state_claims(read.subject, inquiry, claims, records)
            yield _health(read.subject, own, claims_about(read.subject, inquiry, claims), language)
        case QuestionForm.COMPARE:
            states = [
                (name, state_claims(name, inquiry, claims, records), claims_about(name, inquiry, claims))
                for name in read.subjects
            ]
            yield from _compare(inquiry, causes, states, language)
        case QuestionForm.COMPARE_TIMES:
            yield _compare_times(inquiry, answering_claims(inquiry, claims, records), language)
        case QuestionForm.WHEN:
            moved = unusual_claims(read.subject, inquiry, claims, records)
            yield _when(inquiry, answering_claims(inquiry, claims, records), moved, language)
        case QuestionForm.SHOW if read.topic is not None:
            yield _show(read.topic, inquiry, answering_claims(inquiry, claims, records), language)
        case _:
            return


def _confirm(subject: str, inquiry: Inquiry, causes: Sequence[Cause], language: Language) -> str:
    shown = display_name(subject)
    if not causes:
        return ANSWER_OPEN.render(language, entity=shown)
    parts = {subject, *inquiry.inventory.parts_of(subject)}
    own = next((cause for cause in causes if cause.entity in parts), None)
    if own is not None:
        return _naming_texts(own).yes.render(language, entity=shown)
    other = causes[0]
    return _naming_texts(other).other.render(language, entity=shown, other=display_name(other.entity))


def _naming_texts(cause: Cause) -> _NamingTexts:
    """The texts of a cause; without a level, those of the lowest."""
    return NAMING_TEXTS[cause.level or CauseLevel.LOCALISED, bool(cause.scope)]


def _health(subject: str | None, own: Sequence[Claim], about: Sequence[Claim], language: Language) -> str:
    """The state of an entity, as far as signals and a window were checked.

    Args:
        own: what answers it (`state_claims`).
        about: all that is claimed of it (`claims_about`).
    """
    shown = THE_WHOLE.in_(language) if subject is None else display_name(subject)
    if not own and about:
        if subject is None:
            return WHOLE_UNCLEAR.render(language, claim=sentence(about[0], language))
        return ANSWER_UNCLEAR.render(language, entity=shown, claim=sentence(about[0], language))
    if not own:
        return ANSWER_UNSEEN.render(language, entity=shown)
    if own[0].predicate is not Predicate.NORMAL and subject is None:
        return WHOLE_UNUSUAL.render(language, claim=sentence(own[0], language))
    if own[0].predicate is not Predicate.NORMAL:
        return ANSWER_UNUSUAL.render(language, entity=shown, claim=sentence(own[0], language))
    windows = [each.window for each in own if each.window is not None]
    if not windows:
        return ANSWER_UNSEEN.render(language, entity=shown)
    start, end = span(
        TimeWindow(max(each.start_s for each in windows), min(each.end_s for each in windows))
        if max(each.start_s for each in windows) < min(each.end_s for each in windows)
        else windows[0]
    )
    signals = dict.fromkeys(_signal_of(each, subject, language) for each in own if each.signal is not None)
    named = COMMA.in_(language).join(signals)
    return ANSWER_USUAL.render(language, entity=shown, start=start, end=end, signals=named)


def _signal_of(claim: Claim, subject: str | None, language: Language) -> str:
    """A signal by its name, with its entity if the question names none."""
    signal = display_name(claim.signal or "")
    if subject is not None:
        return signal
    return SIGNAL_OF.render(language, signal=signal, entity=display_name(claim.entity))


def _compare(
    inquiry: Inquiry,
    causes: Sequence[Cause],
    states: Sequence[tuple[str, Sequence[Claim], Sequence[Claim]]],
    language: Language,
) -> Iterator[str]:
    """Which of two is the cause, if one was released; then the state of each."""
    subjects = [name for name, _, _ in states]
    if causes:
        named = causes[0].entity
        parts = {part for name in subjects for part in (name, *inquiry.inventory.parts_of(name))}
        texts = _naming_texts(causes[0])
        text = texts.named if named in parts else texts.neither
        yield text.render(language, entity=display_name(named))
    elif not any(own for _, own, _ in states):
        names = COMMA.in_(language).join(display_name(name) for name in subjects)
        yield ANSWER_UNCOMPARED.render(language, names=names)
        return
    yield " ".join(_health(name, own, about, language) for name, own, about in states)


def _compare_times(inquiry: Inquiry, own: Sequence[Claim], language: Language) -> str:
    at_s = inquiry.reading.time.at_s
    if at_s is None:
        return ANSWER_NO_TIME_STATED.in_(language)
    if not own:
        return ANSWER_NO_TIMES.in_(language)
    return ANSWER_TIMES.render(language, at=display_time(at_s), claims=_say(own, language))


def _when(inquiry: Inquiry, own: Sequence[Claim], moved: Sequence[Claim], language: Language) -> str:
    if own:
        return sentence(own[0], language)
    stated = ANSWER_STATED.get(inquiry.onset_origin)
    if inquiry.onset_s is not None and stated is not None:
        return stated.render(language, at=display_time(inquiry.onset_s))
    if moved:
        return ANSWER_MOVED.render(language, claim=sentence(moved[0], language))
    return ANSWER_NO_WHEN.in_(language)


def _show(topic: Topic, inquiry: Inquiry, own: Sequence[Claim], language: Language) -> str:
    if own:
        return _say(own, language)
    needed = _TELEMETRY.get(topic)
    missing = needed is not None and needed not in inquiry.inventory.telemetry
    text = ANSWER_NOT_RECORDED if missing else ANSWER_NOT_SHOWN
    return text.render(language, topic=TOPICS[topic].in_(language))


def _say(claims: Sequence[Claim], language: Language) -> str:
    sentences = dict.fromkeys(sentence(each, language) for each in claims)
    return " ".join(list(sentences)[:_SENTENCES_MAX])
