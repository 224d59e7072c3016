"""What every test may ask for: the size of large runs, and the public data sets where they are at hand."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis
import pytest
from tests.support.rows import Kept, Process
from tests.support.servers import Databases, Valkey, postgres, valkey

from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds

# Derandomised: the same commit has the same outcome everywhere; `make proof` looks ten times further.
hypothesis.settings.register_profile(
    "tenth", max_examples=100, derandomize=True, deadline=None, database=None
)
hypothesis.settings.register_profile(
    "whole", max_examples=1000, derandomize=True, deadline=None, database=None
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--proof`, which runs large tests at their full size, and `--rewrite` of the scenarios."""
    parser.addoption("--proof", action="store_true", help="large runs at full size instead of a tenth")
    parser.addoption("--rewrite", action="store_true", help="write what the scenarios expect anew")


def pytest_configure(config: pytest.Config) -> None:
    """Choose how far hypothesis looks, and keep the runs of commands away from whoever runs the tests."""
    data = TemporaryDirectory(prefix="diagnosis-tests-")
    config.add_cleanup(data.cleanup)
    os.environ["XDG_DATA_HOME"] = data.name
    hypothesis.settings.load_profile("whole" if config.getoption("--proof") else "tenth")


@pytest.fixture(scope="session")
def scale(pytestconfig: pytest.Config) -> float:
    """Share of a large run to do: a tenth in `make test`, all of it in `make proof`.

    Use as `for _ in range(round(10_000 * scale))` in a test that is marked `proof`.
    """
    return 1.0 if pytestconfig.getoption("--proof") else 0.1


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder of the public data sets; the test is skipped where there is none, and always in CI."""
    named = os.environ.get("DIAGNOSIS_DATA", "")
    if os.environ.get("CI"):
        pytest.skip("data: public data sets are not used in CI")
    if not named or not Path(named).is_dir():
        pytest.skip("data: DIAGNOSIS_DATA names no folder")
    return Path(named)


@pytest.fixture(scope="session")
def databases() -> Iterator[Databases]:
    """The PostgreSQL server of this test process: that of TEST_DATABASE_URL, or one of our own."""
    with postgres(os.environ.get("TEST_DATABASE_URL")) as server:
        yield server


@pytest.fixture(scope="session")
def template(databases: Databases) -> Iterator[str]:
    """Name of a database with the tables in it, to be copied."""
    name, url = databases.fresh()
    with ThreadPoolExecutor(1) as pool:  # a test may ask for this inside a loop of its own
        pool.submit(asyncio.run, _migrate(url)).result()
    yield name
    databases.drop(name)


async def _migrate(url: str) -> None:
    from diagnosis_harness.adapters.persistence.database import Database

    await (await Database.open(url)).close()


@pytest.fixture
def postgres_url(databases: Databases, template: str) -> Iterator[str]:
    """URL of a PostgreSQL database with the tables and nothing in them, for one test."""
    name, url = databases.fresh(template=template)
    yield url
    databases.drop(name)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """URL of an SQLite database that does not exist yet, for one test."""
    return f"sqlite:///{tmp_path / 'runs.db'}"


@pytest.fixture(scope="session")
def valkey_server() -> Iterator[Valkey | None]:
    """The Valkey server of this test process; None where TEST_REDIS_URL names another one."""
    if os.environ.get("TEST_REDIS_URL"):
        yield None
        return
    with valkey() as server:
        yield server


@pytest.fixture
def valkey_url(valkey_server: Valkey | None) -> str:
    """URL of an empty Redis or Valkey database, for one test; what the given one holds is removed."""
    import redis

    url = os.environ["TEST_REDIS_URL"] if valkey_server is None else valkey_server.url
    with redis.Redis.from_url(url) as client:
        client.flushdb()
    return url


@pytest.fixture(name="kept_at")
def open_processes() -> Callable[..., AbstractAsyncContextManager[Kept]]:
    """Opens, for the URL of a database, two processes that share it and a third that reads and cares.

    Each has connections of its own. `redis` is the URL where the evidence is, unless it is in the database.
    """
    return _open_processes


@asynccontextmanager
async def _open_processes(
    url: str, *, redis: str | None = None, busy_timeout_s: float = 5.0
) -> AsyncIterator[Kept]:
    from diagnosis_harness.adapters.evidence_stores.redis import RedisEvidenceStore
    from diagnosis_harness.adapters.persistence.alert_inbox import SqlAlertInbox
    from diagnosis_harness.adapters.persistence.archive import SqlRunArchive
    from diagnosis_harness.adapters.persistence.database import Database
    from diagnosis_harness.adapters.persistence.evidence import SqlEvidenceStore
    from diagnosis_harness.adapters.persistence.recovery import SqlRunRecovery
    from diagnosis_harness.adapters.persistence.run_log import SqlRunLog
    from diagnosis_harness.adapters.persistence.run_store import SqlRunStore

    clock = ManualClock()
    async with AsyncExitStack() as stack:
        bases = [await Database.open(url, busy_timeout_s=busy_timeout_s) for _ in range(3)]
        for base in bases:
            stack.push_async_callback(base.close)
        elsewhere = None if redis is None else RedisEvidenceStore.at(redis)
        if elsewhere is not None:
            stack.push_async_callback(elsewhere.close)
        processes = []
        for owner, base in zip(("one", "two"), bases, strict=False):
            log = SqlRunLog(base, owner=owner, clock=clock)
            await log.start()
            stack.push_async_callback(log.stop)
            processes.append(
                Process(
                    owner=owner,
                    core=DiagnosisHarnessCore(clock=clock, ids=CountingIds(), sink=log),
                    store=SqlRunStore(base, owner=owner),
                    log=log,
                    feed=log,
                    evidence=elsewhere or SqlEvidenceStore(base, owner=owner),
                )
            )
        archive = SqlRunArchive(bases[2], evidence=elsewhere)
        care = SqlRunRecovery(bases[2], evidence=elsewhere)
        one, two = processes
        yield Kept(clock, archive, care, one, two, (SqlAlertInbox(bases[0]), SqlAlertInbox(bases[1])))
