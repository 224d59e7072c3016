"""The opaque cursor where a page of runs ends, parsed strictly. Pure."""

from __future__ import annotations

import base64
import binascii
from math import isfinite

from diagnosis_harness.harness.keys import is_safe_segment
from diagnosis_harness.kernel.errors import InvalidInput


def page_mark_of(submitted_s: float, run_id: str) -> str:
    """The cursor after the last run of a page."""
    return base64.urlsafe_b64encode(f"{submitted_s!r} {run_id}".encode("ascii")).decode("ascii").rstrip("=")


def read_mark(mark: str) -> tuple[float, str]:
    """Submission time and id of the run that the cursor points to.

    Raises:
        InvalidInput: no page has this cursor.
    """
    try:
        padded = mark + "=" * (-len(mark) % 4)
        text = base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True).decode("ascii")
        submitted, _, run_id = text.partition(" ")
        submitted_s = float(submitted)
    except (ValueError, binascii.Error):
        raise _invalid_mark() from None
    if not isfinite(submitted_s) or not is_safe_segment(run_id) or page_mark_of(submitted_s, run_id) != mark:
        raise _invalid_mark()
    return submitted_s, run_id


def _invalid_mark() -> InvalidInput:
    return InvalidInput("before", "not a valid page cursor", "use `next` of the previous page, or omit it")
