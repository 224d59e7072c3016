"""What every route works with: the service, its settings and its meters; and who asks in this request."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, cast

from fastapi import Depends
from starlette.requests import HTTPConnection, Request

from diagnosis_harness.application.callers.caller import Caller
from diagnosis_harness.application.service import Service
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.server.languages import asked_language
from diagnosis_harness.server.metrics import Metrics
from diagnosis_harness.server.streams import Streams
from diagnosis_harness.server.write_check import WriteCheck
from diagnosis_harness.settings import ServerSettings


@dataclass(frozen=True, slots=True)
class Face:
    """One per application; stands in `app.state.face`."""

    service: Service
    settings: ServerSettings
    metrics: Metrics
    streams: Streams
    stores: Mapping[str, WriteCheck] = field(default_factory=dict)
    """The service's stores by name, each tried by a write."""


@dataclass(frozen=True, slots=True)
class Admission:
    """Who was let in, as the doorkeeper found it.

    Attributes:
        unfinished_max: runs that the key may have queued or running; None leaves the service's own number.
    """

    caller: Caller
    unfinished_max: int | None = None


def face_of(request: Request) -> Face:
    """The face of the application that this request came to."""
    return cast("Face", request.app.state.face)


def admission_of(request: Request) -> Admission:
    """Who asks. The doorkeeper has let them in before any route is called."""
    return cast("Admission", request.state.admission)


def caller_of(request: Request) -> Caller:
    """Who asks, as the application knows them."""
    return admission_of(request).caller


def language_for(request: HTTPConnection) -> Language:
    """The language that the client wants to be spoken to in."""
    return asked_language(request.headers.get("accept-language", ""))


async def _stream_place(request: Request) -> AsyncIterator[None]:
    with face_of(request).streams.places.taken(caller_of(request).name):
        yield


TheFace = Annotated[Face, Depends(face_of)]
TheAdmission = Annotated[Admission, Depends(admission_of)]
TheCaller = Annotated[Caller, Depends(caller_of)]
StreamPlace = Annotated[None, Depends(_stream_place)]
"""One of the caller's places for streams: held from before the route until its response is sent."""
