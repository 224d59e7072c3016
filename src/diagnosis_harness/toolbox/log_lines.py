"""Builds the table that the tools compare from individual log lines of a source."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from diagnosis_harness.analysis.log_text import level_of, mask_text
from diagnosis_harness.toolbox.ports import EXAMPLE_MAX, LogLine, LogShape, LogTable


def table_of_lines(lines: Iterable[LogLine]) -> LogTable:
    """The lines by shape, for a source that cannot mask and count lines itself."""
    ordered = sorted(lines, key=lambda line: line.time_s)
    shapes: dict[tuple[str | None, str | None, str], int] = {}
    found: list[LogShape] = []
    contexts: dict[tuple[str | None, str], int] = {}
    shape, context = [], []
    for line in ordered:
        level = level_of(line.level, line.message)
        key = (line.entity, level, mask_text(line.message))
        if key not in shapes:
            shapes[key] = len(found)
            found.append(LogShape(line.entity, level, key[2], line.message[:EXAMPLE_MAX]))
        shape.append(shapes[key])
        known = line.context is not None
        context.append(contexts.setdefault((line.entity, line.context or ""), len(contexts)) if known else -1)
    return LogTable(
        tuple(found),
        np.array(shape, dtype=np.int32),
        np.array([line.time_s for line in ordered], dtype=np.float64),
        np.array(context, dtype=np.int32),
    )
