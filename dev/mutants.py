"""Break the code as docs/conformance.toml says, one row at a time; the row's tests must fail.

`python dev/mutants.py [--jobs N] [--passed REPORT] [ROW ...]`. Exit code 1 when a break goes unnoticed, does
not apply, or does not even load. Tests that fail without a break catch nothing, so all of them run once on
the code as it is; `--passed` names a JUnit report of a run on this very code, in which all of them passed.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parent.parent
NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "dist", "build", "incidents")
PYTEST = ("-x", "-q", "--no-header", "--timeout=60", "-p", "no:cacheprovider")
CAUGHT, SURVIVED = 1, 0  # pytest's exit codes: tests failed, all passed


@dataclass(frozen=True, slots=True)
class Mutant:
    """One row's break and the tests that must catch it."""

    row: str
    tests: tuple[str, ...]
    file: str
    find: str
    replace: str


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a mutant."""

    mutant: Mutant
    problem: str | None
    """What is wrong; None when it was caught."""
    took_s: float


class DoesNotApply(Exception):
    """The text to break is not in the file exactly once, or the break changes nothing."""


def mutants_of(conformance: Path, rows: set[str]) -> Iterator[Mutant]:
    """Yield every row that has a break; `rows` limits them when it is not empty."""
    with conformance.open("rb") as file:
        entries = tomllib.load(file)
    for row, entry in entries.items():
        if isinstance(entry, dict) and "break" in entry and (not rows or row in rows):
            change = entry["break"]
            yield Mutant(row, tuple(entry["tests"]), change["file"], change["find"], change["replace"])


def apply_break(mutant: Mutant, source: str) -> str:
    """Return `source` with the break in it."""
    found = source.count(mutant.find)
    if found != 1:
        message = f"`find` stands {found} times in {mutant.file}, not once"
        raise DoesNotApply(message)
    if mutant.find == mutant.replace:
        message = "`replace` is the same text as `find`"
        raise DoesNotApply(message)
    return source.replace(mutant.find, mutant.replace)


def copy_tree(root: Path, target: Path) -> None:
    """Copy what is under version control, and little else, from `root` into `target`."""
    shutil.copytree(root, target, ignore=NOT_COPIED, dirs_exist_ok=True)


def run_tests(tree: Path, tests: tuple[str, ...], *, jobs: int = 0) -> subprocess.CompletedProcess[str]:
    """Run `tests` against the sources in `tree`, which win over the installed package.

    `jobs`: processes that share the tests; 0 runs them in one, which starts sooner.
    """
    shared = ["-n", str(jobs)] if jobs else ["-p", "no:xdist"]
    command = [sys.executable, "-m", "pytest", *PYTEST, *shared, *tests]
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)


class Trees:
    """Reused copies of the tree, one for each job: unchanged files stay compiled."""

    def __init__(self, root: Path, folder: Path, *, jobs: int) -> None:
        self.free = [folder / str(number) for number in range(jobs)]
        # Python takes a compiled file for current by its source's size and whole second of change, so each
        # text that is written gets a second of its own, long past.
        self._seconds = count(1_000_000_000)
        self._whole: dict[Path, str] = {}  # the broken file of each copy that is at work, as it was
        for tree in self.free:
            copy_tree(root, tree)

    def break_by(self, mutant: Mutant) -> Path:
        """Take a copy and put the break in.

        Raises:
            DoesNotApply: it cannot be put in.
        """
        tree = self.free[-1]
        source = (tree / mutant.file).read_text(encoding="utf-8")
        self._write(tree / mutant.file, apply_break(mutant, source))
        self._whole[tree] = source
        return self.free.pop()

    def mend(self, tree: Path, mutant: Mutant) -> None:
        """Take the break out and give the copy back."""
        self._write(tree / mutant.file, self._whole.pop(tree))
        self.free.append(tree)

    def _write(self, file: Path, text: str) -> None:
        file.write_text(text, encoding="utf-8")
        second = next(self._seconds)
        os.utime(file, (second, second))


PRELOADED = (
    "pytest", "hypothesis", "numpy", "pydantic_settings", "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite", "duckdb", "typer", "rich.console", "fastapi", "uvicorn", "httpx2", "dbos",
    "alembic.command", "psycopg", "redis.asyncio", "bm25s",
)  # fmt: skip
"""Libraries that tests import, and that take longer to import than most tests take to run."""


# Pytest warns of plugins that were imported before it could rewrite them; these two are all that tests need.
PLUGINS = ("--disable-plugin-autoload", "-p", "pytest_timeout", "-p", "_hypothesis_pytestplugin")


def preload(libraries: Iterable[str]) -> None:
    """Import libraries once; each process that is forked for a mutant has them. Never our own code."""
    for name in libraries:
        importlib.import_module(name)
    if any(name.partition(".")[0] in ("diagnosis_harness", "tests") for name in sys.modules):
        raise RuntimeError("a library imported the code that is to be broken")


def fork_tests(tree: Path, tests: tuple[str, ...], output: Path) -> int:
    """Fork a process that runs `tests` against the sources in `tree`; return its id. It exits as pytest does.

    The caller has no threads, so a fork of it is sound.
    """
    sys.stdout.flush()
    if child := os.fork():
        return child
    code = 3  # pytest's own for an internal error
    try:
        os.setsid()
        with output.open("w") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        os.chdir(tree)
        sys.path[:0] = [str(tree), str(tree / "src")]
        os.environ["PYTHONPATH"] = str(tree / "src")
        code = int(sys.modules["pytest"].main([*PLUGINS, *PYTEST, *tests]))
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def judge_all(trees: Trees, mutants: list[Mutant], folder: Path) -> Iterator[Trial]:
    """Try the mutants, as many at once as there are trees."""
    waiting = list(reversed(mutants))
    at_work: dict[int, tuple[Mutant, Path, float]] = {}
    while waiting or at_work:
        while waiting and trees.free:
            mutant = waiting.pop()
            try:
                tree = trees.break_by(mutant)
            except (DoesNotApply, OSError) as problem:
                yield Trial(mutant, str(problem), 0.0)
                continue
            at_work[fork_tests(tree, mutant.tests, folder / f"{tree.name}.txt")] = (
                mutant,
                tree,
                time.monotonic(),
            )
        if at_work:
            child, status = os.wait()
            mutant, tree, began_s = at_work.pop(child)
            code = os.waitstatus_to_exitcode(status)
            yield Trial(mutant, _wrong(mutant, code, folder / f"{tree.name}.txt"), time.monotonic() - began_s)
            trees.mend(tree, mutant)


def _wrong(mutant: Mutant, code: int, output: Path) -> str | None:
    if code == CAUGHT:
        return None
    if code == SURVIVED:
        return f"survived: {mutant.file} was broken and all its tests stayed green"
    said = output.read_text(encoding="utf-8", errors="replace")[-4000:]
    return f"the tests did not run (pytest exit code {code}):\n{said}"


def not_passed(reports: list[Path], mutants: list[Mutant]) -> str | None:
    """The tests of the rows that did not pass in the JUnit reports, a line for each; None when all did."""
    passed: dict[str, bool] = {}
    for case in chain.from_iterable(ET.parse(report).iter("testcase") for report in reports):  # noqa: S314 - our own pytest wrote the files
        module, _, group = re.sub(r"\.(?=[A-Z])", "::", case.get("classname") or "", count=1).partition("::")
        parts = [module.replace(".", "/") + ".py", group, (case.get("name") or "").partition("[")[0]]
        parts = [part for part in parts if part]
        is_green = case.find("failure") is None and case.find("error") is None
        for count_of_parts in range(1, len(parts) + 1):
            name = "::".join(parts[:count_of_parts])
            passed[name] = passed.get(name, True) and is_green
    tests = dict.fromkeys(test.partition("[")[0] for mutant in mutants for test in mutant.tests)
    problems = [
        f"not passed in {', '.join(map(str, reports))}: {test}"
        for test in tests
        if not passed.get(test, False)
    ]
    return "\n".join(problems) or None


def unbroken(root: Path, mutants: list[Mutant], *, jobs: int) -> str | None:
    """Run all the rows' tests on the code as it is: tests that are red anyway catch nothing."""
    tests = tuple(dict.fromkeys(test for mutant in mutants for test in mutant.tests))
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy_tree(root, Path(folder))
        ended = run_tests(Path(folder), tests, jobs=jobs)
    return None if ended.returncode == SURVIVED else f"red without any break:\n{ended.stdout[-4000:]}"


def main() -> int:
    """Try all mutants and print one line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--root", type=Path, default=ROOT, help="another tree of the same shape")
    parser.add_argument(
        "--passed", type=Path, action="append", metavar="REPORT", help="a JUnit report of this very code"
    )
    parser.add_argument("rows", nargs="*", metavar="ROW")
    options = parser.parse_args()

    mutants = list(mutants_of(options.root / "docs" / "conformance.toml", set(options.rows)))
    if not mutants:
        print("mutants: no row has a break yet")
        return 1
    problem = (
        not_passed(options.passed, mutants)
        if options.passed
        else unbroken(options.root, mutants, jobs=options.jobs)
    )
    if problem:
        print(problem)
        return 1
    preload(PRELOADED if options.root == ROOT else ["pytest"])
    problems = 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        trees = Trees(options.root, Path(folder), jobs=options.jobs)
        for trial in judge_all(trees, mutants, Path(folder)):
            problems += trial.problem is not None
            print(f"{trial.mutant.row:6} {trial.problem or f'caught in {trial.took_s:.0f} s'}", flush=True)
    print(f"mutants: {len(mutants) - problems} of {len(mutants)} caught")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
