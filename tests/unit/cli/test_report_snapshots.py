"""Whole reports as a person sees them, one file each.

After a wanted change, `python tests/unit/cli/test_report_snapshots.py` rewrites them; read the diff.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from tests.support import documents

from diagnosis_harness.cli.render.report import report_lines
from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, Predicate
from diagnosis_harness.harness.termination import CancellationReason, RunState
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.document import ClaimEntry, OnsetUsed, RecordEntry, RunDocument
from diagnosis_harness.report.sentence import sentence
from diagnosis_harness.testing.evidence import ready_record
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind

FOLDER = Path(__file__).with_name("snapshots")
TIMED_OUT = documents.document_of_end(
    ReleaseOutcome.FAILED,
    RunState.TIMED_OUT,
    reason=CancellationReason.DEADLINE_EXCEEDED,
    failure="Nothing that could be verified had been found by then.",
)
REPORTS: dict[str, tuple[RunDocument, int]] = {
    "success-en-100": (documents.success(), 100),
    "success-en-60": (documents.success(), 60),
    "success-zh-80": (documents.success(Language.ZH), 80),
    "fallback-en-100": (documents.fallback(), 100),
    "fallback-zh-60": (documents.fallback(Language.ZH), 60),
    "cancelled-en-80": (documents.document_of_cancel(), 80),
    "timed-out-en-80": (TIMED_OUT, 80),
}


def render_plain(document: RunDocument, width: int) -> str:
    """The report as plain text."""
    return "".join(f"{line.plain}\n" for line in report_lines(document, width=width))


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_looks_like_its_snapshot(name: str) -> None:
    """Every change of a report is seen by a person."""
    assert render_plain(*REPORTS[name]) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [40, 60, 100, 200])
@pytest.mark.parametrize("document", [documents.success(), documents.fallback(Language.ZH)])
def test_every_line_fits_its_width(document: RunDocument, width: int) -> None:
    """Also where characters are two cells wide; and none ends in spaces."""
    for line in render_plain(document, width).splitlines():
        assert cell_len(line) <= width
        assert line == line.rstrip()


def test_a_question_cannot_disturb_the_terminal() -> None:
    """Escape sequences in it are shown, not obeyed."""
    success = documents.success()
    document = replace(success, run=replace(success.run, question="why \x1b[2J\u202e?"))

    assert render_plain(document, 100).startswith("? why \\u001b[2J\\u202e?\n")


def test_every_citation_has_its_footnote_and_every_footnote_its_citation() -> None:
    """Numbers count from one without gaps, in reading order."""
    head, _, notes = render_plain(documents.success(), 100).partition("\nEvidence\n")

    cited = sorted({int(part.partition("]")[0]) for part in head.split("[")[1:]})
    noted = [
        int(line.strip()[1:].partition("]")[0]) for line in notes.splitlines() if line.strip()[:1] == "["
    ]
    assert cited == sorted(noted) == [1, 2, 3, 4, 5]


def test_a_change_that_supports_no_cause_is_listed_separately() -> None:
    """It has its own heading and keeps the recorded words; one that supports a cause stays there."""
    success = documents.success()
    event = EvidenceItem(
        "d1",
        ItemKind.CHANGE_EVENT,
        "a change of checkout",
        entity="checkout",
        onset_s=documents.ONSET_S,
        attributes={"change_kind": "config", "summary": "log level INFO, page size 25"},
    )
    claim = Claim(
        "k9",
        Predicate.DEPLOYED,
        "checkout",
        (EvidenceRef("t9", "d1"),),
        signal="config",
        onset_s=documents.ONSET_S,
    )
    entry = ClaimEntry.of(claim, sentence=sentence(claim, Language.EN))
    records = (*success.records, RecordEntry.of(ready_record(event, tool_call_id="t9")))
    report = replace(success.report, claims=(*success.report.claims, entry))
    (cause,) = report.causes
    borne = replace(report, causes=(replace(cause, claim_ids=(*cause.claim_ids, "k9")),))
    line = "checkout was changed (config) at 2024-01-01 14:05 UTC. “log level INFO, page size 25”"

    separate = render_plain(replace(success, records=records, report=report), 120)
    assert f"Also happened around that time\n  5. {line} [" in separate
    among = render_plain(replace(success, records=records, report=borne), 120)
    assert "Also happened around that time" not in among
    assert f"  5. {line} [" in among


def test_the_onset_is_named_with_how_it_is_known() -> None:
    """In one line of what was looked at."""
    fallback = documents.fallback()
    onset = OnsetUsed("2024-01-01T14:04:30Z", "estimated", "2024-01-01T14:05:00Z")
    document = replace(fallback, report=replace(fallback.report, onset=onset))

    assert (
        "  Onset: 2024-01-01 14:04:30 UTC, estimated from the indicators, alert at 2024-01-01 14:05 UTC\n"
        in render_plain(document, 120)
    )


def test_a_long_report_shows_its_first_claims_and_says_how_many_more_there_are() -> None:
    """Nobody reads thirty sentences on a terminal; the document holds them all."""
    fallback = documents.fallback()
    claims = tuple(replace(fallback.report.claims[0], claim_id=f"k{place}") for place in range(13))
    document = replace(fallback, report=replace(fallback.report, claims=claims))

    shown = render_plain(document, 100)

    assert "  10. cpu_percent" in shown
    assert "  11. cpu_percent" not in shown
    assert "  and 3 more in the document" in shown


if __name__ == "__main__":
    for snapshot, (each, columns) in REPORTS.items():
        (FOLDER / f"{snapshot}.txt").write_text(render_plain(each, columns), encoding="utf-8")
