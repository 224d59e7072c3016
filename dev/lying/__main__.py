"""`python -m dev.lying [--seed N] [--drafts N] [--only told|chosen] [--json OUT] [--page PAGE]`.

Sends thousands of lies through the product and looks for them in what is published: drafts over recorded
runs, and whole runs in which the agent chooses its tool calls. The last lines are the figures; the exit code
is 1 if anything untrue was released, or if too few truthful drafts passed. The default seed is a digest of
the tested code: nobody chose it, and it changes with the code.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

from dev.commit import describe_commit, find_commit
from dev.lying.catalog import TRUTHFUL, Sample, samples, tellers
from dev.lying.chosen.outcome import Choosing, join_parts
from dev.lying.chosen.play import FAMILIES, play
from dev.lying.figures import Figures, Result
from dev.lying.oracle import leaks
from dev.lying.recorded import RecordedRun
from dev.lying.recording import record_runs
from dev.lying.trial import release_draft

from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import ReleaseOutcome

KINDS_EACH = 9
WORLDS_EACH = 4
DRAFTS = 40_000
CHOSEN_SHARE = 1 / 3
"""Families of whole runs get a third as many drafts as other classes: a run costs four times as much."""
JOBS = max(1, (os.cpu_count() or 2) - 1)
_EACH_ZH = 3
BEGIN, END = "<!-- lying: written by make lying -->", "<!-- lying: end -->"


async def try_drafts(drafts: Iterable[Sample], *, kinds: Sequence[str]) -> tuple[Figures, ...]:
    """Send every draft through the real release, every third in Chinese."""
    figures = {kind: Figures(kind) for kind in kinds}
    for number, sample in enumerate(drafts):
        language = Language.ZH if number % _EACH_ZH == 0 else Language.EN
        try:
            out = await release_draft(sample.run, sample.told, language)
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
    """Send at least this many drafts in all, equally many of every class."""
    kinds = tuple(tellers())
    each = -(-drafts // len(kinds))
    return Result(seed, len(runs), asyncio.run(try_drafts(samples(seed, runs, each=each), kinds=kinds)))


def write_page(page: Path, figures: str) -> None:
    """Put the figures between their marks on a page; the rest of the page stays as it is.

    Raises:
        ValueError: the page has no marks.
    """
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{page} has no section between {BEGIN} and {END}")
    page.write_text(f"{before}{begin}\n{figures}{end}{after}", encoding="utf-8")


def seed_of_the_tree() -> int:
    """A seed that nobody chose: a digest of the tested code and of the liar."""
    root = Path(__file__).parents[2]
    files = sorted(each for part in ("src", "dev/lying") for each in (root / part).rglob("*.py"))
    whole = hashlib.sha256()
    for file in files:
        whole.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes() + b"\0")
    return int.from_bytes(whole.digest()[:4])


def choose(seed: int, *, worlds_each: int, each: int, jobs: int) -> list[Future[Choosing]]:
    """Play whole runs of every family in several processes, each with a share of the families."""
    pool = ProcessPoolExecutor(max_workers=jobs, mp_context=multiprocessing.get_context("spawn"))
    shares = [FAMILIES[at::jobs] for at in range(jobs)]
    found = [pool.submit(play, seed, worlds_each=worlds_each, each=each, families=share) for share in shares]
    pool.shutdown(wait=False)
    return found


def main() -> int:
    """Record, lie, count."""
    options = _options()
    seed = seed_of_the_tree() if options.seed is None else options.seed
    kinds = len(tellers()) if options.only != "chosen" else 0
    each = round(options.drafts / (kinds + len(FAMILIES) * CHOSEN_SHARE))
    families = [] if options.only == "told" else choose(
        seed, worlds_each=options.worlds_each, each=max(2, round(each * CHOSEN_SHARE)), jobs=options.jobs
    )  # fmt: skip
    result = None if options.only == "chosen" else _run_told(seed, options, drafts=each * kinds)
    chosen = join_parts([part.result() for part in families]) if families else None
    parts: list[Result | Choosing] = [part for part in (result, chosen) if part is not None]
    for part in parts:
        print(part.table())
    for line in _examples(result, chosen):
        print(line)
    if options.page is not None:
        code = describe_commit(find_commit())
        write_page(
            options.page, "\n\n".join(f"{code}: `{part.line()}`\n\n{part.table()}" for part in parts) + "\n"
        )
    if options.json is not None:
        held = {"told": result and result.as_json(), "chosen": chosen and chosen.as_json()}
        options.json.write_text(f"{json.dumps(held, indent=2, ensure_ascii=False)}\n", encoding="utf-8")
    for part in parts:
        print(part.line())
    return 0 if all(part.holds for part in parts) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make lying", description=__doc__)
    parser.add_argument("--seed", type=int, help="chooses incidents, worlds and lies (a digest of the tree)")
    parser.add_argument("--drafts", type=int, default=DRAFTS, help=f"how many in all (default {DRAFTS})")
    parser.add_argument(
        "--only", choices=("told", "chosen"), help="drafts over recorded runs, or whole runs, alone"
    )
    parser.add_argument("--kinds-each", type=int, default=KINDS_EACH, help="simulated incidents of each kind")
    parser.add_argument(
        "--worlds-each", type=int, default=WORLDS_EACH, help="worlds of each kind for whole runs"
    )
    parser.add_argument("--jobs", type=int, default=JOBS, help="processes for whole runs beside this one")
    parser.add_argument("--json", type=Path, metavar="OUT", help="also write the figures here")
    parser.add_argument("--page", type=Path, metavar="PAGE", help="also write them into this page's section")
    return parser.parse_args()


def _run_told(seed: int, options: argparse.Namespace, *, drafts: int) -> Result:
    named = os.environ.get("DIAGNOSIS_DATA", "")
    data = Path(named) if named and Path(named).is_dir() else None
    with tempfile.TemporaryDirectory() as work:
        print("recording runs", file=sys.stderr, flush=True)
        runs = list(record_runs(seed, work=Path(work), data=data, kinds_each=options.kinds_each))
    return lie(seed, runs, drafts=drafts)


def _examples(result: Result | None, chosen: Choosing | None) -> list[str]:
    """Examples of what should not have been released."""
    told = [
        f"released: {figures.kind}: {figures.example}"
        for figures in (result.classes if result else ())
        if figures.kind != TRUTHFUL and figures.example
    ]
    why = [
        f"held back: {reason}" for figures in (result.classes if result else ()) for reason in figures.reasons
    ]
    return told + why + (chosen.examples() if chosen else [])


if __name__ == "__main__":
    sys.exit(main())
