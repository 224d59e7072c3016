"""`/v1/sources` over HTTP: what callers send, who may ask about it, and what is refused."""

from __future__ import annotations

import gzip
import resource
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.archives import METRICS, tar_of, zip_of
from tests.support.live_service import QUESTION, RunningServer, problem, run_server, submit
from tests.support.sent_sources import GZIP, SMALL, ZIP, send, send_source

from diagnosis_harness.simulator.faults import FaultKind
from diagnosis_harness.simulator.folder import simulate_folder

MANY = zip_of({f"{number}.csv": "x" for number in range(10_000)})


@pytest.fixture(scope="module")
def incident(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A whole incident as a tar archive, packed with gzip."""
    parent = tmp_path_factory.mktemp("sent")
    folder = simulate_folder(FaultKind.CPU, seed=3, parent=parent).folder
    return Path(shutil.make_archive(str(parent / "sent"), "gztar", parent, folder.name)).read_bytes()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that takes little, so that its limits are soon reached."""
    folder = tmp_path_factory.mktemp("server")
    limits = {
        "bytes_max": 2_000_000,
        "unpacked_bytes_max": 20_000_000,
        "caller_sources_max": 3,
        "timeout_s": 5.0,
        "folder": str(folder / "unpacked"),
    }
    with run_server(folder, uploads=limits) as running:
        yield running


@pytest.fixture
def server(running: RunningServer) -> Iterator[RunningServer]:
    """The server, which keeps nothing from one test to the next."""
    yield running
    client = running.client()
    for each in client.get("/v1/sources").json()["sources"]:
        assert client.delete(f"/v1/sources/{each['source_id']}").status_code == 204


def test_a_source_is_sent_looked_at_asked_about_and_deleted(server: RunningServer, incident: bytes) -> None:
    """The answer says what was read in it, and a question about it is answered from it."""
    client = server.client()
    response = send(client, incident, GZIP, name="故障.tgz")
    body = response.json()
    assert response.headers["location"] == f"/v1/sources/{body['source_id']}"
    assert (body["name"], body["size_bytes"]) == ("故障.tgz", len(incident))
    assert {each["role"] for each in body["files"]} == {"metrics", "traces", "logs", "changes", "topology"}
    assert "latency_p90" in body["signals"]
    assert "web" in body["services"]
    assert body["missing"] == ["baseline"]
    assert client.get(response.headers["location"]).json() == body
    assert client.get("/v1/sources").json() == {"sources": [body]}
    row = server.wait_for_end(client, submit(client, source=body["source_id"])["run_id"])
    assert (row["source"], row["outcome"]) == (body["source_id"], "SUCCESS")
    asked = {"question": QUESTION, "source": body["source_id"]}
    assert "event: done" in client.post("/v1/chat", json=asked).text
    assert client.delete(response.headers["location"]).status_code == 204
    problem(client.get(response.headers["location"]), 404, "source-not-found")
    problem(client.delete(response.headers["location"]), 404, "source-not-found")
    problem(client.post("/v1/runs", json=asked), 404, "source-not-found")
    problem(client.post("/v1/chat", json=asked), 404, "source-not-found")
    assert client.get("/v1/sources").json() == {"sources": []}


@pytest.mark.parametrize(
    ("content", "kind", "name", "status", "slug", "message"),
    [
        (b"", ZIP, None, 422, "invalid-input", "it is empty"),
        (SMALL[:-30], ZIP, None, 422, "invalid-input", "not a complete archive"),
        (SMALL, "multipart/form-data; boundary=x", None, 415, "unsupported-source", "--data-binary"),
        (SMALL, "application/x-www-form-urlencoded", None, 415, "unsupported-source", "--data-binary"),
        (SMALL, "zip", None, 415, "unsupported-source", "--data-binary"),
        (b"x" * 2_000_001, ZIP, None, 413, "too-large", ""),
        (zip_of({"m.csv": "0" * 20_000_001}), ZIP, None, 422, "invalid-input", "unpacks to more than 20 MB"),
        (
            zip_of({f"{n}.csv": "x" for n in range(10_000)}),
            ZIP,
            None,
            422,
            "invalid-input",
            "more than 1,000",
        ),
        (METRICS.encode(), "text/csv", "..", 422, "invalid-input", "not the name of a file"),
        (METRICS.encode(), "text/csv", "x" * 201, 422, "invalid-input", "at most 200"),
        (b"\x89PNG", "application/octet-stream", None, 422, "invalid-input", "PNG"),
        (
            tar_of({"metrics.csv": METRICS, "incident.toml": '[baseline]\nfolder = "/etc"\n'}),
            *(GZIP, None, 422, "invalid-input", "outside the upload"),
        ),
    ],
    ids=range(12),
)
def test_what_cannot_be_taken_is_a_problem(
    server: RunningServer, content: bytes, kind: str, name: str | None, status: int, slug: str, message: str
) -> None:
    """It says what is wrong and what to do, and leaves nothing behind."""
    client = server.client()
    body = problem(send(client, content, kind, name=name), status, slug)
    assert message in body.get("detail", "")
    assert client.get("/v1/sources").json() == {"sources": []}
    nothing_is_left(server)


def nothing_is_left(server: RunningServer) -> None:
    """No file that arrived is kept, whole or not."""
    assert not list(folder_of(server).rglob("arriving-*"))


def folder_of(server: RunningServer) -> Path:
    """Where the server unpacks."""
    file = server.service.uploads.folders.new_file()
    file.unlink()
    return file.parent


@pytest.mark.parametrize(
    ("content", "kind", "name", "read_as"),
    [
        (METRICS.encode(), "text/csv", None, "upload.csv"),
        (METRICS.encode(), "text/csv; charset=utf-8", "指标.csv", "指标.csv"),
        (METRICS.encode(), "application/octet-stream", "../../metrics.csv", "metrics.csv"),
        (gzip.compress(METRICS.encode()), GZIP, "metrics.csv.gz", "metrics.csv.gz"),
        (tar_of({"a/指标.csv": METRICS}, mode="w"), "application/x-tar", None, "指标.csv"),
        (zip_of({"../../指标.csv": METRICS}), ZIP, "x.tar", "指标.csv"),
    ],
)
def test_one_file_or_any_archive_is_taken(
    server: RunningServer, content: bytes, kind: str, name: str | None, read_as: str
) -> None:
    """An archive is known by its content, a file by its name and its content."""
    response = send(server.client(), content, kind, name=name)
    assert response.status_code == 201, response.text
    assert [each["name"] for each in response.json()["files"]] == [read_as]
    nothing_is_left(server)


def test_compressed_transfer_is_refused(server: RunningServer) -> None:
    """A body that the client packed once more would be kept as something else than it is."""
    response = send(server.client(), SMALL, **{"content-encoding": "gzip"})
    problem(response, 415, "unsupported-source")


def test_a_caller_has_so_many_and_no_more(server: RunningServer) -> None:
    """Whoever deletes one has room for another."""
    client = server.client()
    first, *_ = [send_source(client) for _ in range(3)]
    body = problem(send(client, SMALL), 429, "too-many-sources")
    assert body["limit"] == 3
    assert "DELETE /v1/sources" in body["detail"]
    assert client.delete(f"/v1/sources/{first['source_id']}").status_code == 204
    send_source(client)


def test_one_that_is_sent_again_under_its_key_is_the_same(server: RunningServer) -> None:
    """As after a timeout; other content under that key is refused."""
    client = server.client()
    first = send(client, SMALL, **{"idempotency-key": "k"})
    again = send(client, SMALL, **{"idempotency-key": "k"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    other = send(client, zip_of({"metrics.csv": METRICS.replace("shop", "cart")}), **{"idempotency-key": "k"})
    assert "already used for another source" in problem(other, 422, "invalid-input")["detail"]
    assert len(client.get("/v1/sources").json()["sources"]) == 1


@pytest.mark.parametrize("way", ["cut off", "silent", "too much"])
def test_a_body_that_does_not_come_whole_leaves_nothing(server: RunningServer, way: str) -> None:
    """The client goes in the middle, says nothing more, or sends more than it may without saying how much."""
    head = f"POST /v1/sources HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Type: {ZIP}\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        if way == "too much":
            connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
            parts = (b"186a0\r\n" + b"x" * 100_000 + b"\r\n" for _ in range(200))
            with pytest.raises(ConnectionError):  # the server stops reading
                connection.sendall(b"".join(parts))
        else:
            connection.sendall(f"{head}Content-Length: {len(SMALL)}\r\n\r\n".encode() + SMALL[:-1])
            if way == "silent":
                assert connection.recv(100).startswith(b"HTTP/1.1 408")
    client = server.client()
    assert client.get("/v1/sources").json() == {"sources": []}
    send_source(client)
    nothing_is_left(server)


@contextmanager
def a_full_disk() -> Iterator[None]:
    """No file may grow beyond 30 kB."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("content", [b"PK" + b"x" * 60_000, zip_of({"metrics.csv": METRICS * 100})])
def test_a_full_disk_is_named(server: RunningServer, content: bytes) -> None:
    """While it arrives, and while it is unpacked; afterwards the next one is taken."""
    client = server.client()
    with a_full_disk():
        body = problem(send(client, content), 503, "no-room-for-source")
    assert "uploads.folder" in body["detail"]
    nothing_is_left(server)
    send_source(client)


def test_a_source_that_is_deleted_during_a_run_is_used_to_its_end(
    server: RunningServer, incident: bytes
) -> None:
    """One that has not begun says in one sentence that it is gone."""
    client = server.client()
    source = send_source(client, incident, GZIP)["source_id"]
    server.hold()
    begun = submit(client, source=source)["run_id"]
    assert server.analyst.has_reached(begun)
    assert client.delete(f"/v1/sources/{source}").status_code == 204
    server.let_go()
    assert server.wait_for_end(client, begun)["outcome"] == "SUCCESS"
    why = client.post("/v1/runs", json={"question": QUESTION, "retry_of": begun})
    problem(why, 404, "source-not-found")


@pytest.mark.parametrize(
    "source_id", ["x", "shop", "upload-", f"upload-{'A' * 32}", "%00", "..%2f..", "x" * 199]
)
def test_an_id_that_cannot_be_one_is_not_found(server: RunningServer, source_id: str) -> None:
    """No store is asked for it."""
    for method in ("GET", "DELETE"):
        response = server.client().request(method, f"/v1/sources/{source_id}")
        assert response.status_code == 404


def test_a_pasted_alert_is_kept_whole(server: RunningServer) -> None:
    """Within a bound that the description states."""
    alert = f"Why is web slow? {'label=value ' * 4_000}".strip()
    assert 40_000 < len(alert) < 50_000
    client = server.client()
    row = server.wait_for_end(client, submit(client, alert, source="shop")["run_id"])
    assert (row["question"], row["outcome"]) == (alert, "SUCCESS")
    schema = client.get("/openapi.json").json()["components"]["schemas"]["Ask"]
    assert schema["properties"]["question"]["maxLength"] == 50_000
