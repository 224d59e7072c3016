"""`diagnose keys` as a person types it, and a service that exports its traces."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from tests.support.command_line import Diagnose, command_runner
from tests.support.counting_server import Answer, Asked, CountingServer
from tests.support.live_service import run_server, submit

WAIT_S = 30.0


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which database the commands look into."""
    monkeypatch.setenv("DIAGNOSE_DATABASE__URL", str(tmp_path / "runs.db"))


@pytest.fixture
def diagnose(capfdbinary: pytest.CaptureFixture[bytes]) -> Diagnose:
    """One command line in this process."""
    return command_runner(capfdbinary)


def test_a_key_is_made_shown_once_used_and_revoked(
    diagnose: Diagnose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alone on standard output; of it only a hash is kept. Its holder sees their own runs."""
    with run_server(tmp_path, needs_key=True) as server:
        made = diagnose("keys", "add", "alice", "--role", "operator", "--rate", "600")
        key = made.out.strip()
        monkeypatch.setenv("DIAGNOSE_API_KEY", key)
        client = server.client(key)
        run_id = submit(client)["run_id"]
        server.wait_for_end(client, run_id)
        mine = diagnose("runs", "list", "--json", "--server", server.url)
        listed = diagnose("keys", "list")
        other = diagnose("keys", "add", "bob", "--role", "viewer").out.strip()
        revoked = diagnose("keys", "revoke", other.split("_")[1])
        refused = diagnose("runs", "list", "--server", server.url, "--key", other)

    assert made.code == 0
    assert key.startswith("dk_")
    assert len(made.out.splitlines()) == 1
    assert [json.loads(line)["run_id"] for line in mine.out.splitlines()] == [run_id]
    assert listed.out.splitlines()[1].split()[:4] == [key.split("_")[1], "alice", "operator", "600"]
    assert revoked.code == 0
    assert (refused.code, "A valid API key is required." in refused.err) == (2, True)
    secret = key.split("_")[2].encode()
    assert all(secret not in file.read_bytes() for file in tmp_path.glob("runs.db*"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["add", "alice", "--role", "king"], "choose one of viewer, operator, admin"),
        (["add", "local", "--role", "viewer"], "it is not a valid caller name"),
        (["add", "alerts", "--role", "viewer"], "it is not a valid caller name"),
        (["add", "a b", "--role", "viewer"], "it is not a valid caller name"),
        (["revoke", "123456789abc"], "There is no valid key 123456789abc"),
    ],
)
def test_a_key_that_cannot_be_is_one_sentence(diagnose: Diagnose, words: list[str], message: str) -> None:
    """With exit code 2. `local` is the caller on this machine, and a reserved name."""
    assert diagnose("keys", "add", "eve", "--role", "viewer").code == 0
    answer = diagnose("keys", *words)

    assert answer.code == 2
    assert message in answer.err
    assert answer.out == ""


def test_a_name_holds_one_valid_key(diagnose: Diagnose) -> None:
    """The name identifies the owner of runs, so a second valid key would be a second owner."""
    assert diagnose("keys", "add", "bob", "--role", "viewer").code == 0
    again = diagnose("keys", "add", "bob", "--role", "admin")

    assert again.code == 2
    assert "a valid key with this name exists" in again.err


def test_traces_are_exported_when_an_endpoint_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real service and a real backend on a socket: one request for one run, though the backend fails."""
    arrived = threading.Event()

    def answer(asked: Asked) -> Answer:
        arrived.set()
        return Answer(503, headers={"retry-after": "0"})

    with CountingServer(answer) as backend:
        monkeypatch.setenv("DIAGNOSE_TELEMETRY__ENDPOINT", backend.url)
        with run_server(tmp_path) as server:
            client = server.client()
            run = server.wait_for_end(client, submit(client)["run_id"])
            assert arrived.wait(WAIT_S)
        asked = list(backend.asked)

    assert run["status"] == "SUCCESS"
    assert [(each.method, each.path) for each in asked] == [("POST", "/v1/traces")]
