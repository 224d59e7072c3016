"""Find a run by its id, by the start of its id, or as `last`."""

from __future__ import annotations

from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.cli.client.runs_client import RunsClient
from diagnosis_harness.cli.words import runs as words
from diagnosis_harness.harness.keys import is_safe_segment
from diagnosis_harness.kernel.errors import InvalidInput, RunUnknown
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.server.run_view import RunView, WholeRunView

LAST = "last"
PAGE = 200
"""The most runs that a server gives on one page."""
SEARCHED_MAX = 2_000
"""How many runs, the latest first, are searched for the start of an id: ten pages, so ten requests."""
_NAMED_MAX = 4


async def find_run(client: RunsClient, reference: str, language: Language) -> WholeRunView:
    """The run that `reference` names, in its present state.

    Raises:
        InvalidInput: the reference is not valid, matches several runs, or is `last` and there is no run.
        RunUnknown: no run matches.
    """
    if reference == LAST:
        rows = (await client.page(RunQuery(limit=1))).rows
        if not rows:
            raise InvalidInput(LAST, words.NONE_AT_ALL.in_(language), words.NONE_AT_ALL_REMEDY.in_(language))
        return WholeRunView.read(await client.row(RunView.read(rows[0]).run_id))
    # Dots alone would lead a URL to another path.
    if not is_safe_segment(reference) or not reference.strip("."):
        raise InvalidInput("RUN", words.NO_REFERENCE.in_(language), words.NO_REFERENCE_REMEDY.in_(language))
    try:
        return WholeRunView.read(await client.row(reference))
    except RunUnknown:
        return WholeRunView.read(await client.row(await _find_by_prefix(client, reference, language)))


async def _find_by_prefix(client: RunsClient, prefix: str, language: Language) -> str:
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
        several = words.COMMA.in_(language).join(found[:_NAMED_MAX]) + (
            "…" if len(found) > _NAMED_MAX else ""
        )
        raise InvalidInput(
            prefix, words.AMBIGUOUS.render(language, runs=several), words.AMBIGUOUS_REMEDY.in_(language)
        )
    return found[0]
