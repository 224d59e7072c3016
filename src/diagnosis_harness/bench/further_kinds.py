"""Kinds of fault that are right beside the frozen ones, with a reason each (kinds_also_right.toml)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from diagnosis_harness.bench.case import Truth

ALSO_RIGHT = Path(__file__).with_name("kinds_also_right.toml")


@cache
def read_further_kinds() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """The reason for each further kind, by data set and by kind of fault or incident."""
    return tomllib.loads(ALSO_RIGHT.read_text(encoding="utf-8"))


def add_further_kinds(data_set: str, incident_id: str, truth: Truth) -> Truth:
    """The truth with the further kinds that are right for it; without a fault there are none."""
    table = read_further_kinds().get(data_set, {})
    if not truth.entities:
        return truth
    further = {*table.get(truth.fault_kind, {}), *table.get(incident_id, {})}
    return replace(truth, also_kinds=truth.also_kinds | further)
