"""The recorded cases about questions: what is asked decides what is answered (`tests/cases/question`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from diagnosis_harness.audit.verification.verify import verify
from diagnosis_harness.cli.main import run_command

CASES = Path(__file__).parents[1] / "cases" / "question"


def ask_about(case: str, question: str, tmp_path: Path, *options: str) -> dict[str, Any]:
    """The document of a question about a case, which verifies."""
    file = tmp_path / "run.json"
    run_command(["ask", question, "--from", str(CASES / case / "incident"), "--save", str(file), *options])
    assert verify(file.read_bytes(), file=file.name).verified
    content: dict[str, Any] = json.loads(file.read_bytes())
    return content


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Why is loyalty failing since 09:30?", "There is no `loyalty` in the data"),
        ("loyalty 服务为什么变慢 since 09:30?", "数据中没有 `loyalty`"),
    ],
)
def test_b10_nothing_is_concluded_about_an_unknown_service(tmp_path: Path, question: str, first: str) -> None:
    """It is said first of all, and what did change may follow."""
    document = ask_about("B10", question, tmp_path)

    assert document["report"]["summary"][0].startswith(first)
    assert document["release"]["outcome"] == "FALLBACK"
    assert document["report"]["causes"] == []
    assert document["report"]["missing_names"] == ["loyalty"]
    assert document["report"]["claims"]


def test_b10_a_slip_of_the_finger_is_read_and_said(tmp_path: Path) -> None:
    """`bookng` is read as booking, and the answer says so."""
    document = ask_about("B10", "Why is bookng failing since 09:30?", tmp_path)

    assert document["inquiry"]["affected"] == ["booking"]
    assert "Read `bookng` as booking." in document["report"]["summary"]


@pytest.mark.parametrize(
    ("case", "question", "at"),
    [
        ("B21b", "Why is booking slow since 09:50?", "2026-05-06T13:50:00Z"),
        ("B22b", "Why is booking slow since 1:50 PM?", "2026-05-06T13:50:00Z"),
        ("B22b", "booking 从下午一点五十分起为什么变慢？", "2026-05-06T13:50:00Z"),
        ("B23c", "Why is booking slow since 14:50+01:00?", "2026-05-06T13:50:00Z"),
        ("B34", "Why did web fail between 09:30 and 09:42?", "2026-05-06T09:30:00Z"),
    ],
)
def test_the_time_of_the_question_is_the_one_that_was_meant(
    tmp_path: Path, case: str, question: str, at: str
) -> None:
    """In the zone of the folder, the half of the day and the offset that the question names."""
    document = ask_about(case, question, tmp_path)

    assert document["inquiry"]["onset_at"] == at
    assert document["report"]["onset"]["method"] == "given"


def test_b21b_the_zone_is_said(tmp_path: Path) -> None:
    """Once, with both times."""
    document = ask_about("B21b", "Why is booking slow since 09:50?", tmp_path)

    sentence = "Times are in America/New_York: 2026-05-06 09:50 there is 2026-05-06 13:50 UTC."
    assert sentence in document["report"]["summary"]


def test_b23c_a_zone_that_means_several_is_said_to_be_unread(tmp_path: Path) -> None:
    """It is neither dropped nor guessed."""
    document = ask_about("B23c", "Why is booking slow since 14:50 CST?", tmp_path)

    assert document["inquiry"]["question"]["unread_times"] == ["14:50 CST"]
    assert any(line.startswith("Not used as a time: `14:50 CST`") for line in document["report"]["summary"])


def test_the_zone_that_is_given_separately_holds_for_question_and_onset(tmp_path: Path) -> None:
    """`--zone` comes before the folder's own."""
    zoned = ask_about("B22b", "Why is booking slow since 15:50?", tmp_path, "--zone", "Europe/Berlin")
    onset = ("--onset", "2026-05-06T15:50", "--zone", "Europe/Berlin")

    assert zoned["inquiry"]["onset_at"] == "2026-05-06T13:50:00Z"
    assert ask_about("B22b", "Why?", tmp_path, *onset)["run"]["onset_at"] == "2026-05-06T13:50:00Z"


def test_b15_the_report_is_in_the_language_of_the_sentence(tmp_path: Path) -> None:
    """A name in another script does not make the question Chinese."""
    document = ask_about("B15", "Why is 预订 slow since 09:30?", tmp_path)

    assert document["run"]["language"] == "en"
    assert document["inquiry"]["affected"] == ["预订"]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        (
            "Is seats the cause of what booking shows since 13:50?",
            "The evidence does not show that seats is the cause; by what was checked it starts at vault.",
        ),
        (
            "Is vault the cause of what booking shows since 13:50?",
            "That vault is the cause is not shown, but it starts at vault.",
        ),
        (
            "Was it a deploy, since booking is slow from 13:50?",
            ("The evidence does not show that a change caused this."),
        ),
        ("Is booking healthy since 13:50?", "booking is not behaving as usual: "),
        ("Is web healthy?", "Nothing that was checked shows the state of web."),
        (
            "is export healthy since 13:50?",
            "As usual between 2026-05-06 13:50 and 14:30 UTC, in what was checked of export: latency_s moved",
        ),
        ("export 从 13:50 起正常吗", "2026-05-06 13:50 至 14:30 UTC，export 在已核对的范围内与平时一致"),
        ("before and after 13:50", "Before and after 2026-05-06 13:50 UTC: disk_ms of vault rose from"),
        ("13:50 前后有什么不同", "2026-05-06 13:50 UTC 前后对比："),
        ("seats or vault since 13:50?", "By what was checked it starts at "),
        ("seats 和 booking 从 13:50 起哪个有问题", "没有证据表明这两者是原因"),
        ("what do the logs of seats say since 13:50?", "The data holds no logs, so there are none to show."),
        ("从 13:50 起 seats 的日志说了什么？", "数据中没有日志"),
        ("show me the latency of booking since 13:50", "latency_s of booking rose from 139 ms"),
        ("when did it start?", "When it began is not shown"),
        ("booking 从 13:50 起正常吗", "booking 与平时不同："),
        ("是不是 vault 导致 booking 从 13:50 起变慢？", "尚不能证明 vault 是原因，但问题始于 vault。"),
    ],
)
def test_the_first_sentence_answers_the_form_of_the_question(
    tmp_path: Path, question: str, first: str
) -> None:
    """Whether somebody is the cause, or how somebody is: it is said before anything else."""
    document = ask_about("B22b", question, tmp_path)

    assert document["report"]["summary"][0].startswith(first)


@pytest.mark.parametrize(
    ("question", "outcome"),
    [
        ("is export healthy since 13:50?", "SUCCESS"),
        ("is booking healthy since 13:50?", "SUCCESS"),
        ("before and after 13:50", "SUCCESS"),
        ("show me the latency of booking since 13:50", "SUCCESS"),
        ("is web healthy since 13:50?", "FALLBACK"),
        ("what do the logs of seats say since 13:50?", "FALLBACK"),
    ],
)
def test_a_form_that_asks_for_no_cause_is_answered_by_checked_claims(
    tmp_path: Path, question: str, outcome: str
) -> None:
    """Answered, it is a success without a cause; where no claim says it, a fallback."""
    document = ask_about("B22b", question, tmp_path)

    assert document["release"]["outcome"] == outcome
    assert document["report"]["causes"] == []


def test_a_success_without_cause_that_answers_nothing_does_not_verify(tmp_path: Path) -> None:
    """The form, its entities and the claims are read again: a fallback cannot pass as an answer."""
    file = tmp_path / "run.json"
    document = ask_about("B22b", "is web healthy since 13:50?", tmp_path)
    document["release"] |= {"outcome": "SUCCESS", "fallback_type": None}

    assert not verify(json.dumps(document).encode(), file=file.name).verified


@pytest.mark.parametrize(
    ("case", "question", "line"),
    [
        (
            "B21b",
            "is booking healthy since 09:50?",
            "as usual · booking · 2026-05-06 13:50 to 14:30 UTC · times in America/New_York",
        ),
        (
            "B22b",
            "seats 和 booking 从 13:50 起哪个有问题",
            "理解为：问两者对比 · seats、booking · 2026-05-06 13:50 至 14:30 UTC · 时区 UTC",
        ),
        (
            "B22b",
            "Why is web slow?",
            "Understood as: what is the cause · web · 2026-05-06 13:45 to 14:30 UTC · times in UTC",
        ),
    ],
)
def test_what_was_understood_is_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str, question: str, line: str
) -> None:
    """Form, entities, window and zone, under the question."""
    ask_about(case, question, tmp_path)

    assert line in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("case", "options", "at"),
    [
        ("B22b", ("--onset", "1:50 PM"), "2026-05-06T13:50:00Z"),
        ("B22b", ("--onset", "下午一点五十分"), "2026-05-06T13:50:00Z"),
        ("B22b", ("--onset", "35 minutes ago"), "2026-05-06T13:50:00Z"),
        ("B22b", ("--onset", "2026-05-06 13:50"), "2026-05-06T13:50:00Z"),
        ("B21b", ("--onset", "2026-05-06T09:50"), "2026-05-06T13:50:00Z"),
        ("B21b", ("--onset", "09:50"), "2026-05-06T13:50:00Z"),
        ("B21b", ("--onset", "13:50", "--zone", "UTC"), "2026-05-06T13:50:00Z"),
    ],
)
def test_an_onset_is_read_as_the_times_of_a_question_are(
    tmp_path: Path, case: str, options: tuple[str, ...], at: str
) -> None:
    """In words, and in the zone of the folder where neither it nor `--zone` names one."""
    assert ask_about(case, "Why is booking slow?", tmp_path, *options)["run"]["onset_at"] == at


def test_an_onset_that_means_no_time_of_the_data_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is guessed, and the sentence names what was not understood."""
    folder = str(CASES / "B22b" / "incident")

    assert run_command(["ask", "Why is booking slow?", "--from", folder, "--onset", "teatime"]) == 2
    assert "'teatime' names no one time of the data" in capsys.readouterr().err
