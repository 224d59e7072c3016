"""A verification on a terminal: aligned in either language, signs only where they can be shown."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from diagnosis_harness.audit.verification.recheck import (
    CauseAgain,
    FactAgain,
    FactStatus,
    QueryAgain,
    QueryStatus,
    Recheck,
)
from diagnosis_harness.audit.verification.result import Check, CheckName, Flaw, FlawCode, Verification
from diagnosis_harness.cli.render.verification import FLAWS_SHOWN, verification_lines
from diagnosis_harness.cli.words import verification as words
from diagnosis_harness.guards.verdict import FindingCode, SemanticReason
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report import words as report_words

FLAW = Flaw(FindingCode.VALUE_NOT_SUPPORTED, "report.claims[1]", "k1", "t1/i1")


def verification(*flaws: Flaw, unmade: bool = False) -> Verification:
    """All checks, the flaws in CLAIMS."""
    checks = tuple(
        Check(
            name, None if unmade and name is CheckName.USAGE else 7, flaws if name is CheckName.CLAIMS else ()
        )
        for name in CheckName
    )
    return Verification(checks, "sha256:0", None)


def lines(
    verified: Verification,
    recheck: Recheck | None = None,
    *,
    language: Language = Language.EN,
    marks: bool = False,
) -> list[str]:
    """The lines as plain text."""
    return [line.plain for line in verification_lines(verified, recheck, language, width=90, marks=marks)]


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("marks", [False, True])
def test_counts_are_in_one_column(language: Language, marks: bool) -> None:
    """Also where a character is two cells wide."""
    rows = lines(verification(FLAW), language=language, marks=marks)

    ends = {cell_len(row) for row in rows if row.endswith(" 7")}
    assert len([row for row in rows if row.endswith(" 7")]) == len(CheckName)
    assert len(ends) == 1


def test_signs_are_printed_only_on_request() -> None:
    """Words for pipes and files."""
    assert any("✗" in row for row in lines(verification(FLAW), marks=True))
    assert not any("✗" in row or "✓" in row for row in lines(verification(FLAW)))


def test_a_check_that_was_not_run_does_not_hold() -> None:
    """It has no count, and the verdict says so."""
    output = lines(verification(unmade=True))

    assert any(row.split() == ["usage", "not", "checked"] for row in output)
    assert f"NOT VERIFIED: 0 of {len(CheckName)} checks fail, 1 could not be run." in output


def test_many_flaws_of_one_check_are_cut() -> None:
    """The first few are shown, the rest counted."""
    output = lines(verification(*[FLAW] * (FLAWS_SHOWN + 3)))

    assert sum("VALUE_NOT_BORNE" in row for row in output) == FLAWS_SHOWN
    assert "    … 3" in output


def test_content_of_a_file_is_printed_with_control_characters_escaped() -> None:
    """Control characters of a forged document are shown as their code points, and long text is cut."""
    output = lines(
        verification(Flaw(FlawCode.SENTENCE_DIFFERS, "report\x1b[2J", "\x1b[31mred" + "x" * 5_000))
    )

    assert not any("\x1b" in row for row in output)
    assert sum(len(row) for row in output) < 3_000


@pytest.mark.parametrize("language", Language)
def test_every_fact_that_does_not_hold_is_listed(language: Language) -> None:
    """With what was and what is; facts that hold are only counted."""
    facts = (
        FactAgain("k1", "One.", FactStatus.HOLDS, (), "old 1", "new 1"),
        FactAgain("k2", "Two.", FactStatus.CHANGED, (FindingCode.VALUE_NOT_SUPPORTED,), "old 2", "new 2"),
        FactAgain("k3", "Three.", FactStatus.GONE, (FindingCode.ITEM_UNKNOWN,), "old 3", None),
        FactAgain("k4", "Four.", FactStatus.NOT_ASKED, (FindingCode.NO_REFS,), "old 4", None),
    )
    queries = (
        QueryAgain("t1", "look", "{}", QueryStatus.SAME),
        QueryAgain("t2", "look", "{}", QueryStatus.NOT_ASKED, "TIMED_OUT"),
    )
    again = Recheck(RunState.SUCCESS, queries, facts, (CauseAgain("db", (FindingCode.CAUSE_WITHOUT_CLAIM,)),))

    text = "\n".join(lines(verification(), again, language=language))

    assert "TIMED_OUT" in text
    assert "One." not in text
    assert all(each in text for each in ("Two.", "old 2", "new 2", "Three.", "old 3", "Four.", "db"))
    assert words.NOTHING.in_(language) in text
    assert words.FACTS_HOLD.render(language, holding=1, count=4) in text


def test_every_check_has_a_name_and_every_flaw_code_a_text() -> None:
    """Codes of the guards may lack one and stand for themselves; the verification's own may not."""
    assert set(words.CHECKS) == set(CheckName)
    assert set(FlawCode) <= set(words.FLAWS)
    assert set(SemanticReason) == set(report_words.SEMANTIC_OBJECTIONS)
