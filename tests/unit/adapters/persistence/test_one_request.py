"""HR-03 for stores: one connection attempt and one command for each operation, counted at a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from sqlalchemy.engine import make_url

from diagnosis_harness.adapters.evidence_stores.redis import RedisEvidenceStore
from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.evidence import SqlEvidenceStore
from diagnosis_harness.kernel.errors import FailureKind, StoreFailure
from diagnosis_harness.testing.evidence import projecting_record
from diagnosis_harness.testing.runs import Rig

CHUNK = 65_536


@dataclass(slots=True)
class Wire:
    """What came over a socket, and how it behaves."""

    port: int = 0
    connections: int = 0
    sent: bytearray = field(default_factory=bytearray)
    cut_at: bytes | None = None  # the connection breaks when the client has sent this
    answer: bytes | None = None  # said to everything, where there is no server behind
    tasks: list[asyncio.Task[None]] = field(default_factory=list)


@asynccontextmanager
async def listening(wire: Wire, behind: str | tuple[str, int] | None = None) -> AsyncIterator[Wire]:
    """A socket on the loopback, with a server behind it or none."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire.connections += 1
        ends = [writer]
        try:
            if behind is not None:
                opened = (
                    asyncio.open_unix_connection(behind)
                    if isinstance(behind, str)
                    else asyncio.open_connection(*behind)
                )
                back, forth = await opened
                ends.append(forth)
                wire.tasks.append(asyncio.create_task(_pass_on(back, writer)))
            while data := await reader.read(CHUNK):
                wire.sent += data
                if wire.cut_at is not None and wire.cut_at in wire.sent:
                    return
                if behind is not None:
                    ends[1].write(data)
                elif wire.answer is not None:
                    writer.write(wire.answer)
        except ConnectionError:
            return
        finally:
            for end in ends:
                end.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    wire.port = server.sockets[0].getsockname()[1]
    try:
        yield wire
    finally:
        server.close()
        await server.wait_closed()
        for task in wire.tasks:
            task.cancel()
        await asyncio.gather(*wire.tasks, return_exceptions=True)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(CHUNK):
        writer.write(data)


@pytest.mark.parametrize(
    ("wire", "kind"),
    [
        (Wire(cut_at=b""), FailureKind.TRANSPORT),  # hangs up at the first byte
        (Wire(), FailureKind.TIMEOUT),  # says nothing
        (Wire(answer=b"-LOADING Valkey is loading the dataset in memory\r\n"), FailureKind.UNAVAILABLE),
    ],
    ids=["hangs up", "is silent", "is loading"],
)
def test_an_operation_on_a_failing_valkey_is_one_connection_and_no_command_twice(
    wire: Wire, kind: FailureKind
) -> None:
    """Whatever it fails with; the failure is typed."""

    async def story() -> None:
        async with listening(wire):
            store = RedisEvidenceStore.at(f"valkey://127.0.0.1:{wire.port}/0", timeout_s=0.2)
            for count in (1, 2):
                with pytest.raises(StoreFailure) as failure:
                    await store.begin(Rig().run(), projecting_record("t1"))
                assert failure.value.kind is kind
                assert wire.connections == count
            await store.close()

    asyncio.run(story())


def test_a_command_whose_answer_is_lost_is_sent_to_valkey_once(valkey_url: str) -> None:
    """The connection breaks after the command has left: whether it was carried out, the caller may ask."""
    url = make_url(valkey_url)

    async def story() -> None:
        async with listening(Wire(), (url.host or "", url.port or 0)) as wire:
            store, ctx = RedisEvidenceStore.at(f"redis://127.0.0.1:{wire.port}/0", timeout_s=2.0), Rig().run()
            assert await store.begin(ctx, projecting_record("t1"))
            assert wire.sent.count(b"EVAL\r\n") == 1
            wire.cut_at = b"evidence:r1:t2"
            with pytest.raises(StoreFailure):
                await store.begin(ctx, projecting_record("t2"))
            assert wire.sent.count(b"EVAL\r\n") == 2
            assert wire.connections == 1
            await store.close()

    asyncio.run(story())


def test_a_connection_to_a_failing_postgresql_is_tried_once() -> None:
    """It hangs up; the client does not retry."""

    async def story() -> None:
        async with listening(Wire(cut_at=b"")) as wire:
            with pytest.raises(StoreFailure):
                await Database.open(f"postgresql://me@127.0.0.1:{wire.port}/runs")
            assert wire.connections == 1

    asyncio.run(story())


def test_a_statement_whose_answer_is_lost_is_sent_to_postgresql_once(postgres_url: str) -> None:
    """The connection breaks inside a transaction; the next operation gets a connection of its own."""
    url = make_url(postgres_url)
    folder = url.query.get("host")
    behind = f"{folder}/.s.PGSQL.5432" if isinstance(folder, str) else (url.host or "", url.port or 5432)

    async def story() -> None:
        async with listening(Wire(), behind) as wire:
            through = url.set(host="127.0.0.1", port=wire.port, query={"sslmode": "disable"})
            base = await Database.open(through.render_as_string(hide_password=False), pool_size=1)
            store, ctx = SqlEvidenceStore(base, owner="p"), Rig().run()
            assert await store.begin(ctx, projecting_record("t1"))
            assert wire.sent.count(b"INSERT INTO evidence_record") == 1
            wire.cut_at = b"evidence:r1:t2"
            with pytest.raises(StoreFailure) as failure:
                await store.begin(ctx, projecting_record("t2"))
            assert failure.value.kind is FailureKind.TRANSPORT
            assert wire.sent.count(b"INSERT INTO evidence_record") == 2
            assert wire.connections == 1
            wire.cut_at = None
            assert await store.begin(ctx, projecting_record("t2"))
            assert wire.connections == 2
            await base.close()

    asyncio.run(story())
