"""A lying agent at large: nothing made up leaves, the truth does, and the judge would notice otherwise."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from dev.lying.__main__ import WORLDS_EACH, lie, try_drafts
from dev.lying.catalog import TRUTHFUL, WRONG_CAUSE, Sample, samples, tellers
from dev.lying.chosen.play import LIES as CHOSEN
from dev.lying.chosen.play import places, play, run_once
from dev.lying.chosen.tally import Tally
from dev.lying.chosen.tampered import as_told
from dev.lying.forged import Told
from dev.lying.oracle import leaks
from dev.lying.recorded import RecordedRun
from dev.lying.recording import record_runs
from dev.lying.trial import as_values

from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.guards.verdict import EvidenceVerdict
from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release import pipeline
from diagnosis_harness.report.cause_entry import CauseEntry
from diagnosis_harness.report.document import Candidate, ClaimEntry
from diagnosis_harness.report.sentence import sentence
from diagnosis_harness.report.window import Window

pytestmark = [pytest.mark.proof, pytest.mark.timeout(1800)]

SEED = 20_261
DRAFTS = 12_000
EACH = 300
CHOSEN_EACH = 150
"""Drafts of each family, as many as the review of the core made."""
KINDS_EACH = 9
LIES = [kind for kind in tellers() if kind not in (TRUTHFUL, WRONG_CAUSE)]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, scale: float) -> Sequence[RecordedRun]:
    """Recorded runs: 54 simulated incidents at full size, twelve in a tenth."""
    kinds_each = max(2, round(KINDS_EACH * scale))
    return tuple(record_runs(SEED, work=tmp_path_factory.mktemp("lying"), data=None, kinds_each=kinds_each))


def test_no_fabrication_is_released_and_the_truth_passes(runs: Sequence[RecordedRun], scale: float) -> None:
    """At least 300 drafts of every class at full size; `make lying` runs more."""
    drafts = max(round(DRAFTS * scale), round(EACH * scale) * len(tellers()) if scale == 1.0 else 0)

    result = lie(SEED, runs, drafts=drafts)

    assert result.holds, f"{result.line()}\n{[e.example for e in result.classes if e.is_lie and e.example]}"
    assert result.wrong_cause == 0
    assert scale < 1.0 or (result.runs >= 50 and min(each.drafts for each in result.classes) >= EACH)


@pytest.mark.data
def test_the_same_holds_on_public_incidents(data_folder: Path, tmp_path: Path, scale: float) -> None:
    """Real telemetry has names, units and gaps that no simulator produces."""
    public = [
        run
        for run in record_runs(SEED, work=tmp_path, data=data_folder, kinds_each=1, public_share=scale)
        if not run.name.startswith("demo-faults")
    ]

    result = lie(SEED, public, drafts=round(DRAFTS * scale / 4))

    assert result.leaked + result.leaked_back + result.crashed == 0, result.line()


@pytest.mark.parametrize("seed", [SEED, SEED + 1])  # in halves, which two processes share
def test_no_agent_that_chooses_its_calls_gets_a_lie_out(seed: int, scale: float) -> None:
    """Whole runs in worlds with an older trouble, two at once, none, and names that are sentences."""
    result = play(
        seed, worlds_each=max(1, round(WORLDS_EACH * scale)), each=max(8, round(CHOSEN_EACH / 2 * scale))
    )

    assert result.holds, "\n".join([result.line(), *result.examples()])
    assert scale < 1.0 or result.drafts >= CHOSEN_EACH / 2 * len(CHOSEN)


def test_the_witness_objects_to_every_family_where_nothing_is_checked() -> None:
    """Documents as the agent wrote them: a family that is never rejected would prove nothing."""
    counts, objected = asyncio.run(count_untrue_documents(each=6))

    assert {family: counts[family] for family in CHOSEN if not objected[family]} == {}
    assert objected.total() > 0.8 * counts.total()


async def count_untrue_documents(*, each: int) -> tuple[Counter[str], Counter[str]]:
    """How many documents of each family the agent could write, and how many of them are untrue."""
    counts, objected = Counter[str](), Counter[str]()
    at, _ = await places(SEED, each=1)
    for family in CHOSEN:
        rng, tally = np.random.default_rng([SEED, 17]), Tally(family)
        for _ in range(40 * each):
            one = await run_once(rng, at, tally) if counts[family] < each else None
            if one is None or one.draft is None:
                continue
            content = as_told(dict(one.document.as_json()), one.draft, one.language)
            counts[family] += 1
            objected[family] += content is None or bool(
                one.place.witness.objections(content, one.untrue, one.prose)
            )
    for place in at:
        place.house.close()
    return counts, objected


def report_without_guards(told_draft: Told, language: Language) -> dict[str, JsonValue]:
    """The report of a house without guards: everything as the agent says it, its own words first."""
    draft = told_draft.draft
    return {
        "summary": [f"{cause.entity} is the cause" for cause in draft.conclusion],
        "claims": [
            as_values(ClaimEntry.of(claim, sentence=claim.wording or sentence(claim, language)))
            for claim in (*draft.claims, *told_draft.facts)
            if claim.refs
        ],
        "causes": [
            as_values(CauseEntry(c.entity, c.fault_kind, c.region, c.score, None, c.claim_ids))
            for c in draft.conclusion
        ],
        "candidates": [
            as_values(
                Candidate(h.entity, h.fault_kind, h.region, h.score, h.evidence_for, h.evidence_against)
            )
            for h in draft.hypotheses
        ],
        "window": as_values(Window.of(draft.window)),
        "missing_info": list(draft.missing_info),
    }


def test_the_judge_finds_every_class_of_lie_where_nothing_is_checked(runs: Sequence[RecordedRun]) -> None:
    """A judge that cannot fail is worthless: without guards every class leaks, and every draft of it."""
    counts, found = Counter[str](), Counter[str]()
    for sample in samples(SEED, runs, each=20):
        if sample.kind not in LIES:
            continue
        try:
            report = report_without_guards(sample.told, Language.EN)
        except (ContractViolation, ValueError):
            continue  # a number that no document can hold
        counts[sample.kind] += 1
        found[sample.kind] += bool(leaks(report, sample.told.forged))

    assert {kind: counts[kind] - found[kind] for kind in LIES if found[kind] < counts[kind]} == {}
    assert all(counts[kind] for kind in LIES)


def test_the_judge_finds_what_an_evidence_guard_without_eyes_lets_through(
    runs: Sequence[RecordedRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real path with one guard that passes everything: lies about claims get out, and are seen."""

    def blind(draft: DiagnosisDraft, records: object, **asked: object) -> EvidenceVerdict:
        return EvidenceVerdict((), frozenset(claim.claim_id for claim in draft.claims))

    monkeypatch.setattr(pipeline, "check_draft", blind)
    monkeypatch.setattr(pipeline, "restate_all", lambda claims, *_: tuple(claims))
    wanted = ("value, far", "unit", "direction", "right number, wrong entity", "invented entity", "predicate")
    drafts: list[Sample] = [s for s in samples(SEED, runs, each=20) if s.kind in wanted]

    figures = {each.kind: each for each in asyncio.run(try_drafts(drafts, kinds=wanted))}

    assert [kind for kind in wanted if not figures[kind].leaked] == []
