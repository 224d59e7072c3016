"""Change each number and comparison of the guards slightly, one at a time; a unit test must fail.

`python -m dev.limits [--seed N] [--most N] [--list] [--tests TEST ...] [FILE ...]`. If a limit is not tested
on both sides, it can be moved unnoticed. If there are more changes than `--most`, the seed chooses which are
tried. Exit code 1 when one goes unnoticed.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dev.mutants import CAUGHT, ROOT, SURVIVED, copy_tree, run_tests

PLACES = (
    "src/diagnosis_harness/guards/*.py",
    "src/diagnosis_harness/diagnosis/item_forms.py",
    "src/diagnosis_harness/kernel/quantity.py",
    "src/diagnosis_harness/players/embedded/judge.py",
    "src/diagnosis_harness/guards/weaknesses.py",
)
TESTS = (
    "tests/unit/guards",
    "tests/unit/players",
    "tests/unit/release",
    "tests/unit/report",
    "tests/unit/application",
    "tests/unit/audit",
)
_TURNED = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
}
_FACTOR = 1.25


@dataclass(frozen=True, slots=True)
class Change:
    """One small change: the text between two places of a file, and its replacement."""

    file: str
    line: int
    start: int
    end: int
    new: str

    def apply(self, source: str) -> str:
        """The source with the change in it."""
        data = source.encode()
        return (data[: self.start] + self.new.encode() + data[self.end :]).decode()


def changes_of(file: str, source: str) -> Iterator[Change]:
    """Every number outside subscripts, made larger, and every comparison with or without equality."""
    data = source.encode()
    begins = [0]
    for line in data.splitlines(keepends=True):
        begins.append(begins[-1] + len(line))

    def place(line: int, column: int) -> int:
        return begins[line - 1] + column

    tree = ast.parse(source)
    inside = {
        id(child)
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        for child in ast.walk(node.slice)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float) and id(node) not in inside:
            start = place(node.lineno, node.col_offset)
            end = place(node.end_lineno or 0, node.end_col_offset or 0)
            yield Change(file, node.lineno, start, end, _move(ast.literal_eval(node)))
        elif isinstance(node, ast.Compare):
            yield from _comparisons(file, node, data, place)


def _move(number: float) -> str:
    """A whole number plus one, any other number a quarter larger, and zero a small value."""
    return str(number + 1) if isinstance(number, int) else repr(number * _FACTOR or 0.01)


def _comparisons(file: str, node: ast.Compare, data: bytes, place: object) -> Iterator[Change]:
    left = node.left
    for operator, right in zip(node.ops, node.comparators, strict=True):
        if (turned := _TURNED.get(type(operator))) is not None and callable(place):
            start = place(left.end_lineno or 0, left.end_col_offset or 0)
            end = place(right.lineno, right.col_offset)
            between = data[start:end].decode()
            yield Change(file, right.lineno, start, end, between.replace(*turned, 1))
        left = right


def is_green(tests: tuple[str, ...]) -> bool:
    """Whether the tests pass on the unchanged tree: a test that fails anyway cannot notice a change."""
    with tempfile.TemporaryDirectory(prefix="limit-") as folder:
        copy_tree(ROOT, Path(folder))
        return run_tests(Path(folder), tests).returncode == SURVIVED


def is_noticed(change: Change, tests: tuple[str, ...]) -> bool | None:
    """Whether a test fails with the change in a copy of the tree; None if the tests did not run."""
    with tempfile.TemporaryDirectory(prefix="limit-") as folder:
        tree = Path(folder)
        copy_tree(ROOT, tree)
        target = tree / change.file
        target.write_text(change.apply(target.read_text(encoding="utf-8")), encoding="utf-8")
        ended = run_tests(tree, tests)
    return {CAUGHT: True, SURVIVED: False}.get(ended.returncode)


def main() -> int:
    """Try the changes and print one line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=1_000)
    parser.add_argument("--list", action="store_true", help="only say what would be tried")
    parser.add_argument("files", nargs="*", help="parts of paths to look into; all when left out")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="tests that must notice")
    options = parser.parse_args()
    tests = tuple(options.tests)
    if not options.list and not is_green(tests):
        print("limits: the tests are red without any change")
        return 1

    files = sorted({str(f.relative_to(ROOT)) for pattern in PLACES for f in ROOT.glob(pattern)})
    files = [f for f in files if not options.files or any(part in f for part in options.files)]
    found = [c for f in files for c in changes_of(f, (ROOT / f).read_text(encoding="utf-8"))]
    random.Random(options.seed).shuffle(found)  # noqa: S311 - chooses what to try, and keeps no secret
    unnoticed = 0
    for change in found[: options.most]:
        said = (
            "listed"
            if options.list
            else {True: "noticed", False: "UNNOTICED", None: "did not run"}[is_noticed(change, tests)]
        )
        unnoticed += said == "UNNOTICED"
        line = (ROOT / change.file).read_text(encoding="utf-8").splitlines()[change.line - 1].strip()
        print(f"{said:10} {change.file}:{change.line} {change.new.strip()!r} in {line[:90]}", flush=True)
    print(f"limits: {unnoticed} of {min(len(found), options.most)} unnoticed, {len(found)} in all")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
