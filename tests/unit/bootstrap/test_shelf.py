"""Which source a folder is, whatever its path, and what is said where it is another than was asked about."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from diagnosis_harness.application.runs.sources import SourceStamp, lane_of
from diagnosis_harness.bootstrap.shelf import FolderShelf
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import SourceUnavailable
from diagnosis_harness.settings import SourceSettings
from diagnosis_harness.testing.runs import Rig

TOML = '[incident]\nname = "shop"\n\n[alert]\nentity = "orders"\n'
ROWS = "time,entity,signal,value\n" + "".join(f"{1_700_000_000 + 30 * n},orders,cpu,{n}\n" for n in range(20))


def folder_at(path: Path) -> Path:
    """A small incident."""
    path.mkdir(parents=True)
    (path / "incident.toml").write_text(TOML, encoding="utf-8")
    (path / "metrics.csv").write_text(ROWS, encoding="utf-8")
    return path


def append(path: Path, text: str) -> None:
    """Add to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def shelf_of(**folders: Path) -> FolderShelf:
    """A shelf of these folders."""
    sources = {name: SourceSettings(folder=folder) for name, folder in folders.items()}
    return FolderShelf(sources, memory_limit_mb=64, open_max=4)


def stamp_of(folder: Path, *, baseline: Path | None = None) -> SourceStamp:
    """The stamp of a folder, read by a process of its own."""

    async def stamped() -> SourceStamp:
        source = SourceSettings(folder=folder, baseline=baseline)
        shelf = FolderShelf({"one": source}, memory_limit_mb=64, open_max=4)
        await shelf.warm()
        return shelf.stamps()["one"]

    return asyncio.run(stamped())


def play(act: Callable[[RunContext], Awaitable[None]]) -> None:
    """Act within a run."""

    async def played() -> None:
        await act(Rig().run())

    asyncio.run(played())


def test_the_same_folder_at_another_path_is_the_same_source(tmp_path: Path) -> None:
    """Under another name and with other times of its files, as a copy on another machine has."""
    here = folder_at(tmp_path / "here")
    there = Path(shutil.copytree(here, tmp_path / "elsewhere" / "copy"))
    for file in there.iterdir():
        os.utime(file, (1.0, 1.0))
    assert stamp_of(here) == stamp_of(there)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("metrics.csv", "1700000630,orders,cpu,7\n"),
        ("app.log", '{"time": "2023-11-14T22:15:00Z", "message": "slow"}\n'),
        ("notes.md", "as told by the team\n"),
    ],
)
def test_more_content_is_the_same_source_with_another_content(tmp_path: Path, file: str, text: str) -> None:
    """A recording that goes on, or a note beside it."""
    folder = folder_at(tmp_path / "shop")
    before = stamp_of(folder)
    append(folder / file, text)
    after = stamp_of(folder)
    assert after.identity == before.identity
    assert after.content != before.content


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("incident.toml", '"shop"', '"bank"'),
        ("incident.toml", 'entity = "orders"', 'entity = "orders"\ntime = 2023-11-14T22:15:00Z'),
        ("incident.toml", "[alert]", "onset = 2023-11-14T22:15:00Z\n[alert]"),
        ("metrics.csv", "orders", "payment"),
    ],
)
def test_another_description_or_other_entities_are_another_source(
    tmp_path: Path, file: str, old: str, new: str
) -> None:
    """What a person says of the incident, and of whom telemetry was recorded."""
    folder = folder_at(tmp_path / "shop")
    before = stamp_of(folder)
    text = (folder / file).read_text(encoding="utf-8").replace(old, new)
    (folder / file).write_text(text, encoding="utf-8")
    assert stamp_of(folder).identity != before.identity


def test_the_baseline_belongs_to_the_content(tmp_path: Path) -> None:
    """With another one the same signals may be normal."""
    folder, normal = folder_at(tmp_path / "shop"), folder_at(tmp_path / "normal")
    bare, with_it = stamp_of(folder), stamp_of(folder, baseline=normal)
    append(normal / "metrics.csv", "1700000630,orders,cpu,7\n")
    changed = stamp_of(folder, baseline=normal)
    assert len({bare.content, with_it.content, changed.content}) == 3


def test_a_file_that_cannot_be_read_as_telemetry_is_no_trouble(tmp_path: Path) -> None:
    """A link that leads nowhere, for instance: nobody reads it."""
    folder = folder_at(tmp_path / "shop")
    (folder / "gone.csv").symlink_to(tmp_path / "nowhere")
    assert stamp_of(folder).identity.startswith("sha256:")


def test_a_source_is_looked_at_anew_where_its_files_have_changed(tmp_path: Path) -> None:
    """It takes the runs of what it is now, and of what it was before."""
    folder = folder_at(tmp_path / "shop")

    async def act(_: RunContext) -> None:
        shelf = shelf_of(shop=folder)
        await shelf.warm()
        before = await shelf.stamp("shop")
        append(folder / "metrics.csv", "1700000630,payment,cpu,7\n")
        after = await shelf.stamp("shop")
        assert before is not None
        assert after is not None
        assert before.identity != after.identity
        assert {lane_of("shop", each.identity) for each in (before, after)} <= shelf.lanes()
        assert await shelf.stamp("bank") is None

    play(act)


def test_a_source_that_is_gone_keeps_the_stamp_that_it_had(tmp_path: Path) -> None:
    """A question is taken in all the same; whoever opens the source says what is wrong with it."""
    folder = folder_at(tmp_path / "shop")

    async def act(_: RunContext) -> None:
        shelf = shelf_of(shop=folder)
        await shelf.warm()
        before = await shelf.stamp("shop")
        shutil.rmtree(folder)
        assert before is not None
        assert await shelf.stamp("shop") == before

    play(act)


def test_a_source_is_opened_by_what_it_is_and_not_by_its_name(tmp_path: Path) -> None:
    """Another machine may call it otherwise, and may call another one so."""
    shop, bank = folder_at(tmp_path / "shop"), folder_at(tmp_path / "bank")
    (bank / "incident.toml").write_text(TOML.replace("shop", "bank"), encoding="utf-8")
    asked = stamp_of(shop)

    async def act(ctx: RunContext) -> None:
        shelf = shelf_of(bank=shop, shop=bank)
        await shelf.warm()
        opened = await shelf.open(ctx, "shop", None, asked)
        assert opened.sources.summary.summary(ctx).name == "shop"
        by_name = await shelf.open(ctx, "shop", None, None)
        assert by_name.sources.summary.summary(ctx).name == "bank"

    play(act)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("shop", "run run-1: source shop is another one in this process"),
        ("bank", "run run-1: source bank is not configured in this process"),
    ],
)
def test_the_log_says_why_a_source_cannot_be_opened(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, said: str
) -> None:
    """As the answer promises: it names the run, too."""
    folder = folder_at(tmp_path / "shop")

    async def act(ctx: RunContext) -> None:
        shelf = shelf_of(shop=folder)
        await shelf.warm()
        with pytest.raises(SourceUnavailable):
            await shelf.open(ctx, name, None, SourceStamp("sha256:other", "sha256:other"))

    play(act)
    assert [record.getMessage().startswith(said) for record in caplog.records] == [True]


def test_the_log_says_why_a_source_cannot_be_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """In the words of whoever read it."""
    folder = folder_at(tmp_path / "shop")

    async def act(ctx: RunContext) -> None:
        shelf = shelf_of(shop=folder)
        await shelf.warm()
        (folder / "metrics.csv").unlink()
        with pytest.raises(SourceUnavailable):
            await shelf.open(ctx, "shop", None, None)

    play(act)
    (said,) = (record.getMessage() for record in caplog.records)
    assert "source shop cannot be read" in said
    assert "no file in it can be read as telemetry" in said


def test_the_log_says_that_a_source_holds_something_else_than_when_it_was_asked(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is the same source, so the run goes on."""
    folder = folder_at(tmp_path / "shop")
    asked = stamp_of(folder)
    append(folder / "metrics.csv", "1700000630,orders,cpu,7\n")

    async def act(ctx: RunContext) -> None:
        shelf = shelf_of(shop=folder)
        await shelf.warm()
        opened = await shelf.open(ctx, "shop", None, asked)
        assert opened.stamp is not None
        assert opened.stamp != asked

    with caplog.at_level(logging.WARNING, logger="diagnosis_harness.sources"):
        play(act)
    assert [record.getMessage() for record in caplog.records] == [
        "run run-1: source shop holds something else than when it was asked"
    ]
