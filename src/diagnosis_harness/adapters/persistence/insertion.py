"""Insert a row unless one stands in its way, in the words of either database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


def inserted(connection: Connection, table: Table, columns: dict[str, Any]) -> bool:
    """Insert a row; False, and nothing is changed, when a key or a unique index of the table refuses it."""
    statement = dialect_of(connection).insert(table).values(columns).on_conflict_do_nothing()
    # Its key is asked back: a count of inserted rows is not kept by every driver.
    return connection.execute(statement.returning(*table.primary_key.columns)).first() is not None


def dialect_of(connection: Connection) -> Any:  # noqa: ANN401 - one of two modules of the same shape
    """Where the inserts of this database come from that know about conflicts."""
    return postgresql if connection.dialect.name == "postgresql" else sqlite
