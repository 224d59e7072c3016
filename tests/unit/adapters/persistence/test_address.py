"""The URL of the database: what is accepted, and one sentence for what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnosis_harness.adapters.evidence_stores.redis import RedisEvidenceStore
from diagnosis_harness.adapters.persistence.address import check_sqlite, engine_url
from diagnosis_harness.kernel.errors import InvalidSetting

SECRET = "hunter2-hunter2"  # noqa: S105 - what must not be shown


def test_a_path_and_a_url_name_the_same_file(tmp_path: Path) -> None:
    """Bare or with its scheme."""
    file = tmp_path / "runs.db"
    bare, url = engine_url(str(file)), engine_url(f"sqlite:///{file}")
    assert bare == url
    assert bare.database == str(file)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_postgresql_is_reached_by_our_driver(scheme: str) -> None:
    """Under either name; user, password, host and options stay."""
    url = engine_url(f"{scheme}://u:{SECRET}@db:5433/runs?sslmode=require")
    assert (url.drivername, url.host, url.port, url.database) == ("postgresql+psycopg", "db", 5433, "runs")
    assert url.password == SECRET
    assert url.query == {"sslmode": "require"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        ":memory:",
        "sqlite://",
        "sqlite:///:memory:",
        f"sqlite://u:{SECRET}@host/x",
        "no-such-folder/runs.db",
        ".",
        "a\0b",
        f"mysql://u:{SECRET}@host/x",
        f"postgresql://u:{SECRET}@host",
        f"postgresql://u:{SECRET}@host:port/x",
        f"://{SECRET}",
        f"postgresql+asyncpg://u:{SECRET}@host/x",
    ],
)
def test_other_urls_are_refused_in_one_sentence_without_their_secrets(text: str) -> None:
    """The setting, what is wrong, what to do; never the value."""
    with pytest.raises(InvalidSetting) as refused:
        engine_url(text)
    message = str(refused.value)
    assert message.startswith("database.url: ")
    assert message.endswith(".")
    assert "\n" not in message
    assert SECRET not in message


@pytest.mark.parametrize(
    "text",
    [
        "redis://",
        "http://host",
        "redis:host",
        f"redis://:{SECRET}@host:port/0",
        f"redis://u:{SECRET}@h/x?db=a",
    ],
)
def test_a_bad_url_of_the_evidence_is_refused_without_its_secrets(text: str) -> None:
    """The same for Redis and Valkey."""
    with pytest.raises(InvalidSetting) as refused:
        RedisEvidenceStore.at(text)
    message = str(refused.value)
    assert message.startswith("evidence.url: ")
    assert SECRET not in message


def test_an_untested_sqlite_is_refused_in_one_sentence() -> None:
    """At start, and not by an error of a statement in the middle of a run; the oldest one is accepted."""
    check_sqlite((3, 40, 0))

    with pytest.raises(InvalidSetting) as refused:
        check_sqlite((3, 39, 4))

    assert str(refused.value).count("\n") == 0
    assert "needs SQLite 3.40 or newer, and this Python has 3.39.4" in str(refused.value)


def test_every_sqlite_file_is_looked_at_this_way(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whichever form its URL has."""
    monkeypatch.setattr("diagnosis_harness.adapters.persistence.address.OLDEST_SQLITE", (99, 0, 0))

    for url in (str(tmp_path / "a.db"), f"sqlite:///{tmp_path}/a.db"):
        with pytest.raises(InvalidSetting, match="needs SQLite 99"):
            engine_url(url)
