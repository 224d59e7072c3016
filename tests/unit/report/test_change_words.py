"""What a report says of changes where none of them fits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.inquiries import inquiry

from diagnosis_harness.analysis.change_weight import FITTING, ChangeVerdict
from diagnosis_harness.guards.levels import FITTING_VERDICTS
from diagnosis_harness.kernel.canonical import canonical_json
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.change_words import CHANGE_VERDICTS, change_sentences
from diagnosis_harness.testing.evidence import ONSET_S, ready_record
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

NONE_OF_SEVEN = (
    "No recorded change fits in time, place and words together (7 weighed);"
    " one without matching words is not ruled out."
)


def one_change(verdict: str = "no-match", **arguments: JsonValue) -> EvidenceRecord:
    """One change of payment, ten minutes before the onset."""
    item = EvidenceItem(
        "w1",
        ItemKind.CHANGE_EVENT,
        "payment was changed",
        entity="payment",
        onset_s=ONSET_S - 600.0,
        attributes={"verdict": verdict, "before_onset_s": 600.0},
    )
    return ready_record(item, tool_name="weigh_changes", scope=canonical_json(arguments).decode())


@pytest.mark.parametrize(
    ("record", "is_stated"),
    [
        (one_change(), True),
        (one_change("long-before"), True),
        (one_change("candidate"), False),
        (one_change("unread"), False),  # nothing is recorded of what it changed, so it may fit
        (one_change(onset=ONSET_S - 9_000.0), False),  # weighed for another time
        (one_change(alert_entity="cart"), False),  # and for another victim
        (replace(one_change(), tool_name="list_changes"), False),  # nobody weighed them
    ],
)
def test_none_fits_is_said_where_all_were_weighed_for_the_question(
    record: EvidenceRecord, *, is_stated: bool
) -> None:
    """In both languages, with their number."""
    asked = inquiry(onset_s=ONSET_S)
    english = list(change_sentences([record], asked, Language.EN))
    assert english == ([NONE_OF_SEVEN] if is_stated else [])
    assert len(list(change_sentences([record], asked, Language.ZH))) == is_stated


def test_every_verdict_has_its_words_and_the_guards_know_those_that_fit() -> None:
    """One that may have set the incident off says that this is not shown; no other does."""
    assert set(CHANGE_VERDICTS) == {each.value for each in ChangeVerdict}
    assert {each.value for each in FITTING} == FITTING_VERDICTS
    open_ones = {name for name, text in CHANGE_VERDICTS.items() if "is not shown" in text.en}
    assert open_ones == FITTING_VERDICTS
