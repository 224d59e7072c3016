"""An incident folder from a few texts, opened; and a run to go with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.toolbox.ports import Sources

Files = Mapping[str, str | bytes]
WriteFolder = Callable[..., Path]
OpenFolder = Callable[[Files], Sources]
RefuseFolder = Callable[[Files], InvalidInput]


@pytest.fixture
def ctx() -> RunContext:
    """A run that nothing limits."""
    return Rig().run()


@pytest.fixture
def write_folder(tmp_path: Path) -> WriteFolder:
    """Write files into a folder of the given name below the test's own."""

    def write(files: Files, *, name: str = "incident") -> Path:
        folder = tmp_path / name
        folder.mkdir(parents=True, exist_ok=True)
        for file, content in files.items():
            (folder / file).write_bytes(content.encode() if isinstance(content, str) else content)
        return folder

    return write


@pytest.fixture
def open_folder(write_folder: WriteFolder) -> OpenFolder:
    """Write files into a folder and open it."""
    return lambda files: open_incident_folder(write_folder(files))


@pytest.fixture
def refuse_folder(write_folder: WriteFolder) -> RefuseFolder:
    """Write files into a folder, try to open it, and return the refusal, which must be one plain sentence."""

    def refuse(files: Files) -> InvalidInput:
        with pytest.raises(InvalidInput) as caught:
            open_incident_folder(write_folder(files))
        sentence = str(caught.value)
        assert sentence.isprintable()
        assert sentence.endswith(".")
        assert "Traceback" not in sentence
        assert caught.value.remedy
        return caught.value

    return refuse
