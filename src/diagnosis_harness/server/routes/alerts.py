"""Alertmanager's webhook: a firing group is one run; a resolved one takes back what has not started."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from starlette.responses import JSONResponse

from diagnosis_harness.application.runs.desk import CancelEffect
from diagnosis_harness.application.runs.row import RunRow, RunStatus
from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.kernel.errors import NotPermitted
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.release.language import Language
from diagnosis_harness.server.alertmanager import GroupName, asking_of, group_name, is_about_nothing
from diagnosis_harness.server.face import Admission, Face, TheAdmission, TheFace, language_for
from diagnosis_harness.server.openapi import problems
from diagnosis_harness.server.problems import ProblemKind
from diagnosis_harness.server.submitting import submit_once
from diagnosis_harness.server.wire import PAGE_MAX, AlertGroup
from diagnosis_harness.server.wire_out import AlertsOut

router = APIRouter(tags=["alerts"])

_NOTHING_FIRES = {
    Language.EN: "The group is said to fire, and no alert in it does; nothing is asked.",
    Language.ZH: "该组标记为触发，但其中没有正在触发的告警；不发起提问。",
}


@router.post(
    "/v1/alerts/alertmanager",
    summary="Take a notification of Alertmanager",
    responses={
        200: {"model": AlertsOut, "description": "What was done."},
        **problems(ProblemKind.NOT_PERMITTED, ProblemKind.TOO_MANY_RUNS),
    },
)
async def alertmanager(
    group: AlertGroup,
    request: Request,
    *,
    face: TheFace,
    admission: TheAdmission,
    source: Annotated[
        str | None, Query(max_length=200, description="Name of the configured source to look into.")
    ] = None,
) -> Response:
    """One run for a firing group of alerts, joined while it is not finished; nothing is asked twice.

    A resolved group cancels its runs that are still queued, and leaves those that have started: what they
    find is worth reading.
    """
    if not admission.caller.may_ask:
        raise NotPermitted("a viewer reads and does not ask")
    name = group_name(group, admission.caller)
    held: dict[str, JsonValue] = {"status": group.status, "fingerprint": name.fingerprint}
    if is_about_nothing(group):
        return JSONResponse({**held, "runs": [], "ignored": _NOTHING_FIRES[language_for(request)]})
    if group.status == "resolved":
        runs = await _resolved(face, admission, name)
    else:
        asking = asking_of(group, admission.caller, source=source)
        submitted = await submit_once(face, admission, asking)
        runs = [_did(submitted.row, "SUBMITTED" if submitted.is_new else "JOINED")]
    return JSONResponse({**held, "runs": runs, "ignored": None})


async def _resolved(face: Face, admission: Admission, name: GroupName) -> list[JsonValue]:
    done: list[JsonValue] = []
    for status in (RunStatus.QUEUED, RunStatus.RUNNING):
        for row in await _of_group(face, admission, name, status):
            if status is RunStatus.RUNNING:
                done.append(_did(row, "LEFT_RUNNING"))
            else:
                report = await face.service.runs.cancel(admission.caller, row.run_id)
                has_left = report.effect is CancelEffect.NEVER_STARTED
                done.append(_did(row, "CANCELLED" if has_left else "LEFT_RUNNING"))
    return done


async def _of_group(face: Face, admission: Admission, name: GroupName, status: RunStatus) -> list[RunRow]:
    """All of them: a group is known by the first part of a fingerprint, whichever alerts it had then."""
    query = RunQuery(asked_by=admission.caller.name, status=status, limit=PAGE_MAX)
    rows: list[RunRow] = []
    while True:
        found = await face.service.runs.page(admission.caller, query)
        rows += [row for row in found.rows if name.is_of_group(row.request.fingerprint)]
        if found.next is None:
            return rows
        query = replace(query, before=found.next)


def _did(row: RunRow, did: str) -> JsonValue:
    return {"run_id": row.run_id, "did": did}
