"""Aligned columns of text; a wide character counts as two cells."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len


def column_lines(rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """One line for each row, without trailing spaces; all rows have the same number of cells."""
    widths = [max(cell_len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return tuple(
        "  ".join(
            cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    )
