"""A real process of the service that kills itself, -9, where the question of a run says so.

What it does is told to files that outlive it: each event it emits, each event that it was told is written,
each execution of a tool. `dies NAME MOMENT` in a question means: at the first event of that name in this run,
`emitted` (and not written yet) or `written` (and told); a number in place of the name is a place in the log.
`dies DELIVERY taken` is a delivery that is in hand and not claimed. With
`pauses` it stops itself, to be woken.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from tests.kill.played import cast

from diagnosis_harness.adapters.persistence.log_rows import event_columns
from diagnosis_harness.application.service import Service
from diagnosis_harness.bootstrap.service import open_service
from diagnosis_harness.server.serve import EndStreams, serve_until_stopped
from diagnosis_harness.settings import Settings
from diagnosis_harness.trace.event import TraceEvent, TraceName

ASKED = re.compile(r"(dies|pauses) (\w+) (emitted|written)")


@dataclass(frozen=True, slots=True)
class Role:
    """What a process is for: it takes queued runs, or it serves HTTP."""

    folder: Path
    settings: Settings
    serves: bool = False


class Diary:
    """Files of one process, written without a buffer: a written line survives whatever happens."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, int] = {}

    def tell(self, kind: str, line: str) -> None:
        """One line."""
        if kind not in self._files:
            file = self._folder / f"{kind}-{os.getpid()}"
            self._files[kind] = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        os.write(self._files[kind], f"{line}\n".encode())

    def is_first(self, name: str) -> bool:
        """Whether no process has asked this before."""
        try:
            (self._folder / f"first-{name}").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


class Death:
    """A trace sink and a listener of the log."""

    def __init__(self, diary: Diary) -> None:
        self._diary = diary
        self._asked: dict[str, tuple[str, str, str]] = {}

    def emit(self, event: TraceEvent) -> None:
        """An event was emitted; the log holds it."""
        if event.name is TraceName.RUN_STARTED and (asked := ASKED.search(str(event.payload["question"]))):
            self._asked[event.run_id] = (asked[1], asked[2], asked[3])
        self._diary.tell("emitted", f"{event.run_id} {event.seq} {event.name}")
        self._meet(event, "emitted")

    def on_written(self, run_id: str, events: Sequence[TraceEvent]) -> None:
        """Events were written."""
        for event in events:
            self._diary.tell("acknowledged", json.dumps(event_columns(event)))
        for event in events:
            self._meet(event, "written")

    def _meet(self, event: TraceEvent, moment: str) -> None:
        what, where, when = self._asked.get(event.run_id, ("", "", ""))
        if where in (event.name, str(event.seq)) and when == moment:
            del self._asked[event.run_id]
            os.kill(os.getpid(), signal.SIGKILL if what == "dies" else signal.SIGSTOP)


def die() -> None:
    """Kill -9."""
    os.kill(os.getpid(), signal.SIGKILL)


def main(role: Role, line: Connection) -> None:
    """Run that process until the pipe to its parent is closed."""
    asyncio.run(_run_process(role, line))


async def _run_process(role: Role, line: Connection) -> None:
    diary, over = Diary(role.folder), asyncio.Event()
    death = Death(diary)
    players, tools = cast(partial(diary.tell, "executed"))
    asyncio.get_running_loop().add_reader(line.fileno(), over.set)
    async with open_service(
        role.settings, accept_background_runs=False, players=players, extra_tools=tools, extra_sinks=[death]
    ) as service:
        service.feed.on_written(death.on_written)
        async with asyncio.TaskGroup() as group:
            if role.serves:
                group.create_task(_serve(service, role.settings, line))
            else:
                parallel_max = role.settings.queue.parallel_max
                line.send({"owner": service.stores.owner})
                await service.queue.listen(partial(_work, service, diary), parallel_max=parallel_max)
            await over.wait()
            # Whoever started it is gone, or has seen enough: nothing of an orderly end is looked at here.
            os._exit(0)


async def _serve(service: Service, settings: Settings, line: Connection) -> None:
    await serve_until_stopped(
        service,
        settings.server,
        needs_key=False,
        listening=lambda url: line.send({"owner": service.stores.owner, "url": url}),
        stopping=_at_once,
        on_second_signal=lambda: os._exit(1),
    )


async def _at_once(end_streams: EndStreams) -> None:
    """Only for the streams."""
    await end_streams()


async def _work(service: Service, diary: Diary, run_id: str) -> None:
    row = await service.stores.archive.run(run_id)
    if row is not None and "dies DELIVERY taken" in row.request.question and diary.is_first(run_id):
        die()
    await service.worker.work(run_id)
