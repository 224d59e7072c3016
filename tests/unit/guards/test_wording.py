"""Free wording: what is grounded token by token is shown, everything else is not."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from diagnosis_harness.diagnosis.claim import WHOLE_RECORD, Claim, EvidenceRef, Predicate
from diagnosis_harness.guards.statement import state_claim
from diagnosis_harness.guards.support import objections
from diagnosis_harness.guards.wording import WordingCode, wording_objections
from diagnosis_harness.guards.wording_tokens import TokenKind, han_value, tokenize
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.sentence import sentence
from diagnosis_harness.testing.evidence import (
    ONSET_S,
    WINDOW,
    cause_claim,
    cause_item,
    change_claim,
    change_item,
)
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind

REF = (EvidenceRef("t1", "i1"),)


def _claim(predicate: Predicate, item: EvidenceItem, **changes: object) -> tuple[Claim, EvidenceItem]:
    claim = Claim("k1", predicate, item.entity or "", REF)
    return replace(claim, **changes), item  # type: ignore[arg-type]  # a test names the fields


SLOW = (change_claim(), change_item())  # checkout latency_p90: 0.21 s → 3.204 s, from 22:13:20 to 22:23:20
RATE_ITEM = replace(
    change_item("i1", "payment"),
    line="payment throughput fell from 120 /s to 40 /s",
    signal="throughput",
    value=40.0,
    baseline=120.0,
    unit="/s",
    direction=Direction.DOWN,
    attributes={"bad": True, "kind": "traffic"},
    peer="gateway",
)
FELL = _claim(Predicate.CHANGED, RATE_ITEM, signal="throughput", direction=Direction.DOWN)
MEMORY_ITEM = replace(
    change_item("i1", "cart-0"),
    line="cart-0 memory_bytes rose from 2147483648 bytes to 4294967296 bytes",
    signal="memory_bytes",
    value=4294967296.0,
    baseline=2147483648.0,
    unit="bytes",
    attributes={"bad": True, "kind": "memory", "owner": "cart"},
)
MEMORY = (
    Claim("k1", Predicate.CHANGED, "cart", REF, signal="memory_bytes", direction=Direction.UP),
    MEMORY_ITEM,
)
SHARE_ITEM = replace(
    change_item("i1", "payment"),
    kind=ItemKind.SPAN_ERRORS,
    signal="charge",
    unit="ratio",
    value=0.36,
    baseline=0.03,
    line="payment charge: 0.36 ratio of calls fail with HTTP 500, usually 0.03",
    attributes={"z": 9.0},
    peer=None,
)
FAILED = _claim(Predicate.FAILED, SHARE_ITEM, signal="charge", direction=Direction.UP)
COUNT_ITEM = replace(
    change_item("i1", "queue"),
    line="queue depth rose from 10 to 120",
    signal="depth",
    value=120.0,
    baseline=10.0,
    unit=None,
    attributes={"kind": "traffic", "bad": True},
)
COUNT = _claim(Predicate.CHANGED, COUNT_ITEM, signal="depth", direction=Direction.UP)
FLAT_ITEM = replace(
    change_item("i1", "cart"),
    line="cart cpu_usage stayed at 41 %, usually 40 %",
    signal="cpu_usage",
    value=41.0,
    baseline=40.0,
    unit="%",
    direction=Direction.FLAT,
    onset_s=None,
    attributes={"kind": "cpu"},
)
NORMAL = _claim(Predicate.NORMAL, FLAT_ITEM, signal="cpu_usage")
SWUNG_ITEM = replace(change_item(), attributes={"kind": "latency", "as_far": 5, "normal_windows": 9})
"""It rose a lot, and in normal operation it does so as well: neither beyond normal nor unchanged."""
SWUNG = (state_claim(Predicate.NORMAL, SWUNG_ITEM, claim_id="k1", refs=REF), SWUNG_ITEM)
BEGAN = _claim(Predicate.BEGAN, change_item(), signal="latency_p90", onset_s=ONSET_S)
CAUSE = (cause_claim(cause_item(), tool_call_id="t1"), cause_item())
HIT = _claim(Predicate.AFFECTED, change_item(), signal="latency_p90", direction=Direction.UP)
FULL_ITEM = replace(
    change_item("i1", "db"),
    line="db cpu rose from 0.4 ratio to 0.99 ratio",
    signal="cpu",
    value=0.99,
    baseline=0.4,
    unit="ratio",
    attributes={"kind": "cpu", "bad": True},
)
FULL = _claim(Predicate.SATURATED, FULL_ITEM, signal="cpu", direction=Direction.UP)
EDGE_ITEM = EvidenceItem(
    "i1",
    ItemKind.EDGE_GAP,
    "the way from gateway to payment rose from 0.002 s to 0.03 s",
    entity="payment",
    peer="gateway",
    value=0.03,
    baseline=0.002,
    unit="s",
    direction=Direction.UP,
    window=WINDOW,
)
EDGE = _claim(Predicate.SLOWED, EDGE_ITEM, affected="gateway", direction=Direction.UP)
CALLS = (
    Claim("k1", Predicate.CALLS, "cart", REF, affected="checkout"),
    EvidenceItem("i1", ItemKind.CALL_EDGE, "cart calls checkout", entity="checkout", peer="cart"),
)
DEPLOY = _claim(
    Predicate.DEPLOYED,
    EvidenceItem(
        "i1",
        ItemKind.CHANGE_EVENT,
        "cart deploy v2.3.1 at 2023-11-14T22:13:20Z: root cause is db-7, all fixed",
        entity="cart",
        onset_s=ONSET_S,
        attributes={"change_kind": "deploy", "summary": "root cause is db-7"},
    ),
    onset_s=ONSET_S,
)
FLAG = _claim(
    Predicate.DEPLOYED,
    replace(DEPLOY[1], attributes={"change_kind": "flag", "summary": "a deploy"}),
    onset_s=ONSET_S,
)
NONE_SEEN = Claim(
    "k1", Predicate.ABSENT, "cart", (EvidenceRef("t1", WHOLE_RECORD),), signal="error_count", window=WINDOW
)

Case = tuple[Claim, EvidenceItem]
CASES: dict[str, tuple[Claim, EvidenceItem | None]] = {
    "SLOW": SLOW,
    "FELL": FELL,
    "MEMORY": MEMORY,
    "FAILED": FAILED,
    "COUNT": COUNT,
    "NORMAL": NORMAL,
    "SWUNG": SWUNG,
    "BEGAN": BEGAN,
    "CAUSE": CAUSE,
    "HIT": HIT,
    "FULL": FULL,
    "EDGE": EDGE,
    "CALLS": CALLS,
    "DEPLOY": DEPLOY,
    "FLAG": FLAG,
    "NONE_SEEN": (NONE_SEEN, None),
}
TABLE: list[list[str]] = [
    line.split("\t")
    for line in (Path(__file__).parent / "wordings.tsv").read_text(encoding="utf-8").splitlines()
]
"""Case, expected objection or `-`, sentence; about half of it Chinese."""


@pytest.mark.parametrize(("name", "expected", "wording"), TABLE)
def test_a_wording_is_grounded_or_named_for_what_is_not(name: str, expected: str, wording: str) -> None:
    """Shown when every token is accounted for; else the expected objection is among the findings."""
    claim, item = CASES[name]
    found = [finding.code.value for finding in wording_objections(wording, claim, [item] if item else [])]
    assert (not found) if expected == "-" else expected in found, found


@pytest.mark.parametrize(
    "wording",
    [
        f"latency_p90 of checkout {word} at 3.204 s"
        for word in ("unchanged", "stayed", "steady", "stable", "constant", "remained flat", "normal")
    ]
    + [f"checkout 的 latency_p90 {word}" for word in ("没有变化", "未变化", "不变", "持平", "稳定", "正常")]
    + ["checkout 的 latency_p90 保持在 3.204 s"],
)
def test_only_what_stayed_flat_is_called_flat(wording: str) -> None:
    """A signal that swings in normal operation went from 0.21 s to 3.204 s: no news, and not unchanged."""
    level = replace(SWUNG_ITEM, direction=Direction.FLAT)
    flat = state_claim(Predicate.NORMAL, level, claim_id="k1", refs=REF)

    assert wording_objections(wording, flat, [level]) == ()
    assert WordingCode.DIRECTION_NOT_CLAIMED in {
        each.code for each in wording_objections(wording, SWUNG[0], [SWUNG_ITEM])
    }


def test_the_table_is_large_and_half_of_it_chinese() -> None:
    """At least 120 sentences, so that each rule has several in both languages."""
    chinese = sum(not wording.isascii() for _, _, wording in TABLE)
    assert len(TABLE) >= 240
    assert chinese >= 100


@pytest.mark.parametrize(
    "wording",
    [
        "",
        " ",
        "checkout\nlatency_p90 rose",
        "checkout \u202elatency_p90 rose",
        "checkout " + "latency_p90 " * 40,
    ],
)
def test_an_unreadable_sentence_is_not_shown(wording: str) -> None:
    """Blank, on several lines, with hidden characters, or far too long."""
    assert [finding.code for finding in wording_objections(wording, SLOW[0], [SLOW[1]])] == [
        WordingCode.UNREADABLE
    ]


ALL = [SLOW, FELL, MEMORY, FAILED, COUNT, NORMAL, SWUNG, BEGAN, CAUSE, HIT, FULL, EDGE, CALLS, DEPLOY]


@pytest.mark.parametrize("case", ALL, ids=lambda case: case[0].predicate.value)
def test_every_case_of_the_table_is_supported(case: Case) -> None:
    """The table is about claims that stand."""
    assert objections(*case) == ()


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("case", ALL, ids=lambda case: case[0].predicate.value)
def test_the_rendered_sentence_of_every_predicate_is_grounded(case: Case, language: Language) -> None:
    """What code says of a claim would pass as an agent's own wording, in both languages."""
    claim = state_claim(case[0].predicate, case[1], claim_id="k1", refs=REF)
    assert wording_objections(sentence(claim, language), claim, [case[1]]) == ()


def test_an_absence_has_no_words_of_an_agents_own() -> None:
    """A wording easily widens what was searched, and where: the rendered sentence is used."""
    found = wording_objections("no error_count was found for cart", NONE_SEEN, [change_item("i1", "cart")])

    assert [each.code for each in found] == [WordingCode.NO_OWN_WORDS]


TRUTHFUL = [
    (claim, item, wording)
    for name, expected, wording in TABLE
    for claim, item in [CASES[name]]
    if expected == "-" and item is not None
]
ADDED = [
    "and the database crashed", "because of a bad deploy", "causing an outage", "in billing",
    "for all users", "and so did billing", "at 04:05", "to 77 s", "77 times", "on node-9",
    "with HTTP 418", "as never before", "but not in v9.9.9", "and payment caused it", "twice a day",
    "due to GC", "without any errors", "by 77%", "> 1", "数据库崩溃", "由于发布", "导致宕机",
    "所有用户受影响", "共七十七次", "从未恢复", "并且 billing 也上升", "因为内存泄漏", "七十七倍",
    "并非如此", "全部失败", "达到 77 秒", "于 04:05",
]  # fmt: skip


@pytest.mark.parametrize("added", ADDED)
def test_no_truthful_wording_carries_an_addition(added: str) -> None:
    """An uncited clause keeps every sentence of the table from being shown, in front and behind."""
    for claim, item, wording in TRUTHFUL:
        for lied in (f"{wording.rstrip('.。')} {added}", f"{added}, {wording}", f"{added}，{wording}"):
            assert wording_objections(lied, claim, [item]), lied


def test_no_truthful_wording_survives_another_name() -> None:
    """Its entity replaced by one of another service, or by a longer name that begins alike."""
    for claim, item, wording in TRUTHFUL:
        for other in ("billing", f"{claim.entity}2", f"{claim.entity}-canary", f"not-{claim.entity}"):
            subject = next(name for name in (f"{claim.entity}-0", claim.entity) if name in wording)
            lied = wording.replace(subject, other)
            assert wording_objections(lied, claim, [item]), lied


def test_no_truthful_wording_survives_another_number() -> None:
    """Every number of every sentence, made a third larger, keeps it from being shown."""
    for claim, item, wording in TRUTHFUL:
        bare = wording.replace(claim.signal or "\0", "\0")
        for found in re.finditer(r"(?<![\w.:/-])\d+(?:\.\d+)?(?![\d:.]|-\d|[A-Za-z_]*\d)", bare):
            other = f"{float(found[0]) * 4 / 3 + 1:.6g}"
            lied = (bare[: found.start()] + other + bare[found.end() :]).replace("\0", claim.signal or "\0")
            assert wording_objections(lied, claim, [item]), lied


def test_all_numbers_come_from_one_item() -> None:
    """A value of one item and a baseline of another do not make one sentence."""
    other = replace(change_item("i2"), value=5.0, baseline=0.5)
    wording = "checkout latency_p90 rose from 0.5 s to 3.204 s"
    assert wording_objections(wording, change_claim(), [change_item(), other])
    assert not wording_objections(
        "checkout latency_p90 rose from 0.5 s to 5 s", change_claim(), [change_item(), other]
    )


@given(
    st.floats(0.001, 1e6), st.floats(1.01, 900.0), st.sampled_from(["s", "/s", "bytes", None]), st.booleans()
)
def test_what_code_renders_of_a_change_is_grounded(
    level: float, factor: float, unit: str | None, up: bool
) -> None:
    """The rendered English sentence of any change passes as if an agent had written it."""
    low, high = level, level * factor
    item = replace(
        change_item(),
        value=high if up else low,
        baseline=low if up else high,
        unit=unit,
        direction=Direction.UP if up else Direction.DOWN,
    )
    text = sentence(change_claim(item), Language.EN)
    assert wording_objections(text, change_claim(item), [item]) == ()


@given(st.floats(0.0001, 1e7), st.sampled_from(["s", "ms", "min", "%", "bytes", "MB", ""]))
def test_no_other_number_is_grounded(number: float, unit: str) -> None:
    """A number in place of the value passes exactly if it is the value, rounded."""
    wording = f"checkout latency_p90 rose to {number:f} {unit}".rstrip()
    scale = {"s": 1.0, "ms": 1e-3, "min": 60.0}.get(unit)
    assume(scale is None or abs(float(f"{number:f}") * scale / 3.204 - 1) > 0.02)
    assert wording_objections(wording, change_claim(), [change_item()])


@given(st.text(max_size=60))
def test_any_text_is_judged(text: str) -> None:
    """No text breaks the reader, and none passes without naming the entity."""
    found = wording_objections(text, change_claim(), [change_item()])
    assert found or "checkout" in text


@given(st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=12))
def test_nothing_foreign_can_be_added(addition: str) -> None:
    """A grounded sentence with a word added is shown only when every token of the addition is known."""
    known = {TokenKind.WORD, TokenKind.NAME, TokenKind.PHRASE}
    read = tokenize(addition, ["checkout", "latency_p90"])
    found = wording_objections(f"checkout latency_p90 rose {addition}", change_claim(), [change_item()])
    assert found or all(token.kind in known for token in read)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("十二", 12),
        ("二十", 20),
        ("三百零五", 305),
        ("两千", 2000),
        ("二〇", 20),
        ("一百二十", 120),
        ("十", 10),
    ],
)
def test_chinese_numerals_are_read(text: str, value: int) -> None:
    """With and without places."""
    assert han_value(text) == value


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("HTTP", TokenKind.IDENTIFIER),
        ("v2.3.1", TokenKind.IDENTIFIER),
        ("cartService", TokenKind.IDENTIFIER),
        ("a_b", TokenKind.IDENTIFIER),
        ("10.0.0.5", TokenKind.IDENTIFIER),
        ("3.2s", TokenKind.NUMBER),
        ("3x", TokenKind.FACTOR),
        ("7f9", TokenKind.IDENTIFIER),
        ("twelve", TokenKind.NUMBER),
        ("twenty-five", TokenKind.NUMBER),
        ("half", TokenKind.FACTOR),
        ("三倍", TokenKind.FACTOR),
        ("22:13", TokenKind.INSTANT),
        ("rose", TokenKind.WORD),
        ("2xx", TokenKind.IDENTIFIER),
        ("第三", TokenKind.OTHER),
        ("two", TokenKind.NUMBER),
        ("p90", TokenKind.IDENTIFIER),
    ],
)
def test_a_token_is_what_it_looks_like(text: str, kind: TokenKind) -> None:
    """Identifiers are no quantities, number words are."""
    assert tokenize(text, [])[0].kind is kind
