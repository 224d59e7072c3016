"""Every number that the analysis uses for decisions, with its reason from the code."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "diagnosis_harness"
ROOMS: Mapping[str, str] = {
    "analysis": "How telemetry is compared, and how candidates are ranked",
    "toolbox": "What the tools look at, and how much of it they report",
    "guards": "What may be released",
    "players/embedded": "What the embedded analyst and judge do",
}
"""The packages whose numbers can change an answer, and the purpose of each."""


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """One named number, or a few that belong together, as a module states it."""

    file: str
    name: str
    value: str
    reason: str


class ReasonMissing(Exception):
    """A number without a docstring below it and without a comment beside or above it."""


def parameter_rows(room: str, package: Path = PACKAGE) -> list[ParameterRow]:
    """The numbers of one package, by file and in the order of each file.

    Raises:
        ReasonMissing: one of them has no reason; the message names all that have none.
    """
    rows = [row for file in sorted((package / room).rglob("*.py")) for row in _rows_of(file)]
    if bare := [f"{row.file} {row.name}" for row in rows if not row.reason]:
        raise ReasonMissing(f"say why, in a docstring below or a comment beside it: {', '.join(bare)}")
    return rows


def _rows_of(file: Path) -> Iterator[ParameterRow]:
    text = file.read_text(encoding="utf-8")
    lines, body = text.splitlines(), ast.parse(text).body
    numbers: set[str] = set()
    for place, statement in enumerate(body):
        names, value = _assignment(statement)
        if not names or value is None or not _is_number(value, numbers):
            continue
        numbers |= set(names)
        following = body[place + 1] if place + 1 < len(body) else None
        reason = _docstring(following) or _comment(statement, lines)
        yield ParameterRow(file.name, ", ".join(names), _text_of(value), reason)


def _assignment(statement: ast.stmt) -> tuple[list[str], ast.expr | None]:
    """The constants that a statement assigns, and their value; no names where it is anything else."""
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
            names = [each.id for each in targets if isinstance(each, ast.Name)]
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=value)
            | ast.AnnAssign(target=ast.Name(id=name), value=value)
        ):
            names = [name]
        case _:
            return [], None
    return [name for name in names if name.strip("_").isupper()], value


def _is_number(value: ast.expr, numbers: set[str]) -> bool:
    """Whether it is a number, one computed from others of the module, or a few of them.

    A table from words to numbers does not count: it says how a language writes numbers.
    """
    match value:
        case ast.Constant(value=constant):
            return isinstance(constant, int | float) and not isinstance(constant, bool)
        case ast.Name(id=name):
            return name in numbers
        case ast.UnaryOp(operand=operand):
            return _is_number(operand, numbers)
        case ast.BinOp(left=left, right=right):
            return _is_number(left, numbers) and _is_number(right, numbers)
        case ast.Tuple(elts=parts):
            return bool(parts) and all(_is_number(part, numbers) for part in parts)
        case ast.Dict(keys=keys, values=values):
            named = any(isinstance(key, ast.Constant) and isinstance(key.value, str) for key in keys)
            return bool(values) and not named and all(_is_number(each, numbers) for each in values)
        case _:
            return False


def _text_of(value: ast.expr) -> str:
    """The value as a table shows it: thousands grouped, a tuple without its brackets."""
    match value:
        case ast.Constant(value=int() as whole) if whole >= 1_000:
            return f"{whole:,}"
        case ast.Constant(value=float() as number) if number >= 1:
            return f"{number:,g}" if number < 1e6 else f"{number:g}"
        case ast.Tuple(elts=parts):
            return ", ".join(map(_text_of, parts))
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return ", ".join(f"{ast.unparse(key)}: {_text_of(each)}" for key, each in pairs if key)
        case _:
            return ast.unparse(value)


def _docstring(following: ast.stmt | None) -> str:
    match following:
        case ast.Expr(value=ast.Constant(value=str() as text)):
            return " ".join(text.split())
        case _:
            return ""


def _comment(statement: ast.stmt, lines: list[str]) -> str:
    """The comment beside a statement, else the one right above it."""
    own = lines[statement.lineno - 1 : statement.end_lineno]
    if beside := " ".join(line.split("#", 1)[1].strip() for line in own if "#" in line):
        return beside
    above: list[str] = []
    for line in reversed(lines[: statement.lineno - 1]):
        if not line.startswith("#"):
            break
        above.insert(0, line.lstrip("# "))
    return " ".join(above)
