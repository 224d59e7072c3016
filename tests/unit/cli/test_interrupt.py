"""A SIGINT means stop, whatever the code that it meets makes of it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from diagnosis_harness.cli.interrupt import raise_on_interrupt, run_interruptible


@pytest.fixture(autouse=True)
def handler() -> Iterator[object]:
    """Python's own handler, before and after the test."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def lose() -> None:
    """A library that loses an interrupt."""
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        return


def rename() -> None:
    """A library that raises its own error, like duckdb."""
    lose()
    raise RuntimeError("Query interrupted")


def swallow(library: Callable[[], None]) -> None:
    """A caller that turns it into an exit code, like typer."""
    with suppress(KeyboardInterrupt), raise_on_interrupt():
        library()


@pytest.mark.parametrize("library", [lose, rename])
def test_an_interrupt_that_a_library_swallowed_still_stops_the_command(library: Callable[[], None]) -> None:
    """The error around the library is KeyboardInterrupt again."""
    with pytest.raises(KeyboardInterrupt), raise_on_interrupt():
        library()


@pytest.mark.parametrize("library", [lose, rename])
def test_an_interrupt_in_a_nested_block_also_stops_the_outer_one(library: Callable[[], None]) -> None:
    """Even if something between the two has swallowed it."""
    with pytest.raises(KeyboardInterrupt), raise_on_interrupt():
        swallow(library)


def test_without_an_interrupt_errors_pass_through(handler: object) -> None:
    """And the handler is the one before."""
    with pytest.raises(ZeroDivisionError), raise_on_interrupt():
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is handler


def test_outside_the_main_thread_no_handler_is_set() -> None:
    """There no signal arrives, and no handler may be set."""
    done: list[bool] = []

    def work() -> None:
        with raise_on_interrupt():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert done == [True]


def test_after_a_run_the_signal_is_handled_as_before() -> None:
    """Ctrl+C while the answer is printed goes to the handler from before the run."""

    def own(number: int, frame: object) -> None:
        del number, frame

    async def work() -> int:
        return 7

    signal.signal(signal.SIGINT, own)

    assert run_interruptible(work, on_first=lambda: None, on_second=lambda: None) == 7
    assert signal.getsignal(signal.SIGINT) is own
