"""Find a run by its id, by the start of its id, or as `last`."""

from __future__ import annotations

from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.cli.client.runs_client import RunsClient
from diagnosis_harness.cli.runs_words import RunsWords
from diagnosis_harness.harness.keys import is_safe_segment
from diagnosis_harness.kernel.errors import InvalidInput, RunUnknown
from diagnosis_harness.server.run_view import RunView, WholeRunView

LAST = "last"
PAGE = 200
"""The most runs that a server gives on one page."""
SEARCHED_MAX = 2_000
"""How many runs, the latest first, are searched for the start of an id: ten pages, so ten requests."""
_NAMED_MAX = 4


async def find_run(client: RunsClient, reference: str, words: RunsWords) -> WholeRunView:
    """The run that `reference` names, in its present state.

    Raises:
        InvalidInput: the reference is not valid, matches several runs, or is `last` and there is no run.
        RunUnknown: no run matches.
    """
    if reference == LAST:
        rows = (await client.page(RunQuery(limit=1))).rows
        if not rows:
            raise InvalidInput(LAST, words.none_at_all, words.none_at_all_remedy)
        return WholeRunView.read(await client.row(RunView.read(rows[0]).run_id))
    # Dots alone would lead a URL to another path.
    if not is_safe_segment(reference) or not reference.strip("."):
        raise InvalidInput("RUN", words.no_reference, words.no_reference_remedy)
    try:
        return WholeRunView.read(await client.row(reference))
    except RunUnknown:
        return WholeRunView.read(await client.row(await _find_by_prefix(client, reference, words)))


async def _find_by_prefix(client: RunsClient, prefix: str, words: RunsWords) -> str:
    found: list[str] = []
    before, searched = None, 0
    while searched < SEARCHED_MAX:
        page = await client.page(RunQuery(limit=PAGE, before=before))
        ids = [RunView.read(row).run_id for row in page.rows]
        found += [run_id for run_id in ids if run_id.startswith(prefix)]
        searched += len(ids)
        before = page.next
        if before is None:
            break
    if not found:
        raise RunUnknown(prefix)
    if len(found) > 1:
        several = words.comma.join(found[:_NAMED_MAX]) + ("…" if len(found) > _NAMED_MAX else "")
        raise InvalidInput(prefix, words.ambiguous.format(runs=several), words.ambiguous_remedy)
    return found[0]
