"""A process that listens to a queue: `worker.py URL EXECUTOR [hold]`; tells on stdout, ends when stdin does.

With `hold` work never ends. It also reports every socket that Python code opens to the network.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import threading

from diagnosis_harness.adapters.queue.dbos_queue import DbosRunQueue


def tell(*words: str) -> None:
    """One line."""
    print(*words, flush=True)  # noqa: T201 - this is what the test reads


def watch(name: str, details: tuple[object, ...]) -> None:
    """Tell of what goes to the network."""
    if name in ("socket.bind", "socket.connect"):
        family = getattr(details[0], "family", None)
        if family != socket.AF_UNIX:
            tell("socket", name, str(details[1]))
    elif name == "socket.getaddrinfo":
        tell("socket", name, str(details[0]))


async def main(url: str, executor: str, mode: str) -> None:
    """Listen until stdin ends."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def until_stdin_ends() -> None:
        sys.stdin.read()
        loop.call_soon_threadsafe(stop.set)

    async def work(run_id: str) -> None:
        tell("took", run_id)
        if mode == "hold":
            await asyncio.Event().wait()

    queue = DbosRunQueue(url, executor_id=executor, poll_interval_s=0.05)
    await queue.listen(work, parallel_max=2)
    threading.Thread(target=until_stdin_ends, daemon=True).start()
    tell("listening")
    await stop.wait()
    await queue.close()
    tell("closed")


if __name__ == "__main__":
    sys.addaudithook(watch)
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "take"))
