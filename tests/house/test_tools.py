"""The tools: the modules of the toolbox that floors.toml does not name."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOLBOX = ROOT / "src" / "diagnosis_harness" / "toolbox"
MODULES = {file.stem: file for file in TOOLBOX.glob("*.py") if file.stem != "__init__"}


def _read_named_modules() -> frozenset[str]:
    contracts = tomllib.loads((ROOT / "floors.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (toolbox,) = (one for one in contracts["contracts"] if one["id"] == "inside-toolbox")
    return frozenset(name.strip() for layer in toolbox["layers"] for name in layer.split("|"))


def _imports(module: str) -> frozenset[str]:
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    prefix = "diagnosis_harness.toolbox."
    names = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    return frozenset(name.removeprefix(prefix) for name in names if name.startswith(prefix))


NAMED = _read_named_modules()
TOOLS = frozenset(MODULES) - NAMED


def test_the_contract_names_modules_that_exist() -> None:
    """A name that floors.toml keeps after its module is gone would place nothing."""
    assert NAMED.issubset(MODULES)
    assert len(TOOLS) >= 10


def test_only_the_catalog_imports_a_tool() -> None:
    """A module that another one builds on is no tool, and floors.toml says where it is."""
    importers = {tool: {module for module in MODULES if tool in _imports(module)} for tool in TOOLS}

    assert importers == {tool: {"catalog"} for tool in TOOLS}


def test_a_tool_imports_neither_another_tool_nor_the_catalog() -> None:
    """Tools are independent of each other: each can be read, changed and removed alone."""
    forbidden = TOOLS | {"catalog"}

    assert {tool: _imports(tool) & forbidden for tool in TOOLS if _imports(tool) & forbidden} == {}
