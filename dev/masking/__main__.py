"""`python -m dev.masking [--corpus NAME] [--seed N] [--each N] [--show]`: recall and false maskings.

With `--linear`, the time that long texts of its lines take instead.
"""

from __future__ import annotations

import argparse
import sys

from dev.masking.corpus import CORPORA, FIRST
from dev.masking.figures import FALSE_MAX, RECALL_MIN, measure
from dev.masking.linear import time_sizes


def main() -> int:
    """Print the figures; 1 when one of them falls short."""
    parser = argparse.ArgumentParser(prog="python -m dev.masking")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", choices=CORPORA, default=FIRST, help="which lines (default first)")
    parser.add_argument("--each", type=int, default=20, help="lines of every template")
    parser.add_argument("--show", action="store_true", help="print each line that falls short")
    parser.add_argument("--linear", action="store_true", help="time long texts of the same lines")
    options = parser.parse_args()
    if options.linear:
        for size_bytes, cpu_s in time_sizes(options.seed, each=options.each):
            size_mb = size_bytes / 1e6
            print(f"{size_mb:>5.1f} MB {cpu_s:>7.2f} s CPU {cpu_s / size_mb:>6.2f} s per MB")
        return 0
    figures = measure(options.seed, each=options.each, corpus=options.corpus)
    if options.show:
        for line in (*figures.leaks, *figures.cuts, *figures.false_maskings):
            print(line)
    for kind, (found, all_of_kind) in sorted(figures.by_kind.items()):
        print(f"{kind:<20} {found:>6} of {all_of_kind}")
    print(
        f"{options.corpus}, seed {options.seed}: {figures.secrets} secrets, recall {figures.recall:.4f}; "
        f"{figures.innocents} innocent lines, {100 * figures.false_share:.2f}% masked; "
        f"{len(figures.cuts)} of {figures.planted} lines lost words around their secret"
    )
    return 0 if figures.recall >= RECALL_MIN and figures.false_share <= FALSE_MAX else 1


if __name__ == "__main__":
    sys.exit(main())
