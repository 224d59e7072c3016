"""Callers, callees and the owners of instances, from topology files and incident.toml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.binding import find, find_unused_columns
from diagnosis_harness.adapters.sources.incident_folder.database import Database
from diagnosis_harness.adapters.sources.incident_folder.names import plain_key, printable, quote
from diagnosis_harness.adapters.sources.incident_folder.table import (
    Table,
    is_missing,
    is_number,
    show_columns,
    text_cell_sql,
)
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.toolbox.ports import CallEdge, FileNote

CALLER: Final = ("caller", "source", "src", "from", "client", "parent", "upstream_service", "instance")
CALLEE: Final = ("callee", "target", "dst", "dest", "destination", "to", "server", "child", "service")
_RELATION: Final = ("relation", "relationship", "type")
_CALLS: Final = frozenset({"calls", "call", "depends_on", "uses", "invokes"})
_PART_OF: Final = frozenset({"part_of", "instance_of", "belongs_to"})
_ROWS_LIMIT: Final = 500_000


@dataclass(frozen=True, slots=True)
class TopologyFile:
    """Content of one topology file."""

    edges: tuple[CallEdge, ...]
    owners: Mapping[str, str]
    note: FileNote


class FolderTopology:
    """`TopologySource` over the content of the files and of incident.toml."""

    def __init__(self, edges: Sequence[CallEdge], owners: Mapping[str, str]) -> None:
        self._edges = tuple(sorted(set(edges), key=lambda edge: (edge.caller, edge.callee)))
        self._owners = MappingProxyType(dict(owners))

    @property
    def known_edges(self) -> tuple[CallEdge, ...]:
        """All call edges, ordered."""
        return self._edges

    @property
    def known_owners(self) -> Mapping[str, str]:
        """Instance to service."""
        return self._owners

    def edges(self, ctx: RunContext) -> tuple[CallEdge, ...]:
        """All known call edges, ordered; none from an entity to itself."""
        del ctx
        return self._edges

    def owners(self, ctx: RunContext) -> Mapping[str, str]:
        """Instance to service."""
        del ctx
        return self._owners


_PAIRS: Final = (
    ("source", "target"), ("source", "destination"), ("src", "dst"), ("from", "to"), ("client", "server"),
    ("parent", "child"),
)  # fmt: skip


def names_calls(table: Table) -> bool:
    """Whether two text columns have the usual names for the ends of a call."""
    pairs = ((find(table, (one,)), find(table, (other,))) for one, other in _PAIRS)
    return any(
        one is not None and other is not None and not (one.looks_numeric or other.looks_numeric)
        for one, other in pairs
    )


def is_matrix(table: Table) -> bool:
    """Whether the first column names the other columns, and those contain only 0 and 1."""
    first, *others = table.columns
    names = {printable(column.name) for column in others}
    cells = [float(cell) for column in others for cell in column.present if is_number(cell)]
    return (
        len(first.present) > 1
        and all(printable(cell) in names for cell in first.present)
        and all(column.looks_numeric or column.looks_empty for column in others)
        and {*cells} == {0.0, 1.0}
    )


def read_topology(table: Table, database: Database) -> TopologyFile:
    """Read one topology file: rows of caller and callee, or an adjacency matrix whose rows call its columns.

    Raises:
        InvalidInput: it is neither, or is damaged.
    """
    caller, callee = find(table, CALLER), find(table, CALLEE)
    if caller is not None and callee is not None and caller is not callee:
        relation = find(table, _RELATION)
        rows = _rows(table, database, [caller.ref, callee.ref], text_cell_sql(relation))
        unused = find_unused_columns(table, (caller, callee, relation))
        return _from_rows(table, rows, f"; columns not used: {show_columns(unused)}" if unused else "")
    if len(table.columns) > 1 and all(
        column.looks_numeric or column.looks_empty for column in table.columns[1:]
    ):
        refs = [column.ref for column in table.columns]
        return _from_matrix(table, _rows(table, database, refs, "NULL"))
    raise InvalidInput(
        table.place,
        f"it has no caller and callee columns (its columns: {show_columns(table.columns)})",
        'name them "caller" and "callee", or write a matrix of 0 and 1 whose row calls its columns',
    )


def _rows(table: Table, database: Database, refs: Sequence[str], last: str) -> list[tuple[str | None, ...]]:
    cells = ", ".join(f"CAST({ref} AS VARCHAR)" for ref in refs)
    rows = table.ask(database, f"SELECT {cells}, {last} FROM {table.scan} LIMIT {_ROWS_LIMIT + 1}")
    if len(rows) > _ROWS_LIMIT:
        raise InvalidInput(
            table.place, f"it has more than {_ROWS_LIMIT} rows", "keep the entities around the incident only"
        )
    return [tuple(None if cell is None else str(cell) for cell in row) for row in rows]


def _from_rows(table: Table, rows: Sequence[Sequence[str | None]], unused: str) -> TopologyFile:
    edges: list[CallEdge] = []
    owners: dict[str, str] = {}
    odd: set[str] = set()
    left_out = 0
    for caller, callee, relation in rows:
        one, other = printable(caller or ""), printable(callee or "")
        key = plain_key(relation or "calls")
        if not one or not other or one == other:
            left_out += 1
        elif key in _PART_OF:
            owners[one] = other
        elif key in _CALLS:
            edges.append(CallEdge(one, other))
        else:
            odd.add(relation or "")
            left_out += 1
    note = f"{len(edges)} call edges, {len(owners)} instances with their service"
    if left_out:
        note += f"; {left_out} rows left out: without two different names"
    if odd:
        names = ", ".join(quote(name) for name in sorted(odd)[:3])
        note += f", or of a relation that is neither calls nor part_of ({names})"
    return TopologyFile(
        tuple(edges), owners, FileNote(table.place, "topology", len(rows), f"{note}{unused}.")
    )


def _from_matrix(table: Table, rows: Sequence[Sequence[str | None]]) -> TopologyFile:
    names = [column.name for column in table.columns[1:]]
    edges = []
    for number, row in enumerate(rows):
        caller = printable(row[0] or "")
        for name, cell in zip(names, row[1:-1], strict=True):
            if cell is None or is_missing(cell):
                continue
            if not is_number(cell):
                raise InvalidInput(
                    f"{table.place} {table.locate(number)}",
                    f"column {quote(name)} holds {quote(cell)} in a matrix of 0 and 1",
                    "write 1 where the row calls the column, else 0",
                )
            if float(cell) != 0 and caller and name and caller != name:
                edges.append(CallEdge(caller, name))
    note = f"{len(edges)} call edges from a matrix whose row calls its columns."
    return TopologyFile(tuple(edges), {}, FileNote(table.place, "topology", len(rows), note))
