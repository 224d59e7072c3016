"""`dev.limits` moves every limit of a file, one at a time, and nothing else."""

from __future__ import annotations

from dev.limits import PLACES, changes_of
from dev.mutants import ROOT

SOURCE = '''LEAST = 0.5
SHARES = {"a": 2, "b": 0.0}


def stands(items: list[float], name: str) -> bool:
    """Text with 9 in it."""
    return 0 < items[1] <= LEAST and name == "é" and len(items) > 3
'''


def test_every_number_and_every_comparison_is_moved_once() -> None:
    """Not those of a subscript, which are places and no limits; nothing inside of a text."""
    made = [change.apply(SOURCE) for change in changes_of("x.py", SOURCE)]
    lines = {
        new
        for text in made
        for new, old in zip(text.splitlines(), SOURCE.splitlines(), strict=True)
        if new != old
    }

    assert lines == {
        "LEAST = 0.625",
        'SHARES = {"a": 3, "b": 0.0}',
        'SHARES = {"a": 2, "b": 0.01}',
        '    return 1 < items[1] <= LEAST and name == "é" and len(items) > 3',
        '    return 0 <= items[1] <= LEAST and name == "é" and len(items) > 3',
        '    return 0 < items[1] < LEAST and name == "é" and len(items) > 3',
        '    return 0 < items[1] <= LEAST and name == "é" and len(items) >= 3',
        '    return 0 < items[1] <= LEAST and name == "é" and len(items) > 4',
    }
    assert len(made) == len(lines)


def test_the_guards_have_limits() -> None:
    """A pattern that finds no file would find no limit either."""
    for pattern in PLACES:
        files = list(ROOT.glob(pattern))

        assert files
        assert pattern.endswith("judge.py") or any(
            list(changes_of(str(file), file.read_text(encoding="utf-8"))) for file in files
        )
