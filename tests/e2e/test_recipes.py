"""The recipes give folders that are diagnosed without an incident.toml: answers as each tool writes them.

The shapes are those of Prometheus 2.42, kubectl, Alertmanager, Helm, Argo CD, Loki, Jaeger, Grafana, git.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.support.command_line import Diagnose, command_runner

START = datetime(2026, 5, 6, 8, 0, tzinfo=UTC)
TROUBLE = 70  # minutes after the start
LAST = 90
POD = "checkout-7d9f5c6b8-abc12"
DOCS = Path(__file__).parents[2] / "docs"


def iso(minute: int) -> str:
    """A time as text, in UTC and without a zone."""
    return (START + timedelta(minutes=minute)).strftime("%Y-%m-%dT%H:%M:%S")


def epoch_s(minute: int) -> int:
    """The same in seconds since the epoch."""
    return int((START + timedelta(minutes=minute)).timestamp())


def answer_of_prometheus() -> object:
    """`query_range`: one service slows down, one does not."""
    result = [
        {
            "metric": {"service": service},
            "values": [
                [epoch_s(minute), "2.1" if service == "checkout" and minute >= TROUBLE else "0.1"]
                for minute in range(LAST)
            ],
        }
        for service in ("checkout", "cart")
    ]
    return {"status": "success", "data": {"resultType": "matrix", "result": result}}


def list_of(*items: object) -> object:
    """What `kubectl get -o json` prints."""
    return {"apiVersion": "v1", "kind": "List", "items": list(items)}


def kubernetes_event() -> object:
    """An event of a pod."""
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "a", "namespace": "shop"},
        "involvedObject": {"kind": "Pod", "name": POD, "namespace": "shop"},
        "reason": "BackOff",
        "message": "Back-off restarting failed container",
        "type": "Warning",
        "firstTimestamp": f"{iso(70)}Z",
        "lastTimestamp": f"{iso(71)}Z",
        "count": 2,
    }


def kubernetes_pod() -> object:
    """A pod that does not come up."""
    waiting = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": POD, "namespace": "shop", "creationTimestamp": f"{iso(0)}Z"},
        "status": {
            "phase": "Running",
            "startTime": f"{iso(0)}Z",
            "containerStatuses": [{"name": "app", "ready": False, "restartCount": 3, "state": waiting}],
        },
    }


def argo_application() -> object:
    """An application with one deployment."""
    history = [{"id": 1, "revision": "abc123", "deployedAt": f"{iso(66)}Z", "source": {"repoURL": "x"}}]
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": "checkout", "namespace": "argocd"},
        "status": {"history": history, "sync": {"status": "Synced"}, "health": {"status": "Healthy"}},
    }


def alert() -> object:
    """An alert as `/api/v2/alerts` lists it."""
    return {
        "annotations": {"summary": "p95 above 1 s"},
        "startsAt": f"{iso(72)}Z",
        "endsAt": f"{iso(95)}Z",
        "updatedAt": f"{iso(72)}Z",
        "fingerprint": "a",
        "receivers": [{"name": "team"}],
        "status": {"inhibitedBy": [], "silencedBy": [], "state": "active"},
        "labels": {"alertname": "HighLatency", "service": "checkout"},
    }


def trace_of_jaeger(minute: int) -> object:
    """A trace of one span."""
    span = {
        "traceID": f"{minute:04x}",
        "spanID": "1",
        "operationName": "POST /buy",
        "references": [],
        "startTime": epoch_s(minute) * 1_000_000,
        "duration": 100_000,
        "tags": [],
        "logs": [],
        "processID": "p1",
    }
    processes = {"p1": {"serviceName": "checkout", "tags": []}}
    return {"traceID": f"{minute:04x}", "spans": [span], "processes": processes}


def lines_of_a_pod() -> str:
    """`kubectl logs --timestamps`."""
    return "".join(
        f"{iso(minute)}.123456789Z {'ERROR pool exhausted' if minute >= TROUBLE else 'INFO served'}\n"
        for minute in range(LAST)
    )


def lines_of_logcli() -> str:
    """`logcli query -o jsonl`."""
    records = (
        {"labels": {"app": "checkout", "pod": POD}, "line": "ERROR pool", "timestamp": f"{iso(minute)}.12Z"}
        for minute in range(TROUBLE, LAST)
    )
    return "".join(f"{json.dumps(record)}\n" for record in records)


def answer_of_loki() -> object:
    """`query_range` of Loki."""
    values = [[f"{epoch_s(minute)}000000000", "ERROR pool"] for minute in range(TROUBLE, LAST)]
    result = [{"stream": {"app": "checkout"}, "values": values}]
    return {"status": "success", "data": {"resultType": "streams", "result": result, "stats": {}}}


def panel_of_grafana() -> str:
    """*Download CSV* with formatted values."""
    rows = (
        f'"{iso(minute).replace("T", " ")}","{"2.10 s" if minute >= TROUBLE else "111 ms"}","100 ms"\n'
        for minute in range(LAST)
    )
    return '"Time","checkout","cart"\n' + "".join(rows)


def helm_history() -> object:
    """`helm history -o json`."""
    return [
        {"revision": 1, "updated": f"{iso(0)}.1Z", "status": "superseded", "chart": "checkout-1.0.0"},
        {"revision": 2, "updated": f"{iso(66)}.1Z", "status": "deployed", "chart": "checkout-1.1.0"},
    ]


GIT_LOG = """commit 0123456789abcdef0123456789abcdef01234567
Author: Ada <ada@example.org>
Date:   Wed May 6 09:05:00 2026 +0000

    Move the report to the primary
"""

FILES: Mapping[str, tuple[str, Callable[[], object]]] = {
    "latency_p95_s.json": ("metrics", answer_of_prometheus),
    "checkout p95 latency.csv": ("metrics", panel_of_grafana),
    "events.json": ("events", lambda: list_of(kubernetes_event())),
    "pods.json": ("states", lambda: list_of(kubernetes_pod())),
    f"{POD}.log": ("logs", lines_of_a_pod),
    "helm-checkout.json": ("changes", helm_history),
    "argo.json": ("changes", lambda: list_of(argo_application())),
    "changes-checkout.txt": ("changes", lambda: GIT_LOG),
    "alerts.json": ("alert", lambda: [alert()]),
    "logs.jsonl": ("logs", lines_of_logcli),
    "loki.json": ("logs", answer_of_loki),
    "jaeger.json": ("traces", lambda: {"data": [trace_of_jaeger(minute) for minute in range(LAST)]}),
}
"""What each recipe writes, and what it must be read as."""


@pytest.fixture
def diagnose(capfdbinary: pytest.CaptureFixture[bytes]) -> Diagnose:
    """The command line in this process."""
    return command_runner(capfdbinary)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with what all recipes write."""
    for name, (_, make) in FILES.items():
        content = make()
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_every_recipe_gives_a_file_that_is_read_as_it_is(diagnose: Diagnose, folder: Path) -> None:
    """Nothing is left out, and everything is read as what it is."""
    look = json.loads(diagnose("look", str(folder), "--json").out)

    assert {file["name"]: file["role"] for file in look["files"]} == {
        name: role for name, (role, _) in FILES.items()
    }
    assert [service["name"] for service in look["services"]] == ["cart", "checkout"]
    assert look["obstacle"] is None


@pytest.mark.parametrize("name", sorted(name for name, (role, _) in FILES.items() if role == "metrics"))
def test_the_metrics_of_a_recipe_are_diagnosed_without_settings(
    diagnose: Diagnose, folder: Path, name: str
) -> None:
    """Alone in a folder, the export shows which service slowed down."""
    for other in FILES:
        if other != name:
            (folder / other).unlink()

    shown = diagnose("ask", "Why is checkout slow?", "--from", str(folder))

    assert shown.code in (0, 3)
    assert "checkout" in shown.out
    assert "2.1 s" in shown.out


def test_the_two_pages_give_the_same_commands() -> None:
    """The Chinese page is the same page."""
    blocks = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    english, chinese = (
        blocks.findall((DOCS / name).read_text(encoding="utf-8")) for name in ("recipes.md", "recipes.zh.md")
    )
    assert english[1:] == chinese[1:]  # the first asks a question, each in its language
    assert len(english) > 8
