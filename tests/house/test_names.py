"""Names: functions are verbs or nouns, and a public name means one thing in the whole package."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from diagnosis_harness.application.runs import submission
from diagnosis_harness.cli import arguments

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "diagnosis_harness"

BASE_FORMS_IN_ED = re.compile(
    r"bed|bleed|breed|creed|deed|embed|exceed|\w*feed|heed|need|proceed|\w*seed|shed|speed|succeed"
)
"""Words that end like a participle but are not one."""

IRREGULAR_PARTICIPLES = re.compile(
    "arisen|awoken|beaten|begun|bent|bitten|blown|borne?|bought|broken|brought|built|caught|chosen|done|drawn"
    "|driven|drunk|eaten|fallen|fed|felt|flown|forbidden|forgiven|forgotten|fought|found|frozen|given|gone"
    "|grown|heard|held|hidden|kept|known|laid|led|left|lent|lost|made|meant|met|mistaken|overtaken|paid"
    "|proven|ridden|risen|rung|said|seen|sent|shaken|shown|shrunk|slept|sold|sought|spent|spoken|spun"
    "|stolen|stood|stuck|struck|sung|sunk|sworn|taken|taught|thought|thrown|told|torn|understood|undone"
    "|withdrawn|withheld|woken|won|worn|woven|(re)?written"
)
"""Participles that are not also the base form: `read`, `run`, `put`, `split`, `set`, `cut` are base forms."""

PARTICIPLES_ALLOWED = {"preferred_language": "an adjective: the language that is preferred"}
"""A function's name, and why its participle is right."""

_SIMULATOR = "the simulator and the bench describe invented systems; nothing imports both meanings"
_DOCUMENT = "the class of the run document bears the name that its schema publishes"
_BOUND = "each of these readers has a bound of its own, for the input that it reads"
_FOLDER = "the reader of incident folders uses this name for itself alone; no module imports both"
TWICE_ALLOWED = {
    "T": "a type variable",
    "E": "a type variable",
    "revision": "Alembic reads each migration by these names",
    "down_revision": "Alembic reads each migration by these names",
    "branch_labels": "Alembic reads each migration by these names",
    "depends_on": "Alembic reads each migration by these names",
    "upgrade": "Alembic reads each migration by these names",
    "register": "each module of commands registers them on the command line's app",
    "router": "each module of routes has one router, as FastAPI's own pages name it",
    "main": "`python -m diagnosis_harness` and the installed command both start with a main",
    "CANCELLED": "`__main__` needs the exit code before it imports anything",
    "QUESTION_LIMIT_CHARACTERS": "checked before the service is imported; a test compares both",
    "verify": "the front door and the room behind it use one word for one thing",
    "ATTEMPTS_MAX": _SIMULATOR,
    "ENTRIES": _SIMULATOR,
    "FaultKind": _SIMULATOR,
    "Flags": _SIMULATOR,
    "Floats": _SIMULATOR,
    "MIB": _SIMULATOR,
    "Service": _SIMULATOR,
    "Span": _SIMULATOR,
    "Candidate": _DOCUMENT,
    "DEPTH_MAX": _BOUND,
    "Database": _FOLDER,
    "FORMS": _FOLDER,
    "FolderSettings": _FOLDER,
    "MISSING": _FOLDER,
    "Part": _FOLDER,
    "Role": _FOLDER,
    "UNITS": _SIMULATOR,
}
"""A public name that two modules of the package define, and why."""

NAMESPACES = re.compile(
    r"(\w+/)*words(/\w+)?\.py|trace/span_names\.py|players/embedded/router_(english|chinese)\.py"
)
"""Modules of texts, attribute names and phrases: their constants are read as `module.NAME`."""


def starts_with_participle(name: str) -> bool:
    """Whether the first word of a snake-case name is a past participle and nothing else."""
    word = name.lstrip("_").partition("_")[0]
    if IRREGULAR_PARTICIPLES.fullmatch(word):
        return True
    return word.endswith("ed") and not BASE_FORMS_IN_ED.fullmatch(word)


def room_of(file: Path) -> str:
    """The folder that one owner cleans: a package of src, a folder of tests or dev, or a lone file."""
    parts = file.relative_to(ROOT).parts
    if parts[0] == "src":
        return f"src/{parts[2]}"
    depth = 3 if parts[:2] == ("tests", "unit") else 2
    return "/".join(parts[:depth])


@cache
def tree(file: Path) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def participles() -> dict[str, set[str]]:
    """The offending function names of each room. A property states a fact, so its participle is right."""
    found = defaultdict(set)
    for top in ("src", "tests", "dev", "examples"):
        for file in sorted((ROOT / top).rglob("*.py")):
            for node in ast.walk(tree(file)):
                if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    continue
                if not starts_with_participle(node.name) or node.name in PARTICIPLES_ALLOWED:
                    continue
                if not any("property" in ast.unparse(each) for each in node.decorator_list):
                    found[room_of(file)].add(node.name)
    return dict(found)


def public_names(file: Path) -> set[str]:
    """What a module defines at its top level for others to import."""
    names = set()
    for node in tree(file).body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Assign(targets=targets):
                names |= {target.id for target in targets if isinstance(target, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
    return {name for name in names if not name.startswith("_")}


def _modules_by_name() -> dict[str, list[str]]:
    modules = defaultdict(list)
    for file in sorted(PACKAGE.rglob("*.py")):
        module = file.relative_to(PACKAGE).as_posix()
        for name in public_names(file) if not NAMESPACES.fullmatch(module) else ():
            modules[name].append(module)
    return dict(modules)


def names_defined_twice() -> dict[str, list[str]]:
    """Each public name that more than one module defines without a listed reason, with those modules."""
    return {
        name: files
        for name, files in sorted(_modules_by_name().items())
        if len(files) > 1 and name not in TWICE_ALLOWED
    }


def test_no_function_name_starts_with_a_past_participle() -> None:
    """`_persist`, not `_kept`: a function is what it does or what it returns."""
    assert {room: sorted(names) for room, names in participles().items()} == {}


def test_no_public_name_is_defined_twice() -> None:
    """One word, one meaning: an import says which thing is meant."""
    assert names_defined_twice() == {}


def test_constants_of_a_namespace_are_read_with_its_name() -> None:
    """`words.FAILED`, never `from words import FAILED`: only so may two of these modules define one name."""
    spaces = {
        file.relative_to(PACKAGE.parent).with_suffix("").as_posix().replace("/", ".")
        for file in PACKAGE.rglob("*.py")
        if NAMESPACES.fullmatch(file.relative_to(PACKAGE).as_posix())
    }
    imported = [
        f"{file.relative_to(PACKAGE)}: {alias.name}"
        for file in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(tree(file))
        if isinstance(node, ast.ImportFrom) and node.module in spaces
        for alias in node.names
        if alias.name.isupper()
    ]

    assert imported == []


def test_every_exception_is_needed() -> None:
    """An exception that is no longer needed goes."""
    assert set(TWICE_ALLOWED) <= {name for name, files in _modules_by_name().items() if len(files) > 1}


def test_both_limits_of_a_question_are_one() -> None:
    """The command line refuses exactly the questions that the service would refuse for their length."""
    assert arguments.QUESTION_LIMIT_CHARACTERS == submission.QUESTION_LIMIT_CHARACTERS
