"""The onset that a run used: as stated, else as its tools estimated it. Pure.

A time that a policy passes to a call is neither of these, so reports and later turns do not use it.
"""

from __future__ import annotations

from collections.abc import Iterable

from diagnosis_harness.diagnosis.inquiry import Inquiry, OnsetOrigin
from diagnosis_harness.guards.asked import own_onsets
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.report.document import OnsetUsed
from diagnosis_harness.tools.invocation import EvidenceRecord

GIVEN = "given"
_METHOD = {
    OnsetOrigin.ASKED: GIVEN,
    OnsetOrigin.QUESTION: GIVEN,
    OnsetOrigin.CARRIED: "carried",
    OnsetOrigin.SOURCE: "stated",
}
"""The method of a stated onset, by its origin; for an estimated onset, the record has it."""


def onset_used(inquiry: Inquiry, records: Iterable[EvidenceRecord]) -> OnsetUsed | None:
    """The onset of the question; None if nobody stated one and no tool estimated one."""
    own = next(iter(own_onsets(records)), None)
    if inquiry.onset_s is not None and inquiry.onset_origin in _METHOD:
        at, method = utc_text(inquiry.onset_s), _METHOD[inquiry.onset_origin]
    elif own is not None and own.onset_s is not None:
        at, method = utc_text(own.onset_s), str(own.attributes["method"])
    else:
        return None
    alert_at = None if inquiry.alert_at_s is None else utc_text(inquiry.alert_at_s)
    return OnsetUsed(at=at, method=method, alert_at=None if alert_at == at else alert_at)
