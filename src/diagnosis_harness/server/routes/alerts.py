"""Alertmanager's webhook: stores a notification, to be processed as soon as there is room for its run."""

from __future__ import annotations

import logging
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field
from starlette.responses import JSONResponse

from diagnosis_harness.application.alerts.alerts import TakenNotification
from diagnosis_harness.application.alerts.inbox import AlertEffect, AlertStatus
from diagnosis_harness.kernel.errors import InvalidInput, NotPermitted
from diagnosis_harness.kernel.language import Text
from diagnosis_harness.server.alertmanager import group_fingerprint, is_about_nothing, submission_of
from diagnosis_harness.server.app_state import AdmissionDep, AppStateDep, request_language
from diagnosis_harness.server.openapi import problems
from diagnosis_harness.server.problem_response import request_id_of
from diagnosis_harness.server.problems import ProblemKind
from diagnosis_harness.server.request_bodies import AlertGroup
from diagnosis_harness.server.view import View

router = APIRouter(tags=["alerts"])

_LOG = logging.getLogger("diagnosis_harness.server")
_NO_ALERT_FIRES = Text(
    en="The group is marked as firing, but none of its alerts is; no question was asked.",
    zh="该组标记为触发，但其中没有正在触发的告警；不发起提问。",
)


class AlertRunView(View):
    """One run, and what was done with it."""

    run_id: str
    did: AlertEffect


class AlertsView(View):
    """The state of an accepted notification."""

    notification_id: Annotated[
        str | None,
        Field(
            description=(
                "The id under which the notification is stored: the id of this request, or of an identical "
                "notification of the group that is still waiting. None if there is nothing to do."
            )
        ),
    ]
    status: AlertStatus
    fingerprint: Annotated[str, Field(description="The session of the group and of all runs about it.")]
    is_waiting: Annotated[bool, Field(description="The notification is stored and not processed yet.")]
    ahead: Annotated[int, Field(description="How many other notifications were waiting when it arrived.")]
    runs: Annotated[
        list[AlertRunView],
        Field(description=("What was done, with each run once; empty while the notification waits.")),
    ]
    ignored: Annotated[str | None, Field(description="Why there was nothing to do, if so.")]


@router.post(
    "/v1/alerts/alertmanager",
    status_code=202,
    summary="Accept an Alertmanager notification",
    responses={
        202: {
            "model": AlertsView,
            "description": (
                "The notification is stored and will be processed exactly once; the body holds what is "
                "known so far."
            ),
        },
        200: {"model": AlertsView, "description": "There is nothing to do: `ignored` says why."},
        **problems(ProblemKind.NOT_PERMITTED, ProblemKind.TOO_MANY_ALERTS, ProblemKind.NOT_TAKEN),
    },
)
async def alertmanager(
    group: AlertGroup,
    request: Request,
    *,
    state: AppStateDep,
    admission: AdmissionDep,
    source: Annotated[
        str | None,
        Query(
            max_length=200,
            description="Name of the configured source to diagnose; `alerts.source` if omitted.",
        ),
    ] = None,
) -> Response:
    """Store the notification and process those of its group in the order of their arrival.

    `groupKey` identifies a group. A firing group has one unfinished run, whichever alerts are in it. A
    resolved group cancels its run if that is still queued; a run that has started continues, since its result
    is worth reading. When the group fires again after that, a new run starts. While the caller has as many
    unfinished runs as alerts may create (`alerts.unfinished_runs`), the notification waits.
    """
    alerts, caller = state.service.alerts, admission.caller
    if not caller.may_ask:
        raise NotPermitted("a viewer may only read")
    source = alerts.source_of(source)
    status = AlertStatus(group.status)
    fingerprint = group_fingerprint(group, caller, source=source)
    if is_about_nothing(group):
        return _answer(status, fingerprint, None, ignored=_NO_ALERT_FIRES.in_(request_language(request)))
    notification_id = request_id_of(request.scope)
    if status is AlertStatus.RESOLVED:
        taken = await alerts.take_resolved(caller, notification_id=notification_id, fingerprint=fingerprint)
        return _answer(status, fingerprint, taken)
    try:
        taken = await alerts.take_firing(
            caller,
            submission_of(group, source=source),
            notification_id=notification_id,
            fingerprint=fingerprint,
            unfinished_max=admission.unfinished_max,
        )
    except InvalidInput as error:  # nobody reads the answer at the sender, so it is also logged here
        _LOG.warning("request %s: a notification of Alertmanager is refused: %s", notification_id, error)
        raise
    return _answer(status, fingerprint, taken)


def _answer(
    status: AlertStatus, fingerprint: str, taken: TakenNotification | None, *, ignored: str | None = None
) -> Response:
    report = None if taken is None else taken.report
    effects = {} if report is None else report.effects
    view = AlertsView(
        notification_id=None if taken is None else taken.notification_id,
        status=status,
        fingerprint=fingerprint,
        is_waiting=taken is not None and report is None,
        ahead=0 if taken is None else taken.ahead,
        runs=[AlertRunView(run_id=run_id, did=effect) for run_id, effect in effects.items()],
        ignored=ignored,
    )
    return JSONResponse(view.body(), status_code=200 if taken is None else 202)
