"""Brings a database to the shape that this version of the program knows, once, whoever comes first."""

from __future__ import annotations

from importlib.resources import as_file, files

from sqlalchemy import Connection, inspect, text

from diagnosis_harness.kernel.errors import InvalidSetting

HEAD = "0003"
"""The last migration; a test holds it to the folder."""


def migrate(connection: Connection) -> None:
    """Apply the migrations that are missing, inside the caller's transaction.

    Raises:
        InvalidSetting: a newer version of the program made the database.
    """
    if connection.dialect.name == "postgresql":
        # Whoever else opens the database now waits here, and then finds the work done.
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('diagnosis-harness migrations'))"))
    stands = _version(connection)
    if stands != HEAD:
        _upgrade(connection, stands)


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


def _upgrade(connection: Connection, stands: str | None) -> None:
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    with as_file(files("diagnosis_harness.adapters.persistence").joinpath("migrations")) as folder:
        script = ScriptDirectory(str(folder))
        if stands is not None and stands not in {one.revision for one in script.walk_revisions()}:
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
