"""A store that works harder since a cache answers less often is not blamed; the cache is where it starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.case_answers import ask_about

ONSET, END = 50, 80
CALLS = (("web", "catalog"), ("catalog", "catalog-cache"), ("catalog", "catalog-db"))


def ask_of(folder: Path, ratio: tuple[str, float, float], asked: float, busy: float) -> dict[str, Any]:
    """The answer about `web`, whose latency doubles while the store of `catalog` gets busier.

    Args:
        ratio: the cache's signal, what it usually is and what it is from the onset on.
        asked: how many times its usual requests the store gets from the onset on.
        busy: how many times its usual CPU the store needs.
    """
    folder.mkdir()
    rows = ["time,entity,signal,value"]
    for minute in range(END):
        at = f"2026-05-06T{8 + (40 + minute) // 60:02d}:{(40 + minute) % 60:02d}:00Z"
        noise, late = 1 + (minute * 7) % 11 / 200, minute >= ONSET
        values = {
            ("web", "latency_s"): 0.4 if late else 0.2,
            ("catalog", "latency_s"): 0.3 if late else 0.1,
            ("catalog-cache", ratio[0]): ratio[2] if late else ratio[1],
            ("catalog-db", "latency_s"): 0.08 if late else 0.01,
            ("catalog-db", "requests_per_s"): 100 * (asked if late else 1),
            ("catalog-db", "cpu_percent"): 12 * (busy if late else 1),
        }
        rows += [f"{at},{entity},{signal},{value * noise:.5f}" for (entity, signal), value in values.items()]
    (folder / "metrics.csv").write_text("\n".join(rows) + "\n")
    edges = "\n".join(f"{caller},{callee}" for caller, callee in CALLS)
    (folder / "topology.csv").write_text(f"caller,callee\n{edges}\n")
    return ask_about(folder, "Why is web slow since 09:30?", folder.parent)


@pytest.mark.parametrize(
    "ratio",
    [("cache_hit_ratio", 0.9, 0.04), ("hit_rate", 0.8, 0.3), ("cache_miss_ratio", 0.08, 0.9)],
)
def test_the_cache_is_where_it_starts_and_not_the_store_behind_it(
    tmp_path: Path, ratio: tuple[str, float, float]
) -> None:
    """Whether hits or misses are counted; where the store is asked six times as often."""
    document = ask_of(tmp_path / "incident", ratio, asked=6, busy=7)

    (cause,) = document["report"]["causes"]
    assert (cause["entity"], cause["region"], cause["level"]) == ("catalog-cache", ratio[0], "LOCALISED")


@pytest.mark.parametrize(
    ("ratio", "asked"),
    [
        (("cache_hit_ratio", 0.9, 0.89), 1.0),  # the cache is as usual
        (("cache_hit_ratio", 0.9, 0.3), 1.0),  # it answers less often, and the store does not feel it
    ],
)
def test_a_store_that_is_asked_as_often_as_before_is_not_excused(
    tmp_path: Path, ratio: tuple[str, float, float], asked: float
) -> None:
    """Its processor is busy without more requests."""
    document = ask_of(tmp_path / "incident", ratio, asked=asked, busy=7.5)

    named = [*document["report"]["causes"], *document["report"]["candidates"]]
    assert named[0]["entity"] == "catalog-db"
    assert "catalog-cache" not in {each["entity"] for each in document["report"]["causes"]}
