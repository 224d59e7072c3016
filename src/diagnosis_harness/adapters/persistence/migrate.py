"""Migrates a database to the version of this program."""

from __future__ import annotations

from importlib.resources import as_file, files

from sqlalchemy import Connection, inspect, text

from diagnosis_harness.kernel.errors import InvalidSetting

HEAD = "0005"
"""The last migration; a test compares it with the folder."""


def migrate(connection: Connection) -> None:
    """Apply the missing migrations in the caller's transaction.

    Raises:
        InvalidSetting: a newer version of the program made the database.
    """
    if connection.dialect.name == "postgresql":
        # Other processes that open the database wait here, and then find it migrated.
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('diagnosis-harness migrations'))"))
    version = _version(connection)
    if version != HEAD:
        _upgrade(connection, version)


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


def _upgrade(connection: Connection, version: str | None) -> None:
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    with as_file(files("diagnosis_harness.adapters.persistence").joinpath("migrations")) as folder:
        script = ScriptDirectory(str(folder))
        if version is not None and version not in {one.revision for one in script.walk_revisions()}:
            raise InvalidSetting(
                "database.url",
                "the database was made by a newer version of this program",
                "upgrade the program, or name another database",
            )
        with EnvironmentContext(
            Config(),
            script,
            fn=lambda revision, _: script._upgrade_revs("head", revision),  # noqa: SLF001 - as alembic's own commands call it
        ) as environment:
            environment.configure(connection=connection)
            environment.run_migrations()
