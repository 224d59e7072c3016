"""Masking against a generated corpus that was written without a look at its rules (dev/masking)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from dev.masking.corpus import CORPORA, innocents, plant
from dev.masking.figures import FALSE_MAX, LATER_RECALL_MIN, RECALL_MIN, measure

from diagnosis_harness.kernel.masking import mask

SNAPSHOTS = Path(__file__).parents[1] / "cli" / "snapshots"


@pytest.mark.proof
@pytest.mark.parametrize("seed", [11, 12])
def test_secrets_of_the_corpus_go_and_the_rest_stays(seed: int, scale: float) -> None:
    """Of a hundred secrets at most two stay, and of a hundred innocent lines at most one is touched."""
    figures = measure(seed, each=round(30 * scale))

    assert figures.recall >= RECALL_MIN, figures.leaks[:20]
    assert figures.false_share <= FALSE_MAX, (figures.false_maskings + figures.cuts)[:20]


@pytest.mark.proof
@pytest.mark.parametrize("corpus", CORPORA[1:])
def test_most_secrets_of_later_corpora_go_and_the_rest_stays(corpus: str, scale: float) -> None:
    """They hold more prose and rarer programs than the first; the page says what is reached."""
    figures = measure(21, each=round(20 * scale), corpus=corpus)

    assert figures.recall >= LATER_RECALL_MIN, figures.leaks[:20]
    assert figures.false_share <= FALSE_MAX, (figures.false_maskings + figures.cuts)[:20]


@pytest.mark.proof
@pytest.mark.parametrize("corpus", CORPORA)
def test_the_corpus_comes_to_rest(corpus: str, scale: float) -> None:
    """Masking what is masked changes nothing, line by line and all in one."""
    lines = [line.text for line in plant(13, each=round(10 * scale), corpus=corpus)]
    lines += [line.text for line in innocents(13, each=round(10 * scale), corpus=corpus)]

    for text in (*lines, "\n".join(lines), " ".join(lines), json.dumps(lines)):
        once = mask(text).text
        assert mask(once).text == once


@pytest.mark.proof
def test_lines_beside_each_other_come_to_rest(scale: float) -> None:
    """What one line asks for must not find its secret in the placeholder of the next."""
    lines = [line.text for line in plant(14, each=6)] + [line.text for line in innocents(14, each=6)]
    rng = np.random.default_rng(14)

    for _ in range(round(6_000 * scale)):
        beside = [lines[at] for at in rng.integers(len(lines), size=int(rng.integers(2, 4)))]
        text = str(rng.choice((" ", "\n", ", ", '", "'))).join(beside)
        once = mask(text).text
        assert mask(once).text == once


def test_our_own_pages_hold_nothing_to_mask() -> None:
    """Reports as the terminal shows them: sentences in English and Chinese, times, ids and names."""
    pages = sorted(SNAPSHOTS.iterdir())

    assert len(pages) > 3
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert mask(text).text == text, page.name
