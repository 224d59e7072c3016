"""What rose to a limit and stays at exactly that explains why what needs it fails; what did not does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.case_answers import CASES, ask_about

from diagnosis_harness.toolbox.held_limits import is_limit

QUESTION = "Why is front failing since 09:30?"
ONSET, END = 50, 80


def write_incident(folder: Path, signal: str, course: Callable[[int], float]) -> None:
    """`front`, whose requests fail from 09:30 on, with one further series of it."""
    folder.mkdir()
    rows = ["time,entity,signal,value"]
    for minute in range(END):
        at = f"2026-05-06T{8 + (40 + minute) // 60:02d}:{(40 + minute) % 60:02d}:00Z"
        failing = (0.4 if minute >= ONSET else 0.001) * (1 + (minute * 7) % 11 / 50)
        rows += [f"{at},front,error_ratio,{failing:.5f}", f"{at},front,{signal},{course(minute)}"]
    (folder / "metrics.csv").write_text("\n".join(rows) + "\n")


def stays_from(minute: int, *, at: float, from_value: float, step: float) -> Callable[[int], float]:
    """Rises by equal steps with a little noise, and stays at a value from a minute on."""
    return lambda now: at if now >= minute else from_value + step * now + (now * 5) % 3


def explanations(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Kind and part of every cause that is more than where it starts."""
    causes = document["report"]["causes"]
    return [(one["fault_kind"], one["region"]) for one in causes if one["level"] != "LOCALISED"]


@pytest.mark.parametrize(
    ("signal", "course"),
    [
        ("open_file_descriptors", stays_from(ONSET - 1, at=65536, from_value=40000, step=500)),
        ("worker_threads_busy", stays_from(ONSET, at=200, from_value=20, step=0.1)),
        ("ticket_sequence", stays_from(ONSET - 4, at=32767, from_value=32000, step=15)),
        ("heap_used_bytes", stays_from(ONSET - 2, at=2**29, from_value=3e8, step=4e6)),
    ],
)
def test_what_rose_to_a_limit_and_stays_there_is_the_explanation(
    tmp_path: Path, signal: str, course: Callable[[int], float]
) -> None:
    """Handles, threads, a sequence and memory; half of them are noticed minutes after they are full."""
    write_incident(tmp_path / "incident", signal, course)
    document = ask_about(tmp_path / "incident", QUESTION, tmp_path)

    kind = "MEMORY" if "heap" in signal else "SATURATION"
    assert explanations(document) == [(kind, signal)]
    assert any(" and stays at exactly that since " in one["sentence"] for one in document["report"]["claims"])


@pytest.mark.parametrize(
    "course",
    [
        lambda now: 10000 if now >= ONSET else 5000,  # a setting
        stays_from(ONSET, at=9731, from_value=9000, step=10),  # no number at which limits are set
        lambda now: 10000 if ONSET <= now < END - 6 else 9000 + 10 * (now % 9),  # free again
        stays_from(ONSET - 20, at=10000, from_value=9000, step=10),  # twenty minutes before anything failed
        stays_from(ONSET + 8, at=10000, from_value=9000, step=10),  # full only after it began
    ],
)
def test_a_setting_a_level_and_what_was_full_at_another_time_explain_nothing(
    tmp_path: Path, course: Callable[[int], float]
) -> None:
    """No limit is stated of them."""
    write_incident(tmp_path / "incident", "ticket_sequence", course)
    document = ask_about(tmp_path / "incident", QUESTION, tmp_path)

    assert explanations(document) == []
    assert not any("stays at exactly" in one["sentence"] for one in document["report"]["claims"])


def test_a_limit_that_a_series_states_need_not_be_round(tmp_path: Path) -> None:
    """A pool of 17 with a series that says so; without that 17 is just a number."""
    for stated in (True, False):
        folder = tmp_path / f"incident-{stated}"
        write_incident(folder, "connections_in_use", stays_from(ONSET, at=17, from_value=4, step=0.05))
        if stated:
            rows = (folder / "metrics.csv").read_text().splitlines()
            rows += [f"{row.split(',')[0]},front,max_connections,17" for row in rows[1::2]]
            (folder / "metrics.csv").write_text("\n".join(rows) + "\n")
        document = ask_about(folder, QUESTION, tmp_path)
        is_stated = any("stays at exactly" in one["sentence"] for one in document["report"]["claims"])
        assert is_stated is stated


@pytest.mark.parametrize(
    ("case", "question", "entity", "region"),
    [
        ("C3", "Why are front's requests failing since 13:15?", "front", "front-0/os_threads"),
        ("C4", "Why does the api return 500 since 09:30?", "pg", "log_last_id"),
    ],
)
def test_the_recorded_limits_are_named(
    tmp_path: Path, case: str, question: str, entity: str, region: str
) -> None:
    """Threads of every instance at 10,000, and a number that no longer fits into 32 bits."""
    document = ask_about(CASES / case / "incident", question, tmp_path)

    assert [one["entity"] for one in document["report"]["causes"]] == [entity]
    assert explanations(document) == [("SATURATION", region)]


@pytest.mark.parametrize("failing", [0.05, 0.9])
@pytest.mark.parametrize("gone", ["seats", "ledger"])
def test_the_caller_of_a_silent_service_is_not_blamed_however_loudly_it_fails(
    tmp_path: Path, gone: str, failing: float
) -> None:
    """Two steps below the entry, where the caller in between shows the more the worse it gets."""
    folder = tmp_path / "incident"
    folder.mkdir()
    rows = ["time,entity,signal,value"]
    for minute in range(END):
        at = f"2026-05-06T{8 + (40 + minute) // 60:02d}:{(40 + minute) % 60:02d}:00Z"
        noise = 1 + (minute * 7) % 11 / 50
        broken = minute >= ONSET
        for name in ("web", "booking", "seats", "ledger"):
            if not (broken and name == gone):
                share = failing if broken and name in ("web", "booking") else 0.001
                rows += [
                    f"{at},{name},error_ratio,{share * noise:.5f}",
                    f"{at},{name},cpu_percent,{20 * noise:.2f}",
                ]
    (folder / "metrics.csv").write_text("\n".join(rows) + "\n")
    calls = "caller,callee\nweb,booking\nbooking,seats\nbooking,ledger\n"
    (folder / "topology.csv").write_text(calls)
    document = ask_about(folder, "Why is web failing since 09:30?", tmp_path)

    assert [(one["entity"], one["fault_kind"]) for one in document["report"]["causes"]] == [(gone, "CRASH")]


@pytest.mark.parametrize("value", [10, 20, 50, 100, 150, 1000, 10000, 65000, 127, 128, 255, 1024, 2**31 - 1])
def test_limits_are_set_at_round_numbers_and_powers_of_two(value: float) -> None:
    """As people and types of numbers have them."""
    assert is_limit(value)


@pytest.mark.parametrize("value", [0, 1, 5, 9, 11, 17, 99, 100.5, 101, 131, 1337, 9731, 2**31 - 3])
def test_other_numbers_are_not_limits(value: float) -> None:
    """Small counts are whole and round by chance."""
    assert not is_limit(value)
