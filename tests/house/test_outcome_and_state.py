"""The outcome alone never determines the run's state, nor the state alone the outcome (LC-06)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "diagnosis_harness"
BOTH = {"ReleaseOutcome", "RunState"}


def _types(annotation: ast.expr | None) -> set[str]:
    """The names of a type annotation."""
    return set(re.findall(r"\w+", ast.unparse(annotation))) if annotation is not None else set()


def _functions() -> Iterator[tuple[str, set[str], set[str]]]:
    """Every function with the types it takes and the types it gives."""
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                takes = [_types(each.annotation) for each in arguments if each.arg != "self"]
                yield (
                    f"{file.relative_to(PACKAGE)} {node.name}",
                    set().union(*takes) if len(takes) == 1 else set(),
                    _types(node.returns),
                )


def _mappings() -> Iterator[tuple[str, set[str], set[str]]]:
    """Every dictionary that is written out, with the enumerations of its keys and of its values."""

    def enums(nodes: list[ast.expr | None]) -> set[str]:
        return {ast.unparse(node).partition(".")[0] for node in nodes if isinstance(node, ast.Attribute)}

    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Dict):
                yield f"{file.relative_to(PACKAGE)}:{node.lineno}", enums([*node.keys]), enums([*node.values])


def test_no_function_makes_one_of_the_other_alone() -> None:
    """The release table knows both, and how the work ended; nothing reads one off the other."""
    one_way = [name for name, takes, gives in _functions() if takes & BOTH and (gives & BOTH) - takes]

    assert not one_way


def test_no_mapping_leads_from_one_to_the_other() -> None:
    """A dictionary is a function as well."""
    one_way = [name for name, keys, values in _mappings() if keys & BOTH and (values & BOTH) - keys]

    assert not one_way
