"""Runs over HTTP, against the whole service: ask, list, look, explain, cancel."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.requests import Request
from tests.support.live_service import QUESTION, RunningServer, problem, run_server, submit

from diagnosis_harness.audit.verification.result import Verification
from diagnosis_harness.audit.verification.verify import verify
from diagnosis_harness.server.routes.health import readyz
from diagnosis_harness.server.routes.run_results import TraceView, WhyView
from diagnosis_harness.server.routes.sessions import SessionView
from diagnosis_harness.server.run_view import CancelAnswerView, CancelView, RunView, WholeRunView
from diagnosis_harness.trace.json_lines import events_of


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One server for all tests here."""
    with run_server(tmp_path_factory.mktemp("runs")) as running:
        yield running


@pytest.fixture(scope="module", name="done")
def ask_for_conclusion(server: RunningServer) -> str:
    """A diagnosis that has ended with a conclusion."""
    client = server.client()
    run_id: str = submit(client, session_id="ses-done")["run_id"]
    assert server.wait_for_end(client, run_id)["outcome"] == "SUCCESS"
    return run_id


def test_a_question_is_queued_answered_and_kept(server: RunningServer) -> None:
    """202 with its address; the run is there at once, and ends with public content."""
    client = server.client()
    response = client.post("/v1/runs", json={"question": QUESTION, "limit_s": 60})
    assert response.status_code == 202
    body = response.json()
    assert response.headers["location"] == f"/v1/runs/{body['run_id']}"
    assert RunView.model_validate(body).status == "QUEUED"
    row = server.wait_for_end(client, body["run_id"])
    assert (row["status"], row["outcome"], row["intent"]) == ("SUCCESS", "SUCCESS", "DIAGNOSIS")
    assert row["content"]["kind"] == "DIAGNOSIS"
    WholeRunView.model_validate(row)


def test_a_question_that_is_sent_again_with_its_key_is_one_run(server: RunningServer) -> None:
    """A client whose answer did not come sends again, and had two runs: it is one, also when it has ended."""
    client = server.client(**{"idempotency-key": "of this question"})
    first = client.post("/v1/runs", json={"question": QUESTION})
    run_id = first.json()["run_id"]

    again = [client.post("/v1/runs", json={"question": QUESTION})]
    server.wait_for_end(client, run_id)
    again.append(client.post("/v1/runs", json={"question": QUESTION}))
    other = client.post("/v1/runs", json={"question": "Why is payment slow?"})
    stranger = server.client(server.key("cleo"), **{"idempotency-key": "of this question"})
    theirs = stranger.post("/v1/runs", json={"question": QUESTION})

    assert first.status_code == 202
    assert [(each.status_code, each.json()["run_id"]) for each in again] == [(200, run_id)] * 2
    assert problem(other, 422, "invalid-input")["errors"][0]["field"] == "Idempotency-Key"
    assert theirs.status_code == 202
    assert theirs.json()["run_id"] != run_id


def test_without_a_session_id_one_is_made_and_a_blank_one_is_refused(server: RunningServer) -> None:
    """LC-11 over HTTP: absent is made, blank names field and remedy."""
    client = server.client()
    assert submit(client, "What can you do?")["session_id"].startswith("ses-")
    for blank in ("", "   ", "a b", "x" * 129):
        body = problem(
            client.post("/v1/runs", json={"question": "What can you do?", "session_id": blank}),
            422,
            "invalid-input",
        )
        assert body["errors"][0]["field"] == "session_id"
        assert "leave it out" in body["errors"][0]["remedy"]


def test_trying_the_same_run_again_twice_is_one_run(server: RunningServer, done: str) -> None:
    """Whoever presses the button twice joins the first: 200, the same run; later, a new one."""
    client = server.client()
    server.hold()
    first = submit(client, retry_of=done)
    second = client.post("/v1/runs", json={"question": QUESTION, "retry_of": done})
    server.let_go()
    assert (second.status_code, second.json()["run_id"]) == (200, first["run_id"])
    assert first["retry_of"] == done
    assert first["session_id"] == "ses-done"
    server.wait_for_end(client, first["run_id"])
    assert submit(client, retry_of=done)["run_id"] != first["run_id"]


def test_what_goes_on_is_not_tried_again(server: RunningServer) -> None:
    """409, with the time to look again."""
    client = server.client()
    server.hold()
    run_id = submit(client)["run_id"]
    response = client.post("/v1/runs", json={"question": QUESTION, "retry_of": run_id})
    server.let_go()
    problem(response, 409, "run-goes-on")
    assert int(response.headers["retry-after"]) > 0


# ---------------------------------------------------------------- listing


def test_runs_are_listed_in_pages_by_what_is_asked_for(server: RunningServer, done: str) -> None:
    """The latest first, page by page without a gap or a repeat; filters narrow, and none is passed over."""
    client = server.client()
    for _ in range(3):
        server.wait_for_end(client, submit(client, "What can you do?", session_id="ses-pages")["run_id"])
    seen: list[str] = []
    mark = None
    for _ in range(10):
        asked = {"session": "ses-pages", "limit": "2", **({"before": mark} if mark else {})}
        body = client.get("/v1/runs", params=asked).json()
        seen += [row["run_id"] for row in body["runs"]]
        mark = body["next"]
        if mark is None:
            break
    assert len(seen) == len(set(seen)) == 3
    everything = {row["run_id"] for row in client.get("/v1/runs", params={"limit": "200"}).json()["runs"]}
    assert {done, *seen} <= everything
    diagnoses = client.get("/v1/runs", params={"intent": "DIAGNOSIS", "outcome": "SUCCESS"}).json()["runs"]
    assert done in {row["run_id"] for row in diagnoses}
    assert all(row["intent"] == "DIAGNOSIS" for row in diagnoses)
    late = client.get("/v1/runs", params={"submitted_from": "2099-01-01T00:00:00Z"}).json()
    assert late == {"runs": [], "next": None}


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"limit": "0"}, "limit"),
        ({"limit": "201"}, "limit"),
        ({"limit": "many"}, "limit"),
        ({"status": "DONE"}, "status"),
        ({"before": "nonsense"}, "before"),
        ({"submitted_from": "yesterday"}, "submitted_from"),
        ({"session": "a b"}, "session"),
        ({"staus": "FAILED"}, "staus"),
    ],
)
def test_a_filter_that_cannot_be_used_is_refused_by_name(
    server: RunningServer, asked: dict[str, str], field: str
) -> None:
    """Also one that is spelled wrong: it does not quietly list everything."""
    body = problem(server.client().get("/v1/runs", params=asked), 422, "invalid-input")
    assert body["errors"][0]["field"] == field
    assert body["errors"][0]["remedy"]


# ---------------------------------------------------------------- looking


def test_the_trace_is_reported_as_a_timeline_and_as_json_lines(server: RunningServer, done: str) -> None:
    """Both hold the same events, without a gap."""
    client = server.client()
    trace = TraceView.model_validate(client.get(f"/v1/runs/{done}/trace").json())
    lines = client.get(f"/v1/runs/{done}/trace", params={"format": "jsonl"})
    assert lines.headers["content-type"].startswith("application/x-ndjson")
    events = events_of(lines.content)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [event.seq for event in trace.events] == [event.seq for event in events]
    assert sum(len(stretch.moments) for stretch in trace.timeline.stretches) == len(events)
    assert events[-1].name == "RUN_FINISHED"


def test_evidence_is_listed_and_each_record_hashes_to_its_digest(server: RunningServer, done: str) -> None:
    """The stored bytes are sent unchanged, with their digest as ETag, and 304 to a client that has them."""
    client = server.client()
    records = client.get(f"/v1/runs/{done}/evidence").json()["records"]
    assert records
    assert all("stored" not in record for record in records)
    for record in records:
        response = client.get(f"/v1/runs/{done}/evidence/{record['tool_call_id']}")
        stored = response.json()["stored"]
        assert f"sha256:{hashlib.sha256(stored.encode()).hexdigest()}" == record["digest"]
        assert response.headers["etag"] == f'"{record["digest"]}"'
        assert len(stored.encode()) == record["size_bytes"]
    again = client.get(
        f"/v1/runs/{done}/evidence/{records[0]['tool_call_id']}",
        headers={"if-none-match": f'W/"x", "{records[0]["digest"]}"'},
    )
    assert (again.status_code, again.content) == (304, b"")


def test_the_document_verifies_byte_for_byte(server: RunningServer, done: str) -> None:
    """What `diagnose verify` reads is what comes over HTTP; a byte less and it does not verify."""
    response = server.client().get(f"/v1/runs/{done}/document")
    assert response.headers["content-disposition"] == f'attachment; filename="{done}.json"'
    found: Verification = verify(response.content, file="run.json")
    assert found.verified
    assert not verify(response.content.replace(b"CPU", b"GPU", 1), file="run.json").verified


def test_the_report_is_markdown_with_footnotes_in_the_runs_language(server: RunningServer, done: str) -> None:
    """English for an English question, Chinese for a Chinese one, also for an answer without a report."""
    client = server.client()
    response = client.get(f"/v1/runs/{done}/report.md")
    assert response.headers["content-type"] == "text/markdown; charset=utf-8"
    assert response.text.startswith("# Why did the service become slow?")
    assert "[^1]: " in response.text
    spoken = submit(client, "你能做什么？")["run_id"]
    row = server.wait_for_end(client, spoken)
    text = client.get(f"/v1/runs/{spoken}/report.md").text
    assert row["content"]["text"].splitlines()[0][:10].replace("*", "") in text.replace("\\", "")


@pytest.mark.parametrize(("lang", "word"), [("en", "It was not a fallback"), ("zh", "不是兜底答复")])
def test_all_seven_questions_are_answered_in_words(
    server: RunningServer, done: str, lang: str, word: str
) -> None:
    """In the language asked for; each rests on places of the document (WH-01 over HTTP)."""
    body = WhyView.model_validate(server.client().get(f"/v1/runs/{done}/why", params={"lang": lang}).json())
    assert len(body.answers) == 7
    assert body.answers[0].says[0].startswith(word)
    assert all(answer.rests_on and answer.says for answer in body.answers)
    assert "background" in body.answers[5].says[0] or "后台" in body.answers[5].says[0]


def test_why_is_true_of_a_question_that_was_no_diagnosis(server: RunningServer) -> None:
    """It claims no conclusion from evidence and no previous turn."""
    client = server.client()
    run_id = submit(client, "What can you do?")["run_id"]
    server.wait_for_end(client, run_id)
    answers = {
        each["question"]: each for each in client.get(f"/v1/runs/{run_id}/why?lang=en").json()["answers"]
    }
    assert answers["FALLBACK"]["says"] == [
        "It was not a fallback: the question was answered and did not need a diagnosis."
    ]
    assert "SYSTEM_CHAT" in answers["STATUS_SUCCESS"]["says"][0]
    assert "Only a diagnosis" in answers["NO_PREVIOUS_TURN"]["says"][0]


def test_a_run_that_goes_on_says_so_and_has_neither_document_nor_report(server: RunningServer) -> None:
    """Seven answers as of now for why; 409 for what exists only at the end; trace and evidence so far."""
    client = server.client(**{"accept-language": "zh"})
    server.hold()
    try:
        run_id = submit(client)["run_id"]
        assert server.analyst.has_reached(run_id)
        body = client.get(f"/v1/runs/{run_id}/why").json()
        assert (body["status"], len(body["answers"])) == ("RUNNING", 7)
        assert body["says"] == "运行仍在进行；以下回答截至目前。"
        assert body["answers"][0]["says"] == ["运行仍在进行。", "还没有答案，因此也没有兜底答复。"]
        for part in ("document", "report.md"):
            body = problem(client.get(f"/v1/runs/{run_id}/{part}"), 409, "run-goes-on")
            assert body["title"].startswith("运行")
        assert client.get(f"/v1/runs/{run_id}/trace").json()["is_closed"] is False
        assert client.get(f"/v1/runs/{run_id}/evidence").json()["records"] == []
        assert client.get(f"/v1/runs/{run_id}").json()["content"] is None
    finally:
        server.let_go()


# ---------------------------------------------------------------- cancelling


def test_a_running_run_is_cancelled_and_says_what_was_in_flight(server: RunningServer) -> None:
    """The answer has it: stopped now, by this cancel; a second one changes nothing."""
    client = server.client()
    server.hold()
    try:
        run_id = submit(client)["run_id"]
        assert server.analyst.has_reached(run_id)
        response = client.post(f"/v1/runs/{run_id}/cancel")
        assert response.status_code == 200
        body = CancelView.model_validate(response.json())
        assert body.effect == "STOPPED"
        answer = CancelAnswerView.model_validate(body.answer)
        assert (answer.changed, answer.state, answer.reason) == (True, "CANCELLED", "USER_REQUESTED")
        row = server.wait_for_end(client, run_id)
    finally:
        server.let_go()
    assert (row["status"], row["outcome"], row["content"]) == ("CANCELLED", "CANCELLED", None)
    assert row["failure"]["code"] == "RUN_CANCELLED"
    assert client.post(f"/v1/runs/{run_id}/cancel").json()["effect"] == "ENDED_BEFORE"


def test_cancelling_what_has_ended_changes_nothing(server: RunningServer, done: str) -> None:
    """200, and it says so."""
    client = server.client()
    before = client.get(f"/v1/runs/{done}").json()
    assert client.post(f"/v1/runs/{done}/cancel").json()["effect"] == "ENDED_BEFORE"
    assert client.get(f"/v1/runs/{done}").json() == before


# ---------------------------------------------------------------- sessions


def test_a_session_shows_its_turns_in_order_and_what_the_next_one_gets(server: RunningServer) -> None:
    """The oldest first; the published result of the last diagnosis, or why there is none."""
    client = server.client()
    session = {"session_id": "ses-told"}
    first = submit(client, "What can you do?", **session)["run_id"]
    server.wait_for_end(client, first)
    body = SessionView.model_validate(client.get("/v1/sessions/ses-told").json())
    assert (body.next_turn.objection, body.next_turn.run_id) == ("NO_DIAGNOSIS", None)
    assert "no diagnosis" in body.next_turn.says
    second = submit(client, **session)["run_id"]
    server.wait_for_end(client, second)
    body = SessionView.model_validate(client.get("/v1/sessions/ses-told").json())
    assert [turn.run_id for turn in body.turns] == [first, second]
    assert body.turns[1].conclusion
    assert (body.next_turn.objection, body.next_turn.run_id) == (None, second)
    assert body.next_turn.published_result["conclusion"] == body.turns[1].conclusion
    page = client.get("/v1/sessions/ses-told", params={"limit": 1}).json()
    assert [turn["run_id"] for turn in page["turns"]] == [second]
    older = client.get("/v1/sessions/ses-told", params={"limit": 1, "before": page["next"]}).json()
    assert [turn["run_id"] for turn in older["turns"]] == [first]


# ---------------------------------------------------------------- health


def test_health_readiness_and_metrics_are_reported(server: RunningServer, done: str) -> None:
    """A process that works says so; what it counts has no text of any question."""
    client = server.client()
    assert client.get("/healthz").json() == {"status": "ok"}
    ready = client.get("/readyz")
    parts = ("database", "evidence", "queue", "sources", "background", "log")
    checks = dict.fromkeys(parts, "ok")
    assert (ready.status_code, ready.json()["checks"]) == (200, checks)
    text = client.get("/metrics").text
    assert 'diagnosis_runs_total{fallback="NONE",intent="DIAGNOSIS",outcome="SUCCESS"}' in text
    assert 'diagnosis_guard_reports_total{guard="evidence_initial",status="SUCCEEDED"}' in text
    assert "diagnosis_store_up 1.0" in text
    assert "slow" not in text
    assert done not in text


def test_a_process_that_should_take_runs_and_does_not_is_not_ready(tmp_path: Path) -> None:
    """503, and what is missing: it is stopping, or its queue does not work."""
    with run_server(tmp_path, works=False) as server:
        state = replace(server.app_state, service=replace(server.service, takes_runs=True))
        asked = Request({"type": "http", "state": {}})
        response = server.inside(lambda: readyz(state, asked))
        content = json.loads(bytes(response.body))
        assert (response.status_code, content["status"]) == (503, "not ready")
        assert "takes no runs" in content["checks"]["queue"]


def test_a_process_whose_care_has_ended_is_not_ready(tmp_path: Path) -> None:
    """503, and what has failed: otherwise nobody would notice that the process is useless."""
    with run_server(tmp_path, works=False) as server:
        server.inside(lambda: _cancel_while_it_waits("heartbeat"))
        ready = server.client().get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (503, "not ready")
        assert ready.json()["checks"]["background"] == "heartbeat has ended"


async def _cancel_while_it_waits(name: str) -> None:
    (task,) = (task for task in asyncio.all_tasks() if task.get_name() == name)
    task.cancel()
    await asyncio.wait([task])


def test_a_run_that_is_cancelled_while_it_is_queued_is_counted(tmp_path: Path) -> None:
    """No process works on it, and the one that ends it counts it, once."""
    with run_server(tmp_path, works=False) as server:
        client = server.client()
        run_id = submit(client)["run_id"]
        for _ in range(2):
            client.post(f"/v1/runs/{run_id}/cancel")
        counted = 'diagnosis_runs_total{fallback="NONE",intent="NONE",outcome="CANCELLED"} 1.0'
        assert counted in client.get("/metrics").text


def test_a_process_that_leaves_runs_to_others_is_ready_and_says_so(tmp_path: Path) -> None:
    """As `diagnose serve --no-work`: runs are queued all the same, and a queued one is cancelled at once."""
    with run_server(tmp_path, works=False) as server:
        client = server.client()
        assert client.get("/healthz").status_code == 200
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "ready")
        assert ready.json()["checks"]["queue"] == "left to other processes"
        run_id = submit(client)["run_id"]
        body = client.get(f"/v1/runs/{run_id}/why?lang=en").json()
        assert (body["status"], body["says"].startswith("The run is queued")) == ("QUEUED", True)
        assert len(body["answers"]) == 7
        assert client.post(f"/v1/runs/{run_id}/cancel").json()["effect"] == "NEVER_STARTED"
        why = client.get(f"/v1/runs/{run_id}/why?lang=en").json()
        assert len(why["answers"]) == 7
        document = json.loads(client.get(f"/v1/runs/{run_id}/document").content)
        assert document["release"]["outcome"] == "CANCELLED"
