"""Base class of what must be closed after use: a context manager that calls `close`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closing(ABC):
    """Base of classes that own threads, files or connections."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> None:
        """Release everything. May be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
