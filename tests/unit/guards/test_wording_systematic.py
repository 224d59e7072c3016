"""Every word of the vocabulary, put where it may hurt: whatever is shown, a strict reader finds supported.

The reader shares no code with the guard. It knows a handful of words, reads numbers by what stands directly
beside them, and takes anything else for a lie.
"""

# ruff: noqa: E501 - lists of words

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, Predicate
from diagnosis_harness.guards.statement import state_claim
from diagnosis_harness.guards.wording import wording_objections
from diagnosis_harness.guards.wording_words import HAN, PHRASE_CLASSES, WORDS
from diagnosis_harness.kernel.json_value import Scalar
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.sentence import sentence
from diagnosis_harness.testing.evidence import ONSET_S, WINDOW, cause_item, change_item
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind

WORDINGS = 40_000
REFS = (EvidenceRef("t1", "i1"),)


def item(kind: ItemKind, **fields: object) -> EvidenceItem:
    """An item of this kind about checkout."""
    attributes: dict[str, object] = {
        "entity": "checkout",
        "signal": "latency_p90",
        "value": 3.204,
        "baseline": 0.21,
        "unit": "s",
        "direction": Direction.UP,
        "window": WINDOW,
        "onset_s": ONSET_S,
    }
    return EvidenceItem("i1", kind, "a line", **{**attributes, **fields})  # type: ignore[arg-type]  # a test names them


FLAT: dict[str, Scalar] = {"as_far": 9, "normal_windows": 11}
CASES: dict[Predicate, EvidenceItem] = {
    Predicate.CHANGED: change_item(),
    Predicate.NORMAL: item(ItemKind.SIGNAL_CHANGE, attributes=FLAT),
    Predicate.BEGAN: change_item(),
    Predicate.AFFECTED: change_item(),
    Predicate.SATURATED: item(
        ItemKind.SIGNAL_CHANGE,
        signal="cpu_usage",
        value=0.99,
        baseline=0.4,
        unit="ratio",
        attributes={"kind": "cpu"},
    ),
    Predicate.SLOWED: item(ItemKind.EDGE_GAP, peer="web"),
    Predicate.FAILED: item(ItemKind.SPAN_ERRORS, signal="charge", value=0.36, baseline=0.03, unit="ratio"),
    Predicate.DROPPED: item(
        ItemKind.SPAN_ERRORS,
        signal="charge",
        value=0.36,
        baseline=0.03,
        unit="ratio",
        attributes={"without": "refund"},
    ),
    Predicate.CAUSED: cause_item("i1", "payment", "checkout"),
    Predicate.CALLS: EvidenceItem("i1", ItemKind.CALL_EDGE, "a line", entity="payment", peer="checkout"),
    Predicate.DEPLOYED: item(
        ItemKind.CHANGE_EVENT,
        signal="deploy",
        value=None,
        baseline=None,
        unit=None,
        direction=None,
        window=None,
        attributes={"change_kind": "deploy"},
    ),
}

# ------------------------------------------------------------------ the strict reader


def words(text: str) -> tuple[str, ...]:
    """The words of a text; phrases are joined by `_`."""
    return tuple(word.replace("_", " ") for word in text.split())


_SMALL = words(
    "the a of in at to from by was is has had have been about around nearly roughly approximately for on between "
    "and level value with service component instance went reached reaching over within utc its time inside or "
    "way it that what shows calls call share percentage rate ratio requests request operation operations span "
    "spans responses response since ran moved stood 的 从 到 至 为 是 在 内 了 约 大约 约为 将近 达到 服务 组件 实例 和 由 于 "
    "水平 值 调用 比例 占比 比率 有 一次 其 途中 调用途中 波动 结束 时 占 请求 操作 跨度 响应 起 自 出现 间 期间 期"
)
_UP = words(
    "rose rise rises rising risen increased increase increases increasing grew grow grows growing grown climbed "
    "climb climbs climbing jumped jump jumps spiked spike spikes surged surge surges higher up upward upwards "
    "elevated slow slowed slows slowing slower longer delayed slowdown"
)
_UP_HAN = "升涨增高慢长攀加大提走更变飙激上"
_OF: dict[Predicate, tuple[str, ...]] = {
    Predicate.CHANGED: words("changed change changes 变化 变动 发生变化 变更"),
    Predicate.NORMAL: words(
        "flat stable steady unchanged constant stayed stays stay remained remains normal normally "
        "平稳 稳定 不变 持平 保持 保持在 正常 没有变化 未变化 no_further_than_it_normally_does no_further_than_usual "
        "no_further_than_normal within_its_normal_range within_its_usual_range 没有超出其正常范围 没有超出正常范围 "
        "未超出正常范围 在正常范围内"
    ),
    Predicate.BEGAN: words(
        "began begin begins beginning started start starts starting onset 开始 始于 differ_from_normal "
        "differs_from_normal differed_from_normal 偏离正常 异常"
    ),
    Predicate.AFFECTED: words(
        "affected affects affect hit impacted suffers suffered suffering victim 受影响 受到影响 受累 被影响 "
        "not_the_cause 并非原因 不是原因 不是根因 并非根因"
    ),
    Predicate.SATURATED: words(
        "limit saturated saturates saturation exhausted capacity full maxed ceiling 饱和 上限 达到上限 耗尽 打满 跑满 "
        "用尽 瓶颈"
    ),
    Predicate.SLOWED: (),
    Predicate.FAILED: words(
        "fail failed fails failing failure failures error errors erroring errored 失败 错误 报错 出错 失败率 错误率"
    ),
    Predicate.DROPPED: words(
        "ends_without ended_without ending_without that_end_without 没有调用 未调用 没有再调用"
    ),
    Predicate.CAUSED: words(
        "cause caused causes root led leads culprit reason origin source 原因 根因 根本原因 元凶 导致 引起 造成 引发 "
        "致使 使得 异常 what shows starts since it 始于 起"
    ),
    Predicate.CALLS: words("calls call calling called invokes invoked"),
    Predicate.DEPLOYED: words(
        "changed change changes 变更 变化 变动 发生变化 部署 发布 上线 deployed deploy deploys deployment "
        "deployments release released rollout rolled"
    ),
}
_USUAL = words(
    "usual usually previously baseline earlier before versus vs against compared than instead "
    "平时 通常 正常时 基线 之前 此前 原来 原先 以往 相比 对比 较"
)
_NOW = words("now then 现在 此时 当时")
_NUMBER = re.compile(
    r"(?<![\w.:-])(\d[\d,]*(?:\.\d+)?) ?(ms|s|%|毫秒|秒|minutes|分钟|倍|times|x|-fold)?(?![\w:]|\.\d)"
)
_TIME = re.compile(r"(?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d(?::\d\d)?Z?(?: UTC)?")
_BESIDE = r"(?:the |a |its |of |at |is |was |level |value |with |约 ?|为 ?|是 ?|的 ?|水平 ?|值 ?|about |nearly |roughly )*"


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads one sentence about one claim."""

    claim: Claim
    item: EvidenceItem

    def supports(self, text: str) -> bool:
        """Whether every part of the sentence is one that the reader knows to be so."""
        times = _TIME.findall(text)
        rest = _TIME.sub("⌚", text)
        return self._times(times) and self._numbers(rest) and self._marks(rest) and self._words(rest)

    def _times(self, times: list[str]) -> bool:
        clocks = [re.search(r"\d\d:\d\d", each)[0] for each in times]  # type: ignore[index]  # it matched
        return clocks in ([], ["22:13"], ["22:13", "22:23"])

    def _numbers(self, text: str) -> bool:
        for found in _NUMBER.finditer(text):
            before = text[: found.start()].rstrip()
            kind = self._kind(float(found[1].replace(",", "")), found[2])
            after = text[found.end() :].lstrip()
            if re.search(r"(?:\bfrom|从|由)$", before) and kind != "baseline":
                return False
            if re.search(r"(?:\bto|\breached|\breaching|到|至|达到)$", before) and kind != "value":
                return False
            if kind is None or (kind == "baseline" and not self._is_marked(before, after)):
                return False
        return True

    def _is_marked(self, before: str, after: str) -> bool:
        usual = "|".join(map(re.escape, _USUAL))
        behind = re.match(rf"(?:{usual})(?![a-z])", after) is not None
        tail = re.search(rf"(?:{usual}|from|从|由)[ ]?{_BESIDE}$", f"{before} ")
        return behind or tail is not None

    def _kind(self, number: float, unit: str | None) -> str | None:
        value, baseline = self.claim.value, self.claim.baseline
        if unit in ("minutes", "分钟"):
            return "duration" if number == 10 else None
        if value is None or baseline is None:
            return None
        if unit in ("倍", "times", "x", "-fold"):
            return "factor" if abs(number / (value / baseline) - 1) < 0.05 else None
        scale = {"ms": 1e-3, "毫秒": 1e-3, "s": 1.0, "秒": 1.0, "%": 0.01}.get(unit or "")
        if scale is None or (scale == 0.01) != (self.claim.unit == "ratio"):
            return None
        for name, exact in (("value", value), ("baseline", baseline), ("difference", value - baseline)):
            if abs(number * scale / exact - 1) < 0.02:
                return name
        return None

    def _marks(self, text: str) -> bool:
        """Each word for before is beside the baseline's number, each word for now beside the value's."""
        for phrase in sorted(_OF[self.claim.predicate], key=len, reverse=True):
            text = text.replace(phrase, " ") if " " in phrase else text
        plain = re.sub(r"\d[\d,.]* ?(?:ms|s|%|毫秒|秒)", lambda m: self._mark(m[0]), text)
        for words, mark in ((_USUAL, "⓪"), (_NOW, "①")):
            for word in words:
                edge = r"\b" if word.isascii() else ""
                for found in re.finditer(rf"{edge}{word}{edge}", plain):
                    before, after = plain[: found.start()].rstrip(" "), plain[found.end() :].lstrip(" ")
                    ahead = re.match(rf"{_BESIDE}(.)", after)
                    beside = {before[-1:], ahead[1] if ahead else ""}
                    if mark not in beside:
                        return False
        return True

    def _mark(self, text: str) -> str:
        found = _NUMBER.search(text)
        kind = self._kind(float(found[1].replace(",", "")), found[2]) if found else None
        return {"baseline": "⓪", "value": "①"}.get(kind or "", "?")

    def _words(self, text: str) -> bool:
        """No word is left over that the reader does not know to be harmless of this claim."""
        left = _NUMBER.sub(" ", text)
        names = {self.claim.entity, self.claim.affected, self.claim.signal, "cpu", "charge", "deploy"}
        if self.claim.entity not in left:
            return False
        begins_at = re.search(r"\bstarts\b|始于", left) if self.claim.predicate is Predicate.CAUSED else None
        if begins_at is not None:
            shows, begins = left[: begins_at.start()], left[begins_at.end() :]
            if self.claim.entity in shows or str(self.claim.affected) in begins:
                return False
        known = [*_OF[self.claim.predicate], *_USUAL, *_NOW, *_SMALL, *filter(None, names)]
        if self.claim.direction is Direction.UP and self.claim.predicate is not Predicate.NORMAL:
            known += _UP
        for word in sorted(known, key=len, reverse=True):
            edge = r"(?![\w-])" if word.isascii() else ""
            start = r"(?<![\w-])" if word.isascii() else ""
            left = re.sub(f"{start}{re.escape(word)}{edge}", " ", left, flags=re.IGNORECASE)
        if self.claim.direction is Direction.UP and self.claim.predicate is not Predicate.NORMAL:
            left = re.sub(f"[{_UP_HAN}]", " ", left)
        return not re.search(r"[^\W_]", left.replace("⌚", " "))


# ------------------------------------------------------------------ the generator

_PARTS = (
    "latency_p90",
    "cpu_usage",
    *words("checkout payment charge refund web 99% 40% 36% 3% 22:13 22:23"),
    *words("3.2_s 0.21_s 3.2_秒 0.21_秒 15_times 15_倍 between_22:13_and_22:23 2.994_s 10_minutes"),
    *words("the of to from is was 的 从 到 为 , ， : and"),
)
_VOCABULARY = (*WORDS, *HAN, *PHRASE_CLASSES)


def bend(rng: np.random.Generator, text: list[str]) -> list[str]:
    """A sentence with one word put in, taken out, exchanged, or all of them turned around."""
    at = int(rng.integers(len(text)))
    pool = _VOCABULARY if rng.random() < 0.6 else _PARTS
    other = pool[int(rng.integers(len(pool)))]
    match int(rng.integers(5)):
        case 0:
            return [*text[:at], other, *text[at:]]
        case 1:
            return [*text, other]
        case 2:
            return [*text[:at], *text[at + 1 :]] or [other]
        case 3:
            return [text[place] for place in rng.permutation(len(text)).tolist()]
        case _:
            return [*text[:at], other, *text[at + 1 :]]


_SEEDS: dict[Predicate, tuple[str, ...]] = {
    Predicate.CHANGED: (
        "latency_p90 of checkout : 0.21 s usually , 3.2 s now",
        "latency_p90 of checkout rose from 0.21 s to 3.2 s",
        "checkout latency_p90 was 3.2 s , usually 0.21 s",
        "checkout 的 latency_p90 平时 0.21 秒 ， 现在 3.2 秒",
        "checkout 的 latency_p90 从 0.21 秒 升到 3.2 秒",
    ),
    Predicate.NORMAL: (
        "latency_p90 of checkout moved no_further_than_usual at 3.2_s",
        "checkout 的 latency_p90 在正常范围内",
    ),
    Predicate.BEGAN: ("latency_p90 of checkout began to rise at 22:13", "checkout 的 latency_p90 开始 上升"),
    Predicate.AFFECTED: ("checkout is affected", "checkout 受到影响 ， latency_p90 升到 3.2 秒"),
    Predicate.SATURATED: ("cpu_usage of checkout ran at its limit : at 99% , usually 40%",),
    Predicate.SLOWED: ("the way from web to checkout slowed", "web 到 checkout 的 latency_p90 变慢"),
    Predicate.FAILED: (
        "the share of charge of checkout that fails rose",
        "checkout 的 charge 失败 比例 上升",
    ),
    Predicate.DROPPED: ("the share of charge of checkout that ends without refund rose",),
    Predicate.CAUSED: (
        "payment is the cause of what checkout shows",
        "payment 是 checkout 异常 的 原因",
        "what checkout shows starts at payment",
        "checkout 的 异常 始于 payment",
    ),
    Predicate.CALLS: ("checkout calls payment", "checkout 调用 payment"),
    Predicate.DEPLOYED: ("checkout was deployed at 22:13", "checkout 有 一次 变更"),
}


def wordings(rng: np.random.Generator, predicate: Predicate, claim: Claim, count: int) -> list[str]:
    """Rendered and plain sentences, each bent in one to three places."""
    seeds = [text.split(" ") for text in _SEEDS[predicate]]
    seeds += [re.findall(r"[^\s,，:：（）()]+|[,，:：]", sentence(claim, each)[:-1]) for each in Language]
    found = []
    for _ in range(count):
        text = seeds[int(rng.integers(len(seeds)))]
        for _ in range(1 + int(rng.integers(3)) // 2 + int(rng.integers(4)) // 3):
            text = bend(rng, text)
        found.append(" ".join(text))
    return found


@pytest.mark.proof
@pytest.mark.parametrize("predicate", list(CASES), ids=lambda each: each.value)
def test_no_wording_says_what_a_strict_reader_does_not_find(predicate: Predicate, scale: float) -> None:
    """Thousands of them, English and Chinese; some are shown, and each of those is supported."""
    case = CASES[predicate]
    claim = state_claim(predicate, case, claim_id="k1", refs=REFS)
    reader = Reader(claim, case)
    tried = wordings(np.random.default_rng(20_261), predicate, claim, round(WORDINGS * scale / len(CASES)))

    shown = {text for text in tried if not wording_objections(text, claim, [case])}

    assert [text for text in sorted(shown) if not reader.supports(text)] == []
    assert shown
    assert len(shown) < len(tried) / 4


LIES = {
    Predicate.CHANGED: (
        "latency_p90 of checkout: 3.2 s usually, 0.21 s now.",
        "latency_p90 of checkout rose before the incident.",
        "latency_p90 of checkout rose to 3.2 s, and now is at its usual level.",
        "latency_p90 of checkout rose from 3.2 s to 0.21 s",
        "checkout 的 latency_p90 平时 3.2 秒，现在 0.21 秒",
        "latency_p90 of checkout fell to 3.2 s",
        "latency_p90 of payment rose to 3.2 s",
        "latency_p90 of checkout never rose",
    ),
    Predicate.DEPLOYED: ("A configuration flag of checkout was changed.", "checkout 更新了配置。"),
    Predicate.CAUSED: (
        "payment is usually the cause of what checkout shows.",
        "What payment shows starts at checkout.",
        "payment 的异常始于 checkout。",
    ),
    Predicate.FAILED: ("charge of checkout returned no error.",),
}


@pytest.mark.parametrize(
    ("predicate", "text"), [(predicate, text) for predicate, texts in LIES.items() for text in texts]
)
def test_reader_and_guard_both_stop_what_a_review_got_through(predicate: Predicate, text: str) -> None:
    """A reader that finds no fault in these would find none in anything."""
    case = CASES[predicate]
    claim = state_claim(predicate, case, claim_id="k1", refs=REFS)

    assert not Reader(claim, case).supports(text)
    assert wording_objections(text, claim, [case])


@pytest.mark.parametrize("predicate", list(CASES), ids=lambda each: each.value)
@pytest.mark.parametrize("language", Language)
def test_the_reader_finds_the_rendered_sentence_supported(predicate: Predicate, language: Language) -> None:
    """So it is strict, and not blind."""
    case = CASES[predicate]
    claim = state_claim(predicate, case, claim_id="k1", refs=REFS)

    assert Reader(claim, case).supports(sentence(claim, language))
