"""A cancel over HTTP reaches a run of another process: its owner answers, or is yet to answer."""

from __future__ import annotations

from pathlib import Path

from tests.support.live_service import RunningServer, run_server, submit

from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.recovery import SqlRunRecovery
from diagnosis_harness.adapters.persistence.run_store import SqlRunStore
from diagnosis_harness.application.callers.caller import LOCAL
from diagnosis_harness.application.runs.request import RunKind
from diagnosis_harness.application.runs.submission import Submission
from diagnosis_harness.harness.retry_policy import HarnessRetryPolicies
from diagnosis_harness.testing.runs import AMPLE


def test_the_owner_of_a_run_answers_a_cancel_that_came_to_another_process(tmp_path: Path) -> None:
    """200 with what it stopped, within the time that the request waits."""
    with run_server(tmp_path) as owner, run_server(tmp_path, works=False) as other:
        owner.hold()
        run_id = submit(other.client())["run_id"]
        assert owner.analyst.has_reached(run_id)
        response = other.client().post(f"/v1/runs/{run_id}/cancel")
        body = response.json()
        assert (response.status_code, body["effect"]) == (200, "STOPPED")
        assert body["answer"]["reason"] == "USER_REQUESTED"
        assert other.wait_for_end(other.client(), run_id)["status"] == "CANCELLED"


def test_an_owner_that_does_not_answer_has_been_asked(tmp_path: Path) -> None:
    """202 after a bounded wait; the request is stored with the run."""
    with run_server(tmp_path, works=False) as server:
        run_id = server.inside(lambda: _begin_elsewhere(server, tmp_path))
        client = server.client()
        response = client.post(f"/v1/runs/{run_id}/cancel")
        body = response.json()
        assert (response.status_code, body["effect"], body["answer"]) == (202, "ASKED", None)
        assert body["run"]["cancel"]["reason"] == "USER_REQUESTED"
        assert response.elapsed.total_seconds() >= 1.4
        assert client.get(f"/v1/runs/{run_id}").json()["status"] == "RUNNING"


async def _begin_elsewhere(server: RunningServer, folder: Path) -> str:
    """A run of a process that lives and does not look at its cancels."""
    service = server.service
    request = await service.runs.request(LOCAL, Submission(question="why?", source="shop"), RunKind.CHAT)
    ctx = service.core.start_run(
        session_id=request.session_id,
        run_id=request.run_id,
        limits=AMPLE,
        retry_policies=HarnessRetryPolicies(),
        timeout_s=60.0,
    )
    at_s = service.core.clock.now_s()
    database = await Database.open(f"sqlite:///{folder / 'runs.db'}")
    try:
        await SqlRunRecovery(database).record_heartbeat("elsewhere", at_s=at_s)
        await SqlRunStore(database, owner="elsewhere").begin(ctx, request, owner="elsewhere", at_s=at_s)
    finally:
        await database.close()
    service.core.complete_failure(ctx, "only its row is wanted")
    return request.run_id
