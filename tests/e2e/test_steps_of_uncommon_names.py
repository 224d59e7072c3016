"""Culprits that show by signals of uncommon names, by an earlier step, or by new instances."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.case_answers import CASES, ask_about

Course = Callable[[int], float | None]
"""The value of a series at a minute after the onset; None where it was not recorded."""
NORMAL, FAULT = 50, 15
HEADS = {"topology": "caller,callee", "changes": "time,kind,summary,entity"}


def step(before: float | None, after: float | None, *, at: int = 0) -> Course:
    """A level, and another from a minute on."""
    return lambda minute: before if minute < at else after


def noisy(course: Course, *, seed: int) -> Course:
    """A course that strays by two hundredths."""
    draw = np.random.default_rng(seed)

    def value(minute: int) -> float | None:
        level = course(minute)
        return None if level is None else level * draw.uniform(0.98, 1.02)

    return value


def write(
    folder: Path,
    series: Mapping[str, Course],
    instances: Mapping[str, str] | None = None,
    **tables: Sequence[str],
) -> Path:
    """A folder whose onset is at 09:30; `series` by entity and signal, `tables` with their rows."""
    folder.mkdir()
    rows = ["time," + ",".join(series)]
    for minute in range(-NORMAL, FAULT):
        hour, left = divmod(9 * 60 + 30 + minute, 60)
        values = ["" if (value := course(minute)) is None else f"{value:.5g}" for course in series.values()]
        rows.append(",".join((f"2026-05-06T{hour:02d}:{left:02d}:00Z", *values)))
    (folder / "metrics.csv").write_text("\n".join(rows) + "\n")
    for name, inner in tables.items():
        (folder / f"{name}.csv").write_text("\n".join((HEADS[name], *inner)) + "\n")
    if instances:
        (folder / "incident.toml").write_text(
            "\n".join(("[instances]", *(f'"{part}" = "{whole}"' for part, whole in instances.items()))) + "\n"
        )
    return folder


def sentences(document: Mapping[str, Any]) -> list[str]:
    """All statements of the report, in their order."""
    return [each["sentence"] for each in document["report"]["claims"]]


def place_of(document: Mapping[str, Any], *words: str) -> int:
    """The place of the first statement with these words; fails if there is none."""
    found = [at for at, sentence in enumerate(sentences(document)) if all(word in sentence for word in words)]
    assert found, sentences(document)
    return found[0]


def suspects(document: Mapping[str, Any]) -> list[str]:
    """The entities that a report names as a cause, as where it may lie, or as candidates, in this order."""
    report = document["report"]
    causes = [name for each in report["causes"] for name in (each["entity"], *each["scope"])]
    return [*causes, *(each["entity"] for each in report["candidates"])]


def test_c4_a_fall_to_zero_is_shown_beside_the_rise(tmp_path: Path) -> None:
    """Inserts stop where rollbacks begin."""
    document = ask_about(CASES / "C4" / "incident", "Why does the api return 500 since 09:30?", tmp_path)

    assert suspects(document)[0] == "pg"
    place_of(document, "rollbacks_per_minute of pg rose")
    place_of(document, "rows_inserted_per_minute of pg fell")


@pytest.mark.parametrize(
    ("signal", "before", "after"), [("leases_granted", 640.0, 0.0), ("acks_per_minute", 9000.0, 0.0)]
)
def test_what_an_entity_no_longer_does_is_shown_beside_its_errors(
    tmp_path: Path, signal: str, before: float, after: float
) -> None:
    """Also by a name that no table knows."""
    folder = write(
        tmp_path / "incident",
        {
            "shop|error_ratio": noisy(step(0.002, 0.4), seed=1),
            "broker|failures_per_minute": noisy(step(3.0, 900.0), seed=2),
            f"broker|{signal}": noisy(step(before, after), seed=3),
        },
        topology=["shop,broker"],
    )
    document = ask_about(folder, "Why is shop failing since 09:30?", tmp_path)

    assert suspects(document)[0] == "broker"
    place_of(document, f"{signal} of broker fell")


def test_c2_what_is_called_and_steps_at_the_onset_is_shown_with_its_change(tmp_path: Path) -> None:
    """A file has no latency and no errors; it has a size."""
    document = ask_about(CASES / "C2" / "incident", "Why does edge return 5xx since 09:30?", tmp_path)

    assert "rules-file" in suspects(document)
    place_of(document, "entries of rules-file rose from 60 to 214")
    place_of(document, "rules-file was changed (config)")


@pytest.mark.parametrize(
    ("part", "signal", "before", "after", "verb"),
    [("route-table", "prefixes", 812.0, 40.0, "fell"), ("zone-file", "records", 30.0, 95.0, "rose")],
)
def test_a_callee_without_symptoms_that_steps_at_the_onset_is_shown(
    tmp_path: Path, part: str, signal: str, before: float, after: float, verb: str
) -> None:
    """Whether it grows or shrinks: it is unknown which of the two is harmful."""
    folder = write(
        tmp_path / "incident",
        {
            "gate|error_ratio": noisy(step(0.002, 0.3), seed=4),
            f"{part}|{signal}": step(before, after),
        },
        topology=[f"gate,{part}"],
        changes=[f"2026-05-06T09:21:00Z,config,{part}: new source,{part}"],
    )
    document = ask_about(folder, "Why is gate failing since 09:30?", tmp_path)

    assert part in suspects(document)
    place_of(document, f"{signal} of {part} {verb}")
    place_of(document, f"{part} was changed (config)")


def test_c5_what_is_down_since_the_onset_goes_before_what_began_later(tmp_path: Path) -> None:
    """With the change at that very minute."""
    document = ask_about(CASES / "C5" / "incident", "Why are api requests failing since 09:30?", tmp_path)

    assert suspects(document)[0] == "cache"
    assert place_of(document, "up of cache-a fell") == 0
    assert place_of(document, "cache-a was changed (migration)") == 1


@pytest.mark.parametrize("later", [4, 8])
def test_what_began_later_than_the_effect_is_not_a_candidate(tmp_path: Path, later: int) -> None:
    """However loud it is; what began with it is."""
    folder = write(
        tmp_path / "incident",
        {
            "shop|error_ratio": noisy(step(0.002, 0.4), seed=5),
            "queue|error_ratio": noisy(step(0.001, 0.02), seed=6),
            "search|error_ratio": noisy(step(0.001, 0.9, at=later), seed=7),
            "search|cpu_percent": noisy(step(30.0, 97.0, at=later), seed=8),
        },
        topology=["shop,queue", "shop,search"],
    )
    document = ask_about(folder, "Why is shop failing since 09:30?", tmp_path)

    assert suspects(document)[0] == "queue"
    assert "search" not in [each["entity"] for each in document["report"]["causes"]]


def test_b32c_a_service_with_all_instances_replaced_is_compared_as_one(tmp_path: Path) -> None:
    """Old instances before, new ones after, and the deploy between them."""
    document = ask_about(CASES / "B32c" / "incident", "Why is booking slow since 09:30?", tmp_path)

    assert suspects(document)[0] == "seats"
    place_of(document, "latency_s of seats rose")
    place_of(document, "seats was changed (deploy)")


@pytest.mark.parametrize(("old_ends", "new_begins"), [(2, -1), (-2, 1)])
def test_a_rollout_may_overlap_or_leave_a_gap(tmp_path: Path, old_ends: int, new_begins: int) -> None:
    """Some minutes with both, or with neither."""
    series: dict[str, Course] = {"web|latency_ms": noisy(step(120.0, 900.0), seed=9)}
    for number in range(2):
        old = step(40.0, None, at=old_ends)
        new = noisy(step(None, 700.0, at=new_begins), seed=20 + number)
        series[f"cart-old-{number}|latency_ms"] = noisy(old, seed=10 + number)
        series[f"cart-new-{number}|latency_ms"] = new
    folder = write(
        tmp_path / "incident",
        series,
        instances={f"cart-{age}-{number}": "cart" for age in ("old", "new") for number in range(2)},
        topology=["web,cart"],
        changes=["2026-05-06T09:29:30Z,deploy,cart 2.1,cart"],
    )
    document = ask_about(folder, "Why is web slow since 09:30?", tmp_path)

    assert suspects(document)[0] == "cart"
    place_of(document, "latency_ms of cart rose")
    place_of(document, "cart was changed (deploy)")
