"""Archives in a folder: what is in them is read, within limits, and is written nowhere else."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from diagnosis_harness.adapters.sources.incident_folder import archives
from diagnosis_harness.adapters.sources.incident_folder.listing import list_folder
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.toolbox.ports import Sources

Files = Mapping[str, str | bytes]
OpenFolder = Callable[[Files], Sources]

METRICS = "time,entity,signal,value\n" + "".join(
    f"{1_700_000_000 + 60 * at},shop,latency_ms,{at}\n" for at in range(5)
)


def zip_of(files: Mapping[str, str]) -> bytes:
    """A zip archive of texts."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def tar_of(files: Mapping[str, str], *, link: str | None = None) -> bytes:
    """A tar archive of texts, packed with gzip; `link` is a link to that place."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
        if link is not None:
            info = tarfile.TarInfo("metrics-link.csv")
            info.type, info.linkname = tarfile.SYMTYPE, link
            archive.addfile(info)
    return content.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("export.zip", zip_of({"a/metrics.csv": METRICS, "b/": "", "__MACOSX/x": "", ".hidden": ""})),
        ("export.tar.gz", tar_of({"a/metrics.csv": METRICS}, link="/etc/passwd")),
        ("export.tgz", tar_of({"../../metrics.csv": METRICS})),
    ],
)
def test_files_in_an_archive_are_read(
    open_folder: OpenFolder, ctx: RunContext, name: str, content: bytes
) -> None:
    """Links and hidden files are not; no path inside decides where anything is written."""
    summary = open_folder({name: content}).summary.summary(ctx)
    assert summary.metric_series == 1
    (note,) = summary.files
    assert note.file.startswith(f"{name}/")
    assert note.file.endswith("metrics.csv")


def test_a_setting_reaches_a_file_in_an_archive(open_folder: OpenFolder, ctx: RunContext) -> None:
    """By the name that the notes show."""
    toml = '[files."export.zip/metrics.csv"]\nignore = true\n'
    files: Files = {
        "metrics.csv": METRICS,
        "export.zip": zip_of({"metrics.csv": METRICS}),
        "incident.toml": toml,
    }
    notes = {note.file: note.note for note in open_folder(files).summary.summary(ctx).files}
    assert notes["export.zip/metrics.csv"] == "left out as incident.toml asks"


def test_a_damaged_archive_is_left_out(open_folder: OpenFolder, ctx: RunContext) -> None:
    """With its reason; the rest is read."""
    whole = zip_of({"metrics.csv": METRICS})
    files: Files = {"metrics.csv": METRICS, "a.zip": whole[: len(whole) // 2], "b.tar": b"PK", "c.zip": b""}
    notes = {note.file: note for note in open_folder(files).summary.summary(ctx).files}
    assert all("not a complete archive" in notes[name].note for name in ("a.zip", "b.tar", "c.zip"))


def test_an_archive_that_unpacks_to_too_much_is_left_out(
    open_folder: OpenFolder, ctx: RunContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted while it is unpacked, whatever its headers say; and the number of its files as well."""
    monkeypatch.setattr(archives, "UNPACKED_LIMIT_BYTES", 1_000_000)
    monkeypatch.setattr(archives, "MEMBERS_LIMIT", 3)
    files: Files = {
        "metrics.csv": METRICS,
        "bomb.zip": zip_of({"metrics.csv": "0" * 2_000_000}),
        "many.zip": zip_of({f"{at}.csv": "x" for at in range(5)}),
        "inner.zip": zip_of({"metrics.zip": "x"}),
    }
    notes = {note.file: note.note for note in open_folder(files).summary.summary(ctx).files}
    assert "unpacks to more than" in notes["bomb.zip"]
    assert "holds more than 3 files" in notes["many.zip"]
    assert "an archive inside an archive" in notes["inner.zip/metrics.zip"]


_KILLED_WHILE_OPEN = """
import os, sys
from pathlib import Path
from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder
sources = open_incident_folder(Path(sys.argv[1]))
os._exit(9)
"""


def test_what_a_killed_process_unpacked_is_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that was killed cannot remove anything itself."""
    folder, system = tmp_path / "incident", tmp_path / "system"
    folder.mkdir()
    system.mkdir()
    (folder / "export.zip").write_bytes(zip_of({"metrics.csv": METRICS}))
    monkeypatch.setenv("TMPDIR", str(system))
    monkeypatch.setattr(tempfile, "tempdir", None)
    subprocess.run([sys.executable, "-c", _KILLED_WHILE_OPEN, str(folder)], check=False)
    (left,) = system.iterdir()
    sources = archives.unpack_archives(list_folder(folder, {}), {})
    assert not left.exists()
    sources.remove()
    assert not list(system.iterdir())


def test_a_place_where_nothing_can_be_unpacked_is_named(tmp_path: Path) -> None:
    """With what to do."""
    (tmp_path / "export.zip").write_bytes(zip_of({"metrics.csv": METRICS}))
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput, match="set TMPDIR"):
        archives.unpack_archives(list_folder(tmp_path, {}), {}, below=tmp_path / "file")
