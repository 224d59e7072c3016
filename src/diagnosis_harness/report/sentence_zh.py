"""The published sentences in Chinese, one small function for each predicate."""

from __future__ import annotations

from collections.abc import Callable

from diagnosis_harness.analysis.platform_event import EventKind, EventStanding
from diagnosis_harness.diagnosis.claim import Claim, Looked, Predicate
from diagnosis_harness.diagnosis.predicate_rule import OF_A_SIGNAL
from diagnosis_harness.kernel.names import display_name, quote_text
from diagnosis_harness.report.event_words import EVENT_WORDS
from diagnosis_harness.report.measure import count_text, exact_measure, measure, measures, times
from diagnosis_harness.report.timestamps import SOUGHT_MAX, display_time, span
from diagnosis_harness.tools.evidence import LIMIT_HELD, SERIES_ENDED, Direction

_MOVED = {Direction.UP: "上升", Direction.DOWN: "下降", Direction.FLAT: "保持平稳"}
_TO = {Direction.UP: "升到", Direction.DOWN: "降到", Direction.FLAT: "变为"}


def chinese_sentence(claim: Claim, *, scoped: bool = False) -> str:
    """The claim in one Chinese sentence; `scoped` means that a cause may lie in what its entity calls."""
    text = _cause(claim, " 或它所调用的对象") if scoped else _SENTENCES[claim.predicate](claim)
    return f"{text}。"


def _change(claim: Claim) -> str:
    return f"{_when(claim)}{_subject(claim)} {_movement(claim)}"


def _began(claim: Claim) -> str:
    move = _MOVED[claim.direction] if claim.direction else "偏离正常"
    return f"{_when(claim)}{_subject(claim)} 开始{move}"


def _normal(claim: Claim) -> str:
    return f"{_when(claim)}{_subject(claim)} 的波动没有超出其正常范围{_level(claim)}"


def _failure(claim: Claim) -> str:
    return f"{_when(claim)}{_failing(claim)}{_slower(claim)}"


def _drop(claim: Claim) -> str:
    without = display_name(claim.affected or "?")
    return f"{_when(claim)}{_subject(claim)} 结束时没有调用 {without} 的比例上升{_slower(claim)}"


def _cause(claim: Claim, scope: str = "") -> str:
    """States where it starts; the report adds, by the level, whether that is explained."""
    of = "" if claim.affected in (None, claim.entity) else f"{display_name(claim.affected or '')} 的"
    return f"{_when(claim)}{of}异常始于 {display_name(claim.entity)}{scope}{_detail(claim)}"


def _reassurance(claim: Claim) -> str:
    """How many series were compared, all together: of many some always seem to move."""
    found = f"{_when(claim)}{display_name(claim.entity)} 的表现与平时一致"
    return f"{found}；比较过的 {count_text(claim.value or 0)} 个指标序列中没有明显突出的"


def _independence(claim: Claim) -> str:
    first, other = display_name(claim.affected or "?"), display_name(claim.entity)
    return f"{other} 与 {first} 各自出现故障：两者之间没有已记录的调用"


def _effect(claim: Claim) -> str:
    return f"{_when(claim)}{display_name(claim.entity)} 受到影响，并非原因{_detail(claim)}"


def _saturation(claim: Claim) -> str:
    return f"{_when(claim)}{_subject(claim)} 达到上限{_level(claim)}"


def _slowdown(claim: Claim) -> str:
    return f"{_when(claim)}{_slow_part(claim)}{_slower(claim)}"


def _calls(claim: Claim) -> str:
    return f"{display_name(claim.entity)} 调用 {display_name(claim.affected or '?')}"


def _deployment(claim: Claim) -> str:
    kind = f"（{display_name(claim.signal)}）" if claim.signal else ""
    return f"{_when(claim)}{display_name(claim.entity)} 有一次变更{kind}"


def _happening(claim: Claim) -> str:
    """The platform's name for it, what that means, and whether it still lasts."""
    kind, name = claim.signal or "?", display_name(claim.entity)
    often = "" if claim.value is None else f" {count_text(claim.value)} 次"
    meaning = EVENT_WORDS[EventKind(kind)].zh if kind in _EVENT_KINDS else ""
    means = f"：{meaning}" if meaning else ""
    lasts = _STANDING.get(claim.affected or "", "是否持续未知")
    return f"{_when(claim)}{name} 报告了 {display_name(kind)}{often}{means}；{lasts}"


_EVENT_KINDS = frozenset(EventKind)
_STANDING: dict[str, str] = {EventStanding.CURRENT: "仍在持续", EventStanding.OVER: "已经结束"}


def _in_state(claim: Claim) -> str:
    """Attribute and state are quoted, since embedders' own tools choose them freely."""
    if (claim.signal, claim.affected) == SERIES_ENDED:
        return f"{_when(claim)}{display_name(claim.entity)} 的所有指标序列中断，而其他服务的仍在继续"
    if claim.affected == LIMIT_HELD and claim.value is not None:
        signal = f"{display_name(claim.entity)} 的 {display_name(claim.signal or '?')} "
        return f"{_when(claim)}{signal}升至 {exact_measure(claim.value, claim.unit)} 后停在该值不变"
    state = (
        quote_text(claim.affected) if claim.affected else f" {exact_measure(claim.value or 0, claim.unit)}"
    )
    return f"{_when(claim)}{display_name(claim.entity)} 的{quote_text(claim.signal or '?')}为{state}"


def _log_pattern(claim: Claim) -> str:
    """For lines that name the entity, `affected` is who wrote them."""
    writer = display_name(claim.affected or claim.entity)
    naming = f"提到 {display_name(claim.entity)} 的" if claim.affected else ""
    usual = "" if claim.baseline is None else f"，平时为 {count_text(claim.baseline)} 条"
    line = quote_text(claim.signal or "?")
    return f"{_when(claim)}{writer} 写了 {count_text(claim.value or 0)} 条{naming}日志{line}{usual}"


def _break_in_order(claim: Claim) -> str:
    line, following = quote_text(claim.signal or "?"), quote_text(claim.affected or "?")
    return f"{_when(claim)}{display_name(claim.entity)} 的日志{line}之后出现{following}的比例{_slower(claim)}"


def _count(claim: Claim) -> str:
    usual = "" if claim.baseline is None else f"，正常时为 {count_text(claim.baseline)}"
    what = f"{display_name(claim.entity)} 的 {display_name(claim.signal or '?')} "
    return f"{_when(claim)}{what}数量为 {count_text(claim.value or 0)}{usual}"


def _absent(claim: Claim) -> str:
    """What was searched, and how much of it; the sentence says nothing about anything else."""
    say = _NOTHING.get(claim.unit or "")
    if say is None:
        return f"是否发现了 {display_name(claim.entity)} 的情况，无从得知"
    return say(claim, display_name(claim.entity), _when(claim), f"{claim.value or 0:,.0f}")


def _no_lines(claim: Claim, name: str, when: str, count: str) -> str:
    text = f"包含{quote_text(claim.signal, most=SOUGHT_MAX)}的" if claim.signal else ""
    return f"{when}搜索了 {count} 行日志，没有发现 {name} {text}日志"


def _no_changes(claim: Claim, name: str, when: str, count: str) -> str:
    del claim
    return f"{when}查看了各服务的 {count} 条变更记录，没有发现 {name} 的变更"


def _no_spans(claim: Claim, name: str, when: str, count: str) -> str:
    del claim
    return f"{when}比较了 {name} 的 {count} 个 span，没有发现超出正常范围的耗时、失败或缺失的调用"


def _no_series(claim: Claim, name: str, when: str, count: str) -> str:
    del claim
    return f"{when}比较了 {name} 的 {count} 个指标序列，没有发现超出正常范围的变化"


def _subject(claim: Claim) -> str:
    """The signal or operation of the entity; if one caller measured it, that of this caller's calls."""
    name = display_name(claim.entity)
    if claim.affected and claim.predicate in OF_A_SIGNAL:
        name = f"{display_name(claim.affected)} 调用 {name}"
    return f"{name} 的 {display_name(claim.signal)}" if claim.signal else name


def _slow_part(claim: Claim) -> str:
    """What took longer; without a second entity or a signal, it is unknown where the time went."""
    name = display_name(claim.entity)
    whose = f"{name} 的 {display_name(claim.signal)}" if claim.signal else name
    if claim.affected:
        return f"{display_name(claim.affected)} 到 {whose} 的调用途中变慢"
    return f"{whose} 变慢" if claim.signal else f"{name} 内部或到它的途中耗时增加"


def _failing(claim: Claim) -> str:
    """Whose failures increased: the entity's own, or those of calls on the way to it."""
    if claim.affected:
        return f"{display_name(claim.affected)} 调用 {_subject(claim)} 的失败比例上升"
    return f"{_subject(claim)} 的失败比例上升"


def _movement(claim: Claim) -> str:
    if claim.value is None:
        return _MOVED[claim.direction] if claim.direction else "发生变化"
    to = _TO[claim.direction] if claim.direction else "变为"
    if claim.baseline is None:
        flat = claim.direction is Direction.FLAT
        return f"{'保持在' if flat else to} {measure(claim.value, claim.unit)}"
    before, now = measures(claim.baseline, claim.value, claim.unit)
    if claim.direction is Direction.FLAT:
        return f"保持在 {now}" if before == now else f"保持平稳（之前 {before}，当时 {now}）"
    if before == now:
        return _MOVED[claim.direction] if claim.direction else "发生变化"
    return f"从 {before} {to} {now}{_factor(claim.baseline, claim.value)}"


def _slower(claim: Claim) -> str:
    if claim.value is None:
        return ""
    if claim.baseline is None:
        return f"，达到 {measure(claim.value, claim.unit)}"
    before, now = measures(claim.baseline, claim.value, claim.unit)
    if before == now:
        return ""
    return f"，从 {before} 到 {now}{_factor(claim.baseline, claim.value)}"


def _factor(baseline: float, value: float) -> str:
    factor = times(baseline, value)
    return f"（{factor} 倍）" if factor else ""


def _detail(claim: Claim) -> str:
    if claim.signal is None:
        return ""
    called = claim.affected and claim.predicate in OF_A_SIGNAL
    caller = f" {display_name(claim.affected or '')} 调用的" if called else ""
    return f"：其{caller} {display_name(claim.signal)} {_movement(claim)}"


def _level(claim: Claim) -> str:
    if claim.value is None:
        return ""
    if claim.baseline is None:
        return f"，为 {measure(claim.value, claim.unit)}"
    before, now = measures(claim.baseline, claim.value, claim.unit)
    return f"，为 {now}，之前为 {before}"


def _when(claim: Claim) -> str:
    if claim.onset_s is not None:
        at = claim.predicate in (Predicate.BEGAN, Predicate.DEPLOYED)
        seen = _observation(claim) if claim.predicate is Predicate.IN_STATE else ""
        return f"{display_time(claim.onset_s)}{'，' if at else ' 起，'}{seen}"
    if claim.window is None:
        return ""
    start, end = span(claim.window)
    return f"{start} 至 {end}，"


def _observation(claim: Claim) -> str:
    """The window of a state; one that began earlier was seen only during the queried time."""
    if claim.window is None:
        return ""
    start, end = span(claim.window)
    return f"{start} 至 {end} 观察到，"


_NOTHING: dict[str, Callable[[Claim, str, str, str], str]] = {
    Looked.LOG_LINES: _no_lines,
    Looked.CHANGES: _no_changes,
    Looked.SPANS: _no_spans,
    Looked.SERIES: _no_series,
}
_SENTENCES: dict[Predicate, Callable[[Claim], str]] = {
    Predicate.CHANGED: _change,
    Predicate.BEGAN: _began,
    Predicate.NORMAL: _normal,
    Predicate.FAILED: _failure,
    Predicate.DROPPED: _drop,
    Predicate.CAUSED: _cause,
    Predicate.UNREMARKABLE: _reassurance,
    Predicate.INDEPENDENT: _independence,
    Predicate.AFFECTED: _effect,
    Predicate.SATURATED: _saturation,
    Predicate.SLOWED: _slowdown,
    Predicate.CALLS: _calls,
    Predicate.DEPLOYED: _deployment,
    Predicate.HAPPENED: _happening,
    Predicate.IN_STATE: _in_state,
    Predicate.LOGGED: _log_pattern,
    Predicate.BROKE_OFF: _break_in_order,
    Predicate.COUNTED: _count,
    Predicate.ABSENT: _absent,
}
