"""The terms that texts are found by."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.knowledge.terms import is_content_term, terms_of, terms_of_question


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("restarting the restarted service", ["restart", "the", "restart", "servic"]),
        ("checkout-service", ["checkout-service", "checkout", "servic"]),
        ("HTTPTimeout", ["http", "timeout", "httptimeout"]),
        ("OOMKilled", ["oom", "kill", "oomkil"]),
        ("max.poll.records", ["max.poll.records", "max", "poll", "record"]),
        ("重启服务", ["重", "启", "服", "务"]),
        ("ＣＰＵ限流", ["cpu", "限", "流"]),
        ("Pod重启", ["pod", "重", "启"]),
        ("roll back", ["rollback", "roll", "back"]),
        ("", []),
    ],
)
def test_terms_of_words_identifiers_and_characters(text: str, terms: list[str]) -> None:
    """Words are stemmed, identifiers stand whole and in parts, CJK is cut into characters."""
    assert terms_of(text) == terms


def test_an_identifier_is_found_whole_in_lower_case() -> None:
    """As it is written in an alert, and as a person types it."""
    assert set(terms_of("oomkilled")) <= set(terms_of("OOMKilled"))


def test_grammar_is_not_asked_for() -> None:
    """In either language; each term once."""
    assert terms_of_question("How do I restart the restarted node?") == ("restart", "node")
    assert terms_of_question("请问怎么重启这个节点？") == ("重", "启", "节", "点")


@given(st.text(max_size=200))
def test_any_text_has_terms(text: str) -> None:
    """Nothing is raised; no term is empty, and what is asked for is among them."""
    terms = terms_of(text)

    assert all(terms)
    assert set(terms_of_question(text)) == {term for term in terms if is_content_term(term)}
