"""Finds where the runs of the command line are stored on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path, PurePath

from diagnosis_harness.adapters.local_runs.store import Limits, LocalRuns
from diagnosis_harness.settings import Settings

__all__ = ["LocalRuns", "data_folder", "open_local_runs"]

NAME = "diagnosis-harness"


def open_local_runs(settings: Settings) -> LocalRuns | None:
    """The stored runs of this user; None if there is no folder for them. Nothing is created yet."""
    named = settings.retention.folder
    folder = Path(named).expanduser() if named else data_folder(os.environ, sys.platform)  # noqa: TID251 - the convention
    if folder is None:
        return None
    return LocalRuns(folder, Limits(settings.retention.days, settings.retention.runs_max))


def data_folder(environment: Mapping[str, str], platform: str) -> Path | None:
    """The user data folder that the platform's convention gives a program.

    None if the environment names no home, as for a system service: then no runs are stored.
    """
    if platform == "win32":
        local = environment.get("LOCALAPPDATA", "")
        return Path(local) / NAME if local else None
    home, chosen = environment.get("HOME", ""), environment.get("XDG_DATA_HOME", "")
    if PurePath(chosen).is_absolute():  # the convention says to ignore a relative path
        return Path(chosen) / NAME
    if not home:
        return None
    shared = "Library/Application Support" if platform == "darwin" else ".local/share"
    return Path(home) / shared / NAME
