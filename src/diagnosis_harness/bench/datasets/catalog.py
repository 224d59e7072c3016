"""Data sets by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from diagnosis_harness.bench.case import DataSet
from diagnosis_harness.bench.datasets.nezha import Nezha
from diagnosis_harness.bench.datasets.petshop import PetShop
from diagnosis_harness.kernel.errors import InvalidInput

EXPORTERS: dict[str, Callable[[Path], DataSet]] = {"petshop": PetShop, "nezha": Nezha}


def data_set(name: str, root: Path) -> DataSet:
    """The data set of that name below `root`, the folder that holds the public data sets.

    Raises:
        InvalidInput: there is no data set of that name.
    """
    if name not in EXPORTERS:
        raise InvalidInput(name, "is no known data set", f"choose one of {', '.join(sorted(EXPORTERS))}")
    return EXPORTERS[name](root)
