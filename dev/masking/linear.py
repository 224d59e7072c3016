"""How long masking takes for long texts made of the corpus's lines."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from dev.masking.corpus import innocents, plant

from diagnosis_harness.kernel.masking import mask

SIZES_BYTES = (1_000_000, 2_500_000, 5_000_000, 10_000_000)
"""Ten times the smallest shows whether the time grows faster than the text."""


def time_sizes(seed: int, *, each: int) -> Iterator[tuple[int, float]]:
    """The sizes, and the CPU seconds that masking one text of each takes.

    A text repeats all lines of the corpus, those with secrets and those without, in a seeded order.
    """
    lines = [line.text for line in plant(seed, each=each)]
    lines += [line.text for line in innocents(seed, each=each)]
    np.random.default_rng(seed).shuffle(lines)
    block = "\n".join(lines).encode()
    for size_bytes in SIZES_BYTES:
        text = (block * (size_bytes // len(block) + 1))[:size_bytes].decode(errors="ignore")
        begun_s = time.process_time()
        mask(text)
        yield size_bytes, time.process_time() - begun_s
