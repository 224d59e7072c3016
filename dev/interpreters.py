"""Run what depends on the interpreter on every Python >= 3.11 here: `python dev/interpreters.py`.

Looks in /usr/bin, on PATH and in the folders of version managers, and takes one of each version. Each gets a
copy of the tree and a .venv of its own, by `dev/setup.sh`, and runs the tests of PARTS: as the calling user
or, if that is root, as a user created for this, with the interpreters that such a user may start. Three run
at once, since installing and waiting for processes use little CPU; the output of each goes to a file in
.build, which is shown if it failed. A line for each interpreter says as which users it runs, and one how long
that took; the exit code is 1 when one failed, or when CI is set and no user can be made. `--list` only says
what would run.
"""

from __future__ import annotations

import argparse
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[1]
OLDEST = (3, 11)
PARTS = (
    "tests/unit/kernel", "tests/unit/guards", "tests/unit/players", "tests/routing", "tests/unit/knowledge",
    "tests/unit/diagnosis", "tests/unit/adapters/queue", "tests/unit/adapters/persistence",
    "tests/contracts/test_run_queue.py", "tests/contracts/test_run_store.py", "tests/unit/cli",
    "tests/e2e/test_command_line.py", "tests/e2e/test_stopping.py",
)  # fmt: skip
"""Kernel with masking, guards, router, knowledge, wire, queue, run store, command line."""
LEAN = ("-m", "not proof", "-k", "not postgres")
"""Large runs, and tests of PostgreSQL, do not depend on the interpreter: only our own runs them."""
MANAGERS = (
    ".pyenv/versions/*/bin", ".asdf/installs/python/*/bin", ".local/share/mise/installs/python/*/bin",
    ".local/share/uv/python/*/bin", ".local/bin", "miniconda3/bin", "miniconda3/envs/*/bin",
)  # fmt: skip
USER = "diagnosis-tests"
AT_ONCE = 3
SKIPS = ROOT / "dev" / "skips.py"
NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "dist", "build", "incidents")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """One Python: where it is, and the version that it reports."""

    path: Path
    version: tuple[int, int, int]

    def __str__(self) -> str:
        return ".".join(map(str, self.version))


@dataclass(frozen=True, slots=True)
class Person:
    """The user whose rights the tests run with."""

    name: str
    home: Path
    uid: int | None = None
    gid: int | None = None

    def run(self, command: list[str], folder: Path, output: IO[bytes] | None = None) -> int:
        """Run a command in a folder and return its exit code; its output goes to `output`."""
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "VIRTUAL_ENV", "XDG_", "MAKE", "MFLAGS", "DIAGNOS"))
        }
        if self.uid is not None:
            environment |= {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "USER": self.name}
        environment |= {"HOME": str(self.home), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        extra = None if self.uid is None else ()
        return subprocess.run(
            command,
            cwd=folder,
            env=environment,
            check=False,
            user=self.uid,
            group=self.gid,
            extra_groups=extra,
            stdout=output,
            stderr=output,
        ).returncode


def candidates(home: Path, path: str) -> Iterator[Path]:
    """Files that may be a Python, the preferred ones first."""
    folders = [Path("/usr/bin"), *(Path(part) for part in path.split(os.pathsep) if part)]
    folders += [folder for manager in MANAGERS for folder in sorted(home.glob(manager))]
    for folder in folders:
        if "shims" not in folder.parts:  # a shim starts an interpreter that is in one of the other folders
            names = (*sorted(folder.glob("python3.[0-9]*")), folder / "python3", folder / "python")
            yield from (file for file in names if file.suffix[1:].isdigit() or not file.suffix)


def version_of(file: Path) -> tuple[int, int, int] | None:
    """The version that a Python reports; None for a .venv, and for anything that is not Python 3."""
    question = "import sys, venv; print(*sys.version_info[:3], sys.prefix == sys.base_prefix)"
    try:
        answer = subprocess.run([file, "-c", question], capture_output=True, text=True, check=False)
    except OSError:
        return None
    words = answer.stdout.split()
    if answer.returncode != 0 or len(words) != 4 or words[3] != "True":
        return None
    return int(words[0]), int(words[1]), int(words[2])


def find_interpreters(files: Iterable[Path]) -> list[Interpreter]:
    """One interpreter of each version that is not too old, the first one found; newest last."""
    found: dict[tuple[int, int, int], Interpreter] = {}
    for file in files:
        version = version_of(file)
        if version is not None and version[:2] >= OLDEST:
            found.setdefault(version, Interpreter(file, version))
    return [found[version] for version in sorted(found)]


def copy_tree(folder: Path, person: Person) -> None:
    """Copy the files of this checkout, including uncommitted changes, for this person to write in."""
    shutil.copytree(ROOT, folder, ignore=NOT_COPIED)
    if person.uid is not None and person.gid is not None:
        for place in (folder, *folder.rglob("*")):
            os.chown(place, person.uid, person.gid)


def try_tests(interpreter: Interpreter, person: Person, parts: list[str], *, jobs: int) -> int:
    """Set up and run the tests in a fresh copy; 0 when all passed. A skip is judged by dev/skips.py."""
    report = ROOT / ".build" / f"interpreter-{interpreter}-{person.name}.xml"
    report.parent.mkdir(exist_ok=True)
    pytest = [
        ".venv/bin/python",
        "-m",
        "pytest",
        "-q",
        "-n",
        str(jobs),
        "--junitxml=tests.xml",
        *LEAN,
        *parts,
    ]
    steps = [
        ["env", f"PYTHON={interpreter.path}", "sh", "dev/setup.sh", "dev"],
        [".venv/bin/diagnose", "demo", "--no-color"],
        pytest,
    ]
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="diagnosis-interpreter-", dir="/tmp") as made,
        report.with_suffix(".log").open("wb") as output,
    ):
        Path(made).chmod(0o755)
        tree = Path(made) / "tree"
        copy_tree(tree, person)
        code = next((code for step in steps if (code := person.run(step, tree, output))), 0)
        if (tree / "tests.xml").is_file():
            shutil.copy(tree / "tests.xml", report)
            code = (
                code or subprocess.run([sys.executable, SKIPS, report], stdout=output, check=False).returncode
            )
    if code:
        print(report.with_suffix(".log").read_text(encoding="utf-8", errors="replace")[-20_000:])
    ending = "passed" if code == 0 else f"FAILED ({code})"
    print(
        f"interpreters: {interpreter} as {person.name} {ending} in {time.monotonic() - began:.0f} s",
        flush=True,
    )
    return code


def make_user() -> Person | None:
    """A user without rights, created if there is none; None if we may not create one."""
    try:
        entry = pwd.getpwnam(USER)
    except KeyError:
        if os.getuid() != 0 or shutil.which("useradd") is None:
            return None
        subprocess.run(["useradd", "--create-home", USER], check=True)
        entry = pwd.getpwnam(USER)
    return Person(USER, Path(entry.pw_dir), entry.pw_uid, entry.pw_gid)


def may_start(person: Person, interpreter: Interpreter) -> bool:
    """Whether this person may start it; only root may enter its home."""
    return person.run(["sh", "-c", f"exec '{interpreter.path}' -c pass 2>/dev/null"], Path("/")) == 0


def rounds(
    found: list[Interpreter], *, own: tuple[int, int, int], every: bool
) -> Iterator[tuple[Interpreter, Person]]:
    """Which user runs which interpreters: a user without rights all that it may start, we the others.

    The whole suite runs on our own interpreter with our own rights, so these are left out, unless every user
    should run every interpreter that it may start.
    """
    oneself = Person(pwd.getpwuid(os.getuid()).pw_name, Path.home())
    user = None if os.getuid() != 0 else make_user()
    if user is None and os.getuid() == 0:
        problem = "interpreters: no user can be made here, so nothing runs without the rights of root"
        if os.environ.get("CI"):
            raise SystemExit(problem)
        print(problem)
    for interpreter in found:
        by_user = user is not None and may_start(user, interpreter)
        if user is not None and by_user:
            yield interpreter, user
        if every or (interpreter.version != own and not by_user):
            yield interpreter, oneself


def describe_roles(interpreter: Interpreter, names: list[str]) -> str:
    """One line: whose rights the tests run with on an interpreter, and whose they do not."""
    roles = " and as ".join(names) or "nobody here, since the whole suite runs on it"
    missing = f"; {USER} may not start it" if os.getuid() == 0 and USER not in names else ""
    return f"interpreters: {interpreter} ({interpreter.path}) as {roles}{missing}"


def main() -> int:
    """Run the tests on each, and print how each ended and how long it took."""
    parser = argparse.ArgumentParser(prog="python dev/interpreters.py")
    parser.add_argument(
        "parts", nargs="*", help="tests to run in place of those that depend on the interpreter"
    )
    parser.add_argument("--list", action="store_true", help="say what would be tried, and by whom")
    parser.add_argument("--only", default="", metavar="VERSION", help="those whose version begins so")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--all", action="store_true", help="each interpreter by everybody who may start it")
    options = parser.parse_args()
    found = find_interpreters(candidates(Path.home(), os.environ.get("PATH", "")))
    found = [interpreter for interpreter in found if str(interpreter).startswith(options.only)]
    wanted = list(rounds(found, own=sys.version_info[:3], every=options.all))
    for interpreter in found:
        names = [person.name for each, person in wanted if each is interpreter]
        print(describe_roles(interpreter, names), flush=True)
    if options.list:
        return 0
    parts, jobs = options.parts or list(PARTS), max(1, options.jobs // AT_ONCE)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        codes = [
            pool.submit(try_tests, interpreter, person, parts, jobs=jobs) for interpreter, person in wanted
        ]
    return 1 if any(code.result() for code in codes) else 0


if __name__ == "__main__":
    sys.exit(main())
