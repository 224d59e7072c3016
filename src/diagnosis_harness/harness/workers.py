"""A small pool of threads for calls that block, which replaces stuck threads."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from enum import Enum


class _JobState(Enum):
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    ABANDONED = "ABANDONED"  # still running; nobody waits for it
    DONE = "DONE"  # finished, or withdrawn


class Job:
    """One call given to the pool. Only the pool changes its state."""

    __slots__ = ("call", "state")

    def __init__(self, call: Callable[[], None]) -> None:
        self.call = call
        self.state = _JobState.QUEUED


class WorkerPool:
    """At most `threads_max` working threads, started on demand.

    A thread cannot be stopped from outside. A thread whose caller stopped waiting is *stuck*: it no longer
    counts, and another may replace it, for up to `stuck_max` stuck threads. Beyond that, new calls wait in
    the queue, where deadline and cancel still apply to them. Threads are daemons: a stuck one does not keep
    the process alive.
    """

    def __init__(self, *, threads_max: int = 8, stuck_max: int = 32) -> None:
        if threads_max < 1 or stuck_max < 0:
            raise ValueError("a pool has at least one thread, and at least zero stuck ones")
        self._threads_max = threads_max
        self._stuck_max = stuck_max
        self._changed = threading.Condition(threading.Lock())
        self._queue: deque[Job] = deque()
        self._idle = 0
        self._alive = 0
        self._stuck = 0
        self._is_closed = False
        self._process = os.getpid()

    @property
    def stuck(self) -> int:
        """How many threads still work for a caller that no longer waits."""
        return self._stuck

    @property
    def is_open(self) -> bool:
        """Whether it accepts calls: it is not closed, and this process is not a fork of its own."""
        return not self._is_closed and os.getpid() == self._process

    def submit(self, call: Callable[[], None]) -> Job:
        """Run `call` on a thread, in the order of submission. `call` must not raise.

        Raises:
            RuntimeError: the pool is closed.
        """
        job = Job(call)
        with self._changed:
            if self._is_closed:
                raise RuntimeError("the worker pool is closed")
            self._queue.append(job)
            if self._idle >= len(self._queue):
                self._changed.notify()
            else:
                self._grow()
        return job

    def leave(self, job: Job) -> bool:
        """Stop waiting for `job`. A queued job never starts; the thread of a running one counts as stuck.

        Returns:
            Whether it is running.
        """
        with self._changed:
            if job.state is _JobState.QUEUED:
                job.state = _JobState.DONE
                self._queue.remove(job)
            if job.state is _JobState.RUNNING:
                job.state = _JobState.ABANDONED
                self._stuck += 1
                if self._queue:
                    self._grow()
                return True
            return False

    def close(self) -> None:
        """Accept no more calls and let idle threads end, without waiting. In a fork there are no threads."""
        if os.getpid() != self._process:
            return
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _grow(self) -> None:
        if self._alive - min(self._stuck, self._stuck_max) >= self._threads_max:
            return
        self._alive += 1
        threading.Thread(target=self._serve, name="diagnosis-worker", daemon=True).start()

    def _serve(self) -> None:
        while (job := self._next_job()) is not None:
            job.call()
            with self._changed:
                if job.state is _JobState.ABANDONED:
                    self._stuck -= 1
                job.state = _JobState.DONE
            del job  # an idle thread references nothing of the run it worked for

    def _next_job(self) -> Job | None:
        with self._changed:
            while True:
                if self._alive - min(self._stuck, self._stuck_max) > self._threads_max:
                    break  # a stuck thread has returned while its substitute is working
                if self._queue:
                    job = self._queue.popleft()
                    job.state = _JobState.RUNNING
                    return job
                if self._is_closed:
                    break
                self._idle += 1
                self._changed.wait()
                self._idle -= 1
            self._alive -= 1
            return None
