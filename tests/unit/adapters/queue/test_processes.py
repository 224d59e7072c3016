"""Several processes on one queue: who gets what, and what becomes of what a killed one held."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import psutil  # type: ignore[import-untyped]  # it has no stubs
from tests.support.cluster import cluster

from diagnosis_harness.adapters.queue.dbos_queue import DbosRunQueue
from diagnosis_harness.application.runs.sources import ANY_LANE

Start = Callable[..., Any]


def put(url: str, *run_ids: str, again: bool = False) -> None:
    """Put runs from a process that does not listen."""

    async def puts() -> None:
        queue = DbosRunQueue(url, executor_id="door")
        for run_id in run_ids:
            await (queue.requeue(run_id, ANY_LANE) if again else queue.put(run_id, ANY_LANE))
        await queue.close()

    asyncio.run(puts())


def test_each_run_goes_to_one_of_two_processes(url: str, worker: Start, received: Any) -> None:
    """Forty runs, two processes: each run once, and both of them have some."""
    processes = [worker(url, "p1"), worker(url, "p2")]
    names = [f"run-{number:02}" for number in range(40)]
    put(url, *names)
    reported: list[tuple[str, str]] = []
    while len(reported) < len(names):
        executor, line = received.get(timeout=60)
        reported += [(executor, line)] if line.startswith("took ") else []
    assert sorted(line.removeprefix("took ") for _, line in reported) == names
    assert {executor for executor, _ in reported} == {"p1", "p2"}
    lines = [line for process in processes for line in process.close()]
    assert len([line for line in lines if line.startswith("took ")]) == len(names)


def test_a_run_that_a_killed_process_held_goes_to_another_when_requeue(url: str, worker: Start) -> None:
    """Left alone it stays with the dead; put again it is delivered, and what waited behind it as well."""
    holder = worker(url, "p1", "hold")
    put(url, "run-1")
    assert holder.took() == "run-1"
    holder.kill()
    other = worker(url, "p2")
    put(url, "run-2")
    assert other.took() == "run-2"
    put(url, "run-1", again=True)
    assert other.took() == "run-1"
    assert other.close() == ["closed"]


def test_what_a_killed_process_had_not_taken_goes_to_the_others(url: str, worker: Start) -> None:
    """It had room for two; the rest waits in the queue, unclaimed."""
    holder = worker(url, "p1", "hold")
    names = [f"run-{number}" for number in range(6)]
    put(url, *names)
    taken = [holder.took(), holder.took()]
    holder.kill()
    other = worker(url, "p2")
    rest = [other.took() for _ in range(4)]
    assert sorted(taken + rest) == names


def test_a_process_that_comes_back_under_its_name_gets_what_it_held_and_nothing_that_was_over(
    url: str, worker: Start
) -> None:
    """DBOS starts again by itself what the same executor had at work; finished runs are not among it."""
    first = worker(url, "p1")
    put(url, "run-1")
    assert first.took() == "run-1"
    assert first.close() == ["closed"]
    second = worker(url, "p1", "hold")
    put(url, "run-2")
    assert second.took() == "run-2"
    second.kill()
    third = worker(url, "p1")
    assert third.took() == "run-2"
    put(url, "run-3")
    assert third.took() == "run-3"
    assert third.close() == ["closed"]


def test_a_process_closed_in_order_gives_back_what_has_not_begun_and_leaves_nothing_hanging(
    url: str, worker: Start
) -> None:
    """It ends by itself while its work still goes on; what waited goes to the next one."""
    first = worker(url, "p1", "hold")
    names = ["run-1", "run-2", "run-3"]
    put(url, *names)
    taken = [first.took(), first.took()]
    assert first.close() == ["closed"]
    second = worker(url, "p2")
    assert [second.took()] == sorted(set(names) - set(taken))


def test_a_listening_process_opens_no_port_and_writes_nothing(worker: Start, tmp_path: Any) -> None:
    """No socket to any network, not even for a moment, and no line that is not ours."""
    url = f"sqlite:///{tmp_path / 'queue.db'}"
    process = worker(url, "p1")
    put(url, "run-1")
    assert process.took() == "run-1"
    assert psutil.Process(process.process.pid).net_connections(kind="inet") == []
    assert process.close() == ["closed"]
    assert process.errors() == ""


def test_a_listening_process_talks_to_its_database_alone(worker: Start) -> None:
    """With PostgreSQL on a socket file there is no connection to any network either."""
    with cluster() as server:
        process = worker(server.url("postgres"), "p1")
        put(server.url("postgres"), "run-1")
        assert process.took() == "run-1"
        assert psutil.Process(process.process.pid).net_connections(kind="inet") == []
        assert process.close() == ["closed"]
