"""Fail when a test was skipped for anything but a missing data set: `python dev/skips.py REPORT.xml ...`.

Reads pytest's JUnit reports. A reason that starts with `data:` is allowed; a missing program is not, because
a test that never runs looks just like one that passes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree as ET

ALLOWED = "data:"


def list_refused(report: Path) -> list[str]:
    """Return one line for each test of `report` that was skipped without an allowed reason."""
    lines = []
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 - our own pytest wrote the file
        for skipped in case.iter("skipped"):
            reason = skipped.get("message") or "no reason"
            if not reason.removeprefix("Skipped: ").startswith(ALLOWED):
                lines.append(f"{case.get('classname')}::{case.get('name')}: {reason}")
    return lines


def main(reports: list[str]) -> int:
    """Print every refused skip of all reports; 1 when there is one."""
    lines = [line for report in reports for line in list_refused(Path(report))]
    for line in lines:
        print("skipped:", line)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
