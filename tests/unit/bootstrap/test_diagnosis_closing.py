"""What a diagnosis over a folder leaves behind: no thread, and none of the tables it was read into."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from pathlib import Path

import pytest

from diagnosis_harness.bootstrap.diagnosis import Diagnosis, build_diagnosis
from diagnosis_harness.cli.main import FolderOpener, run_command
from diagnosis_harness.cli.whole_path import WholePath
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.trace.sink import NullSink


def _silent(file: str, done: int, total: int) -> None:
    del file, done, total


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one file of metrics."""
    rows = ["time,entity,signal,value"]
    rows += [f"{1_714_568_400 + 60 * minute},web,latency_s,{0.2 + minute // 60}" for minute in range(90)]
    (tmp_path / "incident").mkdir()
    (tmp_path / "incident" / "metrics.csv").write_text("\n".join(rows) + "\n")
    return tmp_path / "incident"


def open_folder(folder: Path) -> Diagnosis:
    """The folder, opened."""
    return build_diagnosis(folder=folder, baseline=None, onset=None, sink=NullSink(), progress=_silent)


def threads_left_behind(before: set[threading.Thread]) -> set[threading.Thread]:
    """The threads that are there now and were not before, when each had time to end."""
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    return set(threading.enumerate()) - before


def test_a_closed_diagnosis_leaves_nothing_behind(folder: Path) -> None:
    """Three of them in one process: no thread more, and what was read is given back with each."""
    before, sources = set(threading.enumerate()), []

    for _ in range(3):
        with open_folder(folder) as diagnosis:
            asyncio.run(diagnosis.run("what happened?", language=Language.EN, deadline_s=None))
            sources.append(weakref.ref(diagnosis.sources.metrics))
        del diagnosis

    assert threads_left_behind(before) == set()
    gc.collect()
    assert [reference() for reference in sources] == [None] * 3


class NotedCloses:
    """Notes each core that is closed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cores: list[DiagnosisHarnessCore] = []
        close = DiagnosisHarnessCore.close

        def note(core: DiagnosisHarnessCore) -> None:
            self.cores.append(core)
            close(core)

        monkeypatch.setattr(DiagnosisHarnessCore, "close", note)


@pytest.mark.parametrize("way", ["ask", "bench"])
def test_the_command_line_closes_what_it_opens(
    way: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`ask` and `bench` hold a diagnosis as long as they need it, also in a process that lives on."""
    before, closes = set(threading.enumerate()), NotedCloses(monkeypatch)

    if way == "ask":
        run_command(["ask", "what happened?", "--from", str(folder)])
        assert capsys.readouterr().out
    else:
        assert WholePath(FolderOpener())(folder, None).result.outcome

    assert threads_left_behind(before) == set()
    assert len(closes.cores) == 1
