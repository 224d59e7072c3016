"""`python -m dev.speed [--only NAME ...] [--quick] [--json OUT] [--page PAGE]`.

Prints every figure beside its target. The exit code is always 0, since a slow machine is not a defect.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from dev.speed import (
    cancelling,
    concurrent_runs,
    installing,
    loading,
    mining_logs,
    page,
    releasing,
    sizes,
    starting,
    stepping,
    streaming,
)
from dev.speed.figure import Figure, as_text


def _measures(*, quick: bool) -> Mapping[str, Callable[[], list[Figure]]]:
    return {
        "stepping": lambda: stepping.measure(rounds=3 if quick else 15),
        "concurrent": lambda: concurrent_runs.measure(rounds=1 if quick else 3),
        "cancelling": lambda: cancelling.measure(times=20 if quick else 300),
        "releasing": lambda: releasing.measure(rounds=3 if quick else 15),
        "starting": lambda: starting.measure(rounds=3 if quick else 15),
        "loading": lambda: loading.measure(rounds=1 if quick else 5, megabytes=8 if quick else 64),
        "logs": lambda: mining_logs.measure(rounds=1 if quick else 5, lines=60_000 if quick else 600_000),
        "sizes": lambda: sizes.measure(share=0.02 if quick else 1.0),
        "streaming": lambda: streaming.measure(rounds=1 if quick else 5, events=20 if quick else 200),
        "installing": installing.measure,
    }


def _machine() -> str:
    """The hardware and interpreter, without names."""
    return f"{os.cpu_count()} cores, {platform.python_implementation()} {platform.python_version()}"


def main() -> int:
    """Measure, print, and write the requested files."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    names = sorted(_measures(quick=True))
    parser.add_argument("--only", nargs="+", choices=names, help="some measures alone")
    parser.add_argument("--quick", action="store_true", help="few rounds: does it run at all?")
    parser.add_argument("--json", type=Path, metavar="OUT", help="also write the figures here")
    parser.add_argument("--page", type=Path, metavar="PAGE", help="also write them into this page's section")
    options = parser.parse_args()

    figures: list[Figure] = []
    started_s = time.perf_counter()
    for name, measure in _measures(quick=options.quick).items():
        if not options.only or name in options.only:
            print(f"measuring: {name}", file=sys.stderr, flush=True)
            figures += measure()
    print(as_text(figures))
    over = [figure.name.strip() for figure in figures if figure.verdict == "over"]
    took_s = time.perf_counter() - started_s
    print(f"\n{_machine()}; load {os.getloadavg()[0]:.1f}; {took_s:.0f} s; {len(over)} over")
    if options.json is not None:
        document = {"machine": _machine(), "figures": [dataclasses.asdict(figure) for figure in figures]}
        options.json.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    if options.page is not None:
        page.write(options.page, figures, machine=_machine())
    return 0


if __name__ == "__main__":
    sys.exit(main())
