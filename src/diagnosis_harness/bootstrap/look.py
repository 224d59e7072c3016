"""Inspects an incident folder for the command line."""

from __future__ import annotations

from pathlib import Path

from diagnosis_harness.adapters.sources.incident_folder.look import look_at_folder
from diagnosis_harness.adapters.sources.incident_folder.settings_draft import write_draft
from diagnosis_harness.adapters.sources.part import ignore_progress
from diagnosis_harness.application.folder_look import FolderLook
from diagnosis_harness.settings import Settings


def look_at(settings: Settings, folder: Path, *, baseline: Path | None) -> FolderLook:
    """How the files of a folder are read, and what they contain.

    Raises:
        InvalidInput: the folder does not exist, it has no files, or its incident.toml cannot be read.
    """
    return look_at_folder(
        folder, baseline=baseline, memory_limit_mb=settings.folder.memory_limit_mb, progress=ignore_progress
    )


def write_draft_settings(settings: Settings, folder: Path, seen: FolderLook) -> Path:
    """Write an incident.toml with what was recognised, read it back and try it.

    Raises:
        InvalidInput: the file already exists, it cannot be written, or the folder reads differently with
            it.
    """
    return write_draft(folder, seen, look=lambda: look_at(settings, folder, baseline=None))
