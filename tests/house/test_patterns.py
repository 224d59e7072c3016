"""No pattern relies on what Python before 3.11.5 does wrong: possessive repeats and atomic groups."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from re import _constants as op  # the parsed form of a pattern has no public name
from re import _parser as parser
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))

IMPORTING = """
import importlib, sys
from re import _compiler

compiled = _compiler.compile
made = []

def recording(pattern, flags=0):
    made.append(pattern)
    return compiled(pattern, flags)

_compiler.compile = recording
for name in sys.argv[1:]:
    importlib.import_module(name)
print(ascii([pattern for pattern in made if isinstance(pattern, str)]))
"""
"""Imports modules and prints every pattern that was compiled meanwhile, those of libraries included."""


def _unreliable(tokens: Any) -> bool:
    """Whether a parsed pattern holds a possessive repeat or an atomic group, however deep."""
    if isinstance(tokens, tuple | list | parser.SubPattern):
        return any(_unreliable(token) for token in tokens)
    return tokens is op.POSSESSIVE_REPEAT or tokens is op.ATOMIC_GROUP


def _parse(pattern: str) -> Sequence[Any]:
    try:
        return list(parser.parse(pattern))
    except (re.error, OverflowError):
        return []


def _texts(file: Path) -> Iterator[tuple[int, str]]:
    """Every text of a file; what an f-text fills in is a letter."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "x" for part in node.values]
            yield node.lineno, "".join(map(str, parts))


def test_no_text_of_the_sources_is_such_a_pattern() -> None:
    """A pattern may be written anywhere, and compiled only when a function is called."""
    found = [
        f"{file.relative_to(ROOT)}:{line}"
        for file in SOURCES
        if "import re\n" in file.read_text(encoding="utf-8")
        for line, text in _texts(file)
        if len(text) < 2_000 and _unreliable(_parse(text))
    ]

    assert found == []


def test_no_pattern_that_is_made_at_import_is_such_a_one() -> None:
    """A pattern may be put together from parts, of which none shows it."""
    names = [
        ".".join(file.relative_to(ROOT / "src").with_suffix("").parts)
        for file in SOURCES
        if "re.compile(" in file.read_text(encoding="utf-8")
    ]
    ended = subprocess.run(
        [sys.executable, "-c", IMPORTING, *names], capture_output=True, text=True, check=True, cwd=ROOT
    )
    patterns: list[str] = ast.literal_eval(ended.stdout)

    assert len(patterns) > 100
    assert [pattern for pattern in patterns if _unreliable(_parse(pattern))] == []


@pytest.mark.parametrize("pattern", ["a++", "(?:a|b)*+c", "a{2,}+", "a?+", "(?>a|ab)", "x(y(?:z++))"])
def test_such_a_pattern_is_known(pattern: str) -> None:
    """Wherever it is in a pattern."""
    assert _unreliable(_parse(pattern))
