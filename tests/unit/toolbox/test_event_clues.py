"""What a platform reports ranks and explains: what lasts now or lasted at the onset, and nothing older."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.toolbox.test_tools import call

from diagnosis_harness.analysis.clue import Modality
from diagnosis_harness.analysis.platform_event import CATALOGUE, EventKind, EventStanding, Severity
from diagnosis_harness.analysis.platform_history import Occurrence
from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.guards.incident_time import EARLY_S, LATE_S, REPORTED_S
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.testing.sources import InMemorySources
from diagnosis_harness.toolbox.event_clues import (
    BEGINS_WITHIN_S,
    HARMLESS_S,
    ONSET_SLACK_S,
    event_clues,
    first_fault,
)
from diagnosis_harness.toolbox.ports import AlertInfo, CallEdge, PlatformState, ReportedEvent

ONSET_S = 1_000_000.0
KILLED = Occurrence(
    "cart-1",
    EventKind.OOM_KILLED,
    8,
    ONSET_S - 300,
    ONSET_S + 900,
    EventStanding.CURRENT,
    "OOMKilling",
    "killed",
)
OWNERS = {"cart-1": "cart"}


def test_a_fault_that_lasts_is_a_clue_of_the_service() -> None:
    """By the platform's own name, with the object that shows it."""
    (clue,) = event_clues([KILLED], OWNERS, onset_s=ONSET_S)
    assert (clue.entity, clue.modality, clue.fault_kind) == ("cart", Modality.STATE, "MEMORY")
    assert (clue.region, clue.instance, clue.passed_on) == ("OOMKilled", "cart-1", False)
    assert clue.excess > 0


@pytest.mark.parametrize(
    ("change", "ranks"),
    [
        ({"standing": EventStanding.OVER}, True),  # over since, but it lasted at the onset
        ({"standing": EventStanding.OVER, "last_s": ONSET_S - 30}, True),  # an onset is known to a minute
        ({"standing": EventStanding.OVER, "last_s": ONSET_S - 61}, False),  # recovered before
        ({"last_s": ONSET_S - 200}, True),  # not repeated, and nothing ended it
        ({"first_s": ONSET_S - 90_000}, False),  # for more than a day nobody minded
        ({"first_s": ONSET_S + 3_601, "last_s": ONSET_S + 4_000}, False),  # another matter
        ({"kind": EventKind.MAINTENANCE}, False),  # a note is no trouble
    ],
)
def test_what_had_recovered_before_the_incident_never_ranks(
    change: dict[str, object], *, ranks: bool
) -> None:
    """Current against over, by the onset."""
    one = replace(KILLED, **change)  # type: ignore[arg-type]  # a field of each row
    assert bool(event_clues([one], OWNERS, onset_s=ONSET_S)) is ranks


def test_a_symptom_may_have_been_passed_on_and_is_worth_less() -> None:
    """A failed probe says that something does not work there, not that it broke there."""
    probe = replace(KILLED, kind=EventKind.PROBE_FAILED)
    (weak,) = event_clues([probe], OWNERS, onset_s=ONSET_S)
    (strong,) = event_clues([probe, KILLED], OWNERS, onset_s=ONSET_S)
    assert weak.passed_on
    assert 0 < weak.excess < strong.excess
    assert strong.region == "OOMKilled"


def test_every_kind_of_event_is_evidence_for_a_kind_of_fault_that_a_cause_can_have() -> None:
    """The statistics know the kinds by their wire values alone."""
    assert {rule.fault_kind for rule in CATALOGUE.values()} <= {kind.value for kind in FaultKind}


def test_the_guards_and_the_ranking_hold_the_same_times() -> None:
    """Players may import the guards, and the guards not the tools: the numbers stand twice."""
    assert (HARMLESS_S, BEGINS_WITHIN_S, ONSET_SLACK_S) == (REPORTED_S, EARLY_S, LATE_S)


def test_the_first_fault_that_lasts_is_where_it_began() -> None:
    """Not a symptom, and nothing that is over."""
    older = replace(KILLED, first_s=ONSET_S - 900)
    assert first_fault([KILLED, older]) == older
    assert first_fault([replace(older, standing=EventStanding.OVER), KILLED]) == KILLED
    assert first_fault([replace(KILLED, kind=EventKind.PROBE_FAILED)]) is None
    assert all(
        CATALOGUE[kind].severity is not Severity.NOTE for kind in (KILLED.kind, EventKind.PROBE_FAILED)
    )


def events_alone(*events: ReportedEvent, states: tuple[PlatformState, ...] = ()) -> InMemorySources:
    """A source with nothing but a platform, as `kubectl get events` and `get pods` write it."""
    return InMemorySources(
        platform_events=events, platform_states=states, part_of=OWNERS, alert=AlertInfo(entity="cart")
    )


LOOP = ReportedEvent("cart-1", "BackOff", "Back-off restarting failed container", 1_000.0, 2_400.0, 9)
KILLS = ReportedEvent("cart-1", "OOMKilling", "out of memory: killed process 7", 1_000.0, 2_400.0, 8)


def test_events_alone_give_an_onset_and_a_ranking(ctx: RunContext) -> None:
    """No metric, no span, no log line."""
    sources = events_alone(KILLS, LOOP)
    (onset,) = call(ctx, sources, "estimate_onset").items
    assert (onset.onset_s, onset.entity, onset.attributes["method"]) == (1_000.0, "cart", "estimated")
    (ranked,) = call(ctx, sources, "rank_causes").items
    attributes = ranked.attributes
    assert (ranked.entity, attributes["fault_kind"], attributes["decided_by"]) == ("cart", "MEMORY", "state")
    assert (attributes["origin"], attributes["open"], attributes["effect"]) == ("reported", False, "shown")


def test_a_pod_that_runs_again_gives_neither(ctx: RunContext) -> None:
    """The latest snapshot says that it works."""
    works = PlatformState("cart-1", 4_000.0, "Running: 1/1 ready, 1 restarts")
    sources = events_alone(replace(KILLS, first_s=900.0, last_s=900.0, count=1), states=(works,))
    assert call(ctx, sources, "estimate_onset").items == ()
    assert call(ctx, sources, "rank_causes").items == ()


def test_a_crash_may_come_from_what_is_called_unseen(ctx: RunContext) -> None:
    """A process may end since it cannot reach its database; one that is killed for its memory does not."""
    calls = (CallEdge("web", "cart"), CallEdge("cart", "bank"))
    for event, is_open in ((LOOP, True), (KILLS, False)):
        sources = replace(events_alone(event), call_edges=calls, alert=AlertInfo(entity="web"))
        ranked = call(ctx, sources, "rank_causes").items[0]
        assert (ranked.entity, ranked.attributes["open"]) == ("cart", is_open)
