"""Where the work of a release is done: on the event loop if it is short, else on a thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore

T = TypeVar("T")

LOOP_CLAIMS_MAX = 32
"""Claims and facts that are checked or worded on the event loop; that takes up to 15 ms, more takes longer
in proportion. Most runs have fewer, and answer without waiting for a thread."""


async def do_release_work(
    ctx: RunContext, core: DiagnosisHarnessCore, work: Callable[[], T], *, claims: int
) -> T:
    """Do pure work over so many claims and facts, off the event loop if they are many.

    Raises:
        Exception: what the work raised.
    """
    return work() if claims <= LOOP_CLAIMS_MAX else await core.compute(ctx, work)
