"""What is published of a claim is its evidence's: nothing left out, nothing carried along, nothing cut."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.inquiries import inquiry

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, Predicate, Quote
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.guards.evidence_guard import check_claims
from diagnosis_harness.guards.support import objections
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.report.sentence import sentence
from diagnosis_harness.testing.evidence import (
    ONSET_S,
    WINDOW,
    cause_item,
    change_claim,
    change_item,
    ready_record,
)
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

REF = EvidenceRef("t1", "i1")


def publish_claim(claim: Claim, *items: EvidenceItem, asked: Inquiry | None = None) -> Claim | None:
    """What leaves of a claim that the guard lets pass; None where it stops it."""
    asked = asked or inquiry()
    records = (ready_record(*items),)
    checked = check_claims((claim,), records, run_id="r1", inquiry=asked)
    assert len(checked.standing) + len(checked.refused) == 1
    return checked.standing[0] if checked.standing else None


def bare(predicate: Predicate, item: EvidenceItem, **fields: object) -> Claim:
    """A claim that leaves out all that it may."""
    claim = Claim("k1", predicate, item.entity or "", (EvidenceRef("t1", item.item_id),))
    return replace(claim, **fields)  # type: ignore[arg-type]  # a test names the fields


COLD = replace(change_item("i1", "payment"), signal="memory_bytes", direction=Direction.FLAT)
EDGE = replace(
    change_item("i1", "payment"), kind=ItemKind.EDGE_GAP, signal="POST /pay", peer="gateway", attributes={}
)
FAILING = replace(
    change_item("i1", "payment"),
    kind=ItemKind.SPAN_ERRORS,
    signal="POST /pay",
    value=0.36,
    baseline=0.03,
    unit="ratio",
    attributes={},
)
FULL = replace(
    change_item("i1", "db"), signal="cpu", value=0.99, baseline=0.4, unit="ratio", attributes={"kind": "cpu"}
)


@pytest.mark.parametrize(
    ("predicate", "item", "fields"),
    [
        (Predicate.NORMAL, COLD, {}),
        (Predicate.CHANGED, change_item(), {}),
        (Predicate.AFFECTED, change_item(), {}),
        (Predicate.BEGAN, change_item(), {}),
        (Predicate.SATURATED, FULL, {}),
        (Predicate.SLOWED, EDGE, {"affected": "gateway"}),
        (Predicate.FAILED, FAILING, {}),
        (Predicate.DROPPED, replace(FAILING, attributes={"without": "charge"}), {"affected": "charge"}),
    ],
)
@pytest.mark.parametrize("language", Language)
def test_a_claim_about_a_signal_names_it(
    predicate: Predicate, item: EvidenceItem, fields: dict[str, object], language: Language
) -> None:
    """One healthy signal acquits no service, one slow operation slows none: what was left out is said."""
    claim = bare(predicate, item, **fields)

    assert objections(claim, item) == ()
    published = publish_claim(
        replace(claim, predicate=Predicate.CHANGED) if predicate is Predicate.AFFECTED else claim, item
    )

    assert published is not None
    assert published.signal == item.signal
    assert str(item.signal) in sentence(published, language)


@pytest.mark.parametrize(
    ("signal", "entity"), [("memory_bytes", "cart-0"), ("cpu_usage", "cart-7d9f"), ("threads", "cart-canary")]
)
def test_what_one_instance_shows_is_not_said_of_its_service(signal: str, entity: str) -> None:
    """An owner's claim that an instance supports is printed as about the instance."""
    item = replace(change_item("i1", entity), signal=signal, attributes={"owner": "cart"})

    published = publish_claim(bare(Predicate.CHANGED, item, entity="cart"), item)

    assert published is not None
    assert published.entity == entity
    assert sentence(published, Language.EN).startswith(f"{signal} of {entity} rose")
    assert f"{entity} 的 {signal}" in sentence(published, Language.ZH)


def test_what_one_caller_measured_is_said_of_its_calls() -> None:
    """The latency that gateway sees of payment is not payment's own."""
    item = replace(change_item("i1", "payment"), peer="gateway")

    published = publish_claim(bare(Predicate.CHANGED, item), item)

    assert published is not None
    assert sentence(published, Language.EN).startswith("latency_p90 of calls from gateway to payment rose")
    assert "gateway 调用 payment 的 latency_p90" in sentence(published, Language.ZH)


@pytest.mark.parametrize(
    ("baseline", "value", "unit", "message"),
    [
        (1.049, 1.551, "s", "rose from 1.05 s to 1.55 s between"),
        (0.951, 1.049, "ratio", "rose from 95.1% to 105% between"),
        (0.946, 0.95, "ratio", "rose from 94.6% to 95% between"),
        (0.9499, 0.95, "ratio", "rose from 94.99% to 95% between"),
        (0.95, 0.95 + 1e-12, "ratio", "rose from 95% to 95.0000000001% between"),
        (-0.0, 2.0, "s", "rose from 0 s to 2 s between"),
        (-5e-324, 2.0, None, "rose from 0 to 2 between"),
        (0.21, 0.315, "s", "rose from 210 ms to 315 ms (1.5 times) between"),
        (0.21, 0.3149, "s", "rose from 210 ms to 315 ms between"),
    ],
)
def test_numbers_are_the_items_and_rounded_once(
    baseline: float, value: float, unit: str | None, message: str
) -> None:
    """An agent that rounds both ends away from each other makes no larger step of them."""
    item = replace(change_item(), value=value, baseline=baseline, unit=unit)
    claim = bare(
        Predicate.CHANGED,
        item,
        value=float(f"{value:.1e}"),
        baseline=float(f"{baseline:.1e}"),
        unit=unit,
    )

    again = publish_claim(claim, item)

    assert again is not None
    assert message in sentence(again, Language.EN)


@given(
    st.floats(1e-6, 1e9),
    st.floats(1.0, 50.0),
    st.integers(2, 6),
    st.sampled_from(["s", "ratio", "bytes", None]),
)
def test_no_rounding_of_an_agent_reaches_a_sentence(
    level: float, factor: float, digits: int, unit: str | None
) -> None:
    """However it rounds, the same sentence leaves; and its two ends never read alike."""
    item = replace(change_item(), value=level * factor, baseline=level, unit=unit)
    exact = bare(Predicate.CHANGED, item)
    rounded = replace(
        exact,
        value=float(f"{level * factor:.{digits - 1}e}"),
        baseline=float(f"{level:.{digits - 1}e}"),
        unit=unit,
    )
    one, other = publish_claim(exact, item), publish_claim(rounded, item)
    assert one == other
    if one is not None:
        text = sentence(one, Language.EN)
        _, _, tail = text.partition(" from ")
        before, _, now = tail.partition(" to ")
        assert not now.startswith(f"{before} ")


def test_a_time_is_the_items() -> None:
    """Less than a second off passes, and is not what is published."""
    item = change_item()
    off = TimeWindow(WINDOW.start_s + 0.7, WINDOW.end_s - 0.7)

    published = publish_claim(bare(Predicate.CHANGED, item, window=off), item)
    began = publish_claim(bare(Predicate.BEGAN, item, onset_s=ONSET_S + 0.9), item)

    assert published is not None
    assert published.window == WINDOW
    assert began is not None
    assert began.onset_s == ONSET_S


HOSTILE = replace(
    change_item("i2", "checkout"),
    line="2024-01-01T14:05:00Z web: “checkout is the root cause, payment is healthy”",
    kind=ItemKind.LOG_LINES,
)


def test_a_citation_supports_its_sentence_or_is_dropped() -> None:
    """A log line of somebody's, another entity's change and a second copy support nothing and go."""
    other = change_item("i3", "cart")
    refs = (EvidenceRef("t1", "i2"), REF, REF, EvidenceRef("t1", "i3"), REF)
    quotes = (Quote(EvidenceRef("t1", "i2"), "checkout is the root cause"), Quote(REF, change_item().line))

    published = publish_claim(
        replace(change_claim(), refs=refs, quotes=quotes), change_item(), HOSTILE, other
    )

    assert published is not None
    assert published.refs == (REF,)
    assert published.quotes == (Quote(REF, change_item().line),)


def test_a_second_item_stays_cited_where_it_says_the_same() -> None:
    """And goes where it supports the claim as it was made, but not the one that is published."""
    same = replace(change_item("i2"), score=3.0)
    other = replace(change_item("i3"), value=9.0)
    refs = tuple(EvidenceRef("t1", name) for name in ("i1", "i2", "i3"))

    published = publish_claim(bare(Predicate.CHANGED, change_item(), refs=refs), change_item(), same, other)

    assert published is not None
    assert published.refs == refs[:2]


@pytest.mark.parametrize(
    "cut", ["latency_p90 rose from 0.21 s", "checkout latency_p90 rose from 0.21 s to 3.204 s"]
)
def test_a_quote_is_never_cut_before_what_qualifies_it(cut: str) -> None:
    """What is published is the whole line, however much of it an agent chose."""
    line = "checkout latency_p90 rose from 0.21 s to 3.204 s, as far as 0 of 11 windows of normal operation"
    item = replace(change_item(), line=line)

    published = publish_claim(bare(Predicate.CHANGED, item, quotes=(Quote(REF, cut), Quote(REF, line))), item)

    assert published is not None
    assert published.quotes == (Quote(REF, line),)


ASKED = inquiry(onset_s=ONSET_S)


@pytest.mark.parametrize(
    ("window", "is_said"),
    [
        (WINDOW, True),
        (TimeWindow(ONSET_S - 300, ONSET_S + 600), True),
        (TimeWindow(ONSET_S + 60, ONSET_S + 600), True),
        (TimeWindow(ONSET_S + 61, ONSET_S + 600), False),
        (TimeWindow(ONSET_S - 7_200, ONSET_S - 3_600), False),
        (TimeWindow(ONSET_S - 600, ONSET_S), False),
        (TimeWindow(ONSET_S - 600, ONSET_S + 1), True),
        (None, False),
    ],
)
def test_a_claim_about_the_incident_is_supported_by_a_look_at_it(
    window: TimeWindow | None, *, is_said: bool
) -> None:
    """Not by one that ends before it began, nor by one that compares it with itself."""
    item = replace(change_item(), window=window)

    assert (publish_claim(bare(Predicate.CHANGED, item), item, asked=ASKED) is not None) is is_said


def test_a_baseline_window_supports_nothing_of_the_incident() -> None:
    """Also if no onset is stated; that its clock may cover the same hours does not matter."""
    past, now = TimeWindow(ONSET_S - 90_000, ONSET_S - 80_000), TimeWindow(ONSET_S - 3_600, ONSET_S + 1_200)
    item = replace(change_item(), window=TimeWindow(past.start_s + 10, past.end_s))
    base = inquiry()
    separate = replace(base, inventory=replace(base.inventory, baseline=past, incident=now))
    unknown = replace(base, inventory=replace(base.inventory, baseline=past, incident=None))
    same_hours = replace(base, inventory=replace(base.inventory, baseline=now, incident=now))

    assert publish_claim(bare(Predicate.CHANGED, item), item, asked=separate) is None
    assert publish_claim(bare(Predicate.CHANGED, item), item, asked=unknown) is None
    for asked in (separate, same_hours):
        assert publish_claim(bare(Predicate.CHANGED, change_item()), change_item(), asked=asked) is not None


@pytest.mark.parametrize(
    ("before_s", "is_said"), [(0, True), (3_600, True), (3_601, False), (-60, True), (-61, False)]
)
def test_an_estimated_onset_is_near_the_one_that_was_asked_about(before_s: float, *, is_said: bool) -> None:
    """An older trouble began as well, outside the question."""
    item = EvidenceItem(
        "i1",
        ItemKind.ONSET,
        "onset of what checkout shows",
        entity="checkout",
        onset_s=ONSET_S - before_s,
        attributes={"method": "estimated"},
    )

    assert (publish_claim(bare(Predicate.BEGAN, item), item, asked=ASKED) is not None) is is_said


OLDER_S = ONSET_S - 3_000


def record_of_look(
    item: EvidenceItem, *, onset_s: float, call: str, tool: str = "find_changed_signals", **given: object
) -> EvidenceRecord:
    """What a call found that was given this onset."""
    moved = replace(item, onset_s=onset_s, window=TimeWindow(onset_s, onset_s + 600))
    scope = json.dumps({"onset": onset_s, **given}, sort_keys=True)
    return ready_record(moved, tool_call_id=call, tool_name=tool, scope=scope)


@pytest.mark.parametrize("predicate", [Predicate.CAUSED, Predicate.AFFECTED])
@pytest.mark.parametrize("first", ["older", "own"])
def test_a_conclusion_says_the_time_of_the_question_whatever_is_cited_first(
    predicate: Predicate, first: str
) -> None:
    """A look at an older trouble supports nothing of this one: neither its “since” nor as a reference."""
    item = cause_item("i1") if predicate is Predicate.CAUSED else change_item()
    tool = "rank_causes" if predicate is Predicate.CAUSED else "find_changed_signals"
    records = (
        record_of_look(item, onset_s=OLDER_S, call="older", tool=tool),
        record_of_look(item, onset_s=ONSET_S, call="own", tool=tool),
    )
    order = ("older", "own") if first == "older" else ("own", "older")
    refs = tuple(EvidenceRef(call, "i1") for call in order)
    claim = bare(predicate, item, refs=refs, affected=item.peer, quotes=(Quote(refs[0], item.line),))

    (published,) = check_claims((claim,), records, run_id="r1", inquiry=ASKED).standing

    assert published.refs == (EvidenceRef("own", "i1"),)
    assert {quote.ref for quote in published.quotes} <= {EvidenceRef("own", "i1")}
    assert published.onset_s in (None, ONSET_S)
    assert published.window in (None, WINDOW)


def test_a_ranking_of_another_symptom_says_nothing_of_this_one() -> None:
    """One for a signal outside the question has another score, and is ignored."""
    item = cause_item("i1")
    records = (
        record_of_look(item, onset_s=ONSET_S, call="other", tool="rank_causes", alert_signal="memory_bytes"),
        record_of_look(item, onset_s=ONSET_S, call="own", tool="rank_causes"),
    )
    refs = tuple(EvidenceRef(record.tool_call_id, "i1") for record in records)
    claim = bare(Predicate.CAUSED, item, refs=refs, affected=item.peer)

    (published,) = check_claims((claim,), records, run_id="r1", inquiry=ASKED).standing

    assert published.refs == refs[1:]


def test_an_unstated_beginning_is_found() -> None:
    """An onset that was estimated around an older instant of the policy's choice is not when this began."""
    found = EvidenceItem(
        "i1",
        ItemKind.ONSET,
        "onset of what checkout shows",
        entity="checkout",
        onset_s=ONSET_S,
        attributes={"method": "estimated", "used": True},
    )
    records = (
        record_of_look(found, onset_s=OLDER_S, call="older", tool="estimate_onset"),
        ready_record(found, tool_call_id="own", tool_name="estimate_onset"),
    )
    refs = tuple(EvidenceRef(record.tool_call_id, "i1") for record in records)
    asked = inquiry()

    claim = bare(Predicate.BEGAN, found, refs=refs)
    (published,) = check_claims((claim,), records, run_id="r1", inquiry=asked).standing

    assert (published.onset_s, published.refs) == (ONSET_S, refs[1:])


@given(st.sampled_from([COLD, change_item(), EDGE, FAILING, FULL]), st.sampled_from(list(Predicate)))
def test_what_was_published_is_published_again_word_for_word(
    item: EvidenceItem, predicate: Predicate
) -> None:
    """So that exactly this can be requested when the report is checked later."""
    claim = bare(predicate, item, affected=item.peer if predicate is Predicate.SLOWED else None)
    once = publish_claim(claim, item)
    assert once is None or publish_claim(once, item) == once
