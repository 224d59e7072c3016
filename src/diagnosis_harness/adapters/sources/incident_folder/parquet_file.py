"""Reads Parquet files, which are typed and read in place."""

from __future__ import annotations

from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.content import well_known
from diagnosis_harness.adapters.sources.incident_folder.database import Database, name_sql, text_sql
from diagnosis_harness.adapters.sources.incident_folder.listing import ListedFile
from diagnosis_harness.adapters.sources.incident_folder.names import printable
from diagnosis_harness.adapters.sources.incident_folder.table import SAMPLE_ROWS, Column, Kind, Table
from diagnosis_harness.kernel.errors import InvalidInput

_MARK: Final = b"PAR1"
_NUMBERS: Final = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
    "UHUGEINT", "FLOAT", "DOUBLE", "BOOLEAN",
)  # fmt: skip


def open_parquet(file: ListedFile, database: Database) -> Table:
    """Read the footer of a Parquet file.

    Raises:
        InvalidInput: it is something else, or breaks off.
    """
    _check_marks(file)
    source = f"read_parquet({text_sql(str(file.path))}, hive_partitioning = false)"

    def explain(_error: Exception) -> InvalidInput:
        return InvalidInput(
            file.name, "its Parquet data is damaged or cut off", "copy or write the file again"
        )

    try:
        described = database.rows(f"DESCRIBE SELECT * FROM {source}")
        names = [str(row[0]) for row in described]
        refs = [f"c{number}" for number in range(len(names))]
        renamed = ", ".join(f"{name_sql(name)} AS {ref}" for name, ref in zip(names, refs, strict=True))
        scan = f"(SELECT {renamed} FROM {source})"
        kinds = [_kind(str(row[1])) for row in described]
        cells = ", ".join(
            f"left(CAST({ref} AS VARCHAR), 500)" if kind is not Kind.OTHER else "NULL"
            for ref, kind in zip(refs, kinds, strict=True)
        )
        sample = database.rows(f"SELECT {cells} FROM {scan} LIMIT {SAMPLE_ROWS}")
    except database.errors as error:
        raise explain(error) from error
    columns = tuple(
        Column(name=printable(name), ref=ref, kind=kind, sample=tuple(row[number] for row in sample))
        for number, (name, ref, kind) in enumerate(zip(names, refs, kinds, strict=True))
    )
    return Table(
        file=file,
        scan=scan,
        columns=columns,
        in_place=True,
        locate=lambda row: f"row {row + 1}",
        explain=explain,
    )


def _kind(type_name: str) -> Kind:
    base = type_name.partition("(")[0]
    if base in _NUMBERS or (base == "DECIMAL" and not type_name.endswith("]")):
        return Kind.NUMBER
    if type_name == "VARCHAR" or (base == "ENUM" and not type_name.endswith("]")):
        return Kind.TEXT
    if type_name == "TIMESTAMP WITH TIME ZONE":
        return Kind.ZONED_TIMESTAMP
    if type_name in {"TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S", "DATE"}:
        return Kind.TIMESTAMP
    return Kind.OTHER


def _check_marks(file: ListedFile) -> None:
    try:
        with file.path.open("rb") as content:
            start = content.read(16)
            content.seek(0, 2)
            size = content.tell()
            content.seek(max(0, size - len(_MARK)))
            end = content.read()
    except OSError as error:
        raise InvalidInput(
            file.name, f"it cannot be read ({error.strerror})", "check its permissions"
        ) from error
    if size == 0:
        raise InvalidInput(file.name, "it is empty", "write the file again or remove it")
    if not start.startswith(_MARK):
        what = well_known(start) or "something else"
        raise InvalidInput(
            file.name,
            f"its name says Parquet, but it holds {what}",
            "give it the extension of its format",
        )
    if end != _MARK or size < 12:
        raise InvalidInput(
            file.name, "its Parquet data is cut off before the end", "copy or write the file again"
        )
