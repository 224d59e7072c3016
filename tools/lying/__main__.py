"""`python -m tools.lying --seed N --drafts N [--json OUT] [--page PAGE] [--kinds-each N]`.

Tells lies by the thousand to the real release and looks for them in what it lets out. The last line holds the
figures; the exit code is 1 when a fabricated element was released or the truth did not come through.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from tools.lying.catalog import Sample, samples, tellers
from tools.lying.figures import Figures, Result
from tools.lying.oracle import leaks
from tools.lying.recorded import RecordedRun
from tools.lying.recording import record_runs
from tools.lying.trial import released

from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.release.language import Language
from diagnosis_harness.release.outcome import ReleaseOutcome

KINDS_EACH = 9
DRAFTS = 40_000
_EACH_ZH = 3
BEGIN, END = "<!-- lying: written by make lying -->", "<!-- lying: end -->"


async def tried(drafts: Iterable[Sample], *, kinds: Sequence[str]) -> tuple[Figures, ...]:
    """Every draft through the real release; every third in Chinese."""
    figures = {kind: Figures(kind) for kind in kinds}
    for number, sample in enumerate(drafts):
        language = Language.ZH if number % _EACH_ZH == 0 else Language.EN
        try:
            out = await released(sample.run, sample.told, language)
        except (ContractViolation, ValueError) as error:
            figures[sample.kind].crash(error)
            continue
        claims = out.report["claims"]
        whole = isinstance(claims, list) and len(claims) == len(sample.told.draft.claims)
        figures[sample.kind].count(
            out.outcome,
            leaks(out.report, sample.told.forged),
            unrepaired=out.outcome is ReleaseOutcome.SUCCESS and whole and not out.repaired,
            why=out.findings,
        )
    return tuple(figures.values())


def lie(seed: int, runs: Sequence[RecordedRun], *, drafts: int) -> Result:
    """At least so many drafts in all, equally many of every class."""
    kinds = tuple(tellers())
    each = -(-drafts // len(kinds))
    return Result(seed, len(runs), asyncio.run(tried(samples(seed, runs, each=each), kinds=kinds)))


def write_page(page: Path, figures: str) -> None:
    """Put the figures between their marks on a page; what stands outside of the marks stays.

    Raises:
        ValueError: the page has no marks.
    """
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{page} has no section between {BEGIN} and {END}")
    page.write_text(f"{before}{begin}\n{figures}{end}{after}", encoding="utf-8")


def main() -> int:
    """Record, lie, count."""
    parser = argparse.ArgumentParser(prog="make lying", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="chooses incidents and lies (default 0)")
    parser.add_argument("--drafts", type=int, default=DRAFTS, help=f"how many in all (default {DRAFTS})")
    parser.add_argument("--kinds-each", type=int, default=KINDS_EACH, help="simulated incidents of each kind")
    parser.add_argument("--json", type=Path, metavar="OUT", help="also write the figures here")
    parser.add_argument("--page", type=Path, metavar="PAGE", help="also write them into this page's section")
    options = parser.parse_args()

    named = os.environ.get("DIAGNOSIS_DATA", "")
    data = Path(named) if named and Path(named).is_dir() else None
    with tempfile.TemporaryDirectory() as work:
        print("recording runs", file=sys.stderr, flush=True)
        runs = list(record_runs(options.seed, work=Path(work), data=data, kinds_each=options.kinds_each))
    started_s = time.process_time()
    result = lie(options.seed, runs, drafts=options.drafts)
    took_s = time.process_time() - started_s
    print(result.table())
    for figures in result.classes:
        if figures.is_lie and figures.example:
            print(f"released: {figures.kind}: {figures.example}")
    print(f"{sum(each.drafts for each in result.classes) / max(took_s, 1e-9):.0f} drafts per CPU second")
    if options.page is not None:
        write_page(options.page, f"`{result.line()}`\n\n{result.table()}\n")
    if options.json is not None:
        text = json.dumps(result.as_json(), indent=2, ensure_ascii=False)
        options.json.write_text(f"{text}\n", encoding="utf-8")
    print(result.line())
    return 0 if result.holds else 1


if __name__ == "__main__":
    sys.exit(main())
