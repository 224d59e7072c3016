"""Columns that name services and signals below headings in any language, found by what they hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.toolbox.ports import UNNAMED_ENTITY, Recording, Sources

OpenFolder = Callable[[Mapping[str, str | bytes]], Sources]
Rows = Callable[[int], list[tuple[str, ...]]]


def table(header: str, rows: Rows, sign: str = ",") -> str:
    """Rows of 40 minutes below a header."""
    lines = [sign.join((f"2026-05-06T09:{at:02}:00Z", *row)) for at in range(40) for row in rows(at)]
    return "\n".join((header, *lines)) + "\n"


def services(at: int) -> list[tuple[str, ...]]:
    """A value of each of two services, with a decimal comma."""
    return [("kasse", f"{at}5,25"), ("lager", f"0,{at:03}")]


def signals(at: int) -> list[tuple[str, ...]]:
    """Two signals of each of two services."""
    names = (
        ("kasse", "latency_ms"),
        ("lager", "latency_ms"),
        ("kasse", "cpu_percent"),
        ("lager", "cpu_percent"),
    )
    return [(*name, f"{at}.5") for name in names]


def series_of(sources: Sources, ctx: RunContext) -> set[tuple[str, str]]:
    """Entity and signal of every series."""
    assert sources.metrics is not None
    return {(one.entity, one.signal) for one in sources.metrics.series(ctx, Recording.INCIDENT)}


@pytest.mark.parametrize(
    ("name", "text", "expected", "told"),
    [
        (
            "daten.csv",
            table("Zeit;Dienst;Wert", services, ";"),
            {("kasse", "Wert"), ("lager", "Wert")},
            ["column 'Dienst' read as the service"],
        ),
        (
            "latency.csv",
            table("Zeit;Dienst;Wert", services, ";"),
            {("kasse", "latency"), ("lager", "latency")},
            ["column 'Dienst' read as the service"],
        ),
        (
            "export.csv",
            table("时间,服务,指标,数值", signals),
            {(whose, what) for whose in ("kasse", "lager") for what in ("latency_ms", "cpu_percent")},
            ["column '服务' read as the service", "column '指标' read as the signal"],
        ),
        (
            "export.csv",
            table(
                "heure,serveur,latence_ms,erreurs",
                lambda at: [("caisse", f"{at}", "0"), ("stock", f"{at}", "1")],
            ),
            {(whose, what) for whose in ("caisse", "stock") for what in ("latence_ms", "erreurs")},
            ["column 'serveur' read as the service"],
        ),
    ],
)
def test_columns_of_few_repeated_names_are_read_as_what_they_name(
    name: str,
    text: str,
    expected: set[tuple[str, str]],
    told: list[str],
    open_folder: OpenFolder,
    ctx: RunContext,
) -> None:
    """No heading has to be English, and the note says what was taken for what."""
    sources = open_folder({name: text})

    assert series_of(sources, ctx) == expected
    (note,) = (one.note for one in sources.summary.summary(ctx).files if one.file == name)
    assert all(words in note for words in told)


@pytest.mark.parametrize(
    ("header", "rows", "settings"),
    [
        ("Zeit;Land;Wert;country", lambda at: [("7", f"{at}", "de"), ("7", f"{at}", "fr")], ""),
        ("Zeit;Code;Wert", lambda at: [("GET", f"{at}"), ("PUT", f"{at}")], ""),
        ("Zeit;Dienst;Wert", lambda at: [("kasse", f"{at}"), ("lager", f"{at}")], 'columns = "signals"'),
        ("Zeit;Dienst;Ort;Wert", lambda at: [("kasse", "nord", f"{at}"), ("lager", "sued", f"{at}")], ""),
    ],
)
def test_labels_and_columns_in_doubt_name_no_service(
    header: str, rows: Rows, settings: str, open_folder: OpenFolder, ctx: RunContext
) -> None:
    """A label, what incident.toml says, and two columns that may both name services: nothing is guessed."""
    files = {"metrics.csv": table(header, rows, ";")}
    if settings:
        files["incident.toml"] = f'[files."metrics.csv"]\n{settings}\n'

    sources = open_folder(files)

    assert {entity for entity, _ in series_of(sources, ctx)} == {UNNAMED_ENTITY}
