"""A folder of runbooks: what is read, what is kept on disk, and what is read again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from diagnosis_harness.adapters.knowledge.base import INDEX_NAME, Changes, FolderKnowledge, FolderSizes
from diagnosis_harness.adapters.knowledge.folder import RunbookNote
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.runs import Rig

SIZES = FolderSizes(file_size_max=10_000, files_max=50, passage_size=500, refresh_s=30.0)
ROLLBACK = "# Rollback\n\nUndo the release with argocd.\n"
DISK = "# Disk\n\nDelete archived logs.\n"


@dataclass
class Encoder:
    """An embedder that remembers what it was given."""

    name: str = "encoder 1"
    texts: list[str] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The same row for every text."""
        self.texts += texts
        return np.tile(np.array([1.0, 0.0], dtype=np.float32), (len(texts), 1))


@dataclass
class Runbooks:
    """A folder of runbooks and where its index goes."""

    folder: Path
    kept: Path
    clock: ManualClock = field(default_factory=ManualClock)

    def base(self, *, sizes: FolderSizes = SIZES, embedder: Encoder | None = None) -> FolderKnowledge:
        """A knowledge base that has not looked yet."""
        return FolderKnowledge(self.folder, self.kept, sizes=sizes, clock=self.clock, embedder=embedder)

    def open(
        self, *, sizes: FolderSizes = SIZES, embedder: Encoder | None = None
    ) -> tuple[FolderKnowledge, Changes]:
        """One that has, and what it did."""
        base = self.base(sizes=sizes, embedder=embedder)
        return base, base.open(lambda file, done, total: None)

    def write(self, name: str, text: str | bytes) -> Path:
        """A file of the folder."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file


@pytest.fixture
def runbooks(tmp_path: Path) -> Runbooks:
    """Two runbooks."""
    made = Runbooks(tmp_path / "runbooks", tmp_path / "kept")
    made.write("rollback.md", ROLLBACK)
    made.write("ops/disk.md", DISK)
    return made


def find(base: FolderKnowledge, question: str) -> list[str]:
    """The files of what a question finds."""
    return [hit.passage.file for hit in base.search(Rig().run(), question).hits]


def test_files_of_the_folder_are_found_by_their_path(runbooks: Runbooks) -> None:
    """Also in folders below it."""
    base, changes = runbooks.open()

    assert changes == Changes(read=2, removed=0, notes=())
    assert find(base, "archived logs") == ["ops/disk.md"]
    assert base.holdings(Rig().run()).documents == 2


def test_only_what_changed_is_read_again(runbooks: Runbooks) -> None:
    """By another process, from the index on disk."""
    runbooks.open()
    runbooks.write("rollback.md", ROLLBACK + "\nThen tell the channel.\n")
    base, changes = runbooks.open()

    assert changes.read == 1
    assert find(base, "tell the channel") == ["rollback.md"]


def test_only_what_changed_is_embedded_again(runbooks: Runbooks) -> None:
    """Vectors of files whose bytes are the same are taken from the index."""
    runbooks.open(embedder=Encoder())
    os.utime(runbooks.folder / "ops/disk.md", (1, 1))  # touched, with the same bytes
    runbooks.write("rollback.md", ROLLBACK + "\nMore.\n")
    again = Encoder()
    _, changes = runbooks.open(embedder=again)

    assert changes.read == 1
    assert again.texts == ["Rollback\nUndo the release with argocd.\n\nMore."]


def test_a_file_that_is_gone_is_found_no_more(runbooks: Runbooks) -> None:
    """Neither in memory nor in the index on disk."""
    runbooks.open()
    (runbooks.folder / "ops/disk.md").unlink()

    base, changes = runbooks.open()
    again, changes_again = runbooks.open()

    assert find(base, "archived logs") == find(again, "archived logs") == []
    assert (changes.removed, changes_again.removed) == (1, 0)


def test_a_search_sees_changes_after_a_while(runbooks: Runbooks) -> None:
    """The folder is looked at again when the last look is old, and not before."""
    base, _ = runbooks.open()
    runbooks.write("tls.md", "# Certificates\n\nAsk cert-manager.\n")

    assert find(base, "cert-manager") == []
    runbooks.clock.advance(SIZES.refresh_s)
    assert find(base, "cert-manager") == ["tls.md"]


def test_a_folder_that_disappeared_leaves_what_it_held(runbooks: Runbooks) -> None:
    """And the answer can say so; when it is back, it is read again."""
    base, _ = runbooks.open()
    runbooks.folder.rename(runbooks.folder.with_name("away"))
    runbooks.clock.advance(SIZES.refresh_s)
    during = base.search(Rig().run(), "archived logs")
    runbooks.folder.with_name("away").rename(runbooks.folder)
    runbooks.clock.advance(SIZES.refresh_s)

    assert (during.is_stale, len(during.hits)) == (True, 1)
    assert not base.search(Rig().run(), "archived logs").is_stale


@pytest.mark.parametrize(
    ("name", "data", "note"),
    [
        ("a.png", b"\x89PNG", "not used: it is neither Markdown, text nor HTML"),
        ("a.md", b"x\x00y", "not used: it is binary, or UTF-16"),
        ("a.md", "磁盘".encode("gb18030"), "not used: it is not UTF-8 (byte 1)"),
        ("a.md", b"x" * 10_001, "not used: 10,001 bytes are more than 10,000"),
        ("a.txt", b"", "not used: it contains no text"),
    ],
)
def test_each_file_that_is_not_used_has_its_reason(
    runbooks: Runbooks, name: str, data: bytes, note: str
) -> None:
    """At every start, also where the rest comes from the index on disk."""
    runbooks.write(name, data)

    assert runbooks.open()[1].notes == (RunbookNote(name, note),)
    assert runbooks.open()[1].notes == (RunbookNote(name, note),)


def test_links_out_of_the_folder_are_not_followed(runbooks: Runbooks, tmp_path: Path) -> None:
    """Neither to a file, nor to a folder, nor in a circle; one to a file inside is a file of the folder."""
    (tmp_path / "secret.md").write_text("# Payroll\n\nSalaries of everyone.\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "more.md").write_text("Salaries.\n")
    (runbooks.folder / "link.md").symlink_to(tmp_path / "secret.md")
    (runbooks.folder / "linked").symlink_to(tmp_path / "outside")
    (runbooks.folder / "ops" / "up").symlink_to(runbooks.folder)
    (runbooks.folder / "circle.md").symlink_to(runbooks.folder / "circle.md")
    (runbooks.folder / "inside.md").symlink_to(runbooks.folder / "rollback.md")
    base, changes = runbooks.open()

    assert find(base, "salaries") == []
    assert set(find(base, "undo the release with argocd")) == {"inside.md", "rollback.md"}
    assert {note.file for note in changes.notes} == {"link.md", "linked", "ops/up", "circle.md"}


def test_a_pipe_is_not_waited_for(runbooks: Runbooks) -> None:
    """Whatever its name."""
    os.mkfifo(runbooks.folder / "pipe.md")

    assert runbooks.open()[1].notes == (RunbookNote("pipe.md", "not used: it is not a regular file"),)


def test_too_many_files_are_said(runbooks: Runbooks) -> None:
    """The rest is left out."""
    sizes = FolderSizes(file_size_max=10_000, files_max=1, passage_size=500, refresh_s=30.0)

    assert [note.note for note in runbooks.open(sizes=sizes)[1].notes] == [
        "not used: more than 1 files, so the rest is left out"
    ]


@pytest.mark.parametrize("damage", [b"", b"not an archive", None])
def test_a_damaged_index_is_built_again_with_a_note(runbooks: Runbooks, damage: bytes | None) -> None:
    """Empty, something else, or cut in the middle."""
    runbooks.open(embedder=Encoder())
    file = runbooks.kept / INDEX_NAME
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2] if damage is None else damage)
    base, changes = runbooks.open(embedder=Encoder())

    assert changes.read == 2
    assert [note.file for note in changes.notes] == [str(file)]
    assert changes.notes[0].note.startswith("rebuilt: it ")
    assert "ops/disk.md" in find(base, "archived logs")
    assert runbooks.open(embedder=Encoder())[1] == Changes(0, 0, ())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(at=st.integers(0, 4_000), byte=st.integers(0, 255))
def test_an_index_with_any_byte_changed_is_read_or_built_again(
    runbooks: Runbooks, at: int, byte: int
) -> None:
    """Nothing is raised, and what is found is what the files hold."""
    runbooks.open()
    file = runbooks.kept / INDEX_NAME
    data = bytearray(file.read_bytes())
    data[at % len(data)] = byte
    file.write_bytes(bytes(data))
    base, _ = runbooks.open()

    assert find(base, "archived logs") == ["ops/disk.md"]


def test_an_index_of_other_settings_is_built_again(runbooks: Runbooks) -> None:
    """Another size of passages, another encoder."""
    runbooks.open()
    _, changes = runbooks.open(embedder=Encoder())
    _, again = runbooks.open(embedder=Encoder(name="encoder 2"))

    assert (changes.read, again.read) == (2, 2)
    assert again.notes[0].note == "rebuilt: it was made by another version or with other settings"


def test_where_the_index_cannot_be_kept_the_search_works(runbooks: Runbooks) -> None:
    """It costs time at the next start, and says so."""
    runbooks.kept.write_text("a file stands in its place")
    base, changes = runbooks.open()

    assert find(base, "archived logs") == ["ops/disk.md"]
    assert [note.note for note in changes.notes] == ["the index was not saved (File exists)"]


def test_no_half_written_index_is_left_behind(runbooks: Runbooks) -> None:
    """One file, replaced whole."""
    runbooks.open()

    assert [file.name for file in runbooks.kept.iterdir()] == [INDEX_NAME]


def test_a_missing_folder_is_refused_in_one_sentence(runbooks: Runbooks) -> None:
    """Not there, or a file."""
    shutil.rmtree(runbooks.folder)
    with pytest.raises(InvalidInput, match="there is no such folder"):
        runbooks.open()
    runbooks.folder.write_text("a file")
    with pytest.raises(InvalidInput, match="it is a file"):
        runbooks.open()
