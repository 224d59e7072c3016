"""The rules of the house that neither types nor the linter can hold."""

from __future__ import annotations

import ast
import builtins
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from io import StringIO
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "diagnosis_harness"
SOURCES = sorted(PACKAGE.rglob("*.py"))
PYTHON = [*SOURCES, *sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "dev").rglob("*.py"))]

LONGEST_FILE = 400
LONGEST_FUNCTION = 60

# A silenced check gives its code, then why: "type: ignore[code]  # why", "noqa: CODE - why".
IGNORE = re.compile(
    r"type:\s*ignore\[[\w, -]+\](?P<why>.*)|noqa:\s*[A-Z]+\d+(?:\s*,\s*[A-Z]+\d+)*(?P<reason>.*)"
)
IGNORE_OF_ANY_KIND = re.compile(r"#\s*(type:\s*ignore|noqa|ruff:\s*noqa|pyright:|mypy:|pragma:)")


def _place(file: Path, line: int = 0) -> str:
    return f"{file.relative_to(ROOT)}:{line}"


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def _is_a_table(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Tell whether a function only returns one literal structure, such as a language's words."""
    steps = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return len(steps) == 1 and isinstance(steps[0], ast.Return)


def _classes(file: Path) -> Iterator[ast.ClassDef]:
    return (node for node in ast.walk(_tree(file)) if isinstance(node, ast.ClassDef))


def _comments(file: Path) -> Iterator[tokenize.TokenInfo]:
    with tokenize.open(file) as opened:
        text = opened.read()
    if "#" not in text:
        return
    for token in tokenize.generate_tokens(StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token


def test_arrows_between_rooms_point_down() -> None:
    """Every contract of floors.toml is kept."""
    lint = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    ended = subprocess.run(
        [sys.executable, "-c", lint, "--no-cache", "--no-logo", "floors.toml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_every_error_is_on_one_page() -> None:
    """Whoever must handle errors reads kernel/errors.py and has seen them all."""
    known = {name for name in dir(builtins) if name.endswith(("Error", "Exception"))}
    known |= {node.name for node in _classes(PACKAGE / "kernel" / "errors.py")}

    def is_error(node: ast.ClassDef) -> bool:
        return any(ast.unparse(base).rpartition(".")[2] in known for base in node.bases)

    elsewhere = [
        f"{_place(file, node.lineno)} {node.name}"
        for file in SOURCES
        if file != PACKAGE / "kernel" / "errors.py"
        for node in _classes(file)
        if is_error(node)
    ]

    assert not elsewhere


def test_files_are_short_enough_to_read() -> None:
    """A file that grows past a few pages owns more than one thing."""
    long = {
        _place(file): lines
        for file in PYTHON
        if (lines := len(file.read_text(encoding="utf-8").splitlines())) > LONGEST_FILE
    }

    assert not long


def test_the_product_stays_within_the_lines_that_a_decision_gives_it() -> None:
    """A change that needs more raises the budget in decision 19, and says what it adds."""
    decision = (ROOT / "docs" / "decisions" / "0019-the-size-of-the-code.md").read_text(encoding="utf-8")
    (budget,) = re.findall(r"\*\*Budget\.\*\* ([\d,]+) lines", decision)
    lines = sum(file.read_bytes().count(b"\n") for file in PACKAGE.rglob("*.py"))

    assert lines <= int(budget.replace(",", ""))


def test_functions_are_short_enough_to_read() -> None:
    """A function that does not fit a screen does more than one thing."""
    functions = (
        (file, node)
        for file in PYTHON
        for node in ast.walk(_tree(file))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not _is_a_table(node)
    )
    long = {
        f"{_place(file, node.lineno)} {node.name}": lines
        for file, node in functions
        if (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > LONGEST_FUNCTION
    }

    assert not long


def test_every_room_says_what_it_owns() -> None:
    """A package's first sentence tells a newcomer whether to look inside."""
    silent = [
        _place(file) for file in sorted(PACKAGE.rglob("__init__.py")) if not ast.get_docstring(_tree(file))
    ]
    folders = {file.parent for file in SOURCES}

    assert not silent
    assert not [_place(folder) for folder in folders if not (folder / "__init__.py").is_file()]


def test_every_ignore_has_a_code_and_a_reason() -> None:
    """A silenced check without a reason is a bug that somebody hid."""
    bare = []
    for file in PYTHON:
        for token in _comments(file):
            if not IGNORE_OF_ANY_KIND.search(token.string):
                continue
            found = IGNORE.search(token.string)
            why = ((found["why"] or found["reason"] or "") if found else "").strip(" #-:()")
            if len(why) < len("why so"):
                bare.append(f"{_place(file, token.start[0])} {token.string}")

    assert not bare


@pytest.mark.parametrize(
    "module",
    ["contextvars", "structlog.contextvars", "opentelemetry.context"],
)
def test_nothing_travels_by_context(module: str) -> None:
    """State of a run goes by RunContext alone: no module that carries it behind the reader's back (RC-02)."""
    assert not [
        f"{_place(file, line)} {name}"
        for file in SOURCES
        for line, name in _names(file)
        if name == module or name.startswith(f"{module}.")
    ]


@pytest.mark.parametrize("name", ["threading.local", "start_as_current_span", "ContextVar", "copy_context"])
def test_nothing_travels_by_thread(name: str) -> None:
    """State of a run goes by RunContext alone: no thread-local value and no current span (RC-02)."""
    assert not [
        f"{_place(file, line)} {used}"
        for file in SOURCES
        for line, used in _names(file)
        if used == name or used.endswith(f".{name}")
    ]


def _names(file: Path) -> Iterator[tuple[int, str]]:
    """Yield every imported and every dotted name of a file's syntax tree, under its full name."""
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Attribute):
            yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Name):
            yield node.lineno, node.id


def test_an_import_for_type_checkers_alone_has_a_reason() -> None:
    """An arrow is an arrow, so an import is guarded only where it would cost time, or cannot be made."""
    guard = re.compile(r"^if TYPE_CHECKING:(?!  # \w+)", re.MULTILINE)

    assert [_place(file) for file in SOURCES if guard.search(file.read_text(encoding="utf-8"))] == []
