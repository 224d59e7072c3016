"""Stores finished runs in a file, so that a stopped bench can continue.

A line is one run under a key, which is a digest of everything that decides the run: the code, the settings,
the question and every byte of the folders. The file has no scores and no truths.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from diagnosis_harness.bench.case import BenchRun, Case, Cost, Loud, NamedChange, Ranked, RunResult
from diagnosis_harness.kernel.errors import InvalidInput

PACKAGE = Path(__file__).parents[1]
IDLE_ROOMS = ("bench", "server", "simulator", "testing")
"""Packages that no diagnosis of a folder uses; the folders that they write have their own digest."""

BEGINS = b'{"key": "'
"""How each line of the file begins."""

KEEPING = ("bench/answer.py", "bench/loudest.py", "bench/case.py")
"""Modules of the bench that decide what is stored about a run."""


class ResultsFile:
    """Runs by key. Lines that were cut off, as by a kill, are dropped, and so are runs in another format."""

    def __init__(self, path: Path | None) -> None:
        """Read the existing runs.

        Raises:
            InvalidInput: the file cannot be read or written, its folder does not exist, or it contains
                something other than results, which is not changed.
        """
        self._path = path
        self._lines: dict[str, dict[str, Any]] = {}
        if path is None:
            return
        try:
            data = path.read_bytes() if path.exists() else b""
            whole, _, cut = data.rpartition(b"\n")
            self._lines = dict(_read(whole.split(b"\n"), str(path)))
            if cut and not (self._lines or cut.startswith(BEGINS)):
                raise _no_results(str(path))
            if cut or not data:
                with path.open("ab") as file:
                    file.truncate(len(data) - len(cut))
        except OSError as error:
            raise InvalidInput(
                str(path), "it cannot be used for results", "name a file in a folder that can be written"
            ) from error

    @property
    def keys(self) -> frozenset[str]:
        """Keys of all stored runs."""
        return frozenset(self._lines)

    def append(self, key: str, run: BenchRun) -> None:
        """Store a run."""
        line = _to_line(run)
        self._lines[key] = line
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, **line}) + "\n")

    def run_of(self, key: str, case: Case) -> BenchRun:
        """The run under a key, of a case that was exported again."""
        return _from_line(self._lines[key], case)


def _read(lines: Iterable[bytes], place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for line in filter(None, lines):
        if not line.startswith(BEGINS):
            raise _no_results(place)
        try:
            entry = json.loads(line)
        except ValueError:  # damaged: the run is repeated
            continue
        if isinstance(entry, dict) and isinstance(entry.get("key"), str):
            yield entry.pop("key"), entry


def _no_results(place: str) -> InvalidInput:
    return InvalidInput(place, "it holds something else than results of a bench", "name another file")


def _to_line(run: BenchRun) -> dict[str, Any]:
    return {
        "incident": run.case.incident_id,
        "condition": run.case.condition.value,
        "cost": asdict(run.cost),
        "data_bytes": run.data_bytes,
        "loudest": [asdict(each) for each in run.loudest],
        "known": run.known,
        "result": asdict(run.result),
    }


def _from_line(line: Mapping[str, Any], case: Case) -> BenchRun:
    result = dict(line["result"])
    for name in ("causes", "candidates"):
        result[name] = tuple(Ranked(**{**each, "scope": tuple(each["scope"])}) for each in result[name])
    result["failed_tools"] = tuple(result["failed_tools"])
    result["changes"] = tuple(NamedChange(**each) for each in result["changes"])
    return BenchRun(
        case=case,
        result=RunResult(**result),
        cost=Cost(**line["cost"]),
        data_bytes=line["data_bytes"],
        loudest=tuple(Loud(**each) for each in line["loudest"]),
        known=tuple(line["known"]),
    )


def digest_code() -> str:
    """A digest of the code and tables that a diagnosis uses, and of the code that decides what is stored."""
    files = (file for file in sorted(PACKAGE.rglob("*")) if file.is_file())
    return digest_files(PACKAGE, [file for file in files if _decides(file.relative_to(PACKAGE))])


def _decides(file: Path) -> bool:
    """Whether a file of the package may decide what a run finds, or what is stored about it."""
    if "__pycache__" in file.parts:
        return False
    return file.parts[0] not in IDLE_ROOMS or file.as_posix() in KEEPING


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
