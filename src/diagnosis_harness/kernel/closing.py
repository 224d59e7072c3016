"""What is closed when it is done with: a context manager, whose end is `close`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closing(ABC):
    """Base of what holds threads, files or connections of its own."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> None:
        """Give back what is held. Twice is once."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
