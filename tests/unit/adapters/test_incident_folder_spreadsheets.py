"""Files of spreadsheets, consoles and build servers: decimal commas, file names, rows above the values."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from tests.support.export_samples import CLOUDWATCH_CSV

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.toolbox.ports import Recording, Sources

OpenFolder = Callable[[Mapping[str, str | bytes]], Sources]
RefuseFolder = Callable[[Mapping[str, str | bytes]], InvalidInput]


def series_of(sources: Sources, ctx: RunContext) -> dict[tuple[str, str], list[float]]:
    """Entity and signal → the values that are there."""
    assert sources.metrics is not None
    found = sources.metrics.series(ctx, Recording.INCIDENT)
    return {(one.entity, one.signal): np.round(one.value[~np.isnan(one.value)], 4).tolist() for one in found}


def csv_of(cells: Sequence[str], *, column: str = "value", sign: str = ";") -> str:
    """A column of cells, one a minute."""
    rows = (f'2026-05-06 08:4{at}:00{sign}"{cell}"' for at, cell in enumerate(cells))
    return "\n".join([f"time{sign}{column}", *rows]) + "\n"


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["20,5", "1.420,75", "7"], [20.5, 1420.75, 7]),
        (["20,5", "21,125"], [20.5, 21.125]),
        (["20.5", "1,420.75"], [20.5, 1420.75]),
        (["1,234,567", "12"], [1234567, 12]),
        (["20,5 ms", "0 ms"], [0.0205, 0]),
        (["1,234 ms", "20 ms"], [1.234, 0.02]),
        (["1.5 KiB", "1,024.5 KiB"], [1536, 1049088]),
    ],
)
def test_commas_are_read_as_the_column_writes_them(
    cells: list[str], values: list[float], open_folder: OpenFolder, ctx: RunContext
) -> None:
    """As decimals where a cell shows that, else between thousands; with units and without."""
    found = series_of(open_folder({"cart.latency.csv": csv_of(cells)}), ctx)

    assert next(iter(found.values())) == pytest.approx(values)


@pytest.mark.parametrize("cells", [["1,234", "2,345"], ["20,5", "1,420.75"]])
def test_commas_that_can_be_read_in_two_ways_are_refused(
    cells: list[str], refuse_folder: RefuseFolder
) -> None:
    """A thousand or a little more than one: nothing tells."""
    assert "numbers" in str(refuse_folder({"metrics.csv": csv_of(cells)}))


def test_a_later_cell_that_is_written_otherwise_is_refused(refuse_folder: RefuseFolder) -> None:
    """The first cells decide; what does not fit them is never read as a hundred times as much."""
    cells = ["20,5"] * 201
    rows = "\n".join(f"{1_778_056_800 + at};{cell}" for at, cell in enumerate([*cells, "1,420.75"]))

    refused = refuse_folder({"metrics.csv": f"time;value\n{rows}\n"})

    assert "holds '1,420.75'" in refused.problem


def test_the_name_of_a_file_says_whose_its_series_is(open_folder: OpenFolder, ctx: RunContext) -> None:
    """With a dot by itself, with other signs where the folder knows the service."""
    files = {
        "cart.latency_ms.csv": csv_of(["20", "21"], sign=","),
        "cart.cpu_percent.csv": csv_of(["50", "60"], column="cpu_percent", sign=","),
        "topology.csv": "caller,callee\ncart,web-shop\n",
        "web-shop_errors_per_second.csv": csv_of(["1", "2"], sign=","),
        "orphan_errors_per_second.csv": csv_of(["3", "4"], sign=","),
        "web-shop.csv": csv_of(["7", "8"], column="queue_length", sign=","),
    }

    assert series_of(open_folder(files), ctx) == {
        ("cart", "latency_ms"): [20, 21],
        ("cart", "cpu_percent"): [50, 60],
        ("web-shop", "errors_per_second"): [1, 2],
        ("web-shop", "queue_length"): [7, 8],
        ("system", "orphan_errors_per_second"): [3, 4],
    }


def test_columns_that_are_entities_stay_them_in_a_file_named_after_one(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """Where the folder knows most of them, or the settings say so."""
    values = "2026-05-06 08:40:00,7,8\n"
    files = {
        "topology.csv": "caller,callee\ncart,web-shop\nweb-shop,db\n",
        "cart.csv": f"time,web-shop,db\n{values}",
        "db.csv": f"time,blue,green\n{values}",
        "incident.toml": '[files."db.csv"]\ncolumns = "entities"\nsignal = "cpu"\n',
    }

    assert series_of(open_folder(files), ctx) == {
        ("web-shop", "cart"): [7],
        ("db", "cart"): [8],
        ("blue", "cpu"): [7],
        ("green", "cpu"): [8],
    }


def test_dimensions_above_a_graph_name_its_series(open_folder: OpenFolder, ctx: RunContext) -> None:
    """The zone is that of the folder, since the console writes none."""
    found = series_of(open_folder({"graph.csv": CLOUDWATCH_CSV}), ctx)

    assert found == {("cart", "CPUUtilization"): [20.5, 90], ("cart-db", "CPUUtilization"): [10]}


@pytest.mark.parametrize("cell", ["06.05.2026 08:40:00", "06/05/2026, 8:40 AM", "6-5-2026 08:40"])
def test_the_format_that_a_refused_date_names_reads_it(
    cell: str, open_folder: OpenFolder, refuse_folder: RefuseFolder, ctx: RunContext
) -> None:
    """As it stands in the message, with its own signs."""
    text = f'time;entity;signal;value\n"{cell}";cart;cpu;5\n"{cell}";web;cpu;6\n'
    refused = refuse_folder({"metrics.csv": text})
    setting = refused.remedy.partition("`")[2].partition("`")[0]

    sources = open_folder({"metrics.csv": text, "incident.toml": f'[files."metrics.csv"]\n{setting}\n'})

    assert sources.metrics is not None
    assert sources.metrics.series(ctx, Recording.INCIDENT)[0].time_s.tolist() == [1_778_056_800]


def test_a_deployment_belongs_to_its_repository(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Not to the owner of the repository, whatever the address looks like."""
    deployment = {
        "sha": "a" * 40, "ref": "v2", "environment": "production", "created_at": "2026-05-06T08:39:00Z",
        "url": "https://api.github.com/repos/shop/cart/deployments/1",
    }  # fmt: skip
    run = {
        "displayTitle": "Reports", "createdAt": "2026-05-06T08:39:00Z", "name": "Deploy",
        "url": "https://github.com/shop/cart/actions/runs/3",
    }  # fmt: skip
    pipeline = {
        "ref": "main", "sha": "a" * 40, "status": "success", "created_at": "2026-05-06T08:39:00Z",
        "web_url": "https://gitlab.example/group/shop/cart/-/pipelines/47",
    }  # fmt: skip

    files = {f"{at}.json": json.dumps([one]) for at, one in enumerate((deployment, run, pipeline))}
    changes = open_folder(files).changes

    assert changes is not None
    assert [one.entity for one in changes.changes(ctx, window=None)] == ["cart"] * 3
