"""Runs of the command line in an SQLite file: kept, found again, pruned, private."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support import documents

from diagnosis_harness.adapters.local_runs.store import FILE, Limits, LocalRuns
from diagnosis_harness.application.kept_run import KeptRun
from diagnosis_harness.application.runs.feedback import Feedback, FeedbackVerdict
from diagnosis_harness.kernel.errors import StoreFailure
from diagnosis_harness.kernel.language import Language

DAY_S = 86_400.0
NOW_S = 1_704_117_600.0


@pytest.fixture
def runs(tmp_path: Path) -> LocalRuns:
    """An empty store that keeps three runs of ten days."""
    return LocalRuns(tmp_path / "deep" / "kept", Limits(days=10, runs_max=3))


def make_run(run_id: str, session_id: str = "ses-1") -> KeptRun:
    """A run to keep."""
    run = KeptRun.of(documents.success(Language.EN), folder="/incident", baseline=None, zone="UTC")
    return replace(run, run_id=run_id, session_id=session_id)


def test_a_run_comes_back_as_it_was_kept(runs: LocalRuns) -> None:
    """Everything of it, and its document byte for byte."""
    run = make_run("run-1")

    runs.keep(run, now_s=NOW_S)

    assert runs.latest() == (run,)
    assert run.document.startswith(b"{")


def test_nothing_is_made_by_reading(runs: LocalRuns) -> None:
    """Whoever has kept nothing finds nothing, and no file appears."""
    assert runs.latest() == ()
    assert runs.starting_with("run-") == ()
    assert not runs.file.parent.exists()


def test_a_run_is_found_by_the_start_of_its_id(runs: LocalRuns) -> None:
    """An id of its own wins over longer ones that start so; a wildcard of SQL is a letter like any other."""
    for run_id in ("run-1", "run-12", "run-2"):
        runs.keep(make_run(run_id), now_s=NOW_S)

    assert [run.run_id for run in runs.starting_with("run-12")] == ["run-12"]
    assert [run.run_id for run in runs.starting_with("run-1")] == ["run-1"]
    assert [run.run_id for run in runs.starting_with("run")] == ["run-2", "run-12", "run-1"]
    assert runs.starting_with("run_1") == runs.starting_with("%") == ()


def test_the_runs_of_a_session_are_its_own(runs: LocalRuns) -> None:
    """The latest first."""
    for run_id, session_id in (("run-1", "a"), ("run-2", "b"), ("run-3", "a")):
        runs.keep(make_run(run_id, session_id), now_s=NOW_S)

    assert [run.run_id for run in runs.latest(9, session_id="a")] == ["run-3", "run-1"]


def test_old_runs_are_deleted(runs: LocalRuns) -> None:
    """By age: of ten days, the run of eleven days ago goes when the next is kept."""
    runs.keep(make_run("run-1"), now_s=NOW_S - 11 * DAY_S)
    runs.keep(make_run("run-2"), now_s=NOW_S - 9 * DAY_S)
    runs.keep(make_run("run-3"), now_s=NOW_S)

    assert [run.run_id for run in runs.latest(9)] == ["run-3", "run-2"]


def test_too_many_runs_are_deleted(runs: LocalRuns) -> None:
    """By number: the oldest of four goes."""
    for number in range(4):
        runs.keep(make_run(f"run-{number}"), now_s=NOW_S)

    assert [run.run_id for run in runs.latest(9)] == ["run-3", "run-2", "run-1"]


def test_old_runs_are_deleted_also_where_nothing_new_is_kept(runs: LocalRuns) -> None:
    """Looking at the kept runs is enough; where none was ever kept, no file is made."""
    runs.prune(now_s=0.0)
    assert not runs.file.exists()
    runs.keep(make_run("run-1"), now_s=0.0)

    runs.prune(now_s=31 * 86_400.0)

    assert runs.latest(9) == ()


def test_a_run_or_all_of_them_can_be_deleted(runs: LocalRuns) -> None:
    """By the id; the count says how many there were."""
    for name in ("run-1", "run-2", "run-3"):
        runs.keep(make_run(name), now_s=0.0)

    assert (runs.delete("run-2"), runs.delete("run-7")) == (1, 0)
    assert [each.run_id for each in runs.latest(9)] == ["run-3", "run-1"]
    assert runs.delete() == 2
    assert runs.latest(9) == ()


def test_folder_and_file_are_their_owner_s_alone(runs: LocalRuns) -> None:
    """They hold questions and evidence."""
    runs.keep(make_run("run-1"), now_s=NOW_S)

    assert stat.S_IMODE(runs.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(runs.file.parent.stat().st_mode) == 0o700


def test_a_folder_that_is_there_keeps_its_rights(tmp_path: Path) -> None:
    """It may be shared with other programs; the file in it is private all the same."""
    (tmp_path / "shared").mkdir(mode=0o755)
    runs = LocalRuns(tmp_path / "shared", Limits(10, 3))

    runs.keep(make_run("run-1"), now_s=NOW_S)

    assert stat.S_IMODE((tmp_path / "shared").stat().st_mode) == 0o755
    assert stat.S_IMODE(runs.file.stat().st_mode) == 0o600


def test_what_cannot_be_used_is_a_failure_of_the_store(tmp_path: Path) -> None:
    """A file in the folder's place, a damaged file, one of a newer program: each names the file."""
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    damaged, newer = tmp_path / "damaged", tmp_path / "newer"
    damaged.mkdir()
    (damaged / FILE).write_text("this is no database" * 100, encoding="utf-8")
    newer.mkdir()
    with closing(sqlite3.connect(newer / FILE)) as connection, connection:
        connection.execute("PRAGMA user_version = 99")

    for folder in (tmp_path / "file", damaged, newer):
        runs = LocalRuns(folder, Limits(10, 3))
        with pytest.raises(StoreFailure, match=r"runs\.db"):
            runs.keep(make_run("run-1"), now_s=NOW_S)
    with pytest.raises(StoreFailure, match="newer version"):
        LocalRuns(newer, Limits(10, 3)).latest()


def test_two_terminals_keep_at_once(runs: LocalRuns) -> None:
    """Another one that is reading does not stop the write, nor the first making of the tables twice."""
    runs.keep(make_run("run-1"), now_s=NOW_S)
    with closing(sqlite3.connect(runs.file)) as reader, reader:
        reader.execute("SELECT count(*) FROM run").fetchone()
        LocalRuns(runs.file.parent, Limits(10, 3)).keep(make_run("run-2"), now_s=NOW_S)

    assert len(runs.latest(9)) == 2


def test_a_file_of_the_version_before_takes_verdicts(runs: LocalRuns) -> None:
    """Its runs stay; the verdict is there afterwards, and goes with its run."""
    runs.keep(make_run("run-1"), now_s=NOW_S)
    with closing(sqlite3.connect(runs.file)) as connection, connection:
        connection.execute("ALTER TABLE run DROP COLUMN feedback")
        connection.execute("PRAGMA user_version = 1")
    feedback = Feedback(
        run_id="run-1",
        given_by="local",
        verdict=FeedbackVerdict.WRONG,
        cause="cart",
        note="",
        given_s=NOW_S,
    )

    assert runs.feedback("run-1") is None
    runs.mark(feedback)

    assert runs.feedback("run-1") == feedback
    assert [run.run_id for run in runs.latest()] == ["run-1"]
    assert runs.delete("run-1") == 1
    assert runs.feedback("run-1") is None
    with pytest.raises(StoreFailure, match="deleted"):
        runs.mark(feedback)


def test_a_verdict_stays_where_its_run_is_kept_again(runs: LocalRuns) -> None:
    """And one that is damaged is a failure that names the file."""
    runs.keep(make_run("run-1"), now_s=NOW_S)
    feedback = Feedback(
        run_id="run-1", given_by="local", verdict=FeedbackVerdict.RIGHT, cause=None, note="", given_s=NOW_S
    )
    runs.mark(feedback)
    runs.keep(make_run("run-1"), now_s=NOW_S + 1.0)
    assert runs.feedback("run-1") == feedback

    with closing(sqlite3.connect(runs.file)) as connection, connection:
        connection.execute("UPDATE run SET feedback = '{}'")
    with pytest.raises(StoreFailure, match="cannot be read"):
        runs.feedback("run-1")
