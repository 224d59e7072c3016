"""Which run is meant: an id, how one begins, or `last`."""

from __future__ import annotations

from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.cli.ports import RunsDesk
from diagnosis_harness.cli.runs_words import RunsWords
from diagnosis_harness.harness.keys import is_safe_segment
from diagnosis_harness.kernel.errors import InvalidInput, RunUnknown
from diagnosis_harness.server.run_view import RunView, WholeRunView

LAST = "last"
PAGE = 200
LOOKED_AT_MAX = 2_000
"""Runs among which the beginning of an id is looked for, the latest first."""
_NAMED_MAX = 4


async def meant(desk: RunsDesk, reference: str, words: RunsWords) -> WholeRunView:
    """The run that a person means, as it stands now.

    Raises:
        InvalidInput: it is no reference, several runs are meant, or there is none yet.
        RunUnknown: no run is meant.
    """
    if reference == LAST:
        rows = (await desk.page(RunQuery(limit=1))).rows
        if not rows:
            raise InvalidInput(LAST, words.none_at_all, words.none_at_all_remedy)
        return WholeRunView.read(await desk.row(RunView.read(rows[0]).run_id))
    # Dots alone would lead a URL to another path.
    if not is_safe_segment(reference) or not reference.strip("."):
        raise InvalidInput("RUN", words.no_reference, words.no_reference_remedy)
    try:
        return WholeRunView.read(await desk.row(reference))
    except RunUnknown:
        return WholeRunView.read(await desk.row(await _begun_so(desk, reference, words)))


async def _begun_so(desk: RunsDesk, beginning: str, words: RunsWords) -> str:
    found: list[str] = []
    before, looked_at = None, 0
    while looked_at < LOOKED_AT_MAX:
        page = await desk.page(RunQuery(limit=PAGE, before=before))
        ids = [RunView.read(row).run_id for row in page.rows]
        found += [run_id for run_id in ids if run_id.startswith(beginning)]
        looked_at += len(ids)
        before = page.next
        if before is None:
            break
    if not found:
        raise RunUnknown(beginning)
    if len(found) > 1:
        several = words.comma.join(found[:_NAMED_MAX]) + ("…" if len(found) > _NAMED_MAX else "")
        raise InvalidInput(beginning, words.ambiguous.format(runs=several), words.ambiguous_remedy)
    return found[0]
