"""The stable names of the package: which they are, where they come from, and what importing them costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import diagnosis_harness as dh
from diagnosis_harness import testing

PUBLIC = """
Answer AskTools Assessment Cause Claim DiagnosisDraft DiagnosisHarnessError DiagnosisPolicy Direction
EvidenceItem EvidenceRecord EvidenceRef FailureKind FallbackType FaultKind GiveDraft Harness Hypothesis
IncidentFolder InformationGain InvalidInput ItemKind Language LiveRun Parameter ParameterKind PolicyAnswer
PolicyView Predicate Quote ReleaseOutcome RunBudgetLimits RunContext RunState RunStep RunStepKind Settings
TimeWindow TokenUsage Tool ToolFailure ToolFindings ToolSpec
Verification WantedCall load_settings verify
"""
FOR_TESTS = "CountingIds InMemorySources ManualClock ScriptedPolicy ScriptedTool series_of"


def test_the_public_names_are_exactly_these() -> None:
    """Adding or removing a name is a decision: docs/embedding.md says how a name is deprecated."""
    assert sorted(PUBLIC.split()) == dh.__all__
    assert FOR_TESTS.split() == testing.__all__


@pytest.mark.parametrize("module", [dh, testing])
def test_every_public_name_is_there_and_is_typed(module: object) -> None:
    """What the type checker sees, what is listed and what an attribute gives are the same names."""
    names = module.__all__  # type: ignore[attr-defined]  # a module of the two above
    file = module.__file__  # type: ignore[attr-defined]  # a module of the two above
    assert all(getattr(module, name) is not None for name in names)
    assert sorted(_names_for_type_checkers(Path(file))) == names


def test_an_unknown_name_is_an_attribute_error() -> None:
    """As of any module."""
    with pytest.raises(AttributeError, match="no attribute 'Harnes'"):
        dh.Harnes  # noqa: B018 - the misspelling is the test
    with pytest.raises(AttributeError, match="no attribute 'Manual'"):
        testing.Manual  # noqa: B018 - the misspelling is the test


def test_importing_the_package_imports_none_of_its_rooms() -> None:
    """Counted in modules, not in milliseconds: no room, and no library outside of the standard one."""
    loaded = _modules_after("import diagnosis_harness")

    assert [name for name in loaded if name.startswith("diagnosis_harness")] == ["diagnosis_harness"]
    assert loaded - set(sys.stdlib_module_names) - {"diagnosis_harness"} == set()
    assert len(loaded) <= 25  # `typing` and what it imports


def test_a_harness_over_own_tools_imports_no_database_and_no_server() -> None:
    """DuckDB is needed only where a folder is read, the others never."""
    loaded = _modules_after("import diagnosis_harness as dh; dh.Harness; dh.ToolSpec; dh.Claim")

    assert loaded.isdisjoint({"duckdb", "fastapi", "sqlalchemy", "rich", "typer"})


def test_the_public_names_are_what_is_listed_interactively() -> None:
    """`dir` shows the interface and nothing else."""
    assert dir(dh) == sorted([*dh.__all__, "__version__"])


def _modules_after(code: str) -> set[str]:
    """Names of the modules that the code imports: top-level ones of others, all of the package."""
    program = f"import sys; before = set(sys.modules)\n{code}\nprint(*set(sys.modules) - before)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {
        name if name.startswith("diagnosis_harness") else name.partition(".")[0]
        for name in ran.stdout.split()
    }


def _names_for_type_checkers(file: Path) -> list[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    guards = [node for node in tree.body if isinstance(node, ast.If)]
    return [
        alias.name
        for guard in guards
        for node in guard.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
