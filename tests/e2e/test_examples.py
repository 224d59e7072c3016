"""The examples run as they are printed, against real processes."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from tests.support.live_service import RunningServer, run_server

from diagnosis_harness.server.problems import ALERT_PATHS
from diagnosis_harness.simulator.faults import FaultKind
from diagnosis_harness.simulator.folder import simulate_folder

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated incident with a known cause."""
    return simulate_folder(FaultKind.CPU, seed=1, parent=tmp_path_factory.mktemp("incident")).folder


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """The whole service over another one."""
    with run_server(tmp_path_factory.mktemp("service")) as server:
        yield server


def run_example(name: str, *arguments: str) -> str:
    """What the example prints; it must end with exit code 0."""
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=100).stdout


def test_an_own_tool_is_believed_and_an_invented_claim_is_not() -> None:
    """Of the two claims of its policy the one that the tool observed is released."""
    assert run_example("own_tool.py").splitlines() == [
        "FALLBACK",
        "No conclusion: the evidence does not prove a cause.",
        "Statements verified against evidence: 1.",
        "- queue_depth of worker rose from 12 to 4,800 (400 times) between 2024-01-01 14:05 and 14:15 UTC.",
        "暂无结论：现有证据不足以证明原因。",
        "已对照证据核实的陈述：1 条。",
        "- 2024-01-01 14:05 至 14:15 UTC，worker 的 queue_depth 从 12 升到 4,800（400 倍）。",
    ]


def test_an_own_policy_concludes_over_a_folder(folder: Path) -> None:
    """Its cause is released, with the two claims that carry it."""
    outcome, summary, tested, caused, changed = run_example("own_policy.py", str(folder)).splitlines()

    name = outcome.removeprefix("SUCCESS ")
    assert name in summary
    assert tested.startswith("Not tested: ")
    assert caused.startswith("- What ")
    assert f"starts at {name}" in caused
    assert name in changed


def test_the_application_answers_and_streams(folder: Path) -> None:
    """A report, the steps of a run, and a refusal with a reason."""
    with fastapi_app(folder) as url, httpx2.Client(base_url=url, timeout=60) as client:
        report = client.get("/ask", params={"question": "Why did the alert fire?"})
        steps = client.get("/watch", params={"question": "Why did the alert fire?"}).text.splitlines()
        refused = client.get("/watch", params={"question": " "})

    assert report.text.startswith("# Why did the alert fire?\n")
    assert steps[0] == "STAGE DIAGNOSIS_RUNNING"
    assert "TOOL_FINISHED rank_causes" in steps
    assert (refused.status_code, refused.text[:9]) == (422, "question:")


@contextmanager
def fastapi_app(folder: Path) -> Iterator[str]:
    """The application as a process, at a free port; its address."""
    command = [sys.executable, str(EXAMPLES / "fastapi_app.py"), str(folder), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            address = (re.search(r"running on (http://\S+)", line) for line in process.stderr)
            yield next(found[1] for found in address if found)
        finally:
            process.terminate()


def test_the_client_shows_the_stages_and_the_answer(service: RunningServer) -> None:
    """Against a service of its own."""
    printed = run_example("http_client.py", "Why did the alert fire?", "--url", service.url)

    assert printed.startswith("run run-")
    assert "... DIAGNOSIS_RUNNING\n" in printed
    assert '"kind": "DIAGNOSIS"' in printed


def test_the_webhook_is_answered_with_a_run_whose_report_is_read(service: RunningServer) -> None:
    """As a notification of Alertmanager would be."""
    printed = run_example("alertmanager_webhook.py", "--url", service.url)

    assert '"did": "SUBMITTED"' in printed
    assert "# Alert firing: HighLatency" in printed


def test_the_example_of_alertmanager_sends_to_the_path_that_takes_alerts() -> None:
    """A copy of the example reaches the webhook and also sends resolved alerts."""
    lines = (EXAMPLES / "alertmanager.yml").read_text(encoding="utf-8").splitlines()
    (url,) = (line.split("url: ")[1] for line in lines if "url: " in line)

    assert urlsplit(url).path in ALERT_PATHS
    assert any(line.split("#")[0].strip() == "send_resolved: true" for line in lines)
