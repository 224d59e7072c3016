"""A run is found by its id, by the start of its id, or as `last`."""

from __future__ import annotations

import asyncio

import pytest
from tests.unit.cli.shown_runs import make_queued_row, request

from diagnosis_harness.application.runs.feedback import FeedbackVerdict
from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.cli.client import find_run
from diagnosis_harness.cli.client.runs_client import RunRows
from diagnosis_harness.kernel.errors import InvalidInput, RunUnknown
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.server.run_view import WholeRunView
from diagnosis_harness.trace.event import TraceEvent


class FakeClient:
    """A client with some ids, the latest first, in pages of two."""

    def __init__(self, *ids: str) -> None:
        self._ids = ids
        self.pages = 0

    async def page(self, query: RunQuery) -> RunRows:
        """The next two."""
        self.pages += 1
        start = 0 if query.before is None else int(query.before)
        end = start + min(query.limit, 2)
        rows = tuple(self._row(run_id) for run_id in self._ids[start:end])
        return RunRows(rows, str(end) if end < len(self._ids) else None)

    async def row(self, run_id: str) -> JsonValue:
        """The row, if there is one."""
        if run_id not in self._ids:
            raise RunUnknown(run_id)
        return self._row(run_id)

    @staticmethod
    def _row(run_id: str) -> JsonValue:
        return WholeRunView.of(make_queued_row(request(run_id))).body()

    async def document(self, run_id: str) -> bytes:
        """Not used here."""
        raise AssertionError

    async def events(self, run_id: str) -> tuple[TraceEvent, ...]:
        """Not used here."""
        raise AssertionError

    async def why(self, run_id: str, language: Language) -> JsonValue:
        """Not used here."""
        raise AssertionError

    async def cancel(self, run_id: str) -> JsonValue:
        """Not used here."""
        raise AssertionError

    async def mark(self, run_id: str, verdict: FeedbackVerdict, *, cause: str | None, note: str) -> JsonValue:
        """Not used here."""
        raise AssertionError


CLIENT = FakeClient("run-e5", "run-d4", "run-c3", "run-c31", "run-b2", "run-a1")


def find(reference: str, client: FakeClient = CLIENT) -> str:
    """The id of the run that is found."""
    return asyncio.run(find_run.find_run(client, reference, Language.EN)).run_id


@pytest.mark.parametrize(
    ("reference", "run_id"),
    [
        ("last", "run-e5"),
        ("run-d4", "run-d4"),
        ("run-a", "run-a1"),
        ("run-c3", "run-c3"),  # a complete id wins over a longer id with the same start
        ("run-c31", "run-c31"),
    ],
)
def test_a_reference_finds_one_run(reference: str, run_id: str) -> None:
    """Including a run on the last page."""
    assert find(reference) == run_id


def test_an_ambiguous_start_is_refused() -> None:
    """The message lists the candidates."""
    with pytest.raises(InvalidInput, match=r"several run ids start with that \(run-c3, run-c31\)"):
        find("run-c")


@pytest.mark.parametrize("reference", ["run-f", "nope", "LAST"])
def test_an_unknown_reference_finds_no_run(reference: str) -> None:
    """Not even a similar one."""
    with pytest.raises(RunUnknown):
        find(reference)


@pytest.mark.parametrize("reference", ["", "..", "../x", "a/b", "run 1", "运行", "x" * 129])
def test_an_invalid_id_sends_no_request(reference: str) -> None:
    """It could lead to another path of the server."""
    client = FakeClient("run-a1")

    with pytest.raises(InvalidInput):
        find(reference, client)
    assert client.pages == 0


def test_last_is_refused_when_there_is_no_run() -> None:
    """The message says so."""
    with pytest.raises(InvalidInput, match="there is no run yet"):
        find("last", FakeClient())


def test_the_search_for_a_start_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the latest runs are searched."""
    monkeypatch.setattr(find_run, "SEARCHED_MAX", 4)
    client = FakeClient(*(f"run-{number}" for number in range(100)))

    with pytest.raises(RunUnknown):
        find("zzz", client)
    assert client.pages == 2
