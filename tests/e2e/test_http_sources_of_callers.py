"""Whose a source is, and how long: servers of their own, since one process works on one queue."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.live_service import QUESTION, problem, run_server, submit
from tests.support.sent_sources import SMALL, send, send_source

from diagnosis_harness.application.callers.caller import CallerRole


def failure_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Outcome and code."""
    return row["outcome"], row["failure"]["code"]


def test_a_source_of_another_caller_is_as_one_that_is_not_there(tmp_path: Path) -> None:
    """Byte for byte, but for the id of the request; also before an admin."""
    with run_server(tmp_path, needs_key=True) as server:
        ann, bob = server.client(server.key("ann")), server.client(server.key("bob"))
        root = server.client(server.key("root", CallerRole.ADMIN))
        viewer = server.client(server.key("viewer", CallerRole.VIEWER))
        mine = send_source(ann)["source_id"]
        absent = f"upload-{'0' * 32}"
        for other in (bob, root):
            assert other.get("/v1/sources").json() == {"sources": []}
            answers = []
            for source in (mine, absent):
                for response in (
                    other.get(f"/v1/sources/{source}"),
                    other.delete(f"/v1/sources/{source}"),
                    other.post("/v1/runs", json={"question": QUESTION, "source": source}),
                    other.post("/v1/chat", json={"question": QUESTION, "source": source}),
                ):
                    body = dict(problem(response, 404, "source-not-found"))
                    answers.append({name: body[name] for name in body if name != "instance"})
            assert all(answer == answers[0] for answer in answers)
        problem(send(viewer, SMALL), 403, "not-permitted")
        problem(viewer.delete(f"/v1/sources/{mine}"), 403, "not-permitted")
        problem(send(server.client(), SMALL), 401, "unauthenticated")
        run_id = submit(ann, source=mine)["run_id"]
        server.wait_for_end(ann, run_id)
        again = {"question": QUESTION, "retry_of": run_id}
        problem(root.post("/v1/runs", json=again), 404, "source-not-found")
        assert ann.post("/v1/runs", json=again).status_code == 202


def test_a_run_whose_source_expired_while_it_waited_says_so(tmp_path: Path) -> None:
    """In the language of the question; its source is removed from the database and cannot be asked about."""
    with run_server(tmp_path, works=False, uploads={"keep_s": 3.0}) as asked:
        client = asked.client()
        source = send_source(client)["source_id"]
        runs = [submit(client, source=source, language=language)["run_id"] for language in ("en", "zh")]
        while client.get(f"/v1/sources/{source}").status_code == 200:
            pass
        with run_server(tmp_path):
            rows = [asked.wait_for_end(client, run_id) for run_id in runs]
        problem(
            client.post("/v1/runs", json={"question": QUESTION, "source": source}), 404, "source-not-found"
        )
    assert [failure_of(row) for row in rows] == [("FAILED", "SOURCE_EXPIRED")] * 2
    assert "had expired or was deleted" in rows[0]["failure"]["message"]
    assert "请重新上传" in rows[1]["failure"]["message"]
