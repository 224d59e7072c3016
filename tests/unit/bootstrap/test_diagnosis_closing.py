"""What a diagnosis over a folder leaves behind: no thread, and none of the tables it was read into."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
from collections import Counter
from dataclasses import fields
from pathlib import Path

import pytest

from diagnosis_harness.bootstrap.diagnosis import Diagnosis, build_diagnosis
from diagnosis_harness.cli.main import FolderOpener, run_command
from diagnosis_harness.cli.whole_path import WholePath
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.simulator.faults import FaultKind
from diagnosis_harness.simulator.folder import write_folder
from diagnosis_harness.simulator.world import simulate
from diagnosis_harness.toolbox.ports import Sources
from diagnosis_harness.trace.sink import NullSink


def _silent(file: str, done: int, total: int) -> None:
    del file, done, total


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with every kind of telemetry."""
    world, folder = simulate(FaultKind.MEMORY_LEAK, seed=2), tmp_path / "incident"
    write_folder(world, folder)
    at = utc_text(world.alert.time_s or 0.0)
    killed = {
        "kind": "Event", "reason": "OOMKilling", "message": "out of memory", "count": 2,
        "firstTimestamp": at, "lastTimestamp": at,
        "involvedObject": {"kind": "Pod", "name": world.alert.entity},
    }  # fmt: skip
    (folder / "events.json").write_text(json.dumps({"kind": "List", "items": [killed]}))
    return folder


def open_folder(folder: Path) -> Diagnosis:
    """The folder, opened."""
    return build_diagnosis(folder=folder, baseline=None, onset=None, sink=NullSink(), progress=_silent)


def threads_left_behind(before: set[threading.Thread]) -> set[threading.Thread]:
    """The threads that are there now and were not before, when each had time to end."""
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    return set(threading.enumerate()) - before


def living_objects() -> Counter[type]:
    """How many objects there are of each class of the sources: readers, tables, series, lines, spans."""
    gc.collect()
    kinds = (type(each) for each in gc.get_objects())
    return Counter(kind for kind in kinds if "diagnosis_harness.adapters.sources" in str(kind.__module__))


def test_a_closed_diagnosis_leaves_nothing_behind(folder: Path) -> None:
    """Three of them in one process: no thread more, and no source of any kind, nor a table below it."""
    threads, opened, kinds = set(threading.enumerate()), set[type](), set[type]()
    open_folder(folder).close()  # the first one imports modules, which have objects of their own
    before = living_objects()

    for _ in range(3):
        with open_folder(folder) as diagnosis:
            asyncio.run(diagnosis.run("what happened?", language=Language.EN, deadline_s=None))
            kinds = {type(getattr(diagnosis.sources, kind.name)) for kind in fields(Sources)}
            opened |= (living_objects() - before).keys()
        del diagnosis

    assert len(kinds) == len(fields(Sources))
    assert opened >= kinds
    assert threads_left_behind(threads) == set()
    assert living_objects() - before == Counter()


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
