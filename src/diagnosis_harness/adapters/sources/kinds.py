"""The kinds of sources, in one table. A new kind adds its row here and its class to the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.part import INCIDENT_FOLDER, FolderPart
from diagnosis_harness.adapters.sources.part import SourcePart

SOURCE_KINDS: Final[Mapping[str, Callable[..., SourcePart]]] = {INCIDENT_FOLDER: FolderPart}
"""Functions that build a part from the settings of its kind, as keywords, and `memory_limit_mb`."""
