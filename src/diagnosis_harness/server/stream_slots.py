"""How many streams one caller may have open at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from diagnosis_harness.kernel.errors import TooManyStreams


class StreamSlots:
    """The open streams of one process, by the caller's name."""

    def __init__(self, streams_max: int) -> None:
        self._max = streams_max
        self._open: Counter[str] = Counter()

    @contextmanager
    def hold_slot(self, name: str) -> Iterator[None]:
        """Hold one slot for the duration of the body.

        Raises:
            TooManyStreams: the caller has none left.
        """
        if self._open[name] >= self._max:
            raise TooManyStreams(self._max)
        self._open[name] += 1
        try:
            yield
        finally:
            self._open[name] -= 1
            if not self._open[name]:
                del self._open[name]
