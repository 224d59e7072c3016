"""A series as one short line of blocks."""

from __future__ import annotations

from collections.abc import Sequence

_BLOCKS = "▁▂▃▄▅▆▇█"
_MARK = "│"


def sparkline(points: Sequence[float | None], *, width: int, mark: float | None = None) -> str:
    """The points, oldest first, as blocks between their least and greatest value; a gap is a space.

    If there are more points than `width`, each column shows the point of its interval that is farthest from
    the first value, so that a short spike is never lost.

    Args:
        points: at least one value that is not None, else the line is empty.
        width: most columns for the points.
        mark: where to set a bar, as a share of the whole (0 to 1); None or outside sets none.
    """
    known = [point for point in points if point is not None]
    if not known:
        return ""
    columns = _thin(points, max(width, 1), known[0])
    low, high = min(known), max(known)
    size = high / 2 - low / 2  # halves, since the difference of two huge values may overflow
    blocks = [
        " " if point is None else _BLOCKS[round((point / 2 - low / 2) / size * 7)] if size > 0 else _BLOCKS[0]
        for point in columns
    ]
    if mark is not None and 0.0 < mark < 1.0:
        blocks.insert(round(mark * len(blocks)), _MARK)
    return "".join(blocks)


def _thin(points: Sequence[float | None], width: int, first: float) -> list[float | None]:
    if len(points) <= width:
        return list(points)
    columns: list[float | None] = []
    for column in range(width):
        interval = points[column * len(points) // width : (column + 1) * len(points) // width]
        present = [point for point in interval if point is not None]
        columns.append(max(present, key=lambda point: abs(point - first)) if present else None)
    return columns
