"""A run whose own tool finds STATE and COUNT: published, saved, and verified like any other."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from tests.support.small_incident import CPU_FAULT, ONSET_S, small_incident

from diagnosis_harness.audit.verification.verify import verify
from diagnosis_harness.bootstrap.diagnosis import Diagnosis
from diagnosis_harness.bootstrap.players import choose_players
from diagnosis_harness.bootstrap.workplace import Workplace
from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, Predicate
from diagnosis_harness.diagnosis.collection import InformationGain
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, PolicyAnswer, PolicyView, WantedCall
from diagnosis_harness.diagnosis.progress import Assessment
from diagnosis_harness.guards.statement import state_claim
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.report.document import RunDocument, root_digest
from diagnosis_harness.report.document_file import document_bytes
from diagnosis_harness.settings import load_settings
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.scripted_policy import ScriptedPolicy
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.spec import ArgumentValue, ToolFindings, ToolSpec
from diagnosis_harness.trace.sink import MemorySink

WINDOW = TimeWindow(ONSET_S - 600, ONSET_S + 600)
FLAG = EvidenceItem(
    "s1",
    ItemKind.STATE,
    "flag new-pricing of checkout is on",
    entity="checkout",
    signal="flag new-pricing",
    window=WINDOW,
    onset_s=ONSET_S - 30,
    attributes={"state": "on"},
)
KILLED = EvidenceItem(
    "p1",
    ItemKind.PLATFORM_EVENT,
    "payment-0: OOMKilled 3 times, current",
    entity="payment-0",
    signal="OOMKilled",
    value=3.0,
    window=TimeWindow(ONSET_S - 600.0, ONSET_S + 600.0),
    attributes={"state": "current", "bad": True},
)
RESTARTS = EvidenceItem(
    "n1",
    ItemKind.COUNT,
    "12 restarts of checkout",
    entity="checkout",
    signal="restarts",
    value=12.0,
    window=WINDOW,
)
OWN_TOOL = ToolSpec("own_tool", "Flags and restarts.")


@dataclass(frozen=True, slots=True)
class OwnTool:
    """Finds what it is given."""

    items: tuple[EvidenceItem, ...]
    spec: ToolSpec = OWN_TOOL

    def run(self, ctx: RunContext, arguments: Mapping[str, ArgumentValue]) -> ToolFindings:
        """The findings."""
        del ctx, arguments
        return ToolFindings(self.items, window=WINDOW, looked_at=2)


def _claims(items: tuple[EvidenceItem, ...]) -> tuple[Claim, ...]:
    """What an agent says of each item, whether or not the item supports it."""
    predicates = {
        ItemKind.STATE: Predicate.IN_STATE,
        ItemKind.COUNT: Predicate.COUNTED,
        ItemKind.PLATFORM_EVENT: Predicate.HAPPENED,
    }
    return tuple(
        state_claim(
            predicates[item.kind], item, claim_id=item.item_id, refs=(EvidenceRef("t1", item.item_id),)
        )
        for item in items
    )


def _run(*items: EvidenceItem) -> RunDocument:
    """One run with one tool and an agent that says everything the tool found."""
    claims = _claims(items)

    def answer(view: PolicyView) -> PolicyAnswer:
        if not view.records:
            return AskTools((WantedCall("t1", "own_tool", {}),))
        assessed = Assessment("t1", InformationGain.GAINED, claims)
        return GiveDraft(DiagnosisDraft((), claims), (assessed,))

    trace, settings, workers = MemorySink(), load_settings(), WorkerPool(threads_max=1)
    core = DiagnosisHarnessCore(clock=ManualClock(), ids=CountingIds(), sink=trace, workers=workers)
    players = choose_players(settings, policy=ScriptedPolicy(answer))(core)
    workplace = Workplace(core, workers, settings, players, tools_over=lambda _: (OwnTool(items),))
    with Diagnosis(workplace, trace, small_incident(CPU_FAULT, spans=False).sources()) as diagnosis:
        return asyncio.run(diagnosis.run("why is checkout slow?", language=Language.EN, deadline_s=None))


@pytest.fixture(scope="module", name="saved")
def save_truthful_run() -> bytes:
    """The saved run of a truthful tool."""
    return document_bytes(_run(FLAG, RESTARTS))


def test_own_facts_are_published_and_verify(saved: bytes) -> None:
    """In the words of the product, with everything that the tool says of them."""
    claims = json.loads(saved)["report"]["claims"]

    assert [claim["predicate"] for claim in claims] == ["IN_STATE", "COUNTED"]
    assert claims[0]["sentence"] == (
        "“flag new-pricing” of checkout was “on” since 2024-01-01 14:04:30 UTC, "
        "seen between 2024-01-01 13:55 and 14:15 UTC."
    )
    assert claims[1]["sentence"].startswith("12 restarts of checkout were counted between")
    assert json.loads(saved)["schema_version"] == "4"
    assert verify(saved, file="run.json").verified


def _says_off(claim: dict[str, Any]) -> None:
    claim["affected"] = "off"


def _says_no_state(claim: dict[str, Any]) -> None:
    claim["affected"] = None


def _says_another_flag(claim: dict[str, Any]) -> None:
    claim["signal"] = "flag old-pricing"


def _says_earlier(claim: dict[str, Any]) -> None:
    claim["onset_at"] = None


@pytest.mark.parametrize("change", [_says_off, _says_no_state, _says_another_flag, _says_earlier])
def test_a_changed_claim_about_an_own_fact_does_not_verify(
    saved: bytes, change: Callable[[dict[str, Any]], None]
) -> None:
    """Even if the digest was recomputed after the change."""
    content = json.loads(saved)
    change(content["report"]["claims"][0])
    content["root_digest"] = root_digest(content)
    forged = json.dumps(content, ensure_ascii=False, indent=2).encode() + b"\n"

    assert not verify(forged, file="run.json").verified


@pytest.mark.parametrize(
    "lie",
    [
        replace(RESTARTS, value=2.5),
        replace(RESTARTS, value=-3.0),
        replace(RESTARTS, window=TimeWindow(ONSET_S - 7_200, ONSET_S - 3_600)),
        replace(FLAG, item_id="s2", attributes={}),
        replace(FLAG, item_id="s2", value=1.0),
        replace(FLAG, item_id="s2", onset_s=WINDOW.end_s + 60),
    ],
)
def test_a_lying_tool_gets_nothing_published_that_its_own_values_deny(lie: EvidenceItem) -> None:
    """Beside the true fact its lie is refused, and what is left verifies."""
    truth = FLAG if lie.kind is ItemKind.COUNT else RESTARTS

    document = _run(lie, truth)

    assert [claim.refs[0].item_id for claim in document.report.claims] == [truth.item_id]
    assert verify(document_bytes(document), file="run.json").verified


@pytest.fixture(scope="module", name="reported")
def save_run_with_an_event() -> bytes:
    """The saved run of a tool that repeats what a platform reported."""
    return document_bytes(_run(KILLED))


def test_what_a_platform_reported_is_published_and_verifies(reported: bytes) -> None:
    """With how often, when, and that it still lasts."""
    claim = json.loads(reported)["report"]["claims"][0]

    assert claim["sentence"].startswith("OOMKilled was reported of payment-0 3 times")
    assert claim["sentence"].endswith("; it still lasts.")
    assert verify(reported, file="run.json").verified


@pytest.mark.parametrize(
    ("field", "lie"), [("affected", "over"), ("value", 4.0), ("signal", "Evicted"), ("entity", "cart")]
)
def test_an_event_that_was_bent_in_the_file_is_found(reported: bytes, field: str, lie: object) -> None:
    """Everything that the sentence is made of."""
    document = json.loads(reported)
    document["report"]["claims"][0][field] = lie

    assert not verify(json.dumps(document).encode(), file="run.json").verified
