"""The mark where a page of runs ends: opaque to whoever gets it, and read strictly. Pure."""

from __future__ import annotations

import base64
import binascii
from math import isfinite

from diagnosis_harness.harness.keys import is_safe_segment
from diagnosis_harness.kernel.errors import InvalidInput


def mark_of(submitted_s: float, run_id: str) -> str:
    """The mark of the last run of a page."""
    return base64.urlsafe_b64encode(f"{submitted_s!r} {run_id}".encode("ascii")).decode("ascii").rstrip("=")


def read_mark(mark: str) -> tuple[float, str]:
    """Submission and id of the run that the mark names.

    Raises:
        InvalidInput: no page ended in this mark.
    """
    try:
        padded = mark + "=" * (-len(mark) % 4)
        told = base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True).decode("ascii")
        instant, _, run_id = told.partition(" ")
        submitted_s = float(instant)
    except (ValueError, binascii.Error):
        raise _refused() from None
    if not isfinite(submitted_s) or not is_safe_segment(run_id) or mark_of(submitted_s, run_id) != mark:
        raise _refused()
    return submitted_s, run_id


def _refused() -> InvalidInput:
    return InvalidInput("before", "it is no mark of a page", "use `next` of the page before, or leave it out")
