"""The parts of files that make up one recording, and the time window that belongs to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from diagnosis_harness.kernel.window import TimeWindow

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class RecordingParts(Generic[Part]):
    """Parts of files: all of their data (`window` is None) or only what is inside the window."""

    parts: tuple[Part, ...] = ()
    window: TimeWindow | None = None
