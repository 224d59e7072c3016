"""A folder that is sent holds what a diagnosis here would read, and is the same folder where it arrives."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest
from tests.support.archives import METRICS

from diagnosis_harness.adapters.sources.incident_folder.packing import PackedFolder, pack_folder
from diagnosis_harness.adapters.sources.incident_folder.received import lay_out
from diagnosis_harness.kernel.errors import InvalidInput


def folder_at(path: Path, **files: str) -> Path:
    """A folder of texts; `__` in a name is a folder, and every name ends as the reader wants it."""
    for name, text in files.items():
        ending = ".toml" if name == "incident" else ".csv"
        file = path / f"{name.replace('__', '/')}{ending}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return path


def names_in(content: bytes) -> list[str]:
    """The names in the archive."""
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        assert all((entry.uname, entry.uid, entry.mtime) == ("", 0, 0) for entry in archive)
        return archive.getnames()


def pack(folder: Path) -> bytes:
    """The packed folder."""
    content = io.BytesIO()
    assert isinstance(pack_folder(folder, content), PackedFolder)
    return content.getvalue()


def test_what_is_read_is_packed_and_nothing_else(tmp_path: Path) -> None:
    """No hidden file, no link out of it, no folder but the baseline; but ignored files, which are named."""
    toml = '[baseline]\nfolder = "before/normal"\n\n[files."x.csv"]\nignore = true\n'
    folder = folder_at(
        tmp_path / "shop", metrics=METRICS, 指标=METRICS, x="x", before__normal__metrics=METRICS, other__y="y"
    )
    (folder / "incident.toml").write_text(toml, encoding="utf-8")
    (folder / ".secret").write_text("x", encoding="utf-8")
    (tmp_path / "outside.csv").write_text("x", encoding="utf-8")
    (folder / "link.csv").symlink_to(tmp_path / "outside.csv")
    content = pack(folder)
    files = ["before/normal/metrics.csv", "incident.toml", "metrics.csv", "x.csv", "指标.csv"]
    assert names_in(content) == files
    (tmp_path / "sent").write_bytes(content)
    arrived = tmp_path / "arrived"
    assert lay_out(tmp_path / "sent", "shop.tar.gz", arrived, unpacked_bytes_max=1_000_000) == ()
    for name in files:
        assert (arrived / name).read_bytes() == (folder / name).read_bytes()


def test_the_same_files_are_the_same_bytes(tmp_path: Path) -> None:
    """Wherever they lie and whenever they were written: the service stores them once."""
    first, second = (pack(folder_at(tmp_path / name, metrics=METRICS, a="x")) for name in ("one", "two"))
    assert first == second


@pytest.mark.parametrize("named", ["../normal", "/etc"])
def test_a_baseline_outside_is_refused_before_anything_is_sent(tmp_path: Path, named: str) -> None:
    """It would be missing where it arrives."""
    folder = folder_at(tmp_path / "shop", metrics=METRICS, incident=f'[baseline]\nfolder = "{named}"\n')
    folder_at(tmp_path / "normal", metrics=METRICS)
    with pytest.raises(InvalidInput, match="outside of the folder that is sent"):
        pack(folder)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    """By its path."""
    with pytest.raises(InvalidInput, match="there is no such folder"):
        pack(tmp_path / "nowhere")
