"""Writing incident folders (docs/reference/incident-folder.md) from published files."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from diagnosis_harness.kernel.window import utc_text

JsonRow = Mapping[str, object]
"""One object of a JSON Lines file, or of a published JSON file."""


@dataclass(frozen=True, slots=True)
class PublishedAlert:
    """Exactly what the published task provides to every method about one incident."""

    time_s: float | None = None
    entity: str | None = None
    signal: str | None = None
    statistic: str | None = None
    direction: str | None = None
    summary: str | None = None


def opaque_name(data_set: str, what: str) -> str:
    """A folder name that is opaque and the same each time."""
    return "incident-" + sha256(f"{data_set}/{what}".encode()).hexdigest()[:12]


def leave_out(folder: Path, unused: Mapping[str, str]) -> dict[str, dict[str, object]]:
    """Settings that exclude files of roles that the product cannot use yet, whatever they look like.

    `unused` is the role of each file by its name; a file that was not written is not mentioned.
    """
    return {name: {"ignore": True} for name in unused if (folder / name).exists()}


def write_shared(target: Path, name: str, write: Callable[[Path], None]) -> Path:
    """A folder below `target` that several incidents use: written once, whole or not at all.

    If two processes write it at the same time, both write the same.
    """
    folder = target / name
    if not folder.exists():
        target.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=target, prefix=".writing-") as scratch:
            unfinished = Path(scratch) / name
            unfinished.mkdir()
            write(unfinished)
            try:
                unfinished.rename(folder)
            except OSError:  # another process was first
                if not folder.exists():
                    raise
    return folder


def write_incident_toml(
    folder: Path,
    *,
    alert: PublishedAlert | None = None,
    onset_s: float | None = None,
    baseline: str | None = None,
    files: Mapping[str, Mapping[str, object]] | None = None,
    more: Mapping[str, Mapping[str, object]] | None = None,
) -> None:
    """Write `incident.toml`; `baseline` is a sibling folder, `files` says how to read a file.

    `more` are further tables, written as they are; the other arguments override their keys.
    """
    tables: dict[str, dict[str, object]] = {name: dict(keys) for name, keys in (more or {}).items()}
    tables["incident"] = {"zone": "UTC", **tables.get("incident", {}), "name": folder.name}
    if onset_s is not None:
        tables["incident"]["onset"] = utc_text(onset_s)
    if alert is not None:
        tables["alert"] = {
            "entity": alert.entity,
            "signal": alert.signal,
            "statistic": alert.statistic,
            "time": None if alert.time_s is None else utc_text(alert.time_s),
            "direction": alert.direction,
            "summary": alert.summary,
        }
    if baseline is not None:
        tables["baseline"] = {"folder": f"../{baseline}"}
    for name, settings in (files or {}).items():
        tables[f"files.{json.dumps(name)}"] = dict(settings)
    blocks = [f"[{title}]\n" + _keys(table) for title, table in tables.items()]
    (folder / "incident.toml").write_text("\n".join(blocks), encoding="utf-8")


def _keys(table: Mapping[str, object]) -> str:
    """Keys with a value; a JSON string, number or truth value is one of TOML."""
    return "".join(
        f"{key if key.isidentifier() and key.isascii() else _value(key)} = {_value(value)}\n"
        for key, value in table.items()
        if value is not None
    )


def _value(value: object) -> str:
    if isinstance(value, str):
        # TOML requires DEL to be escaped, which JSON does not; everything else is the same.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_value(str(key))} = {_value(inner_value)}" for key, inner_value in value.items())
        return f"{{{inner}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # inf and nan are valid TOML but not JSON
    return json.dumps(value) if isinstance(value, bool | int | float) else str(value)


def write_topology(
    folder: Path, *, calls: Iterable[tuple[str, str]], owners: Mapping[str, str] | None = None
) -> None:
    """Write `topology.csv`: who calls whom, and what is a part of what."""
    rows = [(caller, callee, "calls") for caller, callee in sorted(set(calls))]
    rows += [(instance, owner, "part_of") for instance, owner in sorted((owners or {}).items())]
    write_csv(folder / "topology.csv", ("caller", "callee", "relation"), rows)


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table with a header row."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def write_jsonl(path: Path, rows: Iterable[JsonRow]) -> bool:
    """Write one JSON object per line. Without rows, writes no file and returns False."""
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    if lines:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return bool(lines)
