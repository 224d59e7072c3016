"""Finds the service of an instance, if only its name shows it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from diagnosis_harness.adapters.sources.incident_folder.formats.series_names import service_of_pod
from diagnosis_harness.adapters.sources.incident_folder.recording import FolderContent


def find_owners(contents: Sequence[FolderContent], named: Collection[str]) -> Mapping[str, str]:
    """Instance → service for names that nothing else assigns.

    `seats-84c-b7` is an instance of `seats` if the folder knows `seats` and every further part of the name
    contains a digit, as in names from an orchestrator; `payments-db` is not an instance of `payments`.

    Args:
        named: the owners that topology files name.
    """
    services = set(named)
    for content in contents:
        services |= {part.entity for file in content.metrics for part in file.parts}
        services |= {name for file in content.spans for name in file.entities}
    lines = {name for content in contents for file in content.logs for name in file.entities}
    return {
        name: owner
        for name in (services | lines) - set(named)
        if (owner := _owner_of(name, services)) is not None
    }


def _owner_of(name: str, services: Collection[str]) -> str | None:
    plain = service_of_pod(name)
    if plain != name and plain in services:
        return plain
    for end in range(len(name) - 1, 0, -1):
        if name[end] == "-" and name[:end] in services:
            rest = name[end + 1 :].split("-")
            return name[:end] if all(any(sign.isdigit() for sign in part) for part in rest) else None
    return None
