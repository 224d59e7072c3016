"""The duckdb of a source: in memory, limited, without extensions, reading only the listed files."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from diagnosis_harness.kernel.errors import (
    ContractViolation,
    FailureKind,
    InvalidInput,
    MemoryLimit,
    ToolFailure,
)

if TYPE_CHECKING:  # heavy: only a run that reads a folder pays for them
    import duckdb
    import numpy as np


MEMORY_SETTING: Final = "folder.memory_limit_mb"


def text_sql(text: str) -> str:
    """A string literal."""
    return "'" + text.replace("'", "''") + "'"


def name_sql(name: str) -> str:
    """A quoted identifier."""
    return '"' + name.replace('"', '""') + '"'


class Database:
    """Tables of checked telemetry. Safe to use from many threads: every call has its own cursor.

    The connection may only read the files it was opened with, neither loads nor installs extensions, and
    never spills to disk: a query that exceeds the memory limit fails with one sentence.
    """

    def __init__(self, files: Sequence[Path], *, memory_limit_mb: int) -> None:
        import duckdb  # heavy: only a run that reads a folder pays for it

        self.memory_limit_mb = memory_limit_mb
        self.errors = duckdb.Error
        self._faults = (
            duckdb.BinderException,
            duckdb.CatalogException,
            duckdb.NotImplementedException,
            duckdb.ParserException,
            duckdb.SyntaxException,
        )
        """Errors that only a bug in a query can cause, not a file."""
        self.memory_errors = duckdb.OutOfMemoryException
        self._connection: duckdb.DuckDBPyConnection = duckdb.connect(
            ":memory:",
            config={
                "memory_limit": f"{memory_limit_mb}MB",
                "threads": 1,
                "temp_directory": "",
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
                "python_enable_replacements": False,
            },
        )
        paths = ", ".join(text_sql(str(path)) for path in files)
        self._connection.execute(f"SET allowed_paths = [{paths}]")
        # With it duckdb 2.0 makes `TRY_CAST` over a CSV file fail on the first bad cell (its issue 23818).
        optimizers = {name for (name,) in self._connection.execute("FROM duckdb_optimizers()").fetchall()}
        if "type_pushdown" in optimizers:
            self._connection.execute("SET disabled_optimizers = 'type_pushdown'")
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")
        self._numbers = itertools.count()

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query. Errors of duckdb pass through: only the reader of a file can explain them."""
        with self._cursor() as cursor:
            return cursor.execute(sql, list(parameters)).fetchall()

    def arrays(self, sql: str, parameters: Sequence[object] = ()) -> dict[str, np.ndarray[Any, Any]]:
        """All rows of a query as columns; masked arrays where there are nulls.

        Raises:
            ToolFailure: the query did not fit into memory, or a file that is read in place has gone.
        """
        try:
            with self._cursor() as cursor:
                return cursor.execute(sql, list(parameters)).fetchnumpy()
        except self.errors as error:
            raise self.failure(error) from error

    def tuples(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """As `rows`, for files that were already checked.

        Raises:
            MemoryLimit: the query did not fit into memory.
            ToolFailure: a file that is read in place has gone.
        """
        try:
            return self.rows(sql, parameters)
        except self.errors as error:
            raise self.failure(error) from error

    def keep(self, select: str) -> str:
        """Run a SELECT once and keep its rows; returns the table's name. Errors of duckdb pass through."""
        name = f"kept_{next(self._numbers)}"
        with self._cursor() as cursor:
            cursor.execute(f"CREATE TABLE {name} AS {select}")
        return name

    def keep_rows(
        self, refs: Sequence[str], numeric: Sequence[bool], batches: Iterable[Sequence[Sequence[object]]]
    ) -> str:
        """Keep rows from elsewhere, numbers as DOUBLE, all else as text; returns the table's name."""
        import numpy as np  # heavy

        name = f"kept_{next(self._numbers)}"
        described = ", ".join(
            f"{ref} {'DOUBLE' if number else 'VARCHAR'}" for ref, number in zip(refs, numeric, strict=True)
        )
        picked = ", ".join(
            f"nullif({ref}, 'nan'::DOUBLE)" if number else f"CAST({ref} AS VARCHAR)"
            for ref, number in zip(refs, numeric, strict=True)
        )
        with self._cursor() as cursor:
            cursor.execute(f"CREATE TABLE {name} ({described})")
            for batch in batches:
                cells = zip(refs, numeric, zip(*batch, strict=True), strict=True)
                arrays = {
                    ref: np.array(column, dtype=np.float64) if number else np.array(column, dtype=object)
                    for ref, number, column in cells
                }
                cursor.register("given_rows", arrays)
                cursor.execute(f"INSERT INTO {name} SELECT {picked} FROM given_rows")
                cursor.unregister("given_rows")
        return name

    @contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor for one call, since a connection must not be shared by threads."""
        try:
            with self._connection.cursor() as cursor:
                yield cursor
        except self._faults as error:
            raise ContractViolation(f"a query of the incident folder is wrong: {error}") from error

    def failure(self, error: Exception) -> ToolFailure:
        """The failed query as an error of the tool."""
        if isinstance(error, self.memory_errors):
            return self.too_much("what was asked for does")
        return ToolFailure(
            "a file of the incident folder could no longer be read", kind=FailureKind.UNAVAILABLE
        )

    def too_much(self, what: str) -> MemoryLimit:
        """The error for telemetry that does not fit; `what` names it and ends in `does` or `do`."""
        return MemoryLimit(
            f"{what} not fit into the {self.memory_limit_mb} MB that is allowed; raise {MEMORY_SETTING}",
            code="MEMORY_LIMIT",
        )

    def too_large(self, place: str, *, in_place: bool) -> InvalidInput:
        """The error for a file that does not fit."""
        other = "" if in_place else ", or write it as Parquet, which is read in place"
        return InvalidInput(
            place,
            f"it does not fit into the memory limit of {self.memory_limit_mb} MB",
            f"cut it to the hours around the incident, raise `{MEMORY_SETTING}`{other}",
        )
