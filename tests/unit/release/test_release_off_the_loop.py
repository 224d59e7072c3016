"""Work over many claims is done on a thread, so that it delays no other run; work over few stays."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest
from tests.support.large_release import LargeRelease

from diagnosis_harness.application import publish as publishing
from diagnosis_harness.diagnosis.answer_size import CLAIMS_MAX
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.release import pipeline
from diagnosis_harness.release.pipeline import FACTS_MAX
from diagnosis_harness.release.work import LOOP_CLAIMS_MAX, do_release_work
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.runs import AMPLE


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> dict[str, bool]:
    """Whether each long part of a release ran on the thread of the event loop."""
    seen: dict[str, bool] = {}

    def note(place: object, name: str) -> None:
        real: Callable[..., object] = getattr(place, name)

        def call(*values: object, **named: object) -> object:
            seen[name] = threading.current_thread() is threading.main_thread()
            return real(*values, **named)

        monkeypatch.setattr(place, name, call)

    note(pipeline, "restate_all")
    note(pipeline, "facts_beyond")
    note(publishing, "report_of")
    return seen


@pytest.mark.parametrize(
    ("claims", "facts", "on_loop"),
    [
        (1, 0, True),
        (LOOP_CLAIMS_MAX // 2, LOOP_CLAIMS_MAX // 2, True),
        (LOOP_CLAIMS_MAX // 2, LOOP_CLAIMS_MAX // 2 + 1, False),
        (CLAIMS_MAX, FACTS_MAX, False),
    ],
)
def test_work_over_many_claims_leaves_the_loop(
    claims: int, facts: int, on_loop: bool, threads: dict[str, bool]
) -> None:
    """Restating, the facts of the run and the report."""
    release = LargeRelease(claims, facts)

    with release.core:
        document = asyncio.run(release.play())

    assert threads == dict.fromkeys(("restate_all", "facts_beyond", "report_of"), on_loop)
    assert len(document.report.claims) == claims + facts


def test_a_closed_core_does_it_in_place() -> None:
    """A run that is ended by the close still says what it has found."""
    release = LargeRelease(CLAIMS_MAX, 0)
    release.core.close()

    async def where() -> threading.Thread:
        return await do_release_work(release.ctx, release.core, threading.current_thread, claims=CLAIMS_MAX)

    assert asyncio.run(where()) is threading.main_thread()


def test_an_error_of_the_work_is_raised_where_it_is_awaited() -> None:
    """As if it had been done in place."""
    release = LargeRelease(1, 0)

    async def work() -> None:
        with pytest.raises(ZeroDivisionError):
            await do_release_work(release.ctx, release.core, lambda: 1 // 0, claims=CLAIMS_MAX)

    with release.core:
        asyncio.run(work())


def test_a_host_that_cancels_gets_what_was_computed_and_its_cancel_afterwards() -> None:
    """The run has ended: what it is to publish is stored first, and the cancel meets the next wait."""
    begun, go_on = threading.Event(), threading.Event()
    stored: list[str] = []

    def work() -> str:
        begun.set()
        go_on.wait(10)
        return "the report"

    async def main(core: DiagnosisHarnessCore) -> None:
        ctx = core.start_run(session_id="s", timeout_s=60, limits=AMPLE)

        async def end_run() -> None:
            stored.append(await do_release_work(ctx, core, work, claims=CLAIMS_MAX))
            await asyncio.sleep(0)  # noqa: TID251 - a turn of the loop, no time

        task = asyncio.ensure_future(end_run())
        await asyncio.to_thread(begun.wait, 10)
        task.cancel()
        await asyncio.sleep(0)  # noqa: TID251 - a turn of the loop, no time
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelling() == 1

    with DiagnosisHarnessCore(clock=ManualClock(), ids=CountingIds()) as core:
        asyncio.run(main(core))
    assert stored == ["the report"]
