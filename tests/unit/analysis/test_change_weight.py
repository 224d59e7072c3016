"""Changes against an incident: words, time and place; what is ruled out, and why."""

from __future__ import annotations

import pytest

from diagnosis_harness.analysis.change_weight import (
    FITTING,
    LONG_BEFORE_S,
    ChangeFacts,
    ChangeVerdict,
    count_calls_between,
    rows_reverted,
    weigh,
)
from diagnosis_harness.analysis.change_words import (
    WordFit,
    has_own_words,
    matches_of,
    new_words,
    words_in,
    words_of_names,
)

ONSET_S = 1_000_000.0
POOL = WordFit(4.0, ("connection", "pool"), 0.2)
NOTHING = WordFit(0.0, ())


def change(
    before_s: float = 300.0,
    *,
    place: int | None = 0,
    sha: str | None = None,
    text: str = "",
    is_described: bool = True,
) -> ChangeFacts:
    """A change so long before the onset."""
    return ChangeFacts(ONSET_S - before_s, place, sha, text, is_described)


def test_identifiers_are_words_and_everyday_words_are_none() -> None:
    """What a log line and a diff call the same thing is one word."""
    assert set(words_in("pool.SetMaxOpenConns(10)")) >= {"pool", "max", "open", "conn"}
    assert set(words_in("max_open_conns exhausted")) >= {"max", "open", "conn", "exhausted"}
    assert words_in("ERROR: the request failed with status 500") == []


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    """As a search engine weighs them."""
    common, rare = ["cache", "order"], ["cache", "coupon"]
    first, second, third = matches_of([common, rare, common], {"cache": 1.0, "coupon": 1.0})
    assert second.score > 3 * first.score
    assert first.score == third.score
    assert second.words[0] == "coupon"


def test_words_of_every_day_are_not_new() -> None:
    """Only what lines hold at least twice as often as before."""
    found = new_words([["pool", "cart"], ["pool", "cart"]], [["cart"], ["cart"], ["cart"]])
    assert found == {"pool": 1.0}


@pytest.mark.parametrize(
    ("one", "fit", "verdict"),
    [
        (change(), POOL, ChangeVerdict.CANDIDATE),
        (change(), NOTHING, ChangeVerdict.NO_MATCH),
        (change(1_000.0), WordFit(4.0, ("pool",), 0.2), ChangeVerdict.NO_MATCH),  # one word is chance
        (change(place=1), WordFit(4.0, ("pool",), 0.2), ChangeVerdict.NO_MATCH),
        (change(), WordFit(4.0, ("pool",), 0.2), ChangeVerdict.CANDIDATE),  # but not right before, and here
        (change(1_000.0), WordFit(4.0, ("a", "b"), 0.04), ChangeVerdict.NO_MATCH),  # of forty new words two
        (change(place=None), WordFit(4.0, ("a", "b"), 0.08), ChangeVerdict.NO_MATCH),  # nobody knows whose
        (change(is_described=False), NOTHING, ChangeVerdict.UNREAD),
        (change(is_described=False, place=None), NOTHING, ChangeVerdict.NO_MATCH),
        (change(-300.0), POOL, ChangeVerdict.AFTER),
        (change(-30.0), POOL, ChangeVerdict.CANDIDATE),  # an onset is known to about a minute
        (change(LONG_BEFORE_S + 1.0), POOL, ChangeVerdict.LONG_BEFORE),
        (change(place=-1), POOL, ChangeVerdict.ELSEWHERE),
        (change(place=None), POOL, ChangeVerdict.CANDIDATE),  # whose it is nobody knows
    ],
)
def test_a_change_is_a_candidate_or_has_a_reason_against_it(
    one: ChangeFacts, fit: WordFit, verdict: ChangeVerdict
) -> None:
    """In the order in which they are looked for."""
    (found,) = weigh([one], [fit], onset_s=ONSET_S)
    assert found.verdict is verdict
    assert (found.score > 0) == (
        verdict in (ChangeVerdict.CANDIDATE, ChangeVerdict.UNREAD)
        or (verdict is ChangeVerdict.NO_MATCH and (fit.score > 0 or not one.is_described))
    )


@pytest.mark.parametrize(
    ("one", "fit", "verdict"),
    [
        (change(), NOTHING, ChangeVerdict.UNCOMPARED),
        (change(is_described=False), NOTHING, ChangeVerdict.UNREAD),
        (change(), POOL, ChangeVerdict.CANDIDATE),  # the words of the alert
        (change(place=None), NOTHING, ChangeVerdict.NO_MATCH),
        (change(place=-1), NOTHING, ChangeVerdict.ELSEWHERE),
        (change(LONG_BEFORE_S + 1.0), NOTHING, ChangeVerdict.LONG_BEFORE),
    ],
)
def test_without_new_lines_words_speak_against_no_change(
    one: ChangeFacts, fit: WordFit, verdict: ChangeVerdict
) -> None:
    """There is nothing to compare; place and time still rule out."""
    (found,) = weigh([one], [fit], onset_s=ONSET_S, has_new_lines=False)
    assert found.verdict is verdict
    assert (found.score > 0) == (verdict in FITTING)


@pytest.mark.parametrize(
    ("summary", "tells"),
    [
        ("seats 3.5.0", False),
        ("seats-3.5.0 (app 3.5.0), revision 18, deployed: Upgrade complete", False),
        ("Rolling update of seats to v2 completed successfully", False),
        ("Lower the pool of connections of seats", True),
    ],
)
def test_names_versions_and_words_of_rollouts_tell_nothing_of_a_change(summary: str, *, tells: bool) -> None:
    """They stand in every deploy."""
    assert has_own_words(summary, ["seats"]) is tells


def test_the_nearer_in_time_and_place_comes_first_of_equal_words() -> None:
    """And what is ruled out comes last."""
    changes = [change(7_200.0), change(60.0, place=3), change(-900.0), change(60.0)]
    found = weigh(changes, [POOL] * 4, onset_s=ONSET_S)
    assert [one.row for one in found] == [3, 1, 0, 2]


def test_a_change_that_was_taken_back_before_is_ruled_out() -> None:
    """By its sha, or by its title; one that is taken back afterwards is not."""
    bad = change(900.0, sha="abcdef1234567", text="Lower the size of the pool")
    by_sha = change(600.0, sha="1", text="This reverts commit abcdef1")
    by_title = change(600.0, sha="2", text='Revert "Lower the size of the pool"')
    after = change(-600.0, sha="3", text="This reverts commit abcdef1")
    assert rows_reverted([bad, by_sha], until_s=ONSET_S) == {0}
    assert rows_reverted([bad, by_title], until_s=ONSET_S) == {0}
    assert rows_reverted([bad, after], until_s=ONSET_S) == frozenset()
    assert weigh([bad, by_sha], [POOL, NOTHING], onset_s=ONSET_S)[-1].verdict is ChangeVerdict.REVERTED


def test_a_place_is_counted_in_calls() -> None:
    """A known service that is not called is elsewhere; about anything else nothing is known."""
    below = {"shop": 0, "cart": 1}
    known = {"shop", "cart", "billing"}
    found = [
        count_calls_between(name, below=below, known=known)
        for name in ("shop", "cart", "billing", "new", None)
    ]
    assert found == [0, 1, -1, None, None]
    assert count_calls_between("cart", below={}, known=known) is None


def test_only_one_that_nothing_else_reaches_leads() -> None:
    """Two that fit about as well point nowhere."""
    best, near, far = WordFit(4.0, ("a", "b"), 0.2), WordFit(3.6, ("a", "c"), 0.2), WordFit(1.0, ("d",), 0.1)
    first, _ = weigh([change(), change()], [best, near], onset_s=ONSET_S)
    assert not first.leads
    first, second = weigh([change(), change()], [best, far], onset_s=ONSET_S)
    assert (first.leads, second.leads) == (True, False)


def test_an_identifier_counts_once_and_not_by_its_parts() -> None:
    """`leaderElection` is one match and not three."""
    query = dict.fromkeys(("leaderelection", "leader", "election", "retry"), 1.0)
    first, second = matches_of([words_in("leaderElection"), words_in("retry budget")], query)
    assert first.words == ("leaderelection",)
    assert second.words == ("retry",)


def test_words_of_the_names_of_services_tell_the_place() -> None:
    """With and without what kind of service it is."""
    assert words_of_names(["mediaservice", "cart-api"]) >= {"mediaservice", "media", "cart"}
