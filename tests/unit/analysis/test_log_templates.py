"""Which masked texts are one template."""

from __future__ import annotations

import numpy as np

from diagnosis_harness.analysis.log_templates import VARIANTS, merge_texts

NAMES = ("ada", "bob", "cem", "dee", "eve", "fay", "gus", "hal", "ida")


def test_a_word_that_varies_is_replaced() -> None:
    """Nobody writes a statement for every user."""
    merged = merge_texts({f"user {name} logged in": 1 for name in NAMES})
    assert set(merged.values()) == {"user <*> logged in"}


def test_a_few_outcomes_are_not_merged() -> None:
    """Accepted and rejected are two findings, however alike the sentences are."""
    texts = {f"payment {word} for order <*>": 50 for word in ("accepted", "rejected", "declined")}
    assert len(set(merge_texts(texts).values())) == len(texts)
    few = {f"user {name} logged in": 1 for name in NAMES[: VARIANTS - 1]}
    assert len(set(merge_texts(few).values())) == VARIANTS - 1


def test_two_words_that_vary_are_both_replaced() -> None:
    """Of all pairs that occur."""
    texts = {f"trip from {one} to {other}": 1 for one in NAMES for other in NAMES}
    assert set(merge_texts(texts).values()) == {"trip from <*> to <*>"}


def test_the_order_of_the_texts_does_not_count() -> None:
    """The same lines give the same templates, however a file is sorted."""
    texts = [f"trip from {one} to {other}" for one in NAMES for other in NAMES] + ["started", "stopped now"]
    expected = merge_texts(dict.fromkeys(texts, 1))
    mixed = np.random.default_rng(5).permutation(texts).tolist()
    assert merge_texts(dict.fromkeys(mixed, 1)) == expected


def test_every_text_has_a_template() -> None:
    """Also an empty one, and one of a single word."""
    assert merge_texts({"": 1, "started": 2}) == {"": "", "started": "started"}
