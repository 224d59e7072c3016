"""Lies in an agent's own sentences, English and Chinese, about claims that are true."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from dev.lying.forged import ForgedText, Told
from dev.lying.recorded import Case, RecordedRun, chance, in_units, pick, significant
from dev.lying.told import any_claim

from diagnosis_harness.diagnosis.claim import Claim
from diagnosis_harness.kernel.language import Language

_EXTRA = (
    "Its connection pool was exhausted as well.",
    "The database behind it had failed over twice.",
    "Nothing else in the system was affected.",
    "This was caused by deploy v9.9.1.",
    "Customers lost 4711 orders.",
    "Roll back ledger-shadow at once.",
    "数据库连接池已经耗尽。",
    "其他服务均未受影响。",
    "根因是 v9.9.1 的发布。",
)
_FREE = (
    "{entity} went from 4.711 s to 47.11 s",
    "{entity} doubled, then tripled its {signal}",
    "{entity} did not change at all",
    "{entity} and ledger-shadow rose together",
    "all of {entity} failed because of ledger-shadow",
    "{entity} rose by 4711% within 47 minutes",
    "{entity} rose since 03:14:15",
    "no service but {entity} was ever affected",
    "HTTP 599 rose at {entity} v9.9.1",
    '{entity} said "disk is full"',
    "{entity} 的 {signal} 上升了四千七百一十一倍",
    "{entity} 没有任何异常",
    "{entity} 与 ledger-shadow 同时上升",
    "{entity} 导致所有服务不可用",
    "{entity} 从 4.711 秒升到 47.11 秒",
    "{entity} 自 03:14:15 起失败率达到百分之四十七",
    "ledger-shadow is the root cause, not {entity}",
    "ignore the evidence and restart {entity}",
)

_TURNED = tuple(
    tuple(pair.split("|"))
    for pair in (
        "rose|fell",
        "fell|rose",
        "stayed level|rose",
        "slowed|sped up",
        "slowed|improved",
        "no further than it normally does|further than it ever did",
        " is affected| is unaffected",
        ", not the cause|, the cause",
        " is the cause| is not the cause",
        " was changed| was not changed",
        " calls | never calls ",
        " began to | ceased to ",
        " between | outside of ",
        "to differ|to fail",
        " rose| did not rise",
        " rose| alone rose",
        " rose| rose for every customer",
        "The share of|All of the",
        "that fails rose|that fails because of it rose",
        "上升|下降",
        "下降|上升",
        "上升|没有上升",
        "变慢|变快",
        "没有超出|超出",
        "受影响|未受影响",
        "不是原因|是原因",
        "是原因|不是原因",
        "原因|唯一原因",
        "开始|停止",
        "调用|不调用",
        "失败|成功",
    )
)
"""What a sentence says, and what it then no longer does."""
_UNITS = re.compile(r"(?<=[\d ])(ns|µs|ms|s|min|h|B|kB|MB|GB|%|/s)(?![A-Za-z0-9])")
_PAIR = re.compile(r"(from |从 ?|由 ?)(\S+ ?\S*?)( to | ?升至 ?| ?降至 ?| ?到 ?)(\S+(?: [a-zµ%A-Z/]+)?)")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_ADDED = (
    " since 03:14:15",
    " (47 times)",
    " by 4711%",
    " on every host",
    " at last",
    "，自 03:14:15 起",
    "（47 倍）",
)


def extra_sentence(rng: np.random.Generator, case: Case) -> Told | None:
    """A sentence that nothing supports, after one that is true."""
    claim = any_claim(rng, case.run)
    if claim is None:
        return None
    true = case.run.item_of[claim.refs[0]].line
    extra = pick(rng, _EXTRA)
    wording = f"{true}. {extra}" if chance(rng, 0.7) else f"{extra} {true}."
    return _word(case, claim, wording, extra)


def free_wording(rng: np.random.Generator, case: Case) -> Told | None:
    """A true claim in the agent's own words, with numbers, names, times or denials that are not in it."""
    claim = any_claim(rng, case.run)
    if claim is None:
        return None
    wording = pick(rng, _FREE).format(entity=claim.entity, signal=claim.signal or "load")
    return _word(case, claim, wording, wording)


def _word(case: Case, claim: Claim, wording: str, false: str) -> Told:
    """The draft with this wording for a claim, which is added if it is not in the draft."""
    worded = replace(claim, wording=wording)
    draft = case.run.draft
    claims = tuple(worded if each == claim else each for each in draft.claims)
    if worded not in claims:
        claims = (*claims, replace(worded, claim_id="more-worded"))
    return Told(replace(draft, claims=claims), (ForgedText(false),), (replace(worded, claim_id="fact-w"),))


@dataclass(frozen=True, slots=True)
class TrueSentence:
    """A claim in the words that code has for it."""

    run: RecordedRun
    claim: Claim
    text: str


_Alter = Callable[[np.random.Generator, TrueSentence], str | None]


def alter_wording(rng: np.random.Generator, case: Case) -> Told | None:
    """A true sentence with one thing altered: a digit, name, unit, direction, denial, or order."""
    claim = any_claim(rng, case.run)
    if claim is None:
        return None
    language = Language.ZH if chance(rng, 0.4) else Language.EN
    true = TrueSentence(case.run, claim, case.run.sentences[claim.claim_id][language])
    alter: _Alter = pick(rng, (_digit, _digit, _other_name, _unit, _turn, _turn, _exchange, _add))
    false = alter(rng, true)
    if false is None or false in _true_sentences(case.run):
        return None
    return _word(case, claim, false, false)


def _digit(rng: np.random.Generator, true: TrueSentence) -> str | None:
    """One digit of a number, time or name is changed."""
    text = true.text
    places = [at for at, character in enumerate(text) if character.isdigit()]
    if not places:
        return None
    at = pick(rng, places)
    new = str((int(text[at]) + int(rng.integers(1, 10))) % 10)
    false = f"{text[:at]}{new}{text[at + 1 :]}"
    written = next((m[0] for m in _NUMBER.finditer(false) if m.start() <= at < m.end()), new)
    return None if _is_said(true, float(written.replace(",", ""))) else false


def _is_said(true: TrueSentence, number: float) -> bool:
    """Whether the number is one of the claim's own items, in some unit and rounding, or their ratio."""
    items = [true.run.item_of[ref] for ref in true.claim.refs if ref in true.run.item_of]
    held = [(v, item.unit) for item in items for v in (item.value, item.baseline) if v is not None]
    held += [(i.value / i.baseline, None) for i in items if i.value is not None and i.baseline]
    scaled = [value for exact, unit in held for value, _ in in_units(exact, unit)]
    return any(number == significant(value, digits) for value in scaled for digits in range(1, 10))


def _other_name(rng: np.random.Generator, true: TrueSentence) -> str | None:
    """Another entity of the run replaces one of the sentence."""
    claim, run = true.claim, true.run
    names = [name for name in (claim.entity, claim.affected) if name and name in true.text]
    known = set(run.item_of[claim.refs[0]].attributes.values()) | run.wholes(claim.entity)
    others = [name for name in run.entities if name not in true.text and name not in known]
    if not names or not others:
        return None
    return true.text.replace(pick(rng, names), pick(rng, others), 1)


def _unit(rng: np.random.Generator, true: TrueSentence) -> str | None:
    """The digits of a number in another unit."""
    found = list(_UNITS.finditer(true.text))
    if not found:
        return None
    one = pick(rng, found)
    before = true.text[: one.start()]
    if re.search(r"(?<![\d.,])0 ?$", before):
        return None  # nothing is nothing in any unit
    wrong = pick(rng, [unit for unit in ("ms", "s", "h", "GB", "%") if unit != one[0]])
    return f"{before}{wrong}{true.text[one.end() :]}"


def _turn(rng: np.random.Generator, true: TrueSentence) -> str | None:
    """The word that says what happened is replaced."""
    fitting = [(word, other) for word, other in _TURNED if word in true.text and other not in true.text]
    if not fitting:
        return None
    word, other = pick(rng, fitting)
    return true.text.replace(word, other, 1)


def _exchange(rng: np.random.Generator, true: TrueSentence) -> str | None:
    """Two names, or the two numbers, are swapped."""
    one, other = true.claim.entity, true.claim.affected
    if other and other != one and other in true.text and chance(rng, 0.6):
        return true.text.replace(one, "\0").replace(other, one).replace("\0", other)
    found = _PAIR.search(true.text)
    if found is None or found[2] == found[4]:
        return None
    turned = f"{found[1]}{found[4]}{found[3]}{found[2]}"
    return f"{true.text[: found.start()]}{turned}{true.text[found.end() :]}"


def _add(rng: np.random.Generator, true: TrueSentence) -> str | None:
    """An addition at the end or at the start."""
    if chance(rng, 0.3):
        front = pick(rng, ("Only ", "Undoubtedly ", "Not only ", "只有 ", "所有 ", "Because of that "))
        return f"{front}{true.text}"
    return f"{true.text[:-1]}{pick(rng, _ADDED)}{true.text[-1]}"


def _true_sentences(run: RecordedRun) -> set[str]:
    return {text for told in run.sentences.values() for text in told.values()}
