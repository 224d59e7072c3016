"""Uploads as sources of runs: fetched and unpacked once, gone when they expire, kept while they are used."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import stat
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from tests.support.archives import METRICS, tar_of, zip_of

from diagnosis_harness.adapters.sources.catalog import LocalSourceCatalog
from diagnosis_harness.adapters.sources.private_folder import PrivateRoot
from diagnosis_harness.adapters.sources.uploads import UploadCatalog, UploadLimits
from diagnosis_harness.application.callers.caller import Caller, CallerRole
from diagnosis_harness.application.uploads.upload import UPLOAD_CHUNK_BYTES, CallerLimits, Upload
from diagnosis_harness.application.uploads.upload_service import Arrived, UploadService, UploadSettings
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import (
    InvalidInput,
    InvalidSetting,
    NotPermitted,
    SourceExpired,
    SourceUnavailable,
    SourceUnknown,
)
from diagnosis_harness.kernel.ids import RandomIds
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.runs import Rig

ANN, BOB = Caller("ann", CallerRole.OPERATOR), Caller("bob", CallerRole.ADMIN)
ARCHIVE = tar_of({"metrics.csv": METRICS})


@dataclass(slots=True)
class HeldUploads:
    """`UploadStore` in memory."""

    rows: dict[str, Upload] = field(default_factory=dict)
    chunks: dict[tuple[str, int], bytes] = field(default_factory=dict)
    fetched: int = 0

    async def begin(self, upload: Upload, limits: CallerLimits) -> Upload | None:
        """Take it in."""
        del limits
        if upload.upload_id in self.rows:
            return self.rows[upload.upload_id]
        self.rows[upload.upload_id] = upload
        return None

    async def add_chunk(self, upload_id: str, number: int, content: bytes) -> None:
        """Take a chunk in."""
        self.chunks[upload_id, number] = content

    async def complete(self, upload_id: str, *, expires_s: float) -> None:
        """Let it be seen."""
        self._change(upload_id, is_complete=True, expires_s=expires_s)

    async def upload(self, upload_id: str, *, at_s: float) -> Upload | None:
        """The row."""
        found = self.rows.get(upload_id)
        return found if found is not None and found.is_complete and found.expires_s > at_s else None

    async def of_owners(self, owners: tuple[str, ...], *, at_s: float) -> tuple[Upload, ...]:
        """The rows."""
        return tuple(row for row in self.rows.values() if row.owner in owners and row.expires_s > at_s)

    async def chunk(self, upload_id: str, number: int) -> bytes | None:
        """A chunk."""
        self.fetched += number == 0
        return self.chunks.get((upload_id, number))

    async def expire(self, upload_id: str, *, at_s: float) -> None:
        """Have it expire."""
        self._change(upload_id, expires_s=at_s)

    async def remove_expired(self, *, at_s: float) -> int:
        """Remove one."""
        gone = [name for name, row in self.rows.items() if row.expires_s <= at_s][:1]
        for name in gone:
            del self.rows[name]
        return len(gone)

    def _change(self, upload_id: str, **values: object) -> None:
        self.rows[upload_id] = replace(self.rows[upload_id], **values)  # type: ignore[arg-type]  # its own fields


@dataclass(slots=True)
class Process:
    """One process of a service, as far as uploads go."""

    root: PrivateRoot
    catalog: UploadCatalog
    service: UploadService
    ctx: RunContext

    async def send(self, content: bytes = ARCHIVE, *, caller: Caller = ANN, key: str | None = None) -> Upload:
        """Send something, as the route does."""
        file = self.catalog.new_file()
        try:
            file.write_bytes(content)
            arrived = Arrived(
                content=file,
                name="sent.tgz",
                size_bytes=len(content),
                digest=hashlib.sha256(content).hexdigest(),
                upload_id=key,
            )
            return (await self.service.add(caller, arrived))[0]
        finally:
            file.unlink()

    @property
    def folders(self) -> list[Path]:
        """What is unpacked here; folders without a user are deleted."""
        gc.collect()
        return [path for path in self.root.path.iterdir() if path.is_dir()]


@dataclass(slots=True)
class Team:
    """Two processes over one store."""

    store: HeldUploads
    clock: ManualClock
    first: Process
    second: Process


def with_team(tmp_path: Path, story: Callable[[Team], Awaitable[None]], *, open_max: int = 4) -> None:
    """Tell a story of two processes."""
    store, clock = HeldUploads(), ManualClock()

    @asynccontextmanager
    async def process() -> AsyncIterator[Process]:
        root = PrivateRoot(tmp_path)
        catalog = UploadCatalog(
            LocalSourceCatalog({}, open_max=4),
            LocalSourceCatalog({}, open_max=4),
            store,
            root=root,
            clock=clock,
            limits=UploadLimits(10_000_000, open_max, 64),
        )
        settings = UploadSettings(1_000_000, 100.0, 10.0, CallerLimits(10, 10_000_000))
        service = UploadService(store, catalog, clock=clock, ids=RandomIds(), settings=settings)
        try:
            yield Process(root, catalog, service, Rig().run())
        finally:
            root.close()
            assert not root.path.exists()

    async def run_story() -> None:
        async with process() as first, process() as second:
            await story(Team(store, clock, first, second))

    asyncio.run(run_story())


def test_another_process_fetches_and_unpacks_an_upload_once(tmp_path: Path) -> None:
    """Into private folders; the process that received it already has it."""

    async def story(team: Team) -> None:
        sent = await team.first.send()
        for _ in range(3):
            for process in (team.first, team.second):
                opened = await process.catalog.open(process.ctx, sent.upload_id, None, sent.stamp)
                assert opened.stamp == sent.stamp
                assert opened.sources.summary.summary(process.ctx).metric_series == 1
        assert team.store.fetched == 1
        assert len(team.second.folders) == 1
        for folder in (team.second.root.path, *team.second.folders):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700

    with_team(tmp_path, story)


def test_an_archive_inside_an_upload_is_unpacked_below_the_private_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it is in the system's folder for temporary files, where a killed process would leave it."""
    system = tmp_path / "system"
    system.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(system))
    content = zip_of({"inner.zip": zip_of({"metrics.csv": METRICS}), "metrics-b.csv": METRICS})

    async def story(team: Team) -> None:
        sent = await team.first.send(content)
        for process in (team.first, team.second):
            opened = await process.catalog.open(process.ctx, sent.upload_id, None, sent.stamp)
            names = {note.file for note in opened.sources.summary.summary(process.ctx).files}
            assert names == {"inner.zip/metrics.csv", "metrics-b.csv"}
            assert not list(system.iterdir())

    with_team(tmp_path / "uploads", story)


def test_large_content_is_stored_in_chunks_and_comes_back_whole(tmp_path: Path) -> None:
    """Each of them small enough for one short transaction."""
    content = ("# " + "x" * 98 + "\n").encode() * 26_000 + METRICS.encode()
    content = tar_of({"metrics.csv": METRICS, "notes.md": content.decode()}, mode="w")

    async def story(team: Team) -> None:
        sent = await team.first.send(content)
        sizes = [len(chunk) for chunk in team.store.chunks.values()]
        assert sizes[:-1] == [UPLOAD_CHUNK_BYTES] * (len(content) // UPLOAD_CHUNK_BYTES)
        assert sum(sizes) == len(content)
        opened = await team.second.catalog.open(team.second.ctx, sent.upload_id, None, sent.stamp)
        assert opened.sources.summary.summary(team.second.ctx).metric_series == 1

    with_team(tmp_path, story)


def test_what_is_not_as_it_was_sent_is_not_read(tmp_path: Path) -> None:
    """A chunk that is missing or another one would be an answer from other data."""

    async def story(team: Team) -> None:
        sent = await team.first.send()
        team.store.chunks[sent.upload_id, 0] = tar_of({"metrics.csv": METRICS.replace("shop", "cart")})
        with pytest.raises(SourceUnavailable, match="not stored as it was sent"):
            await team.second.catalog.open(team.second.ctx, sent.upload_id, None, sent.stamp)

    with_team(tmp_path, story)


@pytest.mark.parametrize("how", ["expires", "is deleted"])
def test_a_run_that_has_begun_goes_on_when_its_source_goes(tmp_path: Path, how: str) -> None:
    """The next run is refused; the folder is removed with the last run that uses it."""

    async def story(team: Team) -> None:
        sent, process = await team.first.send(), team.second
        opened = await process.catalog.open(process.ctx, sent.upload_id, None, sent.stamp)
        if how == "expires":
            team.clock.advance(100.0)
        else:
            await team.first.service.delete(ANN, sent.upload_id)
        await process.service.remove_expired()
        with pytest.raises(SourceExpired):
            await process.catalog.open(process.ctx, sent.upload_id, None, sent.stamp)
        assert len(process.folders) == 1
        assert opened.sources.summary.summary(process.ctx).metric_series == 1
        del opened
        assert process.folders == []
        assert team.store.rows == {}

    with_team(tmp_path, story)


def test_no_more_than_a_few_stay_unpacked(tmp_path: Path) -> None:
    """The one that was not asked about for longest goes, and is fetched again when it is asked about."""

    async def story(team: Team) -> None:
        contents = [METRICS + f"{1_700_002_000 + number},x,y,1\n" for number in range(4)]
        sent = [await team.first.send(tar_of({"metrics.csv": content})) for content in contents]
        for upload in (*sent, sent[0]):
            await team.second.catalog.open(team.second.ctx, upload.upload_id, None, upload.stamp)
        assert len(team.second.folders) <= 2
        assert len(team.first.folders) <= 2

    with_team(tmp_path, story, open_max=2)


def test_what_cannot_be_diagnosed_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    """Neither a row nor a folder is left, and the message shows no path of this machine."""

    async def story(team: Team) -> None:
        for content in (b"\x89PNG....", tar_of({"metrics.csv": "a,b\n"}), tar_of({"x.csv": ""})):
            with pytest.raises(InvalidInput) as caught:
                await team.first.send(content)
            assert str(tmp_path) not in str(caught.value)
        assert (team.store.rows, team.first.folders) == ({}, [])

    with_team(tmp_path, story)


def test_an_upload_is_its_callers_alone(tmp_path: Path) -> None:
    """Also before an admin it is as one that is not there."""

    async def story(team: Team) -> None:
        sent = await team.first.send()
        service = team.second.service
        assert (await service.upload(ANN, sent.upload_id)).owner == "ann"
        assert await service.uploads(BOB) == ()
        for act in (service.upload, service.stamp, service.delete):
            with pytest.raises(SourceUnknown):
                await act(BOB, sent.upload_id)
        with pytest.raises(NotPermitted):
            await service.delete(Caller("ann", CallerRole.VIEWER), sent.upload_id)
        assert len(await service.uploads(ANN)) == 1

    with_team(tmp_path, story)


def test_one_that_is_sent_twice_under_one_key_is_stored_once(tmp_path: Path) -> None:
    """Other content under that key is refused, and so is the same while it is still being stored."""

    async def story(team: Team) -> None:
        key = f"upload-{'a' * 32}"
        first = await team.first.send(key=key)
        assert await team.second.send(key=key) == first
        with pytest.raises(InvalidInput, match="Idempotency-Key: it was already used for another source"):
            await team.second.send(tar_of({"metrics.csv": METRICS.replace("shop", "cart")}), key=key)
        await team.store.expire(key, at_s=-1.0)
        team.store._change(key, is_complete=False, expires_s=1_000.0)
        with pytest.raises(InvalidInput, match="still being stored"):
            await team.second.send(key=key)

    with_team(tmp_path, story)


_LEAVES_IT_BEHIND = """
import sys, os
from pathlib import Path
from diagnosis_harness.adapters.sources.private_folder import PrivateFolder, PrivateRoot
root = PrivateRoot(Path(sys.argv[1]))
folder = PrivateFolder(root.path)
(folder.path / "metrics.csv").write_text("x")
os._exit(9)
"""


def test_what_a_killed_process_left_behind_is_removed_by_the_next(tmp_path: Path) -> None:
    """That of a process that lives stays, and so does what is not ours."""
    ended = subprocess.run([sys.executable, "-c", _LEAVES_IT_BEHIND, str(tmp_path)], check=False)
    assert ended.returncode == 9
    (left,) = tmp_path.glob("diagnosis-sources-*")
    other = tmp_path / "diagnosis-sources-link"
    other.symlink_to(tmp_path)
    one = PrivateRoot(tmp_path)
    two = PrivateRoot(tmp_path)
    assert not left.exists()
    assert one.path.is_dir()
    assert two.path.is_dir()
    assert other.is_symlink()
    one.close()
    two.close()
    assert [path.name for path in tmp_path.iterdir()] == ["diagnosis-sources-link"]


def test_a_folder_that_cannot_be_written_to_is_named_at_the_start(tmp_path: Path) -> None:
    """By the name of the setting."""
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(InvalidSetting, match=r"uploads.folder: .* cannot be written to"):
        PrivateRoot(file)
