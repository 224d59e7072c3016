"""Problems come from one table, and every error of ours has its place in it."""

from __future__ import annotations

import inspect
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.kernel import errors
from diagnosis_harness.kernel.errors import (
    DiagnosisHarnessError,
    InvalidInput,
    InvalidSetting,
    RunNotKept,
    RunUnknown,
    StoreFailure,
    ToolFailure,
    TooManyRuns,
)
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.store_trouble import StoreTrouble
from diagnosis_harness.server.problems import (
    IN_RUNS_ONLY,
    OF_ERROR,
    PROBLEMS,
    Problem,
    ProblemKind,
    for_alerts,
    problem_of,
)
from diagnosis_harness.server.validation import problem_of_errors

ALL = [
    held
    for _, held in inspect.getmembers(errors, inspect.isclass)
    if issubclass(held, DiagnosisHarnessError) and held is not DiagnosisHarnessError
]


@pytest.mark.parametrize("error", ALL, ids=lambda error: error.__name__)
def test_every_error_is_reported_or_ends_inside_a_run(error: type[DiagnosisHarnessError]) -> None:
    """A new error must say which of the two it is."""
    nearest = next((each for each in error.__mro__ if each in OF_ERROR or each in IN_RUNS_ONLY), None)
    assert nearest is not None, f"{error.__name__} is neither in OF_ERROR nor in IN_RUNS_ONLY"


def test_no_error_is_both() -> None:
    """An error is either sent or occurs only inside of runs."""
    assert not set(OF_ERROR) & IN_RUNS_ONLY


def test_every_kind_has_a_row_with_both_titles_and_an_error_status() -> None:
    """The table is whole."""
    assert set(PROBLEMS) == set(ProblemKind)
    for row in PROBLEMS.values():
        assert 400 <= row.status < 600
        assert row.title.en.endswith(".")
        assert row.title.zh.endswith("。")


@pytest.mark.parametrize(
    ("error", "status", "slug"),
    [
        (InvalidInput("limit_s", "it is too long", "send less"), 422, "invalid-input"),
        (RunUnknown("run-1"), 404, "not-found"),
        (errors.RunGoesOn("run-1"), 409, "run-goes-on"),
        (errors.NotPermitted("no"), 403, "not-permitted"),
        (TooManyRuns(3), 429, "too-many-runs"),
        (errors.RunTaken("run-1"), 409, "run-taken"),
        (StoreFailure("/secret/path"), 503, "store-unavailable"),
        (RunNotKept("/secret/path"), 503, "run-not-kept"),
        (InvalidSetting("/etc/secret.toml", "x", "y"), 500, "internal"),
        (errors.ContractViolation("/secret/path"), 500, "internal"),
        (ToolFailure("/secret/path"), 500, "internal"),
    ],
)
def test_an_error_is_reported_by_its_row_and_shows_nothing_of_the_machine(
    error: DiagnosisHarnessError, status: int, slug: str
) -> None:
    """Status and type are the row's; the message of an error is shown for refused input alone."""
    content = json.loads(problem_of(error).body(Language.EN, "req-1"))
    assert content["status"] == status
    assert content["type"] == f"urn:diagnosis-harness:problem:{slug}"
    assert content["instance"] == "urn:diagnosis-harness:request:req-1"
    assert "secret" not in json.dumps(content)
    if slug != "invalid-input":
        remedy = PROBLEMS[ProblemKind(slug)].remedy
        assert content.get("detail") == (remedy and remedy.en)


def test_each_trouble_of_a_store_has_a_sentence_of_its_own() -> None:
    """Whoever reads it knows which store to look at, and whether it is away, full, held or spoiled."""
    problems = [problem_of(StoreFailure("x", trouble=trouble)) for trouble in StoreTrouble]

    assert len({each.kind for each in problems}) == len(StoreTrouble)
    for language in Language:
        assert len({each.row.title.in_(language) for each in problems}) == len(StoreTrouble)
    for trouble, each in zip(StoreTrouble, problems, strict=True):
        assert ("evidence" in each.row.title.en.lower()) == trouble.is_of_evidence


def test_refused_input_names_field_problem_and_remedy() -> None:
    """In the detail for people, and in parts for programs."""
    content = json.loads(
        problem_of(InvalidInput("source", "it is gone", "name another")).body(Language.ZH, "r")
    )
    assert content["title"] == "请求中有一个值无效。"
    assert content["detail"] == "source: it is gone; name another."
    assert content["errors"] == [{"field": "source", "problem": "it is gone", "remedy": "name another"}]


def test_what_may_be_tried_again_says_when_and_what_needs_a_key_says_how() -> None:
    """`Retry-After` and `WWW-Authenticate`."""
    assert problem_of(StoreFailure("x")).headers()["retry-after"] == "2"
    assert Problem(ProblemKind.TOO_MANY_REQUESTS, retry_after_s=7).headers()["retry-after"] == "7"
    assert Problem(ProblemKind.UNAUTHENTICATED).headers()["www-authenticate"].startswith("Bearer ")
    assert "retry-after" not in Problem(ProblemKind.NOT_FOUND).headers()
    assert Problem(ProblemKind.TOO_LARGE).headers()["connection"] == "close"


@given(st.text(), st.text(), st.text(), st.sampled_from(Language))
def test_whatever_is_refused_the_document_is_json_and_bounded(
    place: str, problem: str, remedy: str, language: Language
) -> None:
    """Also half of a surrogate pair, and a value of any length."""
    body = problem_of(InvalidInput(place * 50, problem + "\ud800", remedy)).body(language, "req-1")
    assert json.loads(body.decode("utf-8"))["status"] == 422
    assert len(body) < 12_000


@pytest.mark.parametrize("kind", ["model_attributes_type", "tuple_type", "string_too_short"])
def test_what_is_wrong_with_a_field_is_said_in_words_of_json(kind: str) -> None:
    """No tuple, no dictionary and no class of Python."""
    problem = problem_of_errors([{"type": kind, "loc": ("body", "alerts"), "msg": "Input is no valid tuple"}])
    assert problem.fields[0].problem in (
        "input should be an object",
        "input should be an array",
        "it is empty",
    )


def test_a_problem_says_what_to_do_about_it_in_the_language_of_the_client() -> None:
    """Where neither its title nor a field says that."""
    problem = Problem(ProblemKind.UNAUTHENTICATED)
    assert "Authorization: Bearer" in str(problem.as_json(Language.EN, "req-1")["detail"])
    assert "请以" in str(problem.as_json(Language.ZH, "req-1")["detail"])


def test_what_passes_is_reported_to_alertmanager_as_a_5xx_to_be_sent_again() -> None:
    """It takes every 4xx for final, 429 and 408 among them; what may be tried again must be none."""
    reported = {kind: for_alerts(Problem(kind)) for kind in ProblemKind}

    for kind, problem in reported.items():
        is_of_other_paths = kind in {
            ProblemKind.RUN_GOES_ON,
            ProblemKind.TOO_MANY_STREAMS,
        }
        passes = PROBLEMS[kind].retry_after_s is not None or kind is ProblemKind.TOO_SLOW
        if passes and not is_of_other_paths:
            assert problem.row.status >= 500
            assert int(problem.headers()["retry-after"]) > 0
        else:
            assert problem.kind is kind
