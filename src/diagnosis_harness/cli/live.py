"""Progress of a run on standard error: a live line on a terminal, plain lines elsewhere."""

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

from diagnosis_harness.cli.progress import RunProgress, advance, stage_name
from diagnosis_harness.cli.words import phrases
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.trace.event import TraceEvent

_PATIENCE_S = 2.0
"""How long reading takes before a line or a bar appears."""


class LiveView:
    """A trace sink that shows progress. Events may come from any thread; it never raises.

    Use as a context manager; it never touches the standard output.
    """

    def __init__(self, console: Console, *, clock: Clock, language: Language) -> None:
        self._console = console
        self._clock = clock
        self._language = language
        self._lock = threading.Lock()
        self._started_s = clock.now_s()
        self._progress = RunProgress()
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
        """Remove the live line and restore the cursor; may be called more than once."""
        if self._live:
            with suppress(OSError, ValueError):
                self._live.stop()

    def emit(self, event: TraceEvent) -> None:
        """Show one event of the run."""
        with self._lock:
            self._reading = None
            self._progress, line = advance(self._progress, event, self._language)
        if line is not None:
            self.print_line(line)

    def show_loading(self, file: str, done: int, total: int) -> None:
        """Show how far reading has come. Without a terminal, print a line only if reading takes long."""
        with self._lock:
            is_new = self._reading is None or self._reading[0] != file
            self._reading = (file, done, total)
        if is_new and self._live is None and self._time_since_start_s() >= _PATIENCE_S:
            self.print_line(phrases.READING.render(self._language, file=display_name(file)))

    def print_line(self, line: str) -> None:
        """Print one line with the time since the start."""
        with suppress(OSError, ValueError):  # the pipe is broken; the run continues
            self._console.print(
                Text.assemble((f"[{self._time_since_start_s():5.1f} s] ", "dim"), line),
                soft_wrap=True,
                highlight=False,
            )

    def print_cancelling(self) -> None:
        """Print that the run is being cancelled, and the calls in flight."""
        with self._lock:
            calls = self._progress.in_flight(self._clock.now_s())
        in_flight = phrases.COMMA.in_(self._language).join(calls) or phrases.NOTHING_IN_FLIGHT.in_(
            self._language
        )
        self.print_line(phrases.CANCELLING.render(self._language, calls=in_flight))

    def print_leaving(self) -> None:
        """Print that the process ends without waiting, and close the view."""
        self.print_line(phrases.LEFT_AT_ONCE.in_(self._language))
        self.close()

    def _time_since_start_s(self) -> float:
        return self._clock.now_s() - self._started_s

    def _render(self) -> RenderableType:
        """The live line: stage, time, budget, calls in flight; a bar if reading takes long."""
        with self._lock:
            progress, reading = self._progress, self._reading
        parts = [f"{self._time_since_start_s():.1f} s"]
        if reading is not None:
            parts.insert(0, phrases.READING.render(self._language, file=display_name(reading[0])))
        elif progress.stage:
            parts.insert(0, stage_name(progress.stage, self._language))
        # The budget comes before the calls in flight, because a narrow terminal cuts off the end.
        if spent := progress.call_counts(self._language):
            parts.append(spent)
        parts += progress.in_flight(self._clock.now_s())
        row = Table.grid(padding=(0, 1))
        cells: list[RenderableType] = [
            self._spinner,
            Text(" · ".join(parts), no_wrap=True, overflow="ellipsis"),
        ]
        if reading is not None and reading[2] > 0 and self._time_since_start_s() >= _PATIENCE_S:
            cells.insert(1, ProgressBar(total=reading[2], completed=reading[1], width=24))
        row.add_row(*cells)
        return row
