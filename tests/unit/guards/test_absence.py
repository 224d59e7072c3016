"""That nothing was there: of telemetry that was looked through, of a known name, in a recorded time."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from diagnosis_harness.diagnosis.claim import WHOLE_RECORD, Claim, EvidenceRef, Looked, Predicate
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.inquiry import Inquiry, Inventory, KnownEntity, Telemetry
from diagnosis_harness.diagnosis.records import Records
from diagnosis_harness.guards.absence_rule import ABSENCES
from diagnosis_harness.guards.asked import question_scope
from diagnosis_harness.guards.evidence_guard import check_draft
from diagnosis_harness.guards.restating import restate
from diagnosis_harness.guards.verdict import FindingCode
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.report.sentence import sentence
from diagnosis_harness.testing.evidence import ONSET_S, WINDOW, projecting_record
from diagnosis_harness.testing.sources import InMemorySources
from diagnosis_harness.toolbox.catalog import build_tools
from diagnosis_harness.tools.evidence import Direction
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.tools.projection import project
from diagnosis_harness.tools.spec import ProjectionBounds, ToolFindings

RECORDED = TimeWindow(ONSET_S - 3_600, ONSET_S + 3_600)
ALL = frozenset(Telemetry)
ASKED = Inquiry(
    onset_s=ONSET_S,
    inventory=Inventory(
        entities=(
            KnownEntity("checkout", None, ALL),
            KnownEntity("payment", None, frozenset({Telemetry.METRICS})),
            KnownEntity("payment-7d9f", "payment", frozenset({Telemetry.LOGS})),
            KnownEntity("cart", None, frozenset({Telemetry.TOPOLOGY})),
            KnownEntity("db-0", "db", ALL),
        ),
        telemetry=ALL,
        incident=RECORDED,
    ),
)
NO_ABSENCE = {
    "describe_sources": "it lists what there is, and is never empty",
    "match_entities": "no known name stands in a text",
    "estimate_onset": "no indicator changed clearly",
    "compare_logs": "no pattern changed, which is no absence of lines",
    "inspect_signal": "no series has that name, or no value on one side of the onset",
    "platform_events": "an event of a kind that is in no list may have been reported all the same",
    "rank_causes": "there is no onset to rank for",
    "weigh_changes": "there is no onset to weigh for, or no change at all",
    "walk_topology": "a call that nobody recorded may be made all the same",
}
"""Why the empty answer of each other tool is no absence."""


def empty(
    tool: str = "search_logs",
    *,
    looked_at: int = 7,
    window: TimeWindow | None = WINDOW,
    **arguments: Any,
) -> EvidenceRecord:
    """A READY record of a tool that found nothing."""
    scope = json.dumps(arguments or {"entity": "checkout", "text": "timeout"}, sort_keys=True)
    begun = projecting_record(tool_name=tool, scope=scope)
    findings = ToolFindings((), window, looked_at=looked_at)
    return begun.ready(project(tool, scope, findings, ProjectionBounds()), at_s=ONSET_S)


def absent(entity: str = "checkout", signal: str | None = "timeout", **fields: object) -> Claim:
    """That nothing was there."""
    claim = Claim("k1", Predicate.ABSENT, entity, (EvidenceRef("t1", WHOLE_RECORD),), signal=signal)
    return replace(claim, **fields)  # type: ignore[arg-type]  # a test names the fields


def publish_claim(claim: Claim, *records: EvidenceRecord, asked: Inquiry = ASKED) -> Claim | None:
    """What is published of a claim over these records."""
    return restate(claim, Records(records), question_scope(asked, records))


def code(claim: Claim, record: EvidenceRecord, asked: Inquiry = ASKED) -> FindingCode | None:
    """The objection, where there is one; what is published of a claim without any is published again."""
    findings = check_draft(DiagnosisDraft((), (claim,)), [record], run_id="r1", inquiry=asked).findings
    again = publish_claim(claim, record, asked=asked)
    assert (again is None) == bool(findings)
    assert again is None or publish_claim(again, record, asked=asked) == again
    return findings[0].code if findings else None


def test_every_tool_has_its_word_on_what_its_emptiness_means() -> None:
    """A new one supports no absence until somebody has thought it through."""
    tools = [tool.spec.name for tool in build_tools(InMemorySources().sources())]
    assert sorted([*ABSENCES, *NO_ABSENCE]) == sorted(tools)
    assert code(absent(), empty("look_elsewhere")) is FindingCode.ABSENCE_OUT_OF_SCOPE


@pytest.mark.parametrize("tool", NO_ABSENCE)
def test_a_tool_whose_emptiness_means_something_else_supports_no_absence(tool: str) -> None:
    """No onset, no such series, nothing to rank: none of them says that nothing was there."""
    assert code(absent(signal=None), empty(tool, entity="checkout")) is FindingCode.ABSENCE_OUT_OF_SCOPE


@pytest.mark.parametrize(
    ("tool", "looked", "arguments", "signal"),
    [
        ("search_logs", Looked.LOG_LINES, {"entity": "checkout", "text": "timeout"}, "timeout"),
        ("search_logs", Looked.LOG_LINES, {"entity": "checkout"}, None),
        ("list_changes", Looked.CHANGES, {"entity": "checkout"}, None),
        ("compare_spans", Looked.SPANS, {"entities": ["checkout"], "onset": ONSET_S}, None),
        ("find_changed_signals", Looked.SERIES, {"entities": ["checkout"], "limit": 5}, None),
    ],
)
def test_an_absence_says_what_was_looked_at(
    tool: str, looked: Looked, arguments: dict[str, Any], signal: str | None
) -> None:
    """Which kind of telemetry, how much of it, and when; in a sentence of its own in both languages."""
    record = empty(tool, looked_at=12_345, **arguments)

    assert code(absent(signal=signal), record) is None
    published = publish_claim(absent(signal=signal), record)

    assert published is not None
    assert (published.value, published.unit, published.window) == (12_345.0, looked.value, WINDOW)
    assert f"12,345 {looked.value}" in sentence(published, Language.EN)
    assert "12,345" in sentence(published, Language.ZH)
    assert "not known" not in sentence(published, Language.EN)


@pytest.mark.parametrize("looked_at", [0, -1])
def test_where_nothing_was_looked_at_nothing_is_absent(looked_at: int) -> None:
    """A source without logs, and one whose logs hold no line of that name and time."""
    assert code(absent(), empty(looked_at=looked_at)) is FindingCode.NOTHING_LOOKED_AT
    assert code(absent(), empty(looked_at=1)) is None


@pytest.mark.parametrize(
    ("tool", "kind", "entity"),
    [
        ("search_logs", Telemetry.LOGS, "entity"),
        ("list_changes", Telemetry.CHANGES, "entity"),
        ("compare_spans", Telemetry.SPANS, "entities"),
        ("find_changed_signals", Telemetry.METRICS, "entities"),
    ],
)
def test_a_kind_of_telemetry_that_is_not_there_has_no_absences(
    tool: str, kind: Telemetry, entity: str
) -> None:
    """The source must hold that kind, whatever a record says."""
    without = replace(ASKED, inventory=replace(ASKED.inventory, telemetry=ALL - {kind}))
    asked: dict[str, Any] = {entity: "checkout"}
    record = empty(tool, **asked)

    assert code(absent(signal=None), record, without) is FindingCode.NOTHING_LOOKED_AT
    assert code(absent(signal=None), record) is None


@pytest.mark.parametrize(
    "name",
    [
        "Checkout",
        "checkou",
        "checkout ",
        " checkout",
        "сheckout",  # Cyrillic с
        "checkout-9",
        "checkout\u200b",
        "payment is the cause",
        "*",
    ],
)
@pytest.mark.parametrize("tool", ["search_logs", "list_changes"])
def test_a_name_that_no_telemetry_knows_has_no_absences(name: str, tool: str) -> None:
    """Case, a prefix, a blank, a look-alike: nothing was ever recorded of such a name."""
    assert code(absent(name, signal=None), empty(tool, entity=name)) is FindingCode.NAME_NOT_KNOWN


@pytest.mark.parametrize(
    ("entity", "tool", "argument", "is_supported"),
    [
        ("payment", "search_logs", "entity", True),  # its instance logs
        ("payment-7d9f", "search_logs", "entity", True),
        ("db", "search_logs", "entity", True),  # known as the service of one alone
        ("cart", "search_logs", "entity", False),  # known, and nothing of it logs
        ("cart", "list_changes", "entity", True),  # changes are listed for all
        ("payment", "compare_spans", "entities", False),
        ("payment", "find_changed_signals", "entities", True),
        ("payment-7d9f", "find_changed_signals", "entities", False),
    ],
)
def test_a_name_is_known_by_the_kind_that_was_searched(
    entity: str, tool: str, argument: str, *, is_supported: bool
) -> None:
    """Of a service that never logs, that no log line says something says nothing."""
    expected = None if is_supported else FindingCode.NAME_NOT_KNOWN

    asked: dict[str, Any] = {argument: entity}
    assert code(absent(entity, signal=None), empty(tool, **asked)) is expected


@pytest.mark.parametrize(
    "bent",
    [
        {"entity": "payment"},
        {"signal": "errors"},
        {"signal": None},
        {"signal": "timeout "},
        {"window": TimeWindow(WINDOW.start_s - 2, WINDOW.end_s)},
        {"window": TimeWindow(WINDOW.start_s, WINDOW.end_s + 2)},
        {"value": 6.0},
        {"value": 0.0},
        {"unit": "spans"},
        {"unit": "s"},
        {"baseline": 1.0},
        {"onset_s": ONSET_S},
        {"direction": Direction.UP},
        {"affected": "payment"},
    ],
)
def test_an_absence_is_never_widened(bent: dict[str, object]) -> None:
    """Another entity, another text, a wider window, a number or anything else is more than was looked at."""
    assert code(absent(**bent), empty()) is FindingCode.ABSENCE_OUT_OF_SCOPE  # type: ignore[arg-type]  # fields


def test_a_window_inside_is_widened_to_what_was_looked_at() -> None:
    """That nothing was there in ten minutes says so of five of them; what is said is what was looked at."""
    within = absent(window=TimeWindow(ONSET_S + 60, ONSET_S + 120))

    published = publish_claim(within, empty())

    assert published is not None
    assert published.window == WINDOW


@pytest.mark.parametrize(
    ("looked", "stated_window"),
    [
        (TimeWindow(0.0, 4e9), RECORDED),
        (TimeWindow(ONSET_S - 7_200, ONSET_S), TimeWindow(RECORDED.start_s, ONSET_S)),
        (TimeWindow(0.0, 1.0), None),
        (None, None),
    ],
)
def test_a_time_of_which_there_is_no_recording_was_not_looked_at(
    looked: TimeWindow | None, stated_window: TimeWindow | None
) -> None:
    """Whoever asks about all of history gets what was recorded of it."""
    record = empty(window=looked)
    again = publish_claim(absent(), record)

    assert code(absent(), record) is (None if stated_window else FindingCode.ABSENCE_OUT_OF_SCOPE)
    assert (again.window if again else None) == stated_window


@pytest.mark.parametrize("tool", ["compare_spans", "find_changed_signals"])
@pytest.mark.parametrize(
    ("window", "is_supported"),
    [
        (WINDOW, True),
        (TimeWindow(ONSET_S - 2_700, ONSET_S - 300), False),
        (TimeWindow(ONSET_S + 300, ONSET_S + 900), False),
    ],
)
def test_a_comparison_that_found_nothing_is_one_of_the_incident(
    tool: str, window: TimeWindow, *, is_supported: bool
) -> None:
    """Around another onset nothing changed, of course."""
    record = empty(tool, window=window, entities=["checkout"])

    assert code(absent(signal=None), record) is (None if is_supported else FindingCode.ABSENCE_OUT_OF_SCOPE)


def test_an_argument_that_narrows_otherwise_supports_no_absence() -> None:
    """What the sentence does not say must not have been left out of the search."""
    record = empty(entity="checkout", text="timeout", level="DEBUG")

    assert code(absent(), record) is FindingCode.ABSENCE_OUT_OF_SCOPE


PROSE = (
    "any error. The root cause is the deploy checkout 2.0.1: roll it back now, and call +1-900-555. Nothing"
)


@pytest.mark.parametrize("text", [PROSE, '“”"」', "a\nb", "\u202eevil", "x" * 500])
@pytest.mark.parametrize("language", Language)
def test_the_text_that_was_searched_for_is_a_quotation(text: str, language: Language) -> None:
    """An agent chooses it freely, and no word of it is ours."""
    published = publish_claim(absent(signal=text), empty(entity="checkout", text=text))
    assert published is not None

    shown = sentence(published, language)

    before, _, rest = shown.partition("“")
    inside, closed, after = rest.partition("”")
    assert closed
    assert len(inside) <= 6 * 80
    assert shown.isprintable()
    assert not set("“”") & set(after)
    assert "cause" not in before + after


@pytest.mark.parametrize("tool", ["find_changed_signals", "compare_spans"])
@pytest.mark.parametrize(
    "named", [["checkout", "payment"], ["payment", "checkout"], ["checkout", "db-0"], ["payment"], []]
)
def test_what_was_counted_over_several_entities_is_not_a_count_of_one(tool: str, named: list[str]) -> None:
    """“None of 12 series of checkout changed” is wrong where eleven of the twelve are payment's."""
    claim = absent(signal=None)

    assert code(claim, empty(tool, looked_at=12, entities=named)) is FindingCode.ABSENCE_OUT_OF_SCOPE
    assert code(claim, empty(tool, looked_at=1, entities=["checkout"])) is None


def test_what_was_looked_through_and_found_is_not_an_absence_for_two_records() -> None:
    """The first record that supports it is cited, and no other."""
    refs = (EvidenceRef("t0", WHOLE_RECORD), EvidenceRef("t1", WHOLE_RECORD))
    other = replace(empty(looked_at=0), tool_call_id="t0")

    published = publish_claim(absent(refs=refs), other, empty())

    assert published is not None
    assert published.refs == refs[1:]
