"""Data sets by name."""

from __future__ import annotations

from pathlib import Path

from diagnosis_harness.bench.case import DataSet
from diagnosis_harness.kernel.errors import InvalidInput

NAMES = ("petshop", "nezha", "rootcausebench", "opensre-synthetic", "tvdiag-events")
"""The only place outside the exporters that names a data set."""


def data_set(name: str, root: Path) -> DataSet:
    """The data set of that name below `root`, the folder that holds the public data sets.

    Raises:
        InvalidInput: there is no data set of that name.
    """
    from diagnosis_harness.bench.datasets.nezha import Nezha  # lazy: `--help` needs only the names
    from diagnosis_harness.bench.datasets.opensre import OpenSre
    from diagnosis_harness.bench.datasets.petshop import PetShop
    from diagnosis_harness.bench.datasets.rootcausebench import RootCauseBench
    from diagnosis_harness.bench.datasets.tvdiag import TvDiag

    match name:
        case "petshop":
            return PetShop(root)
        case "nezha":
            return Nezha(root)
        case "rootcausebench":
            return RootCauseBench(root)
        case "opensre-synthetic":
            return OpenSre(root)
        case "tvdiag-events":
            return TvDiag(root)
        case _:
            raise InvalidInput(name, "is not a known data set", f"choose one of {', '.join(sorted(NAMES))}")


def own_incidents(folder: Path) -> DataSet:
    """The incident folders in a folder of the user's (docs/reference/truth.md)."""
    from diagnosis_harness.bench.datasets.own import OwnIncidents  # lazy: as above

    return OwnIncidents(folder)
