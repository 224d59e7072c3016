"""Which run is meant: an id, how one begins, or `last`."""

from __future__ import annotations

import asyncio

import pytest
from tests.unit.cli.shown_runs import queued_row, request

from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.cli import run_reference
from diagnosis_harness.cli.ports import Listing
from diagnosis_harness.cli.run_reference import meant
from diagnosis_harness.cli.runs_words import runs_words
from diagnosis_harness.kernel.errors import InvalidInput, RunUnknown
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.server.run_view import WholeRunView
from diagnosis_harness.trace.event import TraceEvent


class HeldDesk:
    """A desk over some ids, the latest first, in pages of two."""

    def __init__(self, *ids: str) -> None:
        self._ids = ids
        self.pages = 0

    async def page(self, query: RunQuery) -> Listing:
        """The next two."""
        self.pages += 1
        start = 0 if query.before is None else int(query.before)
        end = start + min(query.limit, 2)
        rows = tuple(self._row(run_id) for run_id in self._ids[start:end])
        return Listing(rows, str(end) if end < len(self._ids) else None)

    async def row(self, run_id: str) -> JsonValue:
        """The row, if there is one."""
        if run_id not in self._ids:
            raise RunUnknown(run_id)
        return self._row(run_id)

    @staticmethod
    def _row(run_id: str) -> JsonValue:
        return WholeRunView.of(queued_row(request(run_id))).body()

    async def document(self, run_id: str) -> bytes:
        """Nobody asks."""
        raise AssertionError

    async def events(self, run_id: str) -> tuple[TraceEvent, ...]:
        """Nobody asks."""
        raise AssertionError

    async def why(self, run_id: str, language: Language) -> JsonValue:
        """Nobody asks."""
        raise AssertionError

    async def cancel(self, run_id: str) -> JsonValue:
        """Nobody asks."""
        raise AssertionError


DESK = HeldDesk("run-e5", "run-d4", "run-c3", "run-c31", "run-b2", "run-a1")


def found(reference: str, desk: HeldDesk = DESK) -> str:
    """The id that is meant."""
    return asyncio.run(meant(desk, reference, runs_words(Language.EN))).run_id


@pytest.mark.parametrize(
    ("reference", "run_id"),
    [
        ("last", "run-e5"),
        ("run-d4", "run-d4"),
        ("run-a", "run-a1"),
        ("run-c3", "run-c3"),  # an id that is whole is meant, though another begins so
        ("run-c31", "run-c31"),
    ],
)
def test_a_reference_means_one_run(reference: str, run_id: str) -> None:
    """Also one on the last page."""
    assert found(reference) == run_id


def test_several_runs_are_not_chosen_among() -> None:
    """They are named, so that more of the id can be given."""
    with pytest.raises(InvalidInput, match=r"several runs begin so \(run-c3, run-c31\)"):
        found("run-c")


@pytest.mark.parametrize("reference", ["run-f", "nope", "LAST"])
def test_no_run_is_no_run(reference: str) -> None:
    """And not the nearest one."""
    with pytest.raises(RunUnknown):
        found(reference)


@pytest.mark.parametrize("reference", ["", "..", "../x", "a/b", "run 1", "运行", "x" * 129])
def test_what_cannot_be_an_id_is_asked_of_nobody(reference: str) -> None:
    """It could lead to another path of a server."""
    desk = HeldDesk("run-a1")

    with pytest.raises(InvalidInput):
        found(reference, desk)
    assert desk.pages == 0


def test_there_may_be_no_last_run() -> None:
    """A sentence."""
    with pytest.raises(InvalidInput, match="there is no run yet"):
        found("last", HeldDesk())


def test_old_runs_are_not_looked_through_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search for a beginning ends somewhere."""
    monkeypatch.setattr(run_reference, "LOOKED_AT_MAX", 4)
    desk = HeldDesk(*(f"run-{number}" for number in range(100)))

    with pytest.raises(RunUnknown):
        found("zzz", desk)
    assert desk.pages == 2
