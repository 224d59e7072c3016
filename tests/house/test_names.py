"""Names: functions are verbs or nouns, and a public name means one thing in the whole package.

`names_to_change.toml` lists the names that broke these rules when the test was written. It may only shrink:
`python tests/house/test_names.py` removes what is no longer needed.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "diagnosis_harness"
TO_CHANGE = Path(__file__).with_name("names_to_change.toml")

BASE_FORMS_IN_ED = re.compile(
    r"bed|bleed|breed|creed|deed|embed|exceed|\w*feed|heed|need|proceed|\w*seed|shed|speed|succeed"
)
"""Words that end like a participle and are none."""

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

TWICE_ALLOWED = {
    "T": "a type variable",
    "revision": "Alembic reads each migration by these names",
    "down_revision": "Alembic reads each migration by these names",
    "branch_labels": "Alembic reads each migration by these names",
    "depends_on": "Alembic reads each migration by these names",
    "upgrade": "Alembic reads each migration by these names",
    "register": "each module of commands registers them on the command line's app",
    "router": "each module of routes has one router, as FastAPI's own pages name it",
    "main": "`python -m diagnosis_harness` and the installed command both start with a main",
}
"""A public name that two modules of the package define, and why."""


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


def names_defined_twice() -> dict[str, list[str]]:
    """Each public name that more than one module of the package defines, with those modules."""
    modules = defaultdict(list)
    for file in sorted(PACKAGE.rglob("*.py")):
        for name in public_names(file):
            modules[name].append(str(file.relative_to(PACKAGE)))
    return {
        name: files for name, files in sorted(modules.items()) if len(files) > 1 and name not in TWICE_ALLOWED
    }


def to_change() -> tuple[dict[str, set[str]], set[str]]:
    """The participles by room and the names defined twice that are still to be changed."""
    listed = tomllib.loads(TO_CHANGE.read_text(encoding="utf-8"))
    return {room: set(names) for room, names in listed["participles"].items()}, set(listed["twice"])


def test_no_function_name_starts_with_a_past_participle() -> None:
    """`_persist`, not `_kept`: a function is what it does or what it returns."""
    listed, _ = to_change()

    added = {room: names - listed.get(room, set()) for room, names in participles().items()}

    assert {room: sorted(names) for room, names in added.items() if names} == {}


def test_no_public_name_is_defined_twice() -> None:
    """One word, one meaning: an import tells which thing is meant."""
    _, listed = to_change()

    assert {name: files for name, files in names_defined_twice().items() if name not in listed} == {}


def test_names_to_change_holds_nothing_that_is_done() -> None:
    """Run `python tests/house/test_names.py` to remove what is done."""
    listed, twice = to_change()
    found = participles()

    done = {room: sorted(names - found.get(room, set())) for room, names in listed.items()}

    assert {room: names for room, names in done.items() if names} == {}
    assert twice - set(names_defined_twice()) == set()


def test_every_exception_is_needed() -> None:
    """An exception that no module uses any more goes."""
    defined = {name for file in PACKAGE.rglob("*.py") for name in public_names(file)}

    assert set(TWICE_ALLOWED) <= defined


def remove_done() -> None:
    """Rewrite `names_to_change.toml` without the names that nothing defines any more."""
    listed, twice = to_change()
    found = participles()
    lines = ["# Names that break the rules of test_names.py. This list may only shrink."]
    lines += ["twice = [", *(f'  "{name}",' for name in sorted(twice & set(names_defined_twice()))), "]", ""]
    lines += ["[participles]"]
    for room, names in sorted(listed.items()):
        lines += [
            f'"{room}" = [',
            *(f'  "{name}",' for name in sorted(names & found.get(room, set()))),
            "]",
            "",
        ]
    TO_CHANGE.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    remove_done()
