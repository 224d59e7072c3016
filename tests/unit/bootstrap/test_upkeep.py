"""The rounds of care and alerts go on whatever they raise, say it once, and tell when they do not succeed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import cast

import pytest

from diagnosis_harness.application.alerts.alerts import AlertAccount, Alerts
from diagnosis_harness.application.alerts.inbox import AlertEffect
from diagnosis_harness.application.runs.caretaker import CareAccount, CareFailure, Caretaker
from diagnosis_harness.application.runs.sources import LeftRuns, SourceBacklog
from diagnosis_harness.bootstrap.upkeep import Upkeep
from diagnosis_harness.kernel.errors import FailureKind, StoreFailure
from diagnosis_harness.settings import CareSection
from diagnosis_harness.testing.clock import ManualClock

PERIOD_S = 2.0
SETTINGS = CareSection(
    beat_s=PERIOD_S, look_s=PERIOD_S, dead_after_s=10.0, redeliver_after_s=10.0, drain_s=1.0
)
AWAY = StoreFailure("the database cannot be reached", kind=FailureKind.TRANSPORT)


class NotedClock(ManualClock):
    """A clock that tells of each wait that begins."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: asyncio.Queue[float] = asyncio.Queue()

    def call_at(self, at_s: float, callback: Callable[[], None]) -> Callable[[], None]:
        """Begin to wait."""
        disarm = super().call_at(at_s, callback)
        self.waits.put_nowait(at_s)
        return disarm


@dataclass
class ScriptedCare:
    """Does what a test says."""

    raises: dict[str, Exception] = field(default_factory=dict)
    account: CareAccount = field(default_factory=CareAccount)
    alerts: AlertAccount = field(default_factory=AlertAccount)

    async def beat(self) -> None:
        """Beat."""
        self._done("beat")

    async def tend(self) -> CareAccount:
        """Tend."""
        self._done("tend")
        return self.account

    async def heed(self) -> tuple[str, ...]:
        """Heed."""
        self._done("heed")
        return ()

    async def work_off(self) -> AlertAccount:
        """Work off alerts."""
        self._done("work_off")
        return self.alerts

    async def leave(self) -> None:
        """Leave."""

    def _done(self, what: str) -> None:
        if what in self.raises:
            raise self.raises[what]


@dataclass
class Scene:
    """Upkeep, and what its caretaker does."""

    care: ScriptedCare
    clock: NotedClock
    upkeep: Upkeep

    async def round(self) -> None:
        """Let every look be made once more."""
        self.clock.advance(PERIOD_S)
        await self.looked()

    async def looked(self) -> None:
        """Return when all four wait for their next look."""
        async with asyncio.timeout(10):
            for _ in range(4):
                await self.clock.waits.get()


def play(act: Callable[[Scene], Awaitable[None]]) -> None:
    """Act on rounds that go on."""

    async def played() -> None:
        care, clock = ScriptedCare(), NotedClock()
        upkeep = Upkeep(cast("Caretaker", care), cast("Alerts", care), clock=clock, settings=SETTINGS)
        scene = Scene(care, clock, upkeep)
        async with upkeep.going():
            await scene.looked()
            await act(scene)

    asyncio.run(played())


@pytest.mark.parametrize("what", ["beat", "tend", "heed", "work_off"])
@pytest.mark.parametrize("error", [KeyError("reason"), AWAY])
def test_a_round_that_raises_goes_on_and_says_so_once(
    what: str, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever it raises; and once that it works again."""

    async def act(scene: Scene) -> None:
        scene.care.raises[what] = error
        for _ in range(3):
            await scene.round()
        scene.care.raises.clear()
        for _ in range(2):
            await scene.round()

    with caplog.at_level(logging.INFO, logger="diagnosis_harness.care"):
        play(act)
    said, works = (record.getMessage() for record in caplog.records)
    assert ("KeyError" if isinstance(error, KeyError) else str(AWAY)) in said
    assert works.endswith("works again")


def test_a_beat_that_does_not_succeed_for_long_is_a_problem_until_it_does() -> None:
    """Others hold this process for dead by then."""

    async def act(scene: Scene) -> None:
        scene.care.raises["beat"] = AWAY
        for _ in range(5):
            await scene.round()
        assert scene.upkeep.problem() is None
        await scene.round()
        assert scene.upkeep.problem() == "care-beat has not succeeded for 12 s"
        scene.care.raises.clear()
        await scene.round()
        assert scene.upkeep.problem() is None

    play(act)


def test_what_is_left_to_others_is_said_once_for_each_source(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever wonders why runs wait finds the reason, and is not told it at every look."""
    shop, bank = SourceBacklog("shop", "sha256:a", 2), SourceBacklog("bank\n", None, 1)

    async def act(scene: Scene) -> None:
        scene.care.account = CareAccount(left=(LeftRuns(shop, is_another=True),))
        await scene.round()
        scene.care.account = CareAccount(
            left=(LeftRuns(shop, is_another=True), LeftRuns(bank, is_another=False))
        )
        await scene.round()
        await scene.round()

    play(act)
    of_shop, of_bank = (record.getMessage() for record in caplog.records)
    assert of_shop.startswith("queued runs ask about source 'shop', which is another one in this process")
    assert of_bank.startswith(r"queued runs ask about source 'bank\n', which this process does not have")


@pytest.mark.parametrize("what", ["tend", "heed"])
def test_care_that_fails_for_long_is_a_problem(what: str) -> None:
    """Nobody would end the runs of the dead, or hear of a cancel."""

    async def act(scene: Scene) -> None:
        scene.care.raises[what] = KeyError("reason")
        for _ in range(6):
            await scene.round()
        assert scene.upkeep.problem() is not None

    play(act)


def test_a_round_that_has_ended_is_a_problem() -> None:
    """At once, whatever ended it."""

    async def act(scene: Scene) -> None:
        (task,) = (task for task in asyncio.all_tasks() if task.get_name() == "care-tend")
        task.cancel()
        await asyncio.wait([task])
        assert scene.upkeep.problem() == "care-tend has ended"

    play(act)


def test_runs_that_cannot_be_cared_for_are_said_once_together(caplog: pytest.LogCaptureFixture) -> None:
    """One line for what has one reason; the care itself is no failure, so the process stays ready."""

    async def act(scene: Scene) -> None:
        scene.care.account = CareAccount(failed=(CareFailure("run a", AWAY), CareFailure("run b", AWAY)))
        for _ in range(6):
            await scene.round()
        assert scene.upkeep.problem() is None
        scene.care.account = CareAccount()
        await scene.round()

    with caplog.at_level(logging.INFO, logger="diagnosis_harness.care"):
        play(act)
    assert [record.getMessage() for record in caplog.records] == [
        f"care of run a, run b does not work and is tried again: {AWAY}",
        "care of run a, run b works again",
    ]


def test_what_alerts_came_to_is_said_and_a_group_that_cannot_be_read_is_named_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Whoever sends alerts reads no answers: the log says what was done about which run."""
    unread = StoreFailure("what the database holds cannot be read", kind=FailureKind.INVALID_OUTPUT)

    async def act(scene: Scene) -> None:
        scene.care.alerts = AlertAccount({"run-1": AlertEffect.CANCELLED}, {"alert-7": unread})
        await scene.round()
        scene.care.alerts = AlertAccount({}, {"alert-7": unread})
        await scene.round()

    with caplog.at_level(logging.INFO, logger="diagnosis_harness.care"):
        play(act)

    assert [record.getMessage() for record in caplog.records] == [
        "an alert: run run-1 CANCELLED",
        f"what waits of alert group alert-7 cannot be worked off: {unread}",
    ]
