"""A run while it lives, on the standard error stream: a moving line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from diagnosis_harness.cli.phrases import Phrases
from diagnosis_harness.cli.progress import Progress, advance
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.names import named
from diagnosis_harness.trace.event import TraceEvent

_PATIENCE_S = 2.0


class LiveView:
    """A trace sink that shows what it is told. Events may come from any thread; nothing it does raises.

    Use as a context manager; it never touches the standard output.
    """

    def __init__(self, console: Console, *, clock: Clock, phrases: Phrases) -> None:
        self._console = console
        self._clock = clock
        self._phrases = phrases
        self._lock = threading.Lock()
        self._began_s = clock.now_s()
        self._progress = Progress()
        self._reading: tuple[str, int, int] | None = None
        self._spinner = Spinner("dots")
        self._live = (
            Live(console=console, get_renderable=self._render, transient=True, refresh_per_second=8)
            if console.is_terminal
            else None
        )

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Take the moving line away and give the cursor back; may be called more than once."""
        if self._live:
            with suppress(OSError, ValueError):
                self._live.stop()

    def emit(self, event: TraceEvent) -> None:
        """Show one event of the run."""
        with self._lock:
            self._reading = None
            self._progress, line = advance(self._progress, event, self._phrases)
        if line is not None:
            self.say(line)

    def loading(self, file: str, done: int, total: int) -> None:
        """Show how far reading has come. Off a terminal only what takes long is worth a line."""
        with self._lock:
            is_new = self._reading is None or self._reading[0] != file
            self._reading = (file, done, total)
        if is_new and self._live is None and self._elapsed_s() >= _PATIENCE_S:
            self.say(self._phrases.reading.format(file=named(file)))

    def say(self, line: str) -> None:
        """Print one line with the time since the start."""
        with suppress(OSError, ValueError):  # the reader has gone; the run goes on
            self._console.print(
                Text.assemble((f"[{self._elapsed_s():5.1f} s] ", "dim"), line),
                soft_wrap=True,
                highlight=False,
            )

    def in_flight(self) -> tuple[str, ...]:
        """Calls that have begun and not come back."""
        with self._lock:
            return self._progress.in_flight(self._clock.now_s())

    def _elapsed_s(self) -> float:
        return self._clock.now_s() - self._began_s

    def _render(self) -> RenderableType:
        """The moving line: stage, time, budget, what is in flight; a bar while reading takes long."""
        with self._lock:
            progress, reading = self._progress, self._reading
        parts = [f"{self._elapsed_s():.1f} s"]
        if reading is not None:
            parts.insert(0, self._phrases.reading.format(file=named(reading[0])))
        elif progress.stage:
            parts.insert(0, self._phrases.stages.get(progress.stage, progress.stage))
        # What was spent stands before the calls in flight: a narrow terminal cuts off the end.
        if spent := progress.spent(self._phrases):
            parts.append(spent)
        parts += progress.in_flight(self._clock.now_s())
        row = Table.grid(padding=(0, 1))
        cells: list[RenderableType] = [
            self._spinner,
            Text(" · ".join(parts), no_wrap=True, overflow="ellipsis"),
        ]
        if reading is not None and reading[2] > 0 and self._elapsed_s() >= _PATIENCE_S:
            cells.insert(1, ProgressBar(total=reading[2], completed=reading[1], width=24))
        row.add_row(*cells)
        return row
