"""The recorded cases about files: what is answered, from the command line to the document."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest
from tests.support.case_answers import CASES, ask_about


@pytest.mark.parametrize(("case", "region"), [("A21", "user_percent"), ("B19", "%user")])
def test_what_the_processor_does_is_cpu_and_a_still_line_beside_it_is_little(
    tmp_path: Path, case: str, region: str
) -> None:
    """`%user` from 30 to 88 is the finding; half a point on a line that never moved is not."""
    document = ask_about(CASES / case / "incident", "Why is pay-1 slow since 09:30?", tmp_path)

    (cause,) = document["report"]["causes"]
    assert (cause["entity"], cause["fault_kind"], cause["region"]) == ("pay-1", "CPU", region)


def test_a42_what_changed_names_both_series_and_blames_nothing(tmp_path: Path) -> None:
    """No entity owns the series, so none is blamed; the fall of hits is shown beside the rise of load."""
    document = ask_about(CASES / "A42" / "incident", "What changed at 09:30?", tmp_path)

    first = document["report"]["summary"][0]
    assert first.startswith("Before and after 2026-05-06 09:30 UTC: ")
    assert "db-load of system rose" in first
    assert "cache-hits of system fell" in first
    assert document["report"]["causes"] == []
    assert document["report"]["candidates"] == []


def test_a42_a_series_without_an_entity_is_never_a_cause(tmp_path: Path) -> None:
    """Even if the question asks for a cause: the report lists what moved and concludes nothing."""
    document = ask_about(CASES / "A42" / "incident", "Why is the database slow since 09:30?", tmp_path)

    assert document["release"]["outcome"] == "FALLBACK"
    assert document["report"]["causes"] == []
    assert [each["entity"] for each in document["report"]["claims"]][:1] == ["system"]


def test_b17_the_part_of_the_load_that_rose_is_named(tmp_path: Path) -> None:
    """More requests are no harm by themselves, and the answer to where they come from."""
    question = "Where do the requests at gateway come from since 09:30?"
    document = ask_about(CASES / "B17" / "incident", question, tmp_path)

    assert document["report"]["claims"][0]["sentence"].startswith(
        "“requests_per_minute{country=BR}” of gateway rose"
    )


def test_b27_what_had_begun_before_the_asked_time_is_neither_normal_nor_new(tmp_path: Path) -> None:
    """An hour of the fault lies before the time of the question: it is said when it began."""
    document = ask_about(CASES / "B27" / "incident", "Why is booking slow since 14:50?", tmp_path)

    sentences = [each["sentence"] for each in document["report"]["claims"]]
    assert "latency_s of booking began to rise at 2026-05-06 13:50 UTC." in sentences
    assert not any("booking moved no further" in each for each in sentences)


def test_b26f_the_onset_is_that_of_the_entity_in_the_question(tmp_path: Path) -> None:
    """An export that ran hours before, and was over, is not when booking became slow."""
    document = ask_about(CASES / "B26f" / "incident", "Why is booking slow?", tmp_path)

    assert document["report"]["onset"]["at"].startswith("2026-05-06T13:4")
    assert [cause["entity"] for cause in document["report"]["causes"]] == ["vault"]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        (
            "is booking healthy?",
            "As usual between 2026-05-06 09:28 and 09:45 UTC, in what was checked",
        ),
        ("booking 正常吗", "2026-05-06 09:28 至 09:45 UTC，booking 在已核对的范围内与平时一致："),
        (
            "is booking healthy since 09:30?",
            "As usual between 2026-05-06 09:30 and 09:45 UTC, in what was",
        ),
    ],
)
def test_a_calm_service_is_answered_with_its_own_signals_and_a_window(
    tmp_path: Path, question: str, first: str
) -> None:
    """Also where no onset is known: the end of the recording is compared with what was before it."""
    folder = tmp_path / "calm"
    write_calm(folder)
    document = ask_about(folder, question, tmp_path)

    assert document["report"]["summary"][0].startswith(first)
    assert document["release"]["outcome"] == "SUCCESS"


def write_calm(folder: Path) -> None:
    """Sixty-five minutes of one service in which nothing happened."""
    folder.mkdir()
    rows = ["time,entity,signal,value"]
    for minute in range(65):
        wave = (minute * 7) % 11 / 11
        at = f"2026-05-06T{8 + (40 + minute) // 60:02d}:{(40 + minute) % 60:02d}:00Z"
        rows += [
            f"{at},booking,latency_s,{0.14 + 0.01 * wave:.4f}",
            f"{at},booking,cpu_percent,{30 + wave:.2f}",
        ]
    (folder / "metrics.csv").write_text("\n".join(rows) + "\n")


@pytest.mark.parametrize(
    "question",
    [
        "is booking ok?",
        "how is booking doing?",
        "booking 怎么样",
        "any problems with booking?",
        "booking 状态如何",
    ],
)
def test_every_way_to_ask_how_a_service_is_gets_its_state(tmp_path: Path, question: str) -> None:
    """Also where a word of it is a greeting, or asks for the state and not for a cause."""
    folder = tmp_path / "calm"
    write_calm(folder)
    document = ask_about(folder, question, tmp_path)

    assert document["inquiry"]["question"]["form"] == "HEALTH"
    assert document["release"]["outcome"] == "SUCCESS"


@pytest.mark.parametrize(
    ("case", "question"),
    [
        ("C2", "Why does edge return 5xx since 09:30?"),
        ("C3", "Why are front's requests failing since 13:15?"),
    ],
)
def test_a_processor_with_room_to_spare_is_not_called_the_cause(
    tmp_path: Path, case: str, question: str
) -> None:
    """At half or two thirds of what it could do it makes no request fail."""
    document = ask_about(CASES / case / "incident", question, tmp_path)

    named = (*document["report"]["causes"], *document["report"]["candidates"])
    assert named
    assert "CPU" not in {each["fault_kind"] for each in named}
    explained = [each for each in document["report"]["causes"] if each["level"] != "LOCALISED"]
    assert not any("cpu" in each["region"] for each in explained)


@pytest.mark.parametrize(
    ("case", "question", "starts_at"),
    [
        ("B08", "Why is booking slow since 09:30?", "vault"),
        ("C5", "Why are api requests failing since 09:30?", None),
    ],
)
def test_a_symptom_and_what_began_later_are_not_released_as_the_cause(
    tmp_path: Path, case: str, question: str, starts_at: str | None
) -> None:
    """If the culprit is silent or down, nothing else is blamed instead."""
    document = ask_about(CASES / case / "incident", question, tmp_path)

    causes = document["report"]["causes"]
    assert [each["entity"] for each in causes] == ([] if starts_at is None else [starts_at])
    assert {each["level"] for each in causes} <= {"LOCALISED"}


def test_b34_the_two_times_of_a_question_are_the_window_of_the_fault(tmp_path: Path) -> None:
    """What came after it ended is neither the trouble nor normal operation."""
    folder = CASES / "question" / "B34" / "incident"
    document = ask_about(folder, "Why did web fail between 09:30 and 09:42?", tmp_path)

    (cause,) = document["report"]["causes"]
    assert cause["entity"] == "booking"
    windows = {
        (each["window"]["start"][11:16], each["window"]["end"][11:16])
        for each in document["report"]["claims"]
        if each["window"] is not None
    }
    assert windows == {("09:30", "09:42")}


@pytest.mark.parametrize("question", ["is everything fine?", "一切正常吗？"])
def test_whether_all_is_well_is_answered_with_what_is_not(tmp_path: Path, question: str) -> None:
    """By the first checked claim of anything that got worse."""
    document = ask_about(CASES / "B27" / "incident", question, tmp_path)

    assert document["inquiry"]["question"]["form"] == "HEALTH"
    assert document["release"]["outcome"] == "SUCCESS"
    assert "vault" in document["report"]["summary"][0]


def test_of_a_calm_folder_all_that_was_checked_is_as_usual(tmp_path: Path) -> None:
    """Said of the signals and the window that were checked, and of nothing beyond them."""
    folder = tmp_path / "calm"
    write_calm(folder)
    first = ask_about(folder, "is everything fine?", tmp_path)["report"]["summary"][0]

    assert first.startswith("As usual between 2026-05-06 09:28 and 09:45 UTC, in what was checked of the")
    assert "latency_s of booking" in first


@pytest.mark.parametrize(
    ("case", "language", "shown"),
    [
        ("A22b", "en", "revision 18, deployed: Upgrade complete”: came before, on the path of the calls"),
        ("B08", "en", "“news 9.2.0”: near in time, but not among what the affected service calls"),
        ("B08", "zh", "“news 9.2.0”：时间相近，但不在受影响服务的调用范围内"),
        ("B28", "en", "“seats 3.5.0”: came before, on the path of the calls; that it set this off is not"),
    ],
)
def test_a_change_right_before_is_shown_with_how_it_was_weighed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str, language: str, shown: str
) -> None:
    """Whether it may have triggered this or not, so that no follow-up question is needed."""
    folder = CASES / case / "incident"
    document = ask_about(folder, "Why is booking slow since 09:30?", tmp_path, "--lang", language)

    (cause,) = document["report"]["causes"]
    assert cause["entity"] == ("vault" if case == "B08" else "seats")
    assert cause["level"] == ("LOCALISED" if case == "B08" else "TRIGGER")
    printed = "".join(capsys.readouterr().out.split())
    assert ("Alsohappenedaroundthattime" if language == "en" else "同一时段还发生了") in printed
    assert "".join(shown.split()) in printed


def test_a_change_is_as_long_before_as_the_stated_onset_says(tmp_path: Path) -> None:
    """No tool takes an onset of its own beside the one of the question."""
    document = ask_about(CASES / "B28" / "incident", "Why is booking slow since 09:30?", tmp_path)

    (claims,) = [each for each in document["report"]["claims"] if each["predicate"] == "DEPLOYED"]
    assert "(120 s before the onset)" in claims["quotes"][0]["text"]


def test_at_most_three_changes_are_shown_those_that_fit_first_and_then_the_nearest(tmp_path: Path) -> None:
    """One of the hour before is shown, also if it is ruled out; an older one is not."""
    folder = tmp_path / "incident"
    copytree(CASES / "B08" / "incident", folder)
    made = {"news": "09:29", "mail": "09:28", "seats": "09:00", "web": "08:40", "vault": "08:20"}
    rows = [f"2026-05-06T{at}:00Z,deploy,{name} 2.0.0,{name}" for name, at in made.items()]
    text = "\n".join(["time,kind,summary,entity", *rows])
    (folder / "changes.csv").write_text(f"{text}\n", encoding="utf-8")
    document = ask_about(folder, "Why is booking slow since 09:30?", tmp_path)

    claims = [each for each in document["report"]["claims"] if each["predicate"] == "DEPLOYED"]
    assert [each["entity"] for each in claims] == ["seats", "news", "mail"]


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("en", "All series of seats ended while those of others go on since 2026-05-06 09:"),
        ("zh", "seats 的所有指标序列中断，而其他服务的仍在继续"),
    ],
)
def test_b33_that_a_service_stopped_reporting_is_stated(tmp_path: Path, language: str, message: str) -> None:
    """And it is the cause, and not its caller, which fails since then."""
    question = "Why is booking failing since 09:30?"
    document = ask_about(CASES / "B33" / "incident", question, tmp_path, "--lang", language)

    (cause,) = document["report"]["causes"]
    assert (cause["entity"], cause["fault_kind"], cause["level"]) == ("seats", "CRASH", "EXPLAINED")
    assert any(message in each["sentence"] for each in document["report"]["claims"])


@pytest.mark.parametrize(("since", "back"), [("09:00", "99"), ("09:30", "09:36")])
def test_a_service_that_stopped_long_before_or_reports_again_did_not_end(
    tmp_path: Path, since: str, back: str
) -> None:
    """Only one whose last value is at the onset did."""
    rows = (CASES / "B33" / "incident" / "metrics.csv").read_text(encoding="utf-8").splitlines()
    usual = rows[1].split(",")[5:]
    lines = rows[:1]
    for row in rows[1:]:
        own = usual if row[11:16] < since or row[11:16] >= back else [""] * len(usual)
        lines.append(",".join([*row.split(",")[:5], *own]))
    folder = tmp_path / "incident"
    folder.mkdir()
    (folder / "metrics.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    document = ask_about(folder, "Why is booking failing since 09:30?", tmp_path)

    assert document["report"]["claims"]
    assert not any("All series" in each["sentence"] for each in document["report"]["claims"])
