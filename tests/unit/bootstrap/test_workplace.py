"""Whatever goes wrong around a run, the run has one end and nothing that was opened stays open."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest
from tests.support.small_incident import CPU_FAULT, small_incident

from diagnosis_harness.adapters.sources.part import ignore_progress
from diagnosis_harness.application.answer_question import Question
from diagnosis_harness.bootstrap.diagnosis import build_diagnosis
from diagnosis_harness.bootstrap.workplace import Workplace, build_workplace
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.errors import (
    FailureKind,
    InvalidInput,
    InvalidSetting,
    SourceUnavailable,
)
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.settings import load_settings
from diagnosis_harness.testing import CountingIds, ManualClock, ScriptedPolicy
from diagnosis_harness.toolbox.ports import Sources
from diagnosis_harness.trace.sink import MemorySink, NullSink, TraceSink

QUESTION = Question("why is checkout slow?", Language.EN, 60.0)


class LostSummary:
    """A summary that cannot be read any more."""

    def summary(self, ctx: RunContext) -> object:
        """Raise."""
        raise SourceUnavailable("the source went away", kind=FailureKind.TRANSPORT)


class LostTopology:
    """A topology that cannot be read any more."""

    def owners(self, ctx: RunContext) -> object:
        """Raise, with an error of its own."""
        raise ConnectionResetError("reset by peer")


def without(**lost: object) -> Sources:
    """Sources of a small incident, of which one part is lost."""
    return replace(small_incident(CPU_FAULT).sources(), **lost)  # type: ignore[arg-type]  # the lost part raises


def workplace(sink: TraceSink | None = None) -> Workplace:
    """One whose time and ids belong to the test."""
    return build_workplace(
        load_settings(),
        sink=sink or NullSink(),
        policy=ScriptedPolicy(),
        clock=ManualClock(),
        ids=CountingIds(),
    )


def names(trace: MemorySink, ctx: RunContext) -> list[str]:
    """The events of a run, in order."""
    return [event.name.value for event in trace.events(ctx.run_id)]


def no_tools(_: Sources) -> NoReturn:
    """Tools that cannot be made."""
    raise ConnectionResetError("reset by peer")


@pytest.mark.parametrize(
    ("sources", "error"),
    [
        (without(summary=LostSummary()), SourceUnavailable),
        (without(topology=LostTopology()), ConnectionResetError),
    ],
    ids=["summary", "inquiry"],
)
def test_a_run_whose_sources_fail_before_it_begins_has_ended(
    sources: Sources, error: type[Exception]
) -> None:
    """An open run would keep its deadline timer, and nothing would ever end it; a sink sees start and end."""
    trace = MemorySink()
    with workplace(trace) as place:
        ctx = place.start_run(60.0)

        with pytest.raises(error):
            asyncio.run(place.answer(ctx, sources, QUESTION))

        assert ctx.lifecycle.termination is not None
        assert (ctx.lifecycle.state, ctx.lifecycle.termination.detail) == (RunState.FAILED, error.__name__)
        assert names(trace, ctx) == ["RUN_STARTED", "RUN_ENDED", "RUN_FINISHED"]
        assert trace.events(ctx.run_id)[-1].payload["outcome"] == "FAILED"


def test_a_run_whose_tools_cannot_be_offered_has_ended() -> None:
    """The boundary is built when the run is open already."""
    trace = MemorySink()
    with replace(workplace(trace), tools_over=no_tools) as place:
        ctx = place.start_run(60.0)

        with pytest.raises(ConnectionResetError):
            asyncio.run(place.answer(ctx, without(), QUESTION))
        routed = place.start_run(60.0)
        with pytest.raises(ConnectionResetError):
            asyncio.run(place.answer_by_path(routed, without(), QUESTION))

        assert (ctx.lifecycle.state, routed.lifecycle.state) == (RunState.FAILED, RunState.FAILED)
        for each in (ctx, routed):
            assert names(trace, each) == ["RUN_STARTED", "RUN_ENDED", "RUN_FINISHED"]


def test_a_question_about_another_time_is_a_run_with_start_and_end() -> None:
    """Nothing is diagnosed, and watchers see that the run is over."""
    trace, question = MemorySink(), replace(QUESTION, onset=1.0)
    with workplace(trace) as place:
        ctx = place.start_run(60.0)

        with pytest.raises(InvalidInput):
            asyncio.run(place.answer(ctx, without(), question))

        assert names(trace, ctx) == ["RUN_STARTED", "RUN_ENDED", "RUN_FINISHED"]


def test_a_run_that_was_cancelled_keeps_that_end() -> None:
    """The first end is kept, whatever fails afterwards, and RUN_FINISHED is the last event."""
    trace = MemorySink()
    with workplace(trace) as place:
        ctx = place.start_run(60.0)
        place.core.cancel(ctx, CancellationReason.USER_REQUESTED)

        with pytest.raises(SourceUnavailable):
            asyncio.run(place.answer(ctx, without(summary=LostSummary()), QUESTION))

        assert ctx.lifecycle.state is RunState.CANCELLED
        assert names(trace, ctx) == ["RUN_ENDED", "RUN_STARTED", "RUN_FINISHED"]


def test_a_folder_that_cannot_be_read_leaves_no_core_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The core is built before the folder is read."""
    closed: list[DiagnosisHarnessCore] = []
    close = DiagnosisHarnessCore.close

    def note(core: DiagnosisHarnessCore) -> None:
        closed.append(core)
        close(core)

    monkeypatch.setattr(DiagnosisHarnessCore, "close", note)

    with pytest.raises(InvalidInput):
        build_diagnosis(
            folder=tmp_path / "nowhere",
            baseline=None,
            onset=None,
            sink=NullSink(),
            progress=ignore_progress,
        )

    assert len(closed) == 1


def test_a_player_that_does_not_exist_leaves_no_core_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The players are chosen before the core is built."""
    built: list[object] = []
    monkeypatch.setattr("diagnosis_harness.bootstrap.workplace.DiagnosisHarnessCore", built.append)
    (tmp_path / "settings.toml").write_text('[players]\njudge = "nobody"\n', encoding="utf-8")

    with pytest.raises(InvalidSetting):
        build_workplace(load_settings(tmp_path / "settings.toml"), sink=NullSink())

    assert built == []
