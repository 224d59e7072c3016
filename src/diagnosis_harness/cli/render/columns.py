"""Rows of cells under each other, as wide as their widest; a wide character counts for two."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len


def column_lines(rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """One line for each row, without spaces at its end; all rows have as many cells."""
    widths = [max(cell_len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return tuple(
        "  ".join(
            cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    )
