"""Finds the places in a question that hold the name of a service or instance, known or not. Pure.

Only places that rarely hold anything else count, because a word wrongly taken for a name is reported to the
caller as unknown. A *loose* place may also hold an ordinary word; it counts only if it is close to a known
name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnosis_harness.diagnosis.common_words import COMMON_EN, COMMON_ZH

_LONGEST = 2_000
"""Characters of a question that are searched: a pasted alert names its service in its first lines."""
_X = r"(?<![\w/.\-])(?P<x>[A-Za-z][\w.\-]{2,60}?)"
_END = r"(?![\w\-]|\.\w)"
_PART = r"(?:micro-?service|service|svc|pod)s?"
_WHY = r"\b(?:why|how come)"
_BE = r"(?:is|are|was|were|isn't|wasn't|aren't)"
_TAIL = r"(?=\s*(?:[?!.,;:]|$|(?:since|at|from|between|after|before|today|now|right|during|last|this)\b))"
_FAILS = (
    r"(?:return|fail|time|respond|crash|throw|restart|become|became|get|got|keep|go|went|been|break|broke|stop"
    r"|hang|slow|have|had|die|answer|drop|refuse|reject|lose|show)\w*"
)
_STATE = (
    r"(?:(?:so|very|really|suddenly|still|again|currently|not|always|that|too)\s+)*"
    r"(?:slow\w*|fail\w*|down|broken|unavailable|unhealthy|healthy|timing|returning|throwing|degraded|crash\w*"
    r"|restart\w*|respond\w*|erroring|fine|ok|okay|up|stuck|dead|unreachable|flapping|overloaded|affected|normal"
    r"|alright|all right|sluggish|hanging|lagging|refusing|rejecting|dropping|using|working|at fault|to blame"
    r"|bad|in trouble|having|unstable|unresponsive|wrong|alive|saturated)"
)
_HAPPENS = re.compile(rf"{_BE}|{_FAILS}|{_STATE}", re.IGNORECASE)
_SUFFIX = "(?:service|svc|server|api|db|cache|queue|worker|gateway|proxy)"
_OR = r"(?:or|vs\.?|versus|against)"
_BLAME = (
    rf"(?:(?:the|a)\s+)?(?:real\s+|root\s+|actual\s+)?"
    rf"(?:cause|culprit|reason|problem|bottleneck|responsible|{_STATE})"
)
_STRICT = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"`(?P<x>[\w.\-/:@]{2,80})`",
        rf"(?<![:@]){_X}{_END}\s+{_PART}\b(?!\s*[=:])",
        r"\b(?:service|svc|app|pod)\s*[=:]\s*[\"']?(?P<x>[A-Za-z][\w.\-]{2,80})",
        rf"\b(?:service|svc|pod|host|deployment)\s+(?:called\s+|named\s+)?{_X}{_END}\s+(?:{_BE}|{_FAILS}|so)\b",
        rf"{_WHY}\s+(?:is|was)\s+(?:the\s+)?{_X}{_END}\s+{_STATE}",
        rf"{_WHY}\s+(?:the\s+)?{_X}{_END}\s+(?:is|was)\s+{_STATE}",
        rf"{_WHY}\s+(?:does|did|has|can't|cannot|can)\s+(?:the\s+)?{_X}{_END}\s+(?:not\s+)?{_FAILS}",
        rf"^\W*(?:so\s+|and\s+|but\s+)?{_BE}\s+(?:the\s+)?{_X}{_END}\s+{_BLAME}",
        rf"\b(?:wrong|going on|happened|happening|up)\s+(?:with|to|in|at)\s+(?:the\s+)?{_X}{_END}{_TAIL}",
        rf"\b(?:logs|log lines|health|state|status|metrics|spans)\s+(?:of|for|from)\s+(?:the\s+)?{_X}{_END}",
        rf"\b(?:deploy|deployment|rollout|release)\s+(?:of|for)\s+(?:the\s+)?{_X}{_END}",
        rf"^\W*(?:and|what about|how about|and what about)\s+(?:the\s+)?{_X}{_END}\W*$",
        rf"^\W*(?:compare\s+)?(?:the\s+)?{_X}{_END}\s+{_OR}\s+(?:the\s+)?[A-Za-z][\w.\-]*\W*$",
        rf"^\W*(?:compare\s+)?(?:the\s+)?[A-Za-z][\w.\-]*\s+{_OR}\s+(?:the\s+)?{_X}{_END}\W*$",
        rf"(?<![\w.\-/:@])(?P<x>[A-Za-z]\w*(?:-\w+)*-{_SUFFIX}){_END}",
        rf"\bcompare\s+(?:the\s+)?{_X}{_END}\s+(?:and|with|to|against)\b",
    )
)  # fmt: skip
_LOOSE = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_WHY}\s+(?:{_BE}\s+|do\s+|have\s+)?(?:the\s+)?{_X}{_END}\s+\w+",
        rf"^\W*(?:the\s+)?{_X}{_END}\s+(?:{_BE}|keeps|has|fails|failed|failing|slow|errors?|latency|down)\b",
        rf"\b(?:in|of|on|at|for|by|from|to|with|did|does|has)\s+(?:the\s+)?{_X}{_END}",
        rf"{_X}{_END}\s+(?:errors?|latency|timeouts?|5xx|p9\d|cpu|memory|error rate|fails?|failing|slow)\b",
        rf"(?<![\w.\-/:@])(?P<x>[A-Za-z]\w*(?:[-_]\w+)+){_END}",
    )
)
_ZH_NAME = r"(?<![\w/.\-])(?P<x>[A-Za-z][\w.\-]{1,60}|(?<![\u4e00-\u9fff])[\u4e00-\u9fff]{2,8}?)"
_ZH_LEFT = (
    "(?:为什么|为何|为啥|怎么|诊断一下|排查一下|看一下|看看|查一下|分析一下|有人改过|解释一下|麻烦|请问|请|那么|那"
    "|和|与|跟|是)*"
)
_ZH_HARM = "(?:慢|挂|报错|失败|超时|出错|异常|不可用|崩|重启|卡|打不开|没响应|无响应|变慢)"
_ZH_DEGREE = "(?:突然|一直|会|很|又|都|还|这么|那么|总是|老是|变|开始)*"
_ZH_ONE = r"(?:[A-Za-z][A-Za-z0-9_.\-]{1,60}|[\u4e00-\u9fff]{2,6}?)"
_ZH_X = _ZH_ONE.replace("(?:", "(?P<x>", 1)
_ZH_AND = r"\s*(?:微?服务)?\s*(?:和|与|跟|还是|以及|同)\s*"
_ZH_EACH = r"\s*(?:微?服务)?\s*(?:之?间)?\s*(?:哪个|哪一个|哪边|谁|相比|对比|比较|有问题|出问题|的问题)"
_ZH_FIRST = r"(?:^|[，,。？！\s]|对比|比较|到底|究竟|是)\s*"
_ZH_END = r"\s*(?:微?服务)?\s*(?:[？?。！!，,]|$)"
_ZH = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_ZH_FIRST}{_ZH_X}{_ZH_AND}{_ZH_ONE}{_ZH_EACH}",
        rf"{_ZH_FIRST}{_ZH_ONE}{_ZH_AND}{_ZH_X}{_ZH_EACH}",
        rf"(?:对比|比较|(?:哪个|谁)\S{{1,8}}[，,])\s*(?:一下)?\s*{_ZH_X}{_ZH_AND}{_ZH_ONE}{_ZH_END}",
        rf"(?:对比|比较|(?:哪个|谁)\S{{1,8}}[，,])\s*(?:一下)?\s*{_ZH_ONE}{_ZH_AND}{_ZH_X}{_ZH_END}",
        r"(?:为什么|为何|为啥|怎么)\s*(?P<x>[A-Za-z][\w.\-]{1,60})\s*(?:微?服务)?\s*" + _ZH_DEGREE + _ZH_HARM,
        rf"(?:[，。？！,?!\s的]|^){_ZH_LEFT}\s*(?P<x>[A-Za-z][\w.\-]{{1,60}}|[\u4e00-\u9fff]{{2,5}}?)\s*微?服务",
        (
            rf"(?:^|[，,\s]){_ZH_NAME}\s*(?:微?服务)?\s*(?:是不是|是否|是)(?:真正的|主要)?"
            "(?:根因|根本原因|原因|罪魁|元凶)"
        ),
        rf"(?:^|[，,\s]|现在){_ZH_NAME}\s*(?:微?服务)?\s*(?:现在|目前|还)?(?:正常|健康|还好|稳定|好)吗",
        r"(?:^|[，,\s]|那么|那)(?P<x>[A-Za-z][\w.\-]{1,60})\s*呢",
        r"(?<![\w/.\-])(?P<x>[A-Za-z][\w.\-]{2,60})\s*(?:的)?(?:日志|状态|延迟|错误率)",
    )
)
_ZH_EDGE = re.compile("^(?:" + "|".join(sorted(COMMON_ZH, key=len, reverse=True)) + "|的|了|是|在|从)+")


@dataclass(frozen=True, slots=True)
class Slot:
    """A word where a name is expected; `is_loose` if ordinary words are common there."""

    start: int
    text: str
    is_loose: bool = False


def name_slots(question: str) -> tuple[Slot, ...]:
    """The places of names in the order of the question; each word once, strict before loose."""
    searched = question[:_LONGEST]
    found: dict[int, Slot] = {}
    for each in (*_latin(searched), *_chinese(searched)):
        known = found.get(each.start)
        if known is None or (known.is_loose and not each.is_loose):
            found[each.start] = each
    return tuple(found[start] for start in sorted(found))


def _latin(question: str) -> Iterator[Slot]:
    for patterns, is_loose in ((_STRICT, False), (_LOOSE, True)):
        for pattern in patterns:
            for match in pattern.finditer(question):
                word = match["x"].rstrip(".-:")
                if len(word) > 1 and not _is_common(word):
                    yield Slot(match.start("x"), word, is_loose)


def _chinese(question: str) -> Iterator[Slot]:
    for pattern in _ZH:
        for match in pattern.finditer(question):
            word, start = match["x"], match.start("x")
            if word.isascii():
                if not _is_common(word):
                    yield Slot(start, word)
                continue
            bare = _ZH_EDGE.sub("", word)
            if len(bare) > 1:
                yield Slot(start + len(word) - len(bare), bare)


def _is_common(text: str) -> bool:
    """Whether a word, or every word of a joined one, is ordinary or says what happens to a service."""
    if _HAPPENS.fullmatch(text):
        return True
    words = [word for word in re.split(r"[-_./]+|'s\b", text.casefold()) if word]
    return all(word in COMMON_EN or word.removesuffix("s") in COMMON_EN for word in words)
