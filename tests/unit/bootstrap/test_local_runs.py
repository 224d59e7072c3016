"""Where the runs of the command line are kept: as each platform has it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from diagnosis_harness.bootstrap.local_runs import data_folder


@pytest.mark.parametrize(
    ("environment", "platform", "folder"),
    [
        ({"HOME": "/h/ada"}, "linux", "/h/ada/.local/share/diagnosis-harness"),
        ({"HOME": "/h/ada", "XDG_DATA_HOME": "/data"}, "linux", "/data/diagnosis-harness"),
        ({"HOME": "/h/ada", "XDG_DATA_HOME": ""}, "linux", "/h/ada/.local/share/diagnosis-harness"),
        ({"HOME": "/h/ada", "XDG_DATA_HOME": "a"}, "linux", "/h/ada/.local/share/diagnosis-harness"),
        ({"HOME": "/u/ada"}, "darwin", "/u/ada/Library/Application Support/diagnosis-harness"),
        ({"LOCALAPPDATA": "/c/local"}, "win32", "/c/local/diagnosis-harness"),
        ({"HOME": "/h/ada"}, "win32", None),
        ({}, "linux", None),
    ],
)
def test_the_data_folder_follows_the_platform(
    environment: Mapping[str, str], platform: str, folder: str | None
) -> None:
    """The environment decides; without a home folder nothing is stored."""
    assert data_folder(environment, platform) == (None if folder is None else Path(folder))
