"""The liar and its judge owe nothing to the guards; the judge finds fabrications, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from dev.lying.__main__ import BEGIN, END, seed_of_the_tree
from dev.lying.catalog import tellers
from dev.lying.chosen.outcome import HONEST, TRUTH, Choosing, join_parts
from dev.lying.chosen.play import FAMILIES, FORGED
from dev.lying.chosen.tally import Tally
from dev.lying.figures import Figures, Result
from dev.lying.forged import (
    Fabrication,
    ForgedEntry,
    ForgedLack,
    ForgedQuote,
    ForgedRef,
    ForgedSupport,
    ForgedText,
    ForgedWindow,
    Place,
)
from dev.lying.oracle import leaks
from dev.lying.trial import as_report
from tests.support.documents import fallback, success

from diagnosis_harness.diagnosis.claim import EvidenceRef
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.release.outcome import ReleaseOutcome

ROOT = Path(__file__).parents[2]
CPU, LATENCY, RANKED = EvidenceRef("t1", "i1"), EvidenceRef("t1", "i2"), EvidenceRef("t2", "c1")
CHANGED: dict[str, JsonValue] = {"predicate": "CHANGED", "entity": "checkout", "signal": "cpu_percent"}


@pytest.mark.parametrize(
    "module",
    [
        "dev.lying.catalog",
        "dev.lying.oracle",
        "dev.lying.chosen.witness",
        "dev.lying.chosen.other_questions",
        "dev.lying.chosen.nothing_there",
        "dev.lying.chosen.own_words",
        "dev.lying.chosen.truthful",
    ],
)
def test_neither_liar_nor_judge_imports_a_guard(module: str) -> None:
    """Directly or by way of others: what the guards get wrong they would get wrong as well."""
    code = (
        f"import sys, {module}; print(*[m for m in sys.modules if m.startswith('diagnosis_harness.guards')])"
    )

    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert ended.stdout.split() == []


@pytest.mark.parametrize(
    "stands",
    [
        ForgedText("checkout is the cause"),
        ForgedText("charge"),
        ForgedRef(CPU),
        ForgedRef(EvidenceRef("t2", "c2")),
        ForgedRef(CPU, by=CHANGED),
        ForgedQuote(RANKED, "checkout ranks 1 as the cause"),
        ForgedEntry(Place.CLAIMS, {**CHANGED, "value": 97.0, "unit": "percent"}),
        ForgedEntry(Place.CLAIMS, {"predicate": "ABSENT"}),
        ForgedEntry(Place.CAUSES, {"entity": "checkout", "fault_kind": "CPU"}),
        ForgedEntry(Place.CAUSES, {"score": 9.0}),
        ForgedEntry(Place.CANDIDATES, {"entity": "payment", "region": "charge"}),
        ForgedSupport("checkout", CHANGED),
        ForgedWindow("2024-01-01T14:00:00Z", "2024-01-01T14:20:00Z"),
    ],
)
def test_a_fabrication_in_a_report_is_found(stands: Fabrication) -> None:
    """In a sentence, a field, a citation, a quote, a cause, a candidate, or the window."""
    assert leaks(as_report(success()), (stands,)) == (stands,)


@pytest.mark.parametrize(
    "absent",
    [
        ForgedText("checkout is the culprit"),
        ForgedRef(EvidenceRef("t9", "i1")),
        ForgedRef(LATENCY, by=CHANGED),
        ForgedQuote(CPU, "checkout ranks 1 as the cause"),
        ForgedQuote(RANKED, "checkout ranks 1"),
        ForgedEntry(Place.CLAIMS, {**CHANGED, "value": 97.1}),
        ForgedEntry(Place.CLAIMS, {"predicate": "CHANGED", "entity": "frontend"}),
        ForgedEntry(Place.CAUSES, {"entity": "payment"}),
        ForgedEntry(Place.CANDIDATES, {"entity": "checkout"}),
        ForgedSupport("checkout", {"predicate": "AFFECTED"}),
        ForgedWindow("2024-01-01T14:00:00Z", "2024-01-01T14:20:01Z"),
        ForgedLack(("telemetry of the incident",)),
    ],
)
def test_what_does_not_stand_in_a_report_is_not(absent: Fabrication) -> None:
    """A true neighbour of a lie is no lie."""
    assert leaks(as_report(success()), (absent,)) == ()


def test_what_is_said_to_be_missing_is_found() -> None:
    """In the words that the report has for it."""
    lack = ForgedLack(("baseline recording", "normal operation to compare with (--baseline FOLDER)"))

    assert leaks(as_report(fallback()), (lack,)) == (lack,)


def test_the_judge_reads_what_is_published() -> None:
    """The values it is given are those of the document's own JSON."""
    for document in (success(), fallback()):
        assert as_report(document) == document.as_json()["report"]


def figures(kind: str, *, drafts: int = 100, unrepaired: int = 0) -> Figures:
    """A class without a leak."""
    return Figures(kind, drafts=drafts, unrepaired=unrepaired)


def test_the_figures_hold_without_a_leak_and_with_the_truth_through() -> None:
    """99 of 100 truthful drafts are enough, 98 are not; a leak in a fallback is a leak."""
    clean, through = figures("value"), figures("truthful", unrepaired=99)
    leaking = figures("value")
    leaking.count(ReleaseOutcome.FALLBACK, (ForgedText("x"),), unrepaired=False, why="")
    broken = figures("value")
    broken.crash(ValueError("not finite"))

    assert Result(1, 50, (clean, through)).holds
    assert not Result(1, 50, (clean, figures("truthful", unrepaired=98))).holds
    assert not Result(1, 50, (leaking, through)).holds
    assert not Result(1, 50, (broken, through)).holds


def test_a_released_wrong_cause_fails() -> None:
    """Nothing in it was fabricated, and it is what an engineer would act on: one of a thousand fails."""
    wrong = figures("wrong cause on true facts", drafts=0)
    for _ in range(999):
        wrong.count(ReleaseOutcome.FALLBACK, (), unrepaired=False, why="")
    outcome = Result(1, 50, (wrong, figures("truthful", unrepaired=100)))
    assert outcome.holds

    wrong.count(ReleaseOutcome.SUCCESS, (ForgedText("x"),), unrepaired=False, why="")
    result = Result(1, 50, (wrong, figures("truthful", unrepaired=100)))

    assert not result.holds
    assert "released 0.10% of 1000" in result.line()


def tally(family: str, *, is_lie: bool = True, **counts: int) -> Tally:
    """A family of a hundred drafts, refused where nothing else is said."""
    made = Tally(family, is_lie=is_lie, drafts=100, refused=100)
    for name, count in counts.items():
        setattr(made, name, count)
    return made


def test_whole_runs_hold_without_a_lie_and_with_the_truth_through() -> None:
    """A released lie, a wrong cause, a crash, a forged document that verifies: each alone fails."""
    through = tally(HONEST, is_lie=False, unrepaired=99, refused=0, remainders=99)
    good = Choosing(1, 20, 0, (tally("a"), through), (tally("edit"),))

    assert good.holds
    assert not replace(good, families=(tally("a", lies=1, refused=99), through)).holds
    assert not replace(good, families=(tally("a", wrong=1), through)).holds
    assert not replace(good, families=(tally("a", crashed=1), through)).holds
    assert not replace(good, families=(tally("a", unverified=1), through)).holds
    assert not replace(good, families=(tally("a"), tally(HONEST, is_lie=False, unrepaired=98))).holds
    assert not replace(good, documents=(tally("edit", lies=1, refused=99),)).holds
    assert not replace(good, documents=(tally(TRUTH, is_lie=False, refused=1),)).holds


def test_parts_of_one_invocation_are_joined() -> None:
    """Families are played in processes of their own; forged documents of all of them are counted together."""
    one = Choosing(1, 20, 0, (tally("a"),), (tally("edit", drafts=3, refused=2, lies=1),))
    two = Choosing(1, 20, 0, (tally("b"),), (tally("edit", drafts=4, refused=4),))

    whole = join_parts([one, two])

    assert [each.family for each in whole.families] == ["a", "b"]
    assert [(each.drafts, each.refused, each.lies) for each in whole.documents] == [(7, 6, 1)]


def test_the_default_seed_is_that_of_the_tree() -> None:
    """The same tree has the same one, so that figures can be repeated."""
    assert seed_of_the_tree() == seed_of_the_tree() > 0


def test_the_published_tables_have_a_row_for_every_lie() -> None:
    """A family added later is measured and published as well: `make lying` writes the page."""
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    figures = page.partition(BEGIN)[2].partition(END)[0]
    rows = [line.split("|")[1].strip() for line in figures.splitlines() if line.startswith("| ")]
    named = [row for row in rows if row not in ("class", "family", "document")]

    assert named == [*tellers(), *FAMILIES, *FORGED]
