"""`--json` on a terminal: it says the same as in a pipe, and nothing in it can steer the terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support.live_service import run_server, submit

from diagnosis_harness.report.timestamps import escape_line

PLAIN = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "COLUMNS": "100", "OMP_NUM_THREADS": "1"}
HOSTILE = "Why did the service become slow? \u009b31m \u202e evil \u2066 \u200f \u0085 \u2028 \x7f end"
CLI = Path(__file__).parents[2] / "src" / "diagnosis_harness" / "cli"


@dataclass(frozen=True, slots=True)
class Kept:
    """A run whose question steers terminals, and what is needed to look at it."""

    folder: Path
    run_id: str
    document: Path
    url: str


@pytest.fixture(scope="module", name="kept")
def service_with_runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    """The service, which goes on."""
    folder = tmp_path_factory.mktemp("service")
    with run_server(folder) as server:
        client = server.client()
        run_id = submit(client, HOSTILE)["run_id"]
        server.wait_for_end(client, run_id)
        document = folder / "run.json"
        document.write_bytes(client.get(f"/v1/runs/{run_id}/document").content)
        yield Kept(folder, run_id, document, server.url)


def command(kept: Kept, *words: str) -> list[str]:
    """A command line; RUN and FILE are this run and its document."""
    meant = {"RUN": kept.run_id, "FILE": str(kept.document), "URL": kept.url}
    settings = ["--settings", str(kept.folder / "settings.toml")]
    return [sys.executable, "-m", "diagnosis_harness", *settings, *(meant.get(word, word) for word in words)]


def in_a_pipe(line: list[str]) -> str:
    """What the command prints into a pipe."""
    return subprocess.run(line, capture_output=True, check=False, env=PLAIN).stdout.decode()


def on_a_terminal(line: list[str]) -> str:
    """What the command prints where its standard output is a terminal."""
    ours, its = os.openpty()
    with subprocess.Popen(line, stdout=its, stderr=subprocess.DEVNULL, env=PLAIN):
        os.close(its)
        output = b""
        while True:
            try:
                part = os.read(ours, 65_536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            output += part
    os.close(ours)
    return output.decode().replace("\r\n", "\n")


@pytest.mark.parametrize(
    "words",
    [
        ("runs", "list", "--server", "URL", "--json"),
        ("runs", "trace", "RUN", "--json"),
        ("why", "FILE", "--json"),
    ],
    ids=" ".join,
)
def test_json_on_a_terminal_says_the_same_and_steers_nothing(kept: Kept, words: tuple[str, ...]) -> None:
    """The person who asked may differ from the reader. All commands print through one of these functions."""
    line = command(kept, *words)

    piped, seen = in_a_pipe(line), on_a_terminal(line)

    assert values(seen) == values(piped)
    assert [c for c in seen if c != "\n" and escape_line(c) != c] == []


def values(text: str) -> list[object]:
    """The JSON values of an output: one, or one a line."""
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.split("\n") if line]


def test_no_command_prints_json_by_another_way() -> None:
    """One place writes JSON to the standard output; `bench` writes a file."""
    files = {file.name for file in CLI.rglob("*.py") if "json.dumps" in file.read_text(encoding="utf-8")}

    assert files == {"output.py", "bench.py"}
