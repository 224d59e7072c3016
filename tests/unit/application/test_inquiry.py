"""What a run was asked is resolved by code, from the asker's words and the sources alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.small_incident import CPU_FAULT, ONSET_S, small_incident

from diagnosis_harness.application.inquiry import Carried, resolve_inquiry
from diagnosis_harness.diagnosis.inquiry import Inquiry, KnownEntity, OnsetOrigin, Telemetry
from diagnosis_harness.kernel.errors import OnsetOutsideData
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.testing.sources import InMemorySources, series_of
from diagnosis_harness.toolbox.match_entities import MatchEntities
from diagnosis_harness.toolbox.ports import AlertInfo, LogLine

SHOP = small_incident(CPU_FAULT)
CARRIED_S = ONSET_S - 300.0


def resolve(
    question: str = "why?",
    sources: InMemorySources = SHOP,
    *,
    onset_s: float | None = None,
    carried_s: float | None = None,
    carried_affected: tuple[str, ...] = (),
) -> Inquiry:
    """The inquiry over telemetry in memory."""
    return resolve_inquiry(
        Rig().run(), sources.sources(), question, onset_s, carried=Carried(carried_s, carried_affected)
    )


@pytest.mark.parametrize(
    ("asked_s", "question", "carried_s", "source_s", "alert_s", "origin", "at_s"),
    [
        (ONSET_S, "since 14:01?", 7.0, 8.0, 9.0, OnsetOrigin.ASKED, ONSET_S),
        (None, "since 14:01?", CARRIED_S, 8.0, 9.0, OnsetOrigin.QUESTION, ONSET_S - 240.0),
        (ONSET_S, "before and after 14:01?", 7.0, 8.0, 9.0, OnsetOrigin.QUESTION, ONSET_S - 240.0),
        (None, "why?", CARRIED_S, 8.0, 9.0, OnsetOrigin.CARRIED, CARRIED_S),
        (None, "why?", None, 8.0, 9.0, OnsetOrigin.SOURCE, 8.0),
        (None, "why?", None, None, 9.0, OnsetOrigin.ALERT, 9.0),
        (None, "why?", None, None, None, OnsetOrigin.NOBODY, None),
        (None, "since 14:01 or 14:02?", None, None, 9.0, OnsetOrigin.ALERT, 9.0),
        (None, "since 14:01:30?", None, None, 9.0, OnsetOrigin.QUESTION, ONSET_S - 210.0),
    ],
)  # fmt: skip
def test_the_first_that_says_when_it_began_is_believed(
    asked_s: float | None,
    question: str,
    carried_s: float | None,
    source_s: float | None,
    alert_s: float | None,
    origin: OnsetOrigin,
    at_s: float | None,
) -> None:
    """The asker's own words come before what the turn before, the source and the alert say."""
    sources = replace(SHOP, onset_s=source_s, alert=AlertInfo(entity="shop", time_s=alert_s))

    found = resolve(question, sources, onset_s=asked_s, carried_s=carried_s)

    assert (found.onset_origin, found.onset_s) == (origin, at_s)


def test_an_onset_of_the_turn_before_outside_of_the_data_is_not_taken_over() -> None:
    """A source that moved on holds nothing of that time."""
    found = resolve(carried_s=ONSET_S - 90_000.0)

    assert found.onset_origin is OnsetOrigin.ALERT


@pytest.mark.parametrize("words", ["why at {day}T14:05:00Z?", "{day} 14:05 为什么变慢？"])
def test_a_question_about_a_time_that_was_not_recorded_is_refused(words: str) -> None:
    """Like an onset stated as an option: an answer about another time does not answer the question."""
    question = words.format(day=utc_text(ONSET_S - 86_400.0)[:10])

    with pytest.raises(OnsetOutsideData, match="lies outside the data, which goes from"):
        resolve(question)
    assert resolve(question, onset_s=ONSET_S).onset_s == ONSET_S


@pytest.mark.parametrize(
    ("question", "affected"),
    [
        ("why is payment slow?", ("payment",)),
        ("did stock-db or the Payment service break?", ("stock-db", "payment")),
        ("why does payment-7d9f burn?", ("payment-7d9f",)),
        ("what is wrong?", ("shop",)),
        ("x" * 600 + " payment?", ("payment",)),
    ],
)  # fmt: skip
def test_affected_is_who_the_question_names_else_who_the_alert_names(
    question: str, affected: tuple[str, ...]
) -> None:
    """In the order of the question, as the telemetry writes the names."""
    assert resolve(question).affected == affected


@pytest.mark.parametrize("question", ["why is payment slow since stock db?", "shop-7d9f?", "what is wrong?"])
def test_the_tool_that_matches_names_agrees(question: str) -> None:
    """A player that asks which entity the question names must get the same one as the inquiry."""
    items = MatchEntities(SHOP.sources()).run(Rig().run(), {"text": question}).items

    assert tuple(item.entity for item in items) == tuple(
        name for name in resolve(question, replace(SHOP, alert=AlertInfo())).affected
    )


def test_the_inventory_knows_every_name_with_its_owner_and_what_telemetry_holds_of_it() -> None:
    """An absence may be said of a name alone that some telemetry of that kind could have sources."""
    inventory = resolve().inventory

    assert inventory.entity("payment-7d9f") == KnownEntity(
        "payment-7d9f",
        "payment",
        frozenset({Telemetry.METRICS, Telemetry.SPANS, Telemetry.LOGS, Telemetry.TOPOLOGY}),
    )
    assert inventory.entity("catalog") == KnownEntity(
        "catalog", None, frozenset({Telemetry.METRICS, Telemetry.CHANGES, Telemetry.TOPOLOGY})
    )
    assert ("checkout", "payment") in inventory.edges
    assert inventory.telemetry == frozenset(Telemetry)
    assert not inventory.knows("paymen")


def test_what_the_source_does_not_have_is_not_telemetry_of_it() -> None:
    """A search of logs that are not there finds nothing, which is no absence."""
    sources = InMemorySources(incident=(series_of("a->b", "latency", [0.0, 30.0], [1.0, 1.0]),))

    inventory = resolve(sources=sources).inventory

    assert inventory.telemetry == {Telemetry.METRICS}
    assert [each.name for each in inventory.entities] == ["a", "a->b", "b"]


def test_secrets_in_names_and_question_are_masked() -> None:
    """The inquiry is published with the run."""
    name = "svc ghp_" + "a1B2" * 9
    sources = replace(SHOP, log_lines=(LogLine(ONSET_S, name, "INFO", "x"),))

    found = resolve(f"why does {name} fail?", sources)

    assert "a1B2" not in f"{found}"


def test_thousands_of_series_are_resolved_without_reading_any() -> None:
    """What the source counted when it was opened is enough, however much it holds."""
    series = tuple(series_of(f"svc-{n}", "latency", [0.0, 30.0], [1.0, 1.0]) for n in range(3_000))
    sources = InMemorySources(incident=series)

    found = resolve("why is svc-2999 slow?", sources)

    assert found.affected == ("svc-2999",)
    assert sources.calls == {"summary": sources.calls["summary"]}


@pytest.mark.parametrize(
    ("alerted", "affected", "unknown"),
    [
        ("shop", ("shop",), False),
        ("Shop", ("shop",), False),
        ("chekout", ("checkout",), False),
        ("till", (), True),
    ],
)
def test_the_entity_of_the_alert_is_read_like_a_name_of_the_question(
    alerted: str, affected: tuple[str, ...], *, unknown: bool
) -> None:
    """A typo is corrected; nothing can be concluded about an unknown name."""
    found = resolve(sources=replace(SHOP, alert=AlertInfo(entity=alerted)))

    assert found.affected == affected
    assert found.asks_of_unknown is unknown


def test_an_unknown_name_does_not_turn_the_question_to_the_alert() -> None:
    """Whoever asks about another service is not answered about the one that raised the alert."""
    found = resolve("why is loyalty slow?", replace(SHOP, alert=AlertInfo(entity="shop")))

    assert found.affected == ()
    assert found.asks_of_unknown


def test_where_no_source_names_anybody_no_name_is_unknown() -> None:
    """Own tools may know any name; without telemetry code cannot say that a name is unknown."""
    assert not resolve("why is checkout slow?", InMemorySources()).asks_of_unknown


@pytest.mark.parametrize(
    ("question", "affected", "carried"),
    [
        ("and stock-db?", ("payment",), ("payment",)),
        ("was it the deploy?", ("payment",), ("payment",)),
        ("is stock-db the cause?", ("payment",), ("payment",)),
        ("why is stock-db slow?", ("stock-db",), ()),
        ("why is the zork service slow?", (), ()),
    ],
)
def test_a_follow_up_is_about_the_entity_of_the_previous_turn(
    question: str, affected: tuple[str, ...], carried: tuple[str, ...]
) -> None:
    """Unless it names its own; for an unknown entity nothing is taken over."""
    found = resolve(question, carried_affected=("payment", "gone"))

    assert (found.affected, found.carried) == (affected, carried)
