"""The accepted forms of the database URL. No error repeats the URL, which may hold a secret."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from diagnosis_harness.kernel.errors import InvalidSetting

URL_PLACE = "database.url"
_FORMS = "give a path, sqlite:///PATH, or postgresql://USER@HOST/NAME"
OLDEST_SQLITE = (3, 40, 0)
"""The version in Debian 12. The statements need 3.35, but versions before 3.40 are not tested."""
_POSTGRES = {"postgresql", "postgres", "postgresql+psycopg"}


def engine_url(text: str) -> URL:
    """The URL for SQLAlchemy, with the driver used here.

    Raises:
        InvalidSetting: it has none of the accepted forms, or the folder of the SQLite file does not exist.
    """
    text = text.strip()
    if not text:
        raise InvalidSetting(URL_PLACE, "is empty", _FORMS)
    if "://" not in text:
        return _sqlite(text)
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise InvalidSetting(URL_PLACE, "is not a database URL", _FORMS) from None
    if url.drivername == "sqlite":
        if url.host or url.query:
            raise InvalidSetting(URL_PLACE, "an SQLite URL has a path and nothing else", _FORMS)
        return _sqlite(url.database or "")
    if url.drivername in _POSTGRES:
        if not url.database:
            raise InvalidSetting(URL_PLACE, "does not name the database", _FORMS)
        return url.set(drivername="postgresql+psycopg")
    raise InvalidSetting(URL_PLACE, "names an unknown kind of database", _FORMS)


def display_location(url: URL) -> str:
    """The path of the file, or the server and name of the database; no user and no secret."""
    if url.drivername.startswith("sqlite"):
        return str(Path(url.database or "").resolve())
    host = url.host or url.query.get("host") or "localhost"
    where = host if isinstance(host, str) else host[0]
    port = "" if url.port is None else f":{url.port}"
    return f"PostgreSQL, {url.database} at {where}{port}"


def check_sqlite(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> None:
    """Refuse an SQLite version older than the oldest tested one.

    Raises:
        InvalidSetting: it is.
    """
    if version < OLDEST_SQLITE:
        needed, found = (".".join(map(str, numbers)) for numbers in (OLDEST_SQLITE[:2], version))
        raise InvalidSetting(
            URL_PLACE,
            f"a SQLite database needs SQLite {needed} or newer, and this Python has {found}",
            "use another Python, or a PostgreSQL database",
        )


def _sqlite(path: str) -> URL:
    check_sqlite()
    if path in ("", ":memory:") or path.startswith("file:"):
        raise InvalidSetting(URL_PLACE, "a database in memory cannot be shared or kept", _FORMS)
    if "\0" in path:
        raise InvalidSetting(URL_PLACE, "is not a file path", _FORMS)
    file = Path(path).expanduser()
    if not file.parent.is_dir():
        raise InvalidSetting(
            URL_PLACE, f"its folder {str(file.parent)!r} does not exist", "create it, or name another"
        )
    if file.is_dir():
        raise InvalidSetting(URL_PLACE, f"{path!r} is a folder", "name a file in it")
    return URL.create("sqlite+pysqlite", database=str(file))
