"""Stores finished runs in a file, so that a stopped bench can continue.

A line is one run under a key, which is a digest of everything that decides the run: the code, the settings,
the question and every byte of the folders. Scores and truths are not in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from diagnosis_harness.bench.case import BenchRun, Case, Cost, Ranked, RunResult
from diagnosis_harness.kernel.errors import InvalidInput

PACKAGE = Path(__file__).parents[1]
IDLE_ROOMS = ("bench", "cli", "server", "simulator", "testing")
"""Rooms whose code no diagnosis of a folder goes through; what they write is in the folder's digest."""

KEEPING = ("bench/answer.py", "bench/loudest.py", "bench/case.py")
"""Modules of the bench that decide what is kept of a run."""


class ResultsFile:
    """Runs by key. A line that was cut short, as by a kill, is dropped, and so are lines of another form."""

    def __init__(self, path: Path | None) -> None:
        """Read what is there.

        Raises:
            InvalidInput: the file cannot be read, or its folder is not there.
        """
        self._path = path
        self._lines: dict[str, dict[str, Any]] = {}
        if path is not None:
            try:
                text = path.read_text(encoding="utf-8") if path.exists() else ""
                if not path.exists() or (text and not text.endswith("\n")):
                    path.write_text(text[: text.rfind("\n") + 1], encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise InvalidInput(
                    str(path), "it cannot be used for results", "name a file in a folder that can be written"
                ) from error
            self._lines = dict(_read(text.splitlines()))

    @property
    def keys(self) -> frozenset[str]:
        """Keys of all runs that are there."""
        return frozenset(self._lines)

    def append(self, key: str, run: BenchRun) -> None:
        """Keep a run."""
        line = _to_line(run)
        self._lines[key] = line
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, **line}, ensure_ascii=False) + "\n")

    def run_of(self, key: str, case: Case) -> BenchRun:
        """The run under a key, of a case that was exported again."""
        return _from_line(self._lines[key], case)


def _read(lines: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for line in lines:
        try:
            held = json.loads(line)
        except ValueError:
            continue
        if isinstance(held, dict) and isinstance(held.get("key"), str):
            yield held.pop("key"), held


def _to_line(run: BenchRun) -> dict[str, Any]:
    return {
        "incident": run.case.incident_id,
        "condition": run.case.condition.value,
        "cost": asdict(run.cost),
        "data_bytes": run.data_bytes,
        "loudest": run.loudest,
        "result": asdict(run.result),
    }


def _from_line(line: Mapping[str, Any], case: Case) -> BenchRun:
    result = dict(line["result"])
    for name in ("causes", "candidates"):
        result[name] = tuple(Ranked(**{**each, "scope": tuple(each["scope"])}) for each in result[name])
    result["failed_tools"] = tuple(result["failed_tools"])
    return BenchRun(
        case=case,
        result=RunResult(**result),
        cost=Cost(**line["cost"]),
        data_bytes=line["data_bytes"],
        loudest=tuple((entity, widths) for entity, widths in line["loudest"]),
    )


def digest_code() -> str:
    """A digest of the code that a diagnosis goes through, and of what is kept of it."""
    files = [
        file
        for file in sorted(PACKAGE.rglob("*.py"))
        if (name := file.relative_to(PACKAGE)).parts[0] not in IDLE_ROOMS or name.as_posix() in KEEPING
    ]
    files += sorted(
        file for file in PACKAGE.rglob("*.toml") if "bench" not in file.relative_to(PACKAGE).parts
    )
    return digest_files(PACKAGE, files)


def digest_folder(folder: Path) -> str:
    """A digest of every byte of a folder, and of the names in it."""
    return digest_files(folder, sorted(path for path in folder.rglob("*") if path.is_file()))


def digest_files(root: Path, files: Iterable[Path]) -> str:
    """A digest of some files below a folder."""
    whole = sha256()
    for file in files:
        data = file.read_bytes()
        whole.update(f"{file.relative_to(root).as_posix()}\0{len(data)}\0".encode() + data)
    return whole.hexdigest()
