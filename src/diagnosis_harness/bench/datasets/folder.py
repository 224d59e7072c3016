"""Writing incident folders (docs/reference/incident-folder.md) from published files."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from diagnosis_harness.kernel.window import utc_text


@dataclass(frozen=True, slots=True)
class PublishedAlert:
    """What the published task gives every method about one incident, and nothing else."""

    time_s: float
    entity: str | None = None
    signal: str | None = None
    statistic: str | None = None


def opaque_name(data_set: str, what: str) -> str:
    """A folder name that is opaque and the same each time."""
    return "incident-" + sha256(f"{data_set}/{what}".encode()).hexdigest()[:12]


def write_incident_toml(
    folder: Path,
    *,
    alert: PublishedAlert | None = None,
    onset_s: float | None = None,
    baseline: str | None = None,
    files: Mapping[str, Mapping[str, str]] | None = None,
) -> None:
    """Write `incident.toml`; `baseline` is a sibling folder, `files` says how to read a file."""
    tables: dict[str, Mapping[str, str | None]] = {
        "incident": {
            "name": folder.name,
            "zone": "UTC",
            "onset": None if onset_s is None else utc_text(onset_s),
        }
    }
    if alert is not None:
        tables["alert"] = {
            "entity": alert.entity,
            "signal": alert.signal,
            "statistic": alert.statistic,
            "time": utc_text(alert.time_s),
        }
    if baseline is not None:
        tables["baseline"] = {"folder": f"../{baseline}"}
    for name, settings in (files or {}).items():
        tables[f"files.{json.dumps(name)}"] = settings
    blocks = [f"[{title}]\n" + _keys(table) for title, table in tables.items()]
    (folder / "incident.toml").write_text("\n".join(blocks), encoding="utf-8")


def _keys(table: Mapping[str, str | None]) -> str:
    """Keys with a value; a JSON string is a TOML string."""
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items() if value is not None)


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
