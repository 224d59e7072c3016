"""Counts what masking does to the corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from dev.masking.corpus import FIRST, innocents, plant

from diagnosis_harness.kernel.masking import mask

RECALL_MIN = 0.98
LATER_RECALL_MIN = 0.85
"""Of corpora that were written after the rules: their prose tells secrets without a word for one."""
FALSE_MAX = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Counts over one corpus, and the lines that fell short.

    Attributes:
        by_kind: secrets that were masked and secrets in all, by kind.
        cuts: lines that lost words around their secret.
    """

    planted: int
    secrets: int
    innocents: int
    by_kind: Mapping[str, tuple[int, int]]
    leaks: tuple[str, ...]
    cuts: tuple[str, ...]
    false_maskings: tuple[str, ...]

    @property
    def recall(self) -> float:
        """The share of secrets that were masked completely."""
        return sum(found for found, _ in self.by_kind.values()) / self.secrets

    @property
    def false_share(self) -> float:
        """The share of lines without a secret, or around one, in which something else was masked."""
        return (len(self.false_maskings) + len(self.cuts)) / (self.innocents + self.planted)


def measure(seed: int, *, each: int, corpus: str = FIRST) -> Figures:
    """Mask this many lines of every template, and count."""
    lines, clean = plant(seed, each=each, corpus=corpus), innocents(seed, each=each, corpus=corpus)
    leaks, cuts = [], []
    all_of_kind: Counter[str] = Counter()
    leaked_of_kind: Counter[str] = Counter()
    for line in lines:
        out = mask(line.text).text
        all_of_kind[line.kind] += len(line.secrets)
        if leaked := line.leaks_in(out):
            leaked_of_kind[line.kind] += len(leaked)
            leaks.append(f"LEAK {line.kind}: {line.text!r} -> {out!r}")
        if line.is_cut(out):
            cuts.append(f"CUT {line.kind}: {line.text!r} -> {out!r}")
    false = [
        f"FALSE {line.kind}: {line.text!r} -> {out!r}"
        for line in clean
        if (out := mask(line.text).text) != line.text
    ]
    return Figures(
        planted=len(lines),
        secrets=all_of_kind.total(),
        innocents=len(clean),
        by_kind={kind: (count - leaked_of_kind[kind], count) for kind, count in all_of_kind.items()},
        leaks=tuple(leaks),
        cuts=tuple(cuts),
        false_maskings=tuple(false),
    )
