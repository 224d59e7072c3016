"""The cost between the end of a run and its document, for the largest allowed answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from statistics import median

from dev.speed.figure import Figure
from tests.support.large_release import LargeRelease

from diagnosis_harness.diagnosis.answer_size import CLAIMS_MAX, REFS_MAX, WORDING_MAX
from diagnosis_harness.release.pipeline import FACTS_MAX
from diagnosis_harness.release.work import LOOP_CLAIMS_MAX

TOPIC = "Release"
AT_MOST_MS = 50.0
"""Work on the event loop delays every other run of the process."""


def measure(*, rounds: int) -> list[Figure]:
    """Processor time of a whole release and its report: the largest, and the largest on the event loop."""
    whole = _median_ms(rounds, lambda: LargeRelease(claims=CLAIMS_MAX, facts=FACTS_MAX))
    largest = _median_ms(
        rounds, lambda: LargeRelease(claims=LOOP_CLAIMS_MAX // 2, facts=LOOP_CLAIMS_MAX // 2)
    )
    note = (
        f"{CLAIMS_MAX} claims of {REFS_MAX} references, {FACTS_MAX} facts, all distinct, "
        f"{WORDING_MAX:,} characters of wordings each"
    )
    small = f"{LOOP_CLAIMS_MAX} claims and facts, the most that stay on it"
    return [
        Figure(
            TOPIC,
            "release and report of the largest answer, on the event loop",
            whole[0],
            "ms",
            AT_MOST_MS,
            note,
        ),
        Figure(TOPIC, "  on a thread", whole[1], "ms"),
        Figure(
            TOPIC,
            "release and report of a small answer, on the event loop",
            largest[0],
            "ms",
            AT_MOST_MS,
            small,
        ),
    ]


def _median_ms(rounds: int, make: Callable[[], LargeRelease]) -> tuple[float, float]:
    """Median processor time of the loop's thread, and of all other threads."""
    found = [_release_ms(make()) for _ in range(rounds)]
    return median(loop_ms for loop_ms, _ in found), median(other_ms for _, other_ms in found)


def _release_ms(release: LargeRelease) -> tuple[float, float]:
    with release.core:
        loop_s, all_s = time.thread_time(), time.process_time()
        asyncio.run(release.play())
        loop_s, all_s = time.thread_time() - loop_s, time.process_time() - all_s
    return loop_s * 1e3, (all_s - loop_s) * 1e3
