"""All data sets in small, for what every one of them promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.support import own_incidents, published_events, published_sets

from diagnosis_harness.bench.case import DataSet


@dataclass(frozen=True, slots=True)
class SmallSet:
    """A data set in small: how it is made, and how wrong labels are planted in it."""

    name: str
    make: Callable[[Path], DataSet]
    poison: Callable[[Path], None]
    mislead: Callable[[Path], None]
    """Plants labels that name another entity of the data, or those of another incident."""
    labels: tuple[str, ...]
    """Files, or folders of files, that hold the truth and nothing that an export may need."""


SMALL_SETS = (
    SmallSet(
        "petshop",
        published_sets.make_petshop,
        published_sets.poison_petshop,
        published_sets.mislead_petshop,
        (),
    ),  # labels hold alerts
    SmallSet(
        "nezha", published_sets.make_nezha, published_sets.poison_nezha, published_sets.mislead_nezha, ()
    ),  # labels hold onsets
    SmallSet(
        "rootcausebench",
        published_sets.make_rootcausebench,
        published_sets.poison_rootcausebench,
        published_sets.mislead_rootcausebench,
        ("rootcausebench/labels.json",),
    ),
    SmallSet(
        "opensre-synthetic",
        published_events.make_opensre,
        published_events.poison_opensre,
        published_events.mislead_opensre,
        ("opensre-synthetic/labels",),
    ),
    SmallSet(
        "tvdiag-events",
        published_events.make_tvdiag,
        published_events.poison_tvdiag,
        published_events.mislead_tvdiag,
        (),
    ),  # same lines
    SmallSet(
        "ours",
        lambda root: own_incidents.make_own(root / "ours"),
        lambda root: own_incidents.poison_own(root / "ours"),
        lambda root: own_incidents.mislead_own(root / "ours"),
        ("ours/payments-db-is-full/truth.toml", "ours/all-was-well/truth.toml"),
    ),
)
