"""What files of spreadsheets and build servers say: decimal commas, names of files, and repositories."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

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
    """Before a dot, where a signal follows it; whether its column is called a value or like the signal."""
    files = {
        "cart.latency_ms.csv": csv_of(["20", "21"], sign=","),
        "cart.cpu_percent.csv": csv_of(["50", "60"], column="cpu_percent", sign=","),
        "errors_per_second.csv": csv_of(["3", "4"], sign=","),
    }

    assert series_of(open_folder(files), ctx) == {
        ("cart", "latency_ms"): [20, 21],
        ("cart", "cpu_percent"): [50, 60],
        ("system", "errors_per_second"): [3, 4],
    }


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
