"""A question that is accepted while the queue cannot be reached."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.support.scripted_chat import open_chat

from diagnosis_harness.adapters.queue.local_queue import LocalRunQueue
from diagnosis_harness.application.callers.caller import LOCAL
from diagnosis_harness.application.runs.run_service import RunService, RunsSettings
from diagnosis_harness.application.runs.sources import Lane
from diagnosis_harness.application.runs.submission import Submission, SubmissionRules
from diagnosis_harness.application.runs.supervisor import RecoverySettings, RunSupervisor
from diagnosis_harness.kernel.errors import FailureKind, StoreFailure


class AwayQueue(LocalRunQueue):
    """A queue that takes nothing at first, and what is put again."""

    async def put(self, run_id: str, lane: Lane) -> None:
        """Say that it cannot."""
        raise StoreFailure(f"{run_id} was not put", kind=FailureKind.UNAVAILABLE)

    async def requeue(self, run_id: str, lane: Lane) -> bool:
        """Take it."""
        await super().put(run_id, lane)
        return True


def test_a_run_that_could_not_be_put_into_the_queue_is_accepted_and_put_there_later(tmp_path: Path) -> None:
    """Its row is kept and it will run, so the caller must not get an error."""

    async def story() -> None:
        async with open_chat(tmp_path) as kept:
            queue = AwayQueue()
            rules = SubmissionRules(sources=(), limit_s=60.0, limit_max_s=60.0, start_within_s=300.0)
            archive, active = kept.stores.archive, kept.stores.active
            settings = RunsSettings(rules, unfinished_max=2)
            runs = RunService(
                kept.core, archive=archive, queue=queue, active=active, owner="me", settings=settings
            )
            care = RunSupervisor(
                kept.core, kept.stores, recovery=kept.recovery, queue=queue, settings=RecoverySettings()
            )
            run_id = (await runs.submit(LOCAL, Submission(question="why?"))).row.run_id
            kept.clock.advance(11.0)
            assert (await care.recover()).requeued == (run_id,)

    asyncio.run(story())
