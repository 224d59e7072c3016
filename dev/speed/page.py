"""Puts the figures of a run into the page that publishes them, between two marks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dev.speed.figure import Figure, as_markdown

BEGIN, END = "<!-- speed: written by make bench -->", "<!-- speed: end -->"


def write(page: Path, figures: Sequence[Figure], *, machine: str) -> None:
    """Replace the text between the marks.

    Raises:
        ValueError: the page does not hold both marks, in order.
    """
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{page} has no section between {BEGIN!r} and {END!r}")
    table = f"Machine: {machine}, shared.\n\n{as_markdown(figures)}"
    page.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")
