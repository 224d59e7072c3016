"""Names the series of the columns of a wide file: by labels, column name, or file name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from diagnosis_harness.adapters.sources.incident_folder.binding import VALUE
from diagnosis_harness.adapters.sources.incident_folder.formats.reader import stem_of
from diagnosis_harness.adapters.sources.incident_folder.formats.series_names import labels_in, name_series
from diagnosis_harness.adapters.sources.incident_folder.listing import ListedFile
from diagnosis_harness.adapters.sources.incident_folder.names import (
    join_header,
    plain_key,
    printable,
    split_series_name,
    unit_of_signal,
)
from diagnosis_harness.adapters.sources.incident_folder.settings_file import SETTINGS_NAME, files_table
from diagnosis_harness.adapters.sources.incident_folder.table import Column
from diagnosis_harness.analysis.meaning import SignalKind
from diagnosis_harness.analysis.name_meaning import meaning_of
from diagnosis_harness.toolbox.ports import UNNAMED_ENTITY


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """Entity and signal of every column, in order; and notes for the user on how they were found."""

    names: tuple[tuple[str, str], ...]
    owners: Mapping[str, str] = field(default_factory=dict)
    remark: str = ""


def name_columns(columns: Sequence[Column], file: ListedFile, known: Collection[str]) -> ColumnNames:
    """Entity and signal of the columns of a wide file without an entity column.

    Args:
        columns: those with values.
        known: entities that other files of the folder name.
    """
    if any(column.levels for column in columns):
        return ColumnNames(tuple(join_header(column.levels) for column in columns))
    labels = [labels_in(column.name) for column in columns]
    stem = printable(stem_of(file.name))
    if columns and all(one is not None for one in labels):
        named = name_series([one or {} for one in labels], unnamed=stem or "value")
        return ColumnNames(tuple((one.entity, one.signal) for one in named.names), named.owners)
    split = [split_series_name(column.name) for column in columns]
    undivided = [signal for entity, signal in split if entity == UNNAMED_ENTITY]
    if len(undivided) < len(split) or not split:
        return ColumnNames(tuple(split))
    if stem in known and not _are_entities(undivided, file, stem, known):
        remark = f"the file is named after an entity, {stem}: each column read as a signal of it"
        return ColumnNames(tuple((stem, name) for name in undivided), remark=remark)
    if len(split) == 1 and stem:
        entity, signal = _divide_file_name(stem, known)
        if plain_key(columns[0].name) in VALUE:
            named_after = signal if entity == UNNAMED_ENTITY else f"{signal} of {entity}"
            return ColumnNames(
                ((entity, signal),), remark=f"the series is named after the file, {named_after}"
            )
        if entity != UNNAMED_ENTITY and signal == undivided[0]:
            return ColumnNames(((entity, signal),), remark=f"the file's name says whose it is, {entity}")
    if _are_entities(undivided, file, stem, known):
        signal = file.settings.signal or stem or "value"
        remark = (
            f"each column read as an entity with the signal {signal}; "
            f'`columns = "signals"` under {files_table(file.name)} in {SETTINGS_NAME} reads it otherwise'
        )
        return ColumnNames(tuple(_with_statistic(name, signal) for name in undivided), remark=remark)
    remark = (
        f"each column read as a signal of one entity, {UNNAMED_ENTITY}; if they are services, set "
        f'`columns = "entities"` and `signal = "…"` under {files_table(file.name)} in {SETTINGS_NAME}'
    )
    return ColumnNames(tuple(split), remark=remark)


def _divide_file_name(stem: str, known: Collection[str]) -> tuple[str, str]:
    """`cart.latency_ms` is a signal of `cart`, and so is `cart_latency_ms` where the folder knows `cart`."""
    entity, signal = split_series_name(stem)
    if entity != UNNAMED_ENTITY and is_signal_name(signal):
        return entity, signal
    for name in sorted(known, key=lambda each: (-len(each), each)):
        rest = stem[len(name) :]
        if stem.startswith(name) and rest[:1] in {"-", "_", "."} and is_signal_name(rest[1:]):
            return name, rest[1:]
    return UNNAMED_ENTITY, stem


def _with_statistic(name: str, signal: str) -> tuple[str, str]:
    """`checkout p95` in a file of latencies is `latency p95` of `checkout`."""
    entity, _, rest = name.partition(" ")
    return entity, f"{signal} {rest}" if rest else signal


def _are_entities(names: Sequence[str], file: ListedFile, stem: str, known: Collection[str]) -> bool:
    """Whether names that cannot be split are entities."""
    if file.settings.columns is not None:
        return file.settings.columns == "entities"
    if sum(1 for name in names if name in known) * 2 > len(names):
        return True
    return is_signal_name(stem) and not any(is_signal_name(name.split()[0]) for name in names if name)


def is_signal_name(name: str) -> bool:
    """Whether a name tells what is measured, by its unit or its meaning."""
    unit = unit_of_signal(name)
    return bool(name) and (unit is not None or meaning_of(name, unit).kind is not SignalKind.OTHER)
