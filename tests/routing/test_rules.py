"""The embedded router's rules: what they get right, that they say why, and that no text upsets them."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from dev.routing import Labelled, find_misses, read
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.routing import RoutingDecision, RoutingReason, RoutingTurn
from diagnosis_harness.players.embedded.router import (
    EmbeddedRouter,
    Lexicon,
    path_of,
    question_words,
    spell_out,
)
from diagnosis_harness.players.embedded.router_rules import ROUTER_PHRASES, ROUTER_REQUESTS, ROUTER_RULES
from diagnosis_harness.testing.runs import Rig

FOLDER = Path(__file__).parent
LABELLED = read(FOLDER / "labelled.tsv")
LEXICON = Lexicon()
BEFORE = (RoutingTurn("why is cart slow?", IntentType.DIAGNOSIS),)
questions = st.sampled_from(LABELLED)
languages = pytest.mark.parametrize("language", ["en", "zh"])


def _route(question: str, history: tuple[RoutingTurn, ...] = ()) -> RoutingDecision:
    return path_of(question, history, LEXICON)


@languages
def test_the_rules_are_right_about_what_they_were_made_on(language: str) -> None:
    """At least 95 of 100 of the questions they were developed on, in each language."""
    mine = [one for one in LABELLED if one.language == language]

    wrong = find_misses(mine)

    assert len(wrong) <= 0.05 * len(mine), [one.question for one in wrong]


@languages
def test_there_are_questions_of_every_path_to_develop_on(language: str) -> None:
    """More than a hundred in each language, and no path is a rarity."""
    paths = [one.intent for one in LABELLED if one.language == language]

    assert len(paths) > 100
    assert all(paths.count(path) > 20 for path in IntentType)


@pytest.mark.parametrize("scored", ["held_out.tsv", "after.tsv"])
def test_no_question_of_a_published_score_is_developed_on(scored: str) -> None:
    """Scores are taken on other questions than the rules were made on."""
    assert not {one.question for one in LABELLED} & {one.question for one in read(FOLDER / scored)}


def test_a_phrase_belongs_to_one_reason() -> None:
    """Otherwise which one it shows would hang on the order of a table."""
    reasons = defaultdict(set)
    for reason, phrases in [*ROUTER_PHRASES, (None, ROUTER_REQUESTS)]:
        for phrase in spell_out(phrases):
            reasons[phrase].add(reason)

    assert not {phrase: found for phrase, found in reasons.items() if len(found) > 1}


def test_every_phrase_can_be_met() -> None:
    """A phrase is written in the words that texts are split into, and is found as whole words."""
    for _, phrases in ROUTER_PHRASES:
        for phrase in spell_out(phrases):
            plain = [word for word in phrase if not word.startswith("<")]
            assert phrase
            assert question_words(" ".join(plain)) == plain


def test_every_reason_has_one_rule() -> None:
    """Each weighs once, for one path; what follows and what is not recognised need none."""
    without = {
        RoutingReason.FOLLOWS_BEFORE,
        RoutingReason.NOTHING_RECOGNISED,
        RoutingReason.NOTHING_TO_DIAGNOSE,
        RoutingReason.LLM_JUDGED,
    }

    assert sorted(rule.reason for rule in ROUTER_RULES) == sorted(set(RoutingReason) - without)


@pytest.mark.parametrize(
    ("question", "decision"),
    [
        (
            "Why is checkout slow?",
            RoutingDecision(IntentType.DIAGNOSIS, RoutingReason.ASKS_FOR_CAUSE, ("why", "checkout", "slow")),
        ),
        (
            "按照手册怎么重启支付服务？",
            RoutingDecision(IntentType.KNOWLEDGE_QUERY, RoutingReason.NAMES_DOCUMENT, ("手册", "怎么重启")),
        ),
        ("谢谢", RoutingDecision(IntentType.SYSTEM_CHAT, RoutingReason.GREETING, ("谢谢",))),
        ("zzz", RoutingDecision(IntentType.DIAGNOSIS, RoutingReason.NOTHING_RECOGNISED)),
        ("?!", RoutingDecision(IntentType.SYSTEM_CHAT, RoutingReason.NOTHING_RECOGNISED)),
    ],
)
def test_a_decision_says_why(question: str, decision: RoutingDecision) -> None:
    """The weightiest reason, and every phrase that spoke for the path."""
    assert _route(question) == decision


def test_a_question_that_goes_on_takes_the_path_before_it() -> None:
    """What alone would say little is read with what was said before."""
    assert _route("and before that?", BEFORE).reason is RoutingReason.FOLLOWS_BEFORE
    assert _route("and before that?", BEFORE).intent is IntentType.DIAGNOSIS


def test_a_question_of_its_own_leaves_the_path_before_it() -> None:
    """History helps only where the question says less."""
    assert _route("how do I restart it?", BEFORE).intent is IntentType.KNOWLEDGE_QUERY


@pytest.mark.parametrize(
    ("slip", "meant"), [("latancy", "latency"), ("happend", "happened"), ("restrat", "restart")]
)
def test_a_slip_of_the_finger_is_read_as_the_word(slip: str, meant: str) -> None:
    """A letter more, less, other, or swapped with the next."""
    assert LEXICON.spell(slip) == meant


@pytest.mark.parametrize("word", ["whether", "restart", "restores", "cat"])
def test_a_word_of_its_own_is_not_a_slip(word: str) -> None:
    """Two slips, another ending, or a short word: it stays as it is."""
    assert LEXICON.spell(word) == word


@given(st.text(max_size=300), st.sampled_from([(), BEFORE]))
def test_any_text_has_a_path(text: str, history: tuple[RoutingTurn, ...]) -> None:
    """Whatever somebody types or pastes, and the same one each time."""
    assert _route(text, history) == _route(text, history)


@given(questions, st.text(alphabet=" \t\n\u3000\u00a0", max_size=5))
def test_case_and_spaces_keep_the_path(one: Labelled, space: str) -> None:
    """Capitals, small letters, spaces around and between the words change nothing."""
    decision = _route(one.question, one.history)

    spaced = space + one.question.replace(" ", " " + space) + space
    assert _route(spaced, one.history) == decision
    assert _route(one.question.upper(), one.history) == decision
    assert _route(one.question.lower(), one.history) == decision


@given(questions)
def test_wide_letters_keep_the_path(one: Labelled) -> None:
    """A Chinese keyboard in its other state types the same question."""
    wide = one.question.translate({code: code - 0x21 + 0xFF01 for code in range(0x21, 0x7F)})

    assert _route(wide, one.history) == _route(one.question, one.history)


class Counted(list[str]):
    """Words that count how often one is looked at."""

    looks = 0

    def __getitem__(self, place: Any) -> Any:
        """The word, counted."""
        self.looks += 1
        return super().__getitem__(place)


@given(
    st.lists(
        st.sampled_from(sorted({word for _, text in ROUTER_PHRASES for p in spell_out(text) for word in p}))
    )
)
def test_every_word_is_looked_at_a_bounded_number_of_times(words: list[str]) -> None:
    """Reading is linear by its structure: no more looks at a word than the longest phrase has words."""
    longest = max(len(phrase) for _, phrases in ROUTER_PHRASES for phrase in spell_out(phrases))
    counted = Counted(words)

    LEXICON.find(counted)

    assert counted.looks <= (longest + 1) * len(words)


def test_the_player_routes_by_the_rules() -> None:
    """The player behind the port is the pure function, and spends no tokens."""
    decision, usage = asyncio.run(EmbeddedRouter().route(Rig().run(), "and before that?", BEFORE))

    assert decision == _route("and before that?", BEFORE)
    assert usage.total_tokens == 0
