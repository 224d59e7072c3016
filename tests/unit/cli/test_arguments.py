"""What people write on the command line is taken as they mean it, or refused in one sentence."""

from __future__ import annotations

from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest

from diagnosis_harness.cli.arguments import (
    check_deadline,
    check_question_argument,
    check_question_to_service,
    check_save,
    join_question,
    language_of_command_line,
    parse_onset,
    usage_error_sentence,
)
from diagnosis_harness.cli.main import FAULTS
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.simulator.faults import FaultKind

NOON_S = 1_704_110_400.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None),
        ("2024-01-01T12:00:00Z", NOON_S),
        ("2024-01-01 12:00", NOON_S),
        ("2024-01-01T20:00:00+08:00", NOON_S),
        ("1704110400", NOON_S),
        ("1704110400.5", NOON_S + 0.5),
    ],
)
def test_an_onset_is_a_time_or_epoch_seconds(text: str | None, seconds: float | None) -> None:
    """A time without a zone is UTC."""
    assert parse_onset(text) == seconds


@pytest.mark.parametrize("text", ["yesterday", "2024", "nan", "inf", "", "1704110400000", "14:05"])
def test_an_invalid_onset_is_refused(text: str) -> None:
    """Milliseconds, years and words are not guessed at."""
    with pytest.raises(InvalidInput, match="is not a time; write it as 2024-01-01T14:05:00Z"):
        parse_onset(text)


@pytest.mark.parametrize("deadline_s", [0.0, -1.0, float("nan"), float("inf")])
def test_a_deadline_is_above_zero_and_finite(deadline_s: float) -> None:
    """Nothing can be done in no time, and nothing may take for ever."""
    with pytest.raises(InvalidInput, match="--deadline"):
        check_deadline(deadline_s)


@pytest.mark.parametrize("question", ["", "  \n", "why \udce9"])
def test_a_question_is_text(question: str) -> None:
    """Blank, or bytes that are no UTF-8, cannot be answered."""
    with pytest.raises(InvalidInput, match="QUESTION"):
        check_question_argument(question)


@pytest.mark.parametrize("character", ["x", "慢"])
def test_a_question_to_a_service_has_a_bounded_number_of_characters(character: str) -> None:
    """About a folder it may be a pasted alert of any length."""
    assert check_question_argument(f" {character * 400_000} ") == character * 400_000
    check_question_to_service(character * 50_000)
    with pytest.raises(InvalidInput, match="QUESTION: it is longer than 50,000 characters; ask in at most"):
        check_question_to_service(character * 50_001)
    with pytest.raises(InvalidInput, match="longer than 1,000,000 characters"):
        check_question_argument(character * 1_000_001)


def test_the_words_of_a_question_need_no_quotes() -> None:
    """A dash alone is standard input, and one among words is a word."""
    nothing = StringIO("not read")
    assert join_question(["why", "is", "checkout", "slow?"], nothing) == "why is checkout slow?"
    assert join_question(["why - is it slow?"], nothing) == "why - is it slow?"
    assert join_question(["-"], StringIO("FIRING\nHighErrorRate")) == "FIRING\nHighErrorRate"


def test_standard_input_that_is_not_text_is_refused() -> None:
    """In one sentence."""
    with pytest.raises(InvalidInput, match="standard input: it is not text in UTF-8"):
        join_question(["-"], TextIOWrapper(BytesIO(b"\xff\xfe"), encoding="utf-8"))


def test_the_file_to_save_to_is_checked_before_the_run(tmp_path: Path) -> None:
    """Two minutes of work are not lost to a mistyped folder."""
    assert check_save(tmp_path / "document.json") == tmp_path / "document.json"
    for wrong in (tmp_path, tmp_path / "missing" / "document.json"):
        with pytest.raises(InvalidInput, match="--save"):
            check_save(wrong)


@pytest.mark.parametrize(
    ("arguments", "language"),
    [
        (["ask", "why", "--lang", "zh"], Language.ZH),
        (["ask", "为什么", "--lang=en"], Language.EN),
        (["ask", "为什么"], Language.ZH),
        (["ask", "--lang"], Language.EN),
        (["ask", "--lang", "fr"], Language.EN),
        ([], Language.EN),
    ],
)
def test_errors_are_in_the_language_of_the_command_line(arguments: list[str], language: Language) -> None:
    """Also where it cannot be parsed."""
    assert language_of_command_line(arguments) is language


def test_the_faults_of_the_help_are_those_of_the_simulator() -> None:
    """The help is written without importing the simulator."""
    assert set(FAULTS) == {kind.value for kind in FaultKind}


@pytest.mark.parametrize(
    ("complaint", "message"),
    [
        ("No such option: --lang", "没有选项 --lang。"),
        ("No such command 'aks'.", "没有命令 'aks'。"),
        ("Missing argument 'QUESTION'.", "缺少参数 'QUESTION'。"),
        ("Missing option '--from'.", "缺少选项 '--from'。"),
        ("Something new went wrong", "Something new went wrong。"),
    ],
)
def test_common_usage_errors_are_translated(complaint: str, message: str) -> None:
    """What is not known stays as it is, and is one sentence all the same."""
    assert (
        usage_error_sentence(complaint, Language.ZH) == f"用法有误：{message}用 `diagnose --help` 查看用法。"
    )


def test_a_usage_error_is_one_english_sentence() -> None:
    """With a full stop, and only one."""
    for complaint in ("No such option: --x", "No such option: --x."):
        sentence = usage_error_sentence(complaint, Language.EN)
        assert sentence == "No such option: --x. See `diagnose --help`."
