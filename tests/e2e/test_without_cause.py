"""Answers that name no cause: it began earlier, is over, follows the load, or comes from outside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from diagnosis_harness.cli.main import run_command
from diagnosis_harness.kernel.language import Language

FIRST, STEP_S, STEPS = 1_700_000_000, 30, 240
CALLS = (("web", "pay"), ("web", "stock"))


@dataclass(frozen=True)
class Course:
    """By entity and signal, the factor of its usual level from one step to another."""

    moves: Mapping[tuple[str, str], float]
    start: int = 120
    end: int = STEPS
    recorded_from: int = 0
    asked: int = 120
    stated: bool = False
    usual: Mapping[str, float] = field(default_factory=lambda: {"latency": 0.1, "requests_per_s": 50.0})


EVERYBODY = {(name, "latency"): 3.0 for name in ("web", "pay", "stock")}
SURGE = {(name, "requests_per_s"): 2.5 for name in ("web", "pay", "stock")}
DROP = {(name, "requests_per_s"): 0.2 for name in ("web", "pay", "stock")}
WEB_ALONE = {("web", "latency"): 3.0}
BEFORE_THE_RECORDING = Course(EVERYBODY, start=0, recorded_from=121, asked=120)
STATED_LATE = Course(EVERYBODY, start=90, asked=160, stated=True)
OVER = Course(WEB_ALONE, end=132)
LOAD = Course({**EVERYBODY, **SURGE})
OUTSIDE = Course(DROP)


def write_course(folder: Path, course: Course) -> None:
    """The three services, with five per cent of noise; the alert is on web."""
    rng = np.random.default_rng(7)
    rows = ["time,entity,signal,value"]
    for place in range(STEPS):
        for entity in ("web", "pay", "stock"):
            for signal, usual in course.usual.items():
                during = course.start <= place < course.end
                factor = course.moves.get((entity, signal), 1.0) if during else 1.0
                value = usual * factor * rng.lognormal(0.0, 0.05)
                if place >= course.recorded_from:
                    rows.append(f"{FIRST + STEP_S * place},{entity},{signal},{value:.5f}")
    asked_s = FIRST + STEP_S * course.asked
    signal = "requests_per_s" if ("web", "latency") not in course.moves else "latency"
    alert = f'[alert]\nentity = "web"\nsignal = "{signal}"\ntime = {asked_s + STEP_S}\n'
    if course.recorded_from:
        alert = f'[alert]\nentity = "web"\nsignal = "latency"\ntime = {asked_s}\n'
    folder.mkdir()
    (folder / "metrics.csv").write_text("\n".join(rows) + "\n")
    (folder / "topology.csv").write_text("caller,callee\n" + "\n".join(",".join(one) for one in CALLS) + "\n")
    (folder / "incident.toml").write_text(f"[incident]\nonset = {asked_s}\n" if course.stated else alert)


def ask(folder: Path, saved: Path, language: Language = Language.EN) -> int:
    """The exit code of a question for the cause; the document is saved."""
    order = ["ask", "What is the cause?", "--from", str(folder), "--lang", language.value]
    return run_command([*order, "--save", str(saved)])


@pytest.mark.parametrize(
    ("course", "predicate", "en", "zh"),
    [
        (
            BEFORE_THE_RECORDING,
            "BEGAN_BEFORE",
            "began before anything normal was recorded",
            "还没有任何正常时期的记录",
        ),
        (STATED_LATE, "BEGAN_BEFORE", "before the time that was asked about", "早于所询问的时间"),
        (OVER, "IS_OVER", "was over at", "已经结束"),
        (LOAD, "FOLLOWS_LOAD", "stands out beside this load", "与这一负载相比都不突出"),
        (OUTSIDE, "FROM_OUTSIDE", "what keeps requests away lies outside", "请求减少的原因在记录范围之外"),
    ],
)
@pytest.mark.parametrize("language", Language)
def test_an_answer_without_a_cause_is_released(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    course: Course,
    predicate: str,
    en: str,
    zh: str,
    language: Language,
) -> None:
    """It is said first, in the language of the question, and holds when the document is verified."""
    write_course(tmp_path / "incident", course)
    saved = tmp_path / "run.json"

    code = ask(tmp_path / "incident", saved, language)

    document = json.loads(saved.read_text())
    said = " ".join(document["report"]["summary"])
    assert code == 0, capsys.readouterr().out
    assert predicate in {claim["predicate"] for claim in document["report"]["claims"]}
    assert (en if language is Language.EN else zh) in said
    assert document["report"]["causes"] == []
    assert run_command(["verify", str(saved)]) == 0


@pytest.mark.parametrize(
    "course",
    [
        Course({**SURGE, ("pay", "latency"): 8.0, ("web", "latency"): 3.0}),  # pay leads: more than load
        Course({("pay", "latency"): 8.0, ("web", "latency"): 3.0}),  # no more requests than usual
        Course({**EVERYBODY, **dict.fromkeys(SURGE, 1.2)}),  # a fifth more is daily drift
        Course({**DROP, ("web", "latency"): 3.0, ("pay", "latency"): 8.0}),  # fewer, since pay is broken
    ],
)
def test_load_and_the_outside_are_no_excuse_for_what_broke_inside(tmp_path: Path, course: Course) -> None:
    """Where a cause stands out, or load changed too little, no such answer is given."""
    write_course(tmp_path / "incident", course)
    saved = tmp_path / "run.json"

    ask(tmp_path / "incident", saved)

    told = {claim["predicate"] for claim in json.loads(saved.read_text())["report"]["claims"]}
    assert told.isdisjoint({"FOLLOWS_LOAD", "FROM_OUTSIDE"})


def test_the_end_is_told_beside_a_cause(tmp_path: Path) -> None:
    """Pay was slow for six minutes, and web with it: both the cause and that it is over are released."""
    write_course(tmp_path / "incident", Course({("pay", "latency"): 8.0, ("web", "latency"): 3.0}, end=132))
    saved = tmp_path / "run.json"

    assert ask(tmp_path / "incident", saved) == 0

    report = json.loads(saved.read_text())["report"]
    assert [cause["entity"] for cause in report["causes"]] == ["pay"]
    assert "IS_OVER" in {claim["predicate"] for claim in report["claims"]}
    assert run_command(["verify", str(saved)]) == 0
