"""Queues questions, each once: a request for the same joins the unfinished run."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from diagnosis_harness.application.callers.caller import Caller
from diagnosis_harness.application.runs.store import Submitted
from diagnosis_harness.application.runs.submission import Submission
from diagnosis_harness.server.app_state import Admission, AppState


def fingerprint_of(kind: str, caller: Caller, *parts: str) -> str:
    """A key for the question, unique to this caller, so that nobody joins another caller's run."""
    digest = hashlib.sha256()
    for part in (caller.name, *parts):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return f"{kind}-{digest.hexdigest()[:40]}"


async def submit_once(state: AppState, admission: Admission, submission: Submission) -> Submitted:
    """Queue a question. A second request to retry the same run joins the first while that is unfinished.

    Raises:
        NotPermitted, InvalidInput, RunUnknown, RunGoesOn, TooManyRuns, StoreFailure: as `RunService.submit`.
    """
    service, caller = state.service, admission.caller
    if submission.retry_of is not None and submission.fingerprint is None:
        submission = replace(submission, fingerprint=fingerprint_of("retry", caller, submission.retry_of))
    if submission.fingerprint is not None and caller.may_ask:
        # Looked up first, so that a caller at its limit still gets the run that exists.
        for row in await service.stores.archive.of_fingerprint(submission.fingerprint):
            return Submitted(row, is_new=False)
    return await service.runs.submit(caller, submission, unfinished_max=admission.unfinished_max)
