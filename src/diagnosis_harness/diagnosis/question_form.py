"""Finds which form of answer a question asks for. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.diagnosis.names import NameRead


class QuestionForm(StrEnum):
    """What the first sentence of an answer must be about."""

    WHY = "WHY"  # the cause
    CONFIRM = "CONFIRM"  # whether a named entity is the cause
    CONFIRM_CHANGE = "CONFIRM_CHANGE"  # whether a deploy or another change is
    HEALTH = "HEALTH"  # whether a named entity behaves as usual
    COMPARE = "COMPARE"  # two entities side by side
    COMPARE_TIMES = "COMPARE_TIMES"  # before and after a time
    WHEN = "WHEN"  # when it began
    SHOW = "SHOW"  # what was recorded
    FOLLOW_UP = "FOLLOW_UP"  # the previous question, about another entity


class Topic(StrEnum):
    """Which recordings a question asks to see."""

    LOGS = "LOGS"
    CHANGES = "CHANGES"
    ERRORS = "ERRORS"
    LATENCY = "LATENCY"
    ANY = "ANY"


SUSPECTING = frozenset({QuestionForm.CONFIRM, QuestionForm.CONFIRM_CHANGE})
"""Forms whose subject is the suspect, not the affected entity."""
OF_OTHERS = SUSPECTING | {QuestionForm.FOLLOW_UP}
"""Forms whose subject is not the affected entity, if the conversation already knows that one."""


@dataclass(frozen=True, slots=True)
class FormRead:
    """The form of a question, and the entities it is about.

    Attributes:
        subject: None if the question names no known entity.
        other: the second entity of a comparison.
        topic: which recordings to show; None for a form that does not ask for any.
    """

    form: QuestionForm = QuestionForm.WHY
    subject: str | None = None
    other: str | None = None
    topic: Topic | None = None

    @property
    def subjects(self) -> tuple[str, ...]:
        """The subject and the other entity, if known."""
        return tuple(each for each in (self.subject, self.other) if each is not None)


NO_FORM = FormRead()
"""A question that only says that something broke."""


_START = r"^\W*(?:so\s+|and\s+|but\s+|or\s+|please\s+)?"
_WHY = re.compile(
    rf"{_START}(?:why|how come|what|which|who|where|when)\b|为什么|为何|为啥|怎么", re.IGNORECASE
)
_CAUSE_ASKED = re.compile(r"\b(?:why|how come)\b|为什么|为何|为啥", re.IGNORECASE)
_BLAME = re.compile(
    r"\b(?:cause[ds]?|culprit|root cause|to blame|responsible|at fault|bottleneck)\b"
    "|原因|根因|罪魁|元凶|导致|引起|造成",
    re.IGNORECASE,
)
_ASKS = re.compile(
    rf"{_START}(?:is|was|are|were|did|does|do|has|have|had|could|can|might|may)\b", re.IGNORECASE
)
_ASKS_ZH = re.compile("是不是|是否|会不会|吗|是.{0,12}(?:原因|根因)")
_CHANGE = re.compile(
    r"\b(?:deploy(?:ment|s)?|release|rollout|roll-out|upgrade|change|commit|migration)\b"
    "|发布|上线|变更|部署|升级",
    re.IGNORECASE,
)
_IT = re.compile(rf"{_START}(?:was|is|could)\s+(?:it|this|that)\b|" r"^\W*是(?:不是)?", re.IGNORECASE)
_HEALTH = re.compile(
    r"\b(?:healthy|unhealthy|ok|okay|fine|normal|all right|alright|well|in trouble|slow|failing|down"
    r"|affected|broken|degraded)\s*(?:now|again|today|at all|right now)?\s*(?:since\b.*|at\b.*)?\W*$"
    r"|(?:正常|健康|还好|稳定|有问题|异常|慢)吗",
    re.IGNORECASE,
)
_OUTAGE = re.compile(
    rf"{_START}(?:was|were|is|are|did|does|do|has|have|had)\b.{{0,80}}?"
    r"\b(?:outages?|downtime|incidents?|problems?|issues?|trouble|errors?|degradation|degrade|recovered|recover"
    r"|fail|break|crash|go\s+down|down)\b\s*(?:(?:of|at|in|with|for)\s+(?:the\s+)?[\w.\-]+\s*)?"
    r"(?!(?:it|this|that|the|us|our|because|due|by)\b)"
    r"(?:now|again|today|yesterday|at all|right now)?\s*"
    r"(?:(?:since|at|on|in|around|from|between|before|after)\b.*)?\W*$"
    r"|(?:故障|宕机|挂|崩|恢复|中断|出过?(?:问题|事))了?(?:吗|没有?)\W*$",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"\b(?:everything|anything|things|all(?:\s+(?:the\s+)?(?:services|systems))?|any\s+(?:problems?|issues?|trouble)"
    r"|the\s+(?:whole\s+)?(?:system|platform|cluster|site|services))\b|一切|全部|整体|整个|系统|所有|都|有没有|什么问题",
    re.IGNORECASE,
)
"""Asks about everything that is recorded, not about a single item."""
_WHOLE_STATE = re.compile(
    r"^\W*(?:is\s+there\s+|are\s+there\s+)?(?:any\s+(?:problems?|issues?|trouble)"
    r"|anything\s+(?:wrong|broken|unusual|strange|odd))"
    r"\s*(?:now|today|right now)?\W*$"
    r"|(?:一切|全部|整体|都|所有\S{0,4}都?)\s*(?:正常|健康|还?好|稳定)吗?\W*$|^\W*(?:现在)?有(?:没有|什么)(?:问题|异常)吗?\W*$",
    re.IGNORECASE,
)
_BREAKS = re.compile(
    r"\b(?:br(?:eak|oke|oken)|kill(?:ed)?|hit|hurt|affect(?:ed)?|tak(?:e|en)\s+down|bring|brought|trigger(?:ed)?|ma(?:k|d)e"
    r"|slow(?:ed)?(?:\s+down)?)\s+(?!down\b|at\b|since\b|around\b|on\b|in\b|after\b|before\b|when\b|between\b|from\b|today\b|now\b"
    r"|again\b|than\b)"
    r"[\w.\-]+|\bbehind\s+\w|\bto\s+do\s+with\b|\bbecause\b|\bdue\s+to\b|\b(?:broken|hit|slowed|killed)\b.{0,30}\bby\b"
    "|搞坏|弄坏|拖(?:慢|垮)|影响(?:了|到)|有关",
    re.IGNORECASE,
)
"""Says that one thing did something to another."""
_PASSIVE = re.compile(r"\bby\b|\bbecause\b|\bdue\s+to\b|\bto\s+do\s+with\b|被", re.IGNORECASE)
"""Names the suspect last."""
_OF_WHOM = (
    r"(?:deploy(?:ment|s)?|release|rollout|upgrade|change|commit|migration)"
    r"\s+(?:of|to|on|in|for)\s+(?:the\s+)?"
)
_STATE = re.compile(
    r"\bhow(?:'s|\s+is|\s+are)\s+(?:the\s+)?\S+(?:\s+(?:service|pod|database))?"
    r"(?:\s+(?:doing|looking|going|now|today|right now))*\s*(?:since\b.*|at\b.*)?\W*$"
    r"|\b(?:anything|something)\s+wrong\s+with\b|\bany\s+(?:problems?|issues?|trouble)\s+(?:with|in|at)\b"
    r"|\b(?:state|status|health)\s+of\b"
    r"|怎么样|(?:状态|状况|情况|健康)(?:如何|怎样|好吗)?\W*$|有没有(?:问题|异常)|有无(?:问题|异常)|正不正常|是否正常|好不好",
    re.IGNORECASE,
)
_COMPARE = re.compile(
    r"\b(?:or|vs\.?|versus|compare[ds]?|against|compared|difference between|which of)\b"
    "|哪个|哪一个|哪边|还是|比较|对比|相比|谁先|谁更|谁有",
    re.IGNORECASE,
)
_TIMES = re.compile(
    r"\bbefore\s+(?:and|vs\.?|versus|to|against)\s+after\b|前后|之前(?:和|与|跟)之后"
    r"|\bwhat(?:'s|\s+has|\s+have|\s+had|\s+is|\s+was|\s+else)?\s+(?:changed|different|moved)\b.{0,60}?"
    r"\b(?:at|since|after|around|between|from)\s+\S{0,12}\d"
    r"|\d.{0,12}(?:有(?:什么|哪些)(?:变化|不同)|发生了(?:什么|哪些)变化|(?:变化|变)了(?:什么|哪些)|哪些指标变)",
    re.IGNORECASE,
)
_WHEN = re.compile(
    rf"{_START}(?:since when|when\s+(?:exactly\s+)?(?:did|was|were|is|has|have)"
    r"|(?:(?:at|from|since|around)\s+)?(?:what|which) (?:time|hour)\b)"
    "|什么时候|什么时间|何时|几点",
    re.IGNORECASE,
)
_ENDING = r"\b(?:before|until|till|prior\s+to)\s+\S{0,12}\d"
"""Asks what came before a time, so that time is not the onset."""
_SHOW = re.compile(
    rf"{_START}(?:(?:can|could|would|will) you\s+)?(?:show|list|print|display|let me see)\b"
    "|给我看|显示|列出|列一下|查看",
    re.IGNORECASE,
)
_LOOK = re.compile(
    rf"{_START}(?:(?:can|could|would|will) you\s+)?(?:give|get|find|see)\b"
    "|看一下|看看|查一下|找一下|找出",
    re.IGNORECASE,
)
"""Asks for recordings only if it names some, since one can also "find out" what is wrong."""
_REASON = re.compile(
    r"\b(?:wrong|broken|reasons?|why|if(?!\s+any\b)|whether|problems?|issues?|trouble|matter|happen(?:s|ed|ing)?"
    r"|going on|what\s+(?:makes|made|is making))\b"
    "|问题|原因|怎么|为什么|为何|是否|是不是|有没有|故障|毛病|坏|出事|发生了什么",
    re.IGNORECASE,
)
_RECORDED = re.compile(
    rf"\bwhat(?:'s|\s+has|\s+had|\s+was|\s+were)?\s+(?:changed|deployed|released|rolled\s+out)\b"
    rf".{{0,40}}?{_ENDING}|"
    r"\b(?:what|which)\s+(?:errors?|exceptions?|logs?|changes|deploys|deployments|releases)\b"
    r"|\bwhat(?:'s|\s+(?:do|does|did|is|are|was|were))\s+(?:in\s+)?(?:the\s+)?(?:\S+\s+){0,2}?"
    r"(?:logs?|log lines|changes|deploys|deployments|errors)\b"
    "|(?:有|是)(?:哪些|什么)(?:错误|报错|日志|变更|发布)"
    "|日志.{0,4}(?:说|写|有什么|里|怎么|是什么|内容|显示)|(?:错误|报错|变更|发布)有哪些",
    re.IGNORECASE,
)
_TOPICS = (
    (Topic.LOGS, re.compile(r"\blog(?:s|ged|ging)?\b|\blog lines\b|日志", re.IGNORECASE)),
    (
        Topic.CHANGES,
        re.compile(
            r"\b(?:change[sd]?|deploy(?:s|ed|ments?)?|release[sd]?|rollouts?|rolled\s+out)\b|变更|发布|部署|上线",
            re.IGNORECASE,
        ),
    ),
    (Topic.ERRORS, re.compile(r"\b(?:errors?|exceptions?|failures?)\b|错误|报错|失败|异常", re.IGNORECASE)),
    (
        Topic.LATENCY,
        re.compile(r"\b(?:latency|latencies|response times?)\b|延迟|耗时|响应时间", re.IGNORECASE),
    ),
)
_FOLLOW_UP = re.compile(
    r"^\W*(?:(?:so\s+|ok\s+)?(?:and|or|but)\s+(?:(?:what|how)\s+about\s+)?|(?:what|how)\s+about\s+"
    r"|same for\s+)(?:the\s+|of\s+|for\s+)*[\w.\-/]+(?:\s+(?:service|svc|pod|database|cache|queue))?\W*$"
    r"|^\W*(?:那么?|还有|至于|另外)?\s*[\w.\-/]{1,40}\s*(?:服务)?\s*呢\W*$",
    re.IGNORECASE,
)


def read_form(question: str, names: Sequence[NameRead]) -> FormRead:
    """The form of a question, given the names in it; WHY unless the words leave no doubt."""
    known = [each.name for each in names if each.name is not None]
    subject = known[0] if known else None
    if subject is not None and _FOLLOW_UP.search(question):
        return FormRead(QuestionForm.FOLLOW_UP, subject)
    asks_cause = _CAUSE_ASKED.search(question) is not None
    if not asks_cause and (form := _read_recordings(question, known)) is not None:
        return form
    if subject is not None and not asks_cause and _STATE.search(question) and not _BLAME.search(question):
        return FormRead(QuestionForm.HEALTH, subject)
    if not names and not asks_cause and _WHOLE_STATE.search(question):
        return FormRead(QuestionForm.HEALTH)
    if _WHY.search(question) or not (_ASKS.search(question) or _ASKS_ZH.search(question)):
        return FormRead()
    return _read_yes_no(question, names)


def _read_yes_no(question: str, names: Sequence[NameRead]) -> FormRead:
    """The form of a yes-or-no question."""
    known = [each.name for each in names if each.name is not None]
    subject = known[0] if known else None
    blames = _BLAME.search(question) is not None or _BREAKS.search(question) is not None
    if _CHANGE.search(question) and (blames or _IT.search(question)):
        return FormRead(QuestionForm.CONFIRM_CHANGE, _find_changed_entity(question, names) or subject)
    if blames and known:
        return FormRead(QuestionForm.CONFIRM, known[-1] if _PASSIVE.search(question) else subject)
    is_whole = not names and _WHOLE.search(question) is not None
    if (_HEALTH.search(question) or _OUTAGE.search(question)) and (subject is not None or is_whole):
        return FormRead(QuestionForm.HEALTH, subject)
    return FormRead()


def _find_changed_entity(question: str, names: Sequence[NameRead]) -> str | None:
    """The name whose deploy or change the question is about: the one after that word, or right before it."""
    for each in names:
        name = re.escape(each.written)
        whose = rf"{_OF_WHOM}{name}\b|\b{name}(?:'s|\s|的)*\s*{_CHANGE.pattern}"
        if each.name is not None and re.search(whose, question, re.IGNORECASE):
            return each.name
    return None


def _read_recordings(question: str, known: Sequence[str]) -> FormRead | None:
    """A form that asks what was recorded rather than for a cause; None for any other."""
    subject = known[0] if known else None
    if _TIMES.search(question):
        return FormRead(QuestionForm.COMPARE_TIMES, subject)
    if len(known) > 1 and _COMPARE.search(question):
        return FormRead(QuestionForm.COMPARE, known[0], known[1])
    if _BLAME.search(question):
        return None
    if _WHEN.search(question):
        return FormRead(QuestionForm.WHEN, subject)
    topic = next((topic for topic, words in _TOPICS if words.search(question)), None)
    reason = _REASON.search(question) is not None
    shows = _SHOW.search(question) is not None and not reason
    looks = topic is not None and _LOOK.search(question) is not None and not reason
    if (shows or looks or _RECORDED.search(question)) and (topic is not None or subject is not None):
        return FormRead(QuestionForm.SHOW, subject, topic=topic or Topic.ANY)
    return None
