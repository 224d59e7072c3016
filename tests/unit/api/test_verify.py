"""A saved run, checked by a host program."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.support.small_incident import CPU_FAULT, small_incident

import diagnosis_harness as dh


@pytest.fixture(scope="module")
def answer() -> dh.Answer:
    """The answer of a real run."""

    async def ask() -> dh.Answer:
        async with dh.Harness(sources=small_incident(CPU_FAULT).sources()) as harness:
            return await harness.ask("why is shop slow?")

    return asyncio.run(ask())


def test_a_saved_answer_verifies_as_file_as_bytes_and_as_object(answer: dh.Answer, tmp_path: Path) -> None:
    """Three ways to hand over the same run."""
    file = tmp_path / "run.json"
    answer.save(file)

    for document in (file, str(file), file.read_bytes(), answer.document):
        assert dh.verify(document).verified


def test_a_changed_document_does_not_verify(answer: dh.Answer) -> None:
    """The check that fails says where."""
    document = answer.document
    run = document["run"]
    assert isinstance(run, dict)

    verification = dh.verify({**document, "run": {**run, "question": "another one"}})

    assert not verification.verified
    assert any(check.flaws for check in verification.checks)


@pytest.mark.parametrize("document", [b"not JSON", {"schema_version": "3"}])
def test_what_is_not_a_run_document_is_refused(document: bytes | dict[str, object]) -> None:
    """It is the host's mistake, and is said in one sentence."""
    with pytest.raises(dh.InvalidInput):
        dh.verify(document)  # type: ignore[arg-type]  # what is wrong is the test


def test_a_document_is_a_copy(answer: dh.Answer) -> None:
    """What a host does with it changes no answer."""
    answer.document.clear()

    assert answer.verify().verified
    assert answer.document


def test_a_language_that_no_report_has_is_refused(answer: dh.Answer) -> None:
    """Both that there are are named."""
    with pytest.raises(dh.InvalidInput, match="en, zh"):
        answer.text("fr")
