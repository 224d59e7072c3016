"""Every text for people exists in English and Chinese, and both use the same values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

PACKAGE = Path(__file__).parents[2] / "src" / "diagnosis_harness"


def _imports_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.ImportFrom)
        and node.module == "diagnosis_harness.kernel.language"
        and any(name.name == "Text" for name in node.names)
    )


def _calls_of_text(file: Path) -> Iterator[ast.Call]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    if not any(_imports_text(node) for node in tree.body):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Text":
            yield node


def _placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_both_languages_of_every_text_use_the_same_placeholders() -> None:
    """A value that only one language shows is a mistake in the other, wherever the text is defined."""
    wrong: list[str] = []
    for file in sorted(PACKAGE.rglob("*.py")):
        for call in _calls_of_text(file):
            place = f"{file.relative_to(PACKAGE)}:{call.lineno}"
            texts = {argument.arg: argument.value for argument in call.keywords}
            english, chinese = texts.get("en"), texts.get("zh")
            if not isinstance(english, ast.Constant) or not isinstance(chinese, ast.Constant):
                wrong.append(f"{place}: both languages are string literals")
            elif _placeholders(str(english.value)) != _placeholders(str(chinese.value)):
                wrong.append(f"{place}: the placeholders differ")

    assert not wrong
