"""A report as Markdown: what the terminal shows, with footnotes; nothing of the data is markup."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import documents

from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.report.markdown import escape, markdown


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("make", [documents.success, documents.fallback, documents.document_of_cancel])
def test_every_citation_has_its_footnote_and_every_footnote_is_cited(
    make: object, language: Language
) -> None:
    """The marks of the text and the notes at its end are the same numbers, from 1."""
    assert callable(make)
    text = markdown(make(language))
    noted = [int(number) for number in re.findall(r"(?m)^\[\^(\d+)\]: ", text)]
    cited = {int(number) for number in re.findall(r"\[\^(\d+)\](?!:)", text)}
    assert noted == list(range(1, len(noted) + 1))
    assert cited == set(noted)


def test_a_success_names_cause_reasons_and_verbatim_evidence() -> None:
    """In the order of reading; the last line is the account of the run."""
    document = documents.success()
    text = markdown(document)
    assert text.startswith(f"# {escape(document.run.question)}\n")
    assert f"**{escape(document.report.summary[0])}**" in text
    for claim in document.report.claims[:2]:
        assert escape(claim.sentence) in text
    assert '[^1]: "' in text
    assert document.run.run_id in text.splitlines()[-1]


def test_an_answer_without_a_report_replaces_it() -> None:
    """A question about the system has text and no report; lists are lists only where they are ours."""
    empty = documents.document_of_cancel()
    empty = replace(empty, report=replace(empty.report, summary=()))
    answer = "I can see two sources.\n- shop\n- [till](http://evil.test)"
    text = markdown(empty, answer=answer, lists=True)
    assert "I can see two sources." in text
    assert "\n- shop\n- \\[till\\]" in text
    assert "\n\\- shop\n" in markdown(empty, answer=answer)


HOSTILE = [
    "[click](http://evil.test)",
    "![x](http://evil.test/p.png)",
    "<img src=x onerror=alert(1)>",
    "http://evil.test",
    "www.evil.test",
    "`code` *bold* _it_ ~~s~~ | a | b |",
    "# heading",
    "- item",
    "1. item",
    "@everyone",
    "&lt;b&gt;",
    "a\n\n# heading",
    "\u202egnp.exe",
    "===",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_markup_is_shown_as_it_is_written(text: str) -> None:
    """A renderer that knows CommonMark makes no element of it."""
    shown = escape(text)
    assert "\n" not in shown
    assert not re.search(r"(?<!\\)[`*\[\]<>#|~&$@]", shown)
    assert not re.match(r"([-+=]|\d+[.)])", shown)
    assert not re.search(r"https?://|www\.(?!\\)", shown) or "\\://" in shown or "www\\." in shown


@given(st.text(st.characters(exclude_characters="\\", exclude_categories=["C", "Z"]), max_size=100))
def test_taking_the_escapes_away_gives_the_text_again(text: str) -> None:
    """Nothing is lost or made up, whatever it was."""
    assert re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", escape(text)) == text


def test_a_hostile_name_in_a_report_makes_no_link() -> None:
    """End to end through the document."""
    document: RunDocument = documents.success()
    hostile = replace(document, run=replace(document.run, question="[x](http://evil.test) <script>"))
    text = markdown(hostile)
    assert "<script>" not in text
    assert "[x](" not in text
