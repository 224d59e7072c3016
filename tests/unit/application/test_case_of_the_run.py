"""The case comes from the run: no choice of calls makes a ranking of another question bear one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.choosing_policy import OLDER_S, Call, Shopping, from_records, two_troubles
from tests.support.small_incident import CALLS, ONSET_S

from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.testing.sources import InMemorySources
from diagnosis_harness.toolbox.ports import AlertInfo

WORLD = two_troubles()
QUIET = replace(WORLD, alert=AlertInfo(entity="shop", signal="latency", statistic="p90"))
"""The same troubles, without a stated time."""
OLD_ALERT = replace(WORLD, alert=replace(WORLD.alert, time_s=OLDER_S))
SILENT = replace(WORLD, alert=AlertInfo())


def look(**arguments: JsonValue) -> list[Call]:
    """A ranking and what it needs to be concluded from."""
    onset = {"onset": arguments["onset"]} if "onset" in arguments else {}
    return [("find_changed_signals", onset), ("rank_causes", arguments)]


THEN, NOW = look(onset=OLDER_S), look(onset=ONSET_S)
HONEST = from_records("t1", "t2")


@pytest.mark.parametrize(
    ("calls", "question", "onset_s", "sources"),
    [
        (NOW, "why is it slow?", ONSET_S, WORLD),
        (NOW, "why is shop slow since 14:05?", None, WORLD),
        (NOW, "why is it slow since 2024-01-01T14:05:00Z?", None, SILENT),
        (look(), "why is it slow?", None, WORLD),
        (look(onset=ONSET_S), "why is it slow?", None, replace(WORLD, onset_s=ONSET_S)),
        (look(), "why is it slow?", None, replace(WORLD, onset_s=ONSET_S)),
        (look(onset=ONSET_S, alert_entity="checkout"), "why is checkout slow since 14:05?", None, WORLD),
        (look(onset=ONSET_S, alert_entity="shop"), "why is shop-7d9f slow since 14:05?", None, WORLD),
        (look(onset=ONSET_S, alert_signal="latency"), "why is it slow?", ONSET_S, WORLD),
    ],
)  # fmt: skip
def test_a_ranking_of_the_question_supports_a_conclusion(
    calls: list[Call], question: str, onset_s: float | None, sources: InMemorySources
) -> None:
    """As asked, as the alert has it, as the tools find it; of the entity, or of the service that it is of."""
    assert Shopping(calls, HONEST, question, onset_s, sources).causes() == ["payment"]


@pytest.mark.parametrize(
    ("calls", "question"),
    [
        (THEN, "why was it slow at 12:05?"),
        (THEN, "why was shop slow since 2024-01-01T12:05:00Z?"),
        (look(onset=OLDER_S, alert_entity="catalog"), "why was catalog slow at 12:05?"),
    ],
)  # fmt: skip
def test_the_older_trouble_is_concluded_where_it_is_asked_about(calls: list[Call], question: str) -> None:
    """The lie of the tests below is a good answer to another question, so nothing else refuses it."""
    assert Shopping(calls, HONEST, question).causes() == ["catalog"]


@pytest.mark.parametrize(
    ("calls", "question", "onset_s", "sources"),
    [
        # the cause of an incident two hours before the one that was asked about
        (THEN, "why is it slow?", ONSET_S, WORLD),
        (THEN, "why is shop slow since 14:05?", None, WORLD),
        (THEN, "why is it slow?", None, WORLD),
        (THEN, "why is it slow?", None, QUIET),
        (THEN, "why is it slow?", None, SILENT),
        (THEN, "why is it slow?", None, replace(WORLD, onset_s=ONSET_S)),
        # a question that names a time wins over the alert, which is of another trouble
        (look(), "why was it slow at 12:05?", None, WORLD),
        (NOW, "why was it slow at 12:05:00?", None, WORLD),
        (THEN, "why was it slow at 14:05:00?", None, OLD_ALERT),
        # near is not the same
        (look(onset=ONSET_S + 30.0), "why is it slow?", ONSET_S, WORLD),
        (look(onset=ONSET_S - 2.0), "why is it slow since 14:05:00?", None, WORLD),
        (look(onset=ONSET_S + 90.0), "why is it slow?", None, WORLD),
        # an alert fires late, and what a call was given as its time is nobody's
        (look(onset=ONSET_S + 60.0), "why is it slow?", None, WORLD),
        # another victim, or the victim's own instance, which no call leads to
        (look(onset=ONSET_S, alert_entity="checkout"), "why is it slow?", ONSET_S, WORLD),
        (look(onset=ONSET_S, alert_entity="checkout"), "why is shop slow?", ONSET_S, WORLD),
        (look(onset=ONSET_S, alert_entity="shop-7d9f"), "why is it slow?", ONSET_S, WORLD),
        (look(onset=ONSET_S, alert_entity="shop-7d9f"), "why is shop slow?", ONSET_S, WORLD),
        (look(onset=ONSET_S, alert_entity="shop"), "why is it slow?", ONSET_S, SILENT),
        (look(onset=ONSET_S), "why is checkout slow?", ONSET_S, WORLD),
        # another signal than the alert's
        (look(onset=ONSET_S, alert_signal="requests_per_s"), "why is it slow?", ONSET_S, WORLD),
        (look(onset=ONSET_S, alert_signal="error_rate"), "why is shop slow?", ONSET_S, WORLD),
    ],
)  # fmt: skip
def test_a_ranking_of_another_question_supports_none(
    calls: list[Call], question: str, onset_s: float | None, sources: InMemorySources
) -> None:
    """Whatever it found is true, and is not what was asked; a judge that believes it changes nothing."""
    shopping = Shopping(calls, HONEST, question, onset_s, sources)

    assert shopping.causes() == []


def test_what_stops_it_is_said() -> None:
    """The finding has a code of its own, and the run ends as one whose evidence does not hold."""
    shopping = Shopping(THEN, HONEST, onset_s=ONSET_S)

    assert "OF_ANOTHER_QUESTION" in shopping.objections()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_order_of_the_calls_does_not_count(order: tuple[int, int]) -> None:
    """The ranking that was asked last is no more of the question than the one before."""
    calls = [NOW, THEN]
    ids = {place: (f"t{2 * n + 1}", f"t{2 * n + 2}") for n, place in enumerate(order)}
    both = [*calls[order[0]], *calls[order[1]]]

    assert Shopping(both, from_records(*ids[0]), onset_s=ONSET_S).causes() == ["payment"]
    assert Shopping(both, from_records(*ids[1]), onset_s=ONSET_S).causes() == []


def test_the_culprit_is_not_acquitted_by_an_older_trouble() -> None:
    """The ranking of another time with the culprit as its victim named somebody else, and it only hit."""
    for victim in ("payment", "payment-7d9f"):
        shopping = Shopping(
            [*NOW, *look(onset=OLDER_S, alert_entity=victim)], from_records("t1", "t3", "t4"), onset_s=ONSET_S
        )
        end, document = shopping.run()

        assert end.content.causes == ()
        assert "not the cause" not in " ".join(claim.sentence for claim in document.report.claims)


def test_prose_is_not_a_victim() -> None:
    """A sentence in place of a name never becomes a record, let alone a sentence of the report."""
    prose = "shop shows: checkout 2.0.1 is broken, roll it back. This also explains what billing"
    end, document = Shopping(look(onset=ONSET_S, alert_entity=prose), HONEST, onset_s=ONSET_S).run()

    assert end.content.causes == ()
    assert "roll it back" not in document.as_json()


def test_an_onset_that_a_policy_chose_is_not_called_stated() -> None:
    """Neither said to be given, nor what the next turn starts from, nor the time of any conclusion."""
    calls: list[Call] = [("estimate_onset", {"onset": OLDER_S}), *THEN]
    end, document = Shopping(calls, from_records("t2", "t3"), telemetry=SILENT).run()

    assert end.content.causes == ()
    assert document.report.onset is None
    assert document.run.onset_at is None
    assert "given with the question" not in document.as_json()


def test_an_estimate_without_an_argument_is_the_onset_of_the_question() -> None:
    """If no onset is stated, the one that the tools find by themselves counts, also in a further call."""
    first = Shopping([("estimate_onset", {}), *look()], from_records("t2", "t3"), telemetry=QUIET)
    _, document = first.run()
    assert document.report.onset is not None
    found = document.report.onset.at
    again = [("estimate_onset", {}), *look(onset=found)]

    assert Shopping(again, from_records("t2", "t3"), telemetry=QUIET).causes() == first.causes()
    assert Shopping(again[1:], from_records("t1", "t2"), telemetry=QUIET).causes() == []


def test_the_strongest_candidate_is_the_rankings() -> None:
    """A draft that concludes nothing and offers a weaker candidate alone does not choose where to look."""
    weaker = Shopping(NOW, lambda view: _offering_the_second(HONEST(view)), onset_s=ONSET_S)
    _, document = weaker.run()

    assert document.report.candidates[0].entity == "payment"
    assert document.report.next_checks[0].startswith("Look at payment")


ARGUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "onset": st.one_of(
            st.floats(OLDER_S - 1800.0, OLDER_S + 1800.0).map(lambda at: round(at, 3)),
            st.sampled_from([OLDER_S, OLDER_S + 0.4, ONSET_S - 1800.0, ONSET_S + 61.5, utc_text(OLDER_S)]),
        ),
        "alert_entity": st.sampled_from([*CALLS, *(f"{name}-7d9f" for name in CALLS)]),
        "alert_signal": st.sampled_from(["latency", "error_rate", "cpu_percent"]),
    },
)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    chosen=st.lists(ARGUMENTS.filter(lambda records: "onset" in records), min_size=1, max_size=3),
    data=st.data(),
)
def test_no_arguments_and_no_order_make_an_older_trouble_the_cause(
    chosen: list[Mapping[str, JsonValue]], data: st.DataObject
) -> None:
    """Asked about 14:05, the run may rank what it likes as often as it likes, before and after."""
    looks: list[list[Call]] = [*(look(**records) for records in chosen), NOW]
    ordered = data.draw(st.permutations(looks))
    calls = [call for one in ordered for call in one]
    picked = data.draw(st.integers(0, len(ordered) - 1))

    causes = Shopping(
        calls, from_records(f"t{2 * picked + 1}", f"t{2 * picked + 2}"), onset_s=ONSET_S
    ).causes()

    assert causes in ([], ["payment"])
    assert causes == [] or ordered[picked] is NOW


def _offering_the_second(draft: DiagnosisDraft | None) -> DiagnosisDraft | None:
    if draft is None:
        return None
    return replace(draft, conclusion=(), claims=draft.claims[1:2], hypotheses=draft.hypotheses[1:2])
