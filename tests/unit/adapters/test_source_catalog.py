"""The catalog: what identifies a source, when it is read again, and several sources behind one name."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import shutil
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import get_args

import pytest

from diagnosis_harness.adapters.sources.catalog import ConfiguredPart, LocalSourceCatalog
from diagnosis_harness.adapters.sources.incident_folder.part import FolderPart
from diagnosis_harness.adapters.sources.kinds import SOURCE_KINDS
from diagnosis_harness.adapters.sources.merge import ROLES
from diagnosis_harness.application.runs.sources import SourceStamp, lane_of
from diagnosis_harness.bootstrap.sources import build_catalog
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput, SourceUnavailable
from diagnosis_harness.settings import SourceSettings, load_settings
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


def part_of(folder: Path, baseline: Path | None = None, *, roles: Sequence[str] = ()) -> ConfiguredPart:
    """One folder as a part of a source."""
    return ConfiguredPart(FolderPart(folder=folder, baseline=baseline, memory_limit_mb=64), roles)


def catalog_of(**folders: Path) -> LocalSourceCatalog:
    """A catalog of these folders."""
    return LocalSourceCatalog({name: [part_of(folder)] for name, folder in folders.items()}, open_max=4)


def stamp_of(folder: Path, *, baseline: Path | None = None) -> SourceStamp:
    """The stamp of a folder, as a process that has just started reads it."""

    async def read() -> SourceStamp:
        catalog = LocalSourceCatalog({"one": [part_of(folder, baseline)]}, open_max=4)
        await catalog.warm()
        return catalog.stamps()["one"]

    return asyncio.run(read())


def in_run(act: Callable[[RunContext], Awaitable[None]]) -> None:
    """Act within a run."""

    async def run() -> None:
        await act(Rig().run())

    asyncio.run(run())


def test_the_same_folder_at_another_path_is_the_same_source(tmp_path: Path) -> None:
    """Also under another name and with other file times, as a copy on another machine has them."""
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
def test_added_content_changes_the_content_and_not_the_identity(tmp_path: Path, file: str, text: str) -> None:
    """The recording goes on, or somebody adds a note."""
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
def test_a_changed_description_or_changed_entities_make_another_source(
    tmp_path: Path, file: str, old: str, new: str
) -> None:
    """What a person writes about the incident, and whose telemetry was recorded."""
    folder = folder_at(tmp_path / "shop")
    before = stamp_of(folder)
    text = (folder / file).read_text(encoding="utf-8").replace(old, new)
    (folder / file).write_text(text, encoding="utf-8")
    assert stamp_of(folder).identity != before.identity


def test_the_baseline_belongs_to_the_content(tmp_path: Path) -> None:
    """With another baseline the same signals may be normal."""
    folder, normal = folder_at(tmp_path / "shop"), folder_at(tmp_path / "normal")
    bare, with_it = stamp_of(folder), stamp_of(folder, baseline=normal)
    append(normal / "metrics.csv", "1700000630,orders,cpu,7\n")
    changed = stamp_of(folder, baseline=normal)
    assert len({bare.content, with_it.content, changed.content}) == 3


def test_a_file_that_is_not_telemetry_may_be_unreadable(tmp_path: Path) -> None:
    """For instance a dangling link: nothing reads it."""
    folder = folder_at(tmp_path / "shop")
    (folder / "gone.csv").symlink_to(tmp_path / "nowhere")
    assert stamp_of(folder).identity.startswith("sha256:")


def test_a_source_is_read_again_when_its_files_have_changed(tmp_path: Path) -> None:
    """The process takes runs about both versions."""
    folder = folder_at(tmp_path / "shop")

    async def act(_: RunContext) -> None:
        catalog = catalog_of(shop=folder)
        await catalog.warm()
        before = await catalog.stamp("shop")
        append(folder / "metrics.csv", "1700000630,payment,cpu,7\n")
        after = await catalog.stamp("shop")
        assert before is not None
        assert after is not None
        assert before.identity != after.identity
        assert {lane_of("shop", each.identity) for each in (before, after)} <= catalog.lanes()
        assert await catalog.stamp("bank") is None

    in_run(act)


def test_a_source_that_has_disappeared_keeps_its_last_stamp(tmp_path: Path) -> None:
    """Questions are still accepted; opening the source reports what is wrong with it."""
    folder = folder_at(tmp_path / "shop")

    async def act(_: RunContext) -> None:
        catalog = catalog_of(shop=folder)
        await catalog.warm()
        before = await catalog.stamp("shop")
        shutil.rmtree(folder)
        assert before is not None
        assert await catalog.stamp("shop") == before

    in_run(act)


def test_a_source_is_opened_by_its_identity_and_not_by_its_name(tmp_path: Path) -> None:
    """Another machine may use another name for it, or use its name for another source."""
    shop, bank = folder_at(tmp_path / "shop"), folder_at(tmp_path / "bank")
    (bank / "incident.toml").write_text(TOML.replace("shop", "bank"), encoding="utf-8")
    asked = stamp_of(shop)

    async def act(ctx: RunContext) -> None:
        catalog = catalog_of(bank=shop, shop=bank)
        await catalog.warm()
        opened = await catalog.open(ctx, "shop", None, asked)
        assert opened.sources.summary.summary(ctx).name == "shop"
        by_name = await catalog.open(ctx, "shop", None, None)
        assert by_name.sources.summary.summary(ctx).name == "bank"

    in_run(act)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("shop", "run run-1: source shop is another one in this process"),
        ("bank", "run run-1: source bank is not configured in this process"),
    ],
)
def test_the_log_says_why_a_source_cannot_be_opened(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, reason: str
) -> None:
    """The answer refers to the log, so the line names the run."""
    folder = folder_at(tmp_path / "shop")

    async def act(ctx: RunContext) -> None:
        catalog = catalog_of(shop=folder)
        await catalog.warm()
        with pytest.raises(SourceUnavailable):
            await catalog.open(ctx, name, None, SourceStamp("sha256:other", "sha256:other"))

    in_run(act)
    assert [record.getMessage().startswith(reason) for record in caplog.records] == [True]


def test_the_log_says_why_a_source_cannot_be_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """With the reason that the reader gave."""
    folder = folder_at(tmp_path / "shop")

    async def act(ctx: RunContext) -> None:
        catalog = catalog_of(shop=folder)
        await catalog.warm()
        (folder / "metrics.csv").unlink()
        with pytest.raises(SourceUnavailable):
            await catalog.open(ctx, "shop", None, None)

    in_run(act)
    (line,) = (record.getMessage() for record in caplog.records)
    assert "source shop cannot be read" in line
    assert "no file in it can be read as telemetry" in line


def test_the_log_says_that_the_content_of_a_source_has_changed_since_the_question(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is the same source, so the run goes on."""
    folder = folder_at(tmp_path / "shop")
    asked = stamp_of(folder)
    append(folder / "metrics.csv", "1700000630,orders,cpu,7\n")

    async def act(ctx: RunContext) -> None:
        catalog = catalog_of(shop=folder)
        await catalog.warm()
        opened = await catalog.open(ctx, "shop", None, asked)
        assert opened.stamp is not None
        assert opened.stamp != asked

    with caplog.at_level(logging.WARNING, logger="diagnosis_harness.sources"):
        in_run(act)
    assert [record.getMessage() for record in caplog.records] == [
        "run run-1: the content of source shop has changed since the question was asked"
    ]


def test_parts_behind_one_name_share_out_the_telemetry(tmp_path: Path) -> None:
    """Metrics of one, logs of the other; entities are united."""
    shop, logs = folder_at(tmp_path / "shop"), tmp_path / "logs"
    logs.mkdir()
    line = '{"time": "2023-11-14T22:15:00Z", "entity": "mail", "message": "slow"}\n'
    (logs / "logs.jsonl").write_text(line, encoding="utf-8")

    async def act(ctx: RunContext) -> None:
        catalog = LocalSourceCatalog({"shop": [part_of(shop), part_of(logs)]}, open_max=4)
        await catalog.warm()
        opened = await catalog.open(ctx, "shop", None, None)
        summary = opened.sources.summary.summary(ctx)
        assert opened.sources.metrics is not None
        assert opened.sources.logs is not None
        assert opened.sources.spans is None
        assert summary.name == "shop"
        assert summary.entities == ("mail", "orders")
        assert (summary.metric_series, summary.log_lines) == (1, 1)
        assert summary.alert.entity == "orders"

    in_run(act)


@pytest.mark.parametrize(
    ("toml", "rows", "reason"),
    [
        (TOML, ROWS, "metrics come from several of its parts (incident-folder and incident-folder)"),
        (TOML.replace("orders", "payment"), None, "its parts state different alerts"),
        (TOML, ROWS.replace("1700000", "1600000"), "two of its parts do not overlap in time"),
    ],
)
def test_parts_that_contradict_each_other_are_refused(
    tmp_path: Path, toml: str, rows: str | None, reason: str
) -> None:
    """In one sentence, at the start."""
    one, other = folder_at(tmp_path / "one"), folder_at(tmp_path / "other")
    (other / "incident.toml").write_text(toml, encoding="utf-8")
    (other / "metrics.csv").write_text(rows or ROWS, encoding="utf-8")
    roles = () if "several" in reason else ("logs",)
    catalog = LocalSourceCatalog({"shop": [part_of(one), part_of(other, roles=roles)]}, open_max=4)

    with pytest.raises(InvalidInput, match=re.escape(reason)) as refusal:
        asyncio.run(catalog.warm())

    assert refusal.value.place == "sources.shop"


def test_settings_name_several_sources_behind_one_name(tmp_path: Path) -> None:
    """A file without a kind, as before there were kinds, is an incident folder."""
    shop, logs = folder_at(tmp_path / "shop"), folder_at(tmp_path / "logs")
    file = tmp_path / "settings.toml"
    file.write_text(
        f'[sources.plain]\nfolder = "{shop}"\n'
        f'[sources.both]\nfolder = "{shop}"\n'
        f'[[sources.both.also]]\nkind = "incident-folder"\nfolder = "{logs}"\nroles = ["logs"]\n',
        encoding="utf-8",
    )

    catalog = build_catalog(load_settings(file))
    asyncio.run(catalog.warm())

    assert {profile.name for profile in catalog.profiles()} == {"plain", "both"}


def test_settings_and_registry_know_the_same_kinds() -> None:
    """A kind that is missing on one side could never be opened, or never be named."""
    assert set(get_args(SourceSettings.model_fields["kind"].annotation)) == set(SOURCE_KINDS)
    (roles,) = (get_args(one) for one in get_args(SourceSettings.model_fields["roles"].annotation)[:1])
    assert roles == ROLES
