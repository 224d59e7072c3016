"""Errors whose own `__str__` fails, each in its way."""

from __future__ import annotations

import asyncio


class Unspeakable(Exception):
    """An error that cannot even say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class SaysNoText(Exception):
    """An error whose words are no text."""

    def __str__(self) -> str:
        return 7  # type: ignore[return-value]  # noqa: PLE0307 - foreign code is not held to types


class Exits(Exception):
    """An error that leaves the program when it is asked what it is."""

    def __str__(self) -> str:
        raise SystemExit


class Interrupts(BaseException):
    """The same with the interrupt of the keyboard."""

    def __str__(self) -> str:
        raise KeyboardInterrupt


class Cancels(Exception):
    """The same with asyncio's own cancel."""

    def __str__(self) -> str:
        raise asyncio.CancelledError


UNSPEAKABLE: list[type[BaseException]] = [Unspeakable, SaysNoText, Exits, Interrupts, Cancels]
