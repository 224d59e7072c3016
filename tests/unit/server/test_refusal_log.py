"""What failed and who was turned away can be found in the log by the id that the client was given."""

from __future__ import annotations

import asyncio
import logging
import re
from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send
from tests.support.live_service import run_server
from tests.support.memory_keys import NEW

from diagnosis_harness.application.callers.caller import CallerRole
from diagnosis_harness.kernel.errors import StoreFailure
from diagnosis_harness.kernel.store_trouble import StoreTrouble
from diagnosis_harness.server.error_middleware import ErrorMiddleware
from diagnosis_harness.server.metrics import Metrics
from diagnosis_harness.server.problem_response import send_problem
from diagnosis_harness.server.problems import Problem, ProblemKind, problem_of
from diagnosis_harness.server.refusal_log import LINES_PER_MINUTE, SUM_UP_AFTER_S
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds

LOGGER = "diagnosis_harness.server"


class Refusing:
    """An application that answers every request with one problem, behind the real edge."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.clock = ManualClock()
        self.ids: list[str] = []
        self._edge = ErrorMiddleware(self._refuse, ids=CountingIds(), metrics=Metrics(), clock=self.clock)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send_problem(scope, receive, send, self.problem)

    def ask(self, times: int = 1) -> None:
        """Ask so often."""
        for _ in range(times):
            asyncio.run(self._ask())

    async def _ask(self) -> None:
        async def take_message(message: object) -> None:
            if isinstance(message, dict) and message["type"] == "http.response.start":
                self.ids += [value.decode() for name, value in message["headers"] if name == b"x-request-id"]

        async def give_message() -> dict[str, object]:
            return {"type": "http.request"}

        scope: dict[str, object] = {
            "type": "http", "method": "GET", "path": f"/v1/{NEW.shown}", "client": ("192.0.2.7", 5),
            "headers": [(b"authorization", f"Bearer {NEW.shown}".encode())], "query_string": b"key=hunter2",
        }  # fmt: skip
        await self._edge(scope, give_message, take_message)


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the edge wrote."""
    return [record.getMessage() for record in caplog.records if record.name == LOGGER]


@pytest.mark.parametrize(
    "kind", [ProblemKind.STORE_UNAVAILABLE, ProblemKind.RUN_NOT_KEPT, ProblemKind.INTERNAL]
)
def test_every_5xx_leaves_a_line_with_its_request(
    kind: ProblemKind, caplog: pytest.LogCaptureFixture
) -> None:
    """However many: each of them is somebody's question that was not answered."""
    app = Refusing(Problem(kind))

    with caplog.at_level(logging.WARNING):
        app.ask(LINES_PER_MINUTE * 3)

    assert [re.search(r"request (\S+):", line)[1] for line in lines(caplog)] == app.ids  # type: ignore[index]  # it is there
    assert all(kind in line for line in lines(caplog))


def test_the_line_of_a_store_that_does_not_work_says_how(caplog: pytest.LogCaptureFixture) -> None:
    """The client learns which store failed; the log also has its message."""
    failure = StoreFailure("the disk of the database is full", trouble=StoreTrouble.DATABASE_FULL)

    with caplog.at_level(logging.WARNING):
        Refusing(problem_of(failure)).ask()

    (line,) = lines(caplog)
    assert "503 database-full" in line
    assert line.endswith("the disk of the database is full")


@pytest.mark.parametrize(
    "kind",
    [ProblemKind.UNAUTHENTICATED, ProblemKind.PROXIED, ProblemKind.NOT_PERMITTED, ProblemKind.TOO_MANY_RUNS],
)
def test_refusals_leave_lines_until_there_are_too_many(
    kind: ProblemKind, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever tries keys is seen and fills no disk."""
    app = Refusing(Problem(kind))

    with caplog.at_level(logging.WARNING):
        app.ask(LINES_PER_MINUTE + 70)
        assert len(lines(caplog)) == LINES_PER_MINUTE
        app.clock.advance(SUM_UP_AFTER_S)
        app.ask()

    assert len(lines(caplog)) == LINES_PER_MINUTE + 2
    assert app.ids[0] in lines(caplog)[0]
    assert app.ids[-1] in lines(caplog)[-1]
    assert "192.0.2.7" in lines(caplog)[0]


def test_refusals_without_a_line_are_counted_though_nobody_asks_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The storm may be over: a minute after the first line that was left out, the log says how many were.

    Each storm is counted alone, and each refusal once.
    """
    app = Refusing(Problem(ProblemKind.UNAUTHENTICATED))

    with caplog.at_level(logging.WARNING):
        for more in (70, 3):
            app.ask(LINES_PER_MINUTE + more)
            app.clock.advance(SUM_UP_AFTER_S - 0.1)
            assert "not written" not in lines(caplog)[-1]
            app.clock.advance(0.2)
            assert (
                lines(caplog)[-1] == f"{more} more refusals of the kind 401 unauthenticated were not written"
            )
            app.clock.advance(SUM_UP_AFTER_S * 3)

    assert sum("not written" in line for line in lines(caplog)) == 2


def test_refusals_of_each_kind_are_summed_up_alone(caplog: pytest.LogCaptureFixture) -> None:
    """One line for each kind, from one timer."""
    app = Refusing(Problem(ProblemKind.UNAUTHENTICATED))

    with caplog.at_level(logging.WARNING):
        app.ask(LINES_PER_MINUTE + 2)
        app.problem = Problem(ProblemKind.NOT_PERMITTED)
        app.ask(LINES_PER_MINUTE + 5)
        app.clock.advance(SUM_UP_AFTER_S)

    assert [line for line in lines(caplog) if "not written" in line] == [
        "2 more refusals of the kind 401 unauthenticated were not written",
        "5 more refusals of the kind 403 not-permitted were not written",
    ]


def test_a_service_that_stops_sums_up_what_it_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever restarts a service during a storm still learns how large it was."""
    with caplog.at_level(logging.WARNING), run_server(tmp_path, works=False, needs_key=True) as server:
        client = server.client()
        assert {client.get("/v1/runs").status_code for _ in range(LINES_PER_MINUTE + 30)} == {401}

    (line,) = (line for line in lines(caplog) if "not written" in line)
    found = re.fullmatch(r"(\d+) more refusals of the kind 401 unauthenticated were not written", line)
    assert found is not None
    written = sum("unauthenticated: GET" in line for line in lines(caplog))
    assert int(found[1]) + written == LINES_PER_MINUTE + 30


@pytest.mark.parametrize("kind", ProblemKind)
def test_no_line_holds_what_a_client_sent(kind: ProblemKind, caplog: pytest.LogCaptureFixture) -> None:
    """A key that was sent in the wrong place must not appear in a log."""
    with caplog.at_level(logging.DEBUG):
        Refusing(Problem(kind)).ask()

    assert NEW.shown not in caplog.text
    assert "hunter2" not in caplog.text


def test_over_http_refusals_and_failures_are_found_by_their_id(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The id of the answer, its route as it is called in the interface, and the caller where there is one."""
    with caplog.at_level(logging.WARNING), run_server(tmp_path, works=False, needs_key=True) as server:
        refused = server.client().get("/v1/runs")
        viewer = server.client(server.key("eve", CallerRole.VIEWER))
        forbidden = viewer.post("/v1/runs/run-1/cancel")
        written = lines(caplog)

    assert refused.status_code == 401
    assert any(refused.headers["x-request-id"] in line and "unauthenticated" in line for line in written)
    assert forbidden.status_code == 403
    (line,) = (line for line in written if forbidden.headers["x-request-id"] in line)
    assert "POST /v1/runs/{run_id}/cancel" in line
    assert "caller eve" in line
