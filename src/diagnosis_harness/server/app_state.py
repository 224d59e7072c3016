"""Application state and per-request dependencies of the routes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, cast

from fastapi import Depends
from starlette.requests import HTTPConnection, Request

from diagnosis_harness.application.callers.caller import Caller
from diagnosis_harness.application.service import Service
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.server.languages import preferred_language
from diagnosis_harness.server.metrics import Metrics
from diagnosis_harness.server.streams import Streams
from diagnosis_harness.server.write_check import WriteCheck
from diagnosis_harness.settings import ServerSettings


@dataclass(frozen=True, slots=True)
class AppState:
    """State that all requests share, one per application, in `app.state.app_state`."""

    service: Service
    settings: ServerSettings
    metrics: Metrics
    streams: Streams
    stores: Mapping[str, WriteCheck] = field(default_factory=dict)
    """A write check for each of the service's stores, by name."""


@dataclass(frozen=True, slots=True)
class Admission:
    """The authenticated caller of a request.

    Attributes:
        unfinished_max: limit of the key on queued and running runs; None means the service's own limit.
    """

    caller: Caller
    unfinished_max: int | None = None


def app_state_of(request: Request) -> AppState:
    """The state of the application that handles the request."""
    return cast("AppState", request.app.state.app_state)


def admission_of(request: Request) -> Admission:
    """The admission that `AuthMiddleware` stored before the route was called."""
    return cast("Admission", request.state.admission)


def caller_of(request: Request) -> Caller:
    """The caller of the request."""
    return admission_of(request).caller


def request_language(request: HTTPConnection) -> Language:
    """The language that the client accepts."""
    return preferred_language(request.headers.get("accept-language", ""))


async def _stream_slot(request: Request) -> AsyncIterator[None]:
    with app_state_of(request).streams.slots.hold_slot(caller_of(request).name):
        yield


AppStateDep = Annotated[AppState, Depends(app_state_of)]
AdmissionDep = Annotated[Admission, Depends(admission_of)]
CallerDep = Annotated[Caller, Depends(caller_of)]
StreamSlotDep = Annotated[None, Depends(_stream_slot)]
"""Holds one of the caller's stream slots from before the route runs until its response is sent."""
