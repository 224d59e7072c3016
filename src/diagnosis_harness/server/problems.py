"""Problems as RFC 9457 documents, from one table: status, type, title in both languages, when to retry.

Decides what clients see: a title for every kind, and the fields at fault in refused input. Internals are
never shown: no message of another error, no path, no class name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from diagnosis_harness.kernel import errors
from diagnosis_harness.kernel.errors import (
    DiagnosisHarnessError,
    InvalidInput,
    LimitReached,
    NoRoomForUpload,
    StoreFailure,
    TechnicalFailure,
)
from diagnosis_harness.kernel.faults import error_text
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language, Text
from diagnosis_harness.kernel.store_trouble import StoreTrouble
from diagnosis_harness.server.problem_row import ProblemRow
from diagnosis_harness.server.source_problems import (
    NO_ROOM_FOR_SOURCE,
    SOURCE_NOT_FOUND,
    TOO_MANY_SOURCES,
    UNSUPPORTED_SOURCE,
)
from diagnosis_harness.server.store_problems import STORE_PROBLEMS

PROBLEM_MEDIA_TYPE = "application/problem+json"
_TYPE_PREFIX = "urn:diagnosis-harness:problem:"
_INSTANCE_PREFIX = "urn:diagnosis-harness:request:"
UPLOAD_PATHS = frozenset({"/v1/sources"})
"""Where sources are uploaded: the route itself writes their bodies, which are files, to the disk."""
ALERT_PATHS = frozenset({"/v1/alerts/alertmanager"})
"""The path that Alertmanager calls. It retries only after a 5xx; every 4xx, even 429, is final to it."""

FIELDS_MAX = 20
_TEXT_MAX = 300


class ProblemKind(StrEnum):
    """Everything that can go wrong with a request; the last part of its type."""

    NOT_JSON = "not-json"
    INVALID_INPUT = "invalid-input"
    UNAUTHENTICATED = "unauthenticated"
    NOT_PERMITTED = "not-permitted"
    FOREIGN_PAGE = "foreign-page"
    PROXIED = "proxied"
    NOT_FOUND = "not-found"
    NO_SUCH_PATH = "no-such-path"
    METHOD_NOT_ALLOWED = "method-not-allowed"
    TOO_SLOW = "too-slow"
    RUN_GOES_ON = "run-goes-on"
    RUN_TAKEN = "run-taken"
    TOO_LARGE = "too-large"
    UNSUPPORTED_MEDIA = "unsupported-media"
    TOO_MANY_REQUESTS = "too-many-requests"
    TOO_MANY_RUNS = "too-many-runs"
    TOO_MANY_STREAMS = "too-many-streams"
    TOO_MANY_ALERTS = "too-many-alerts"
    TOO_MANY_SOURCES = "too-many-sources"
    SOURCE_NOT_FOUND = "source-not-found"
    UNSUPPORTED_SOURCE = "unsupported-source"
    NO_ROOM_FOR_SOURCE = "no-room-for-source"
    NOT_TAKEN = "not-taken"
    INTERNAL = "internal"
    STORE_UNAVAILABLE = "store-unavailable"
    DATABASE_FULL = "database-full"
    DATABASE_LOCKED = "database-locked"
    DATABASE_READ_ONLY = "database-read-only"
    DATABASE_FAILED = "database-failed"
    ROW_UNREADABLE = "row-unreadable"
    EVIDENCE_STORE_UNAVAILABLE = "evidence-store-unavailable"
    EVIDENCE_STORE_FULL = "evidence-store-full"
    EVIDENCE_STORE_READ_ONLY = "evidence-store-read-only"
    EVIDENCE_STORE_FAILED = "evidence-store-failed"
    EVIDENCE_UNREADABLE = "evidence-unreadable"
    QUEUE_UNAVAILABLE = "queue-unavailable"
    RUN_NOT_KEPT = "run-not-kept"
    NOT_READY = "not-ready"
    SERVICE_STOPPING = "service-stopping"


OF_TROUBLE: Mapping[StoreTrouble, ProblemKind] = MappingProxyType(
    {
        StoreTrouble.DATABASE_AWAY: ProblemKind.STORE_UNAVAILABLE,
        StoreTrouble.DATABASE_FULL: ProblemKind.DATABASE_FULL,
        StoreTrouble.DATABASE_LOCKED: ProblemKind.DATABASE_LOCKED,
        StoreTrouble.DATABASE_READ_ONLY: ProblemKind.DATABASE_READ_ONLY,
        StoreTrouble.DATABASE_FAILED: ProblemKind.DATABASE_FAILED,
        StoreTrouble.ROW_UNREADABLE: ProblemKind.ROW_UNREADABLE,
        StoreTrouble.EVIDENCE_AWAY: ProblemKind.EVIDENCE_STORE_UNAVAILABLE,
        StoreTrouble.EVIDENCE_FULL: ProblemKind.EVIDENCE_STORE_FULL,
        StoreTrouble.EVIDENCE_READ_ONLY: ProblemKind.EVIDENCE_STORE_READ_ONLY,
        StoreTrouble.EVIDENCE_FAILED: ProblemKind.EVIDENCE_STORE_FAILED,
        StoreTrouble.EVIDENCE_UNREADABLE: ProblemKind.EVIDENCE_UNREADABLE,
        StoreTrouble.QUEUE_AWAY: ProblemKind.QUEUE_UNAVAILABLE,
    }
)
"""The problem that reports each kind of store trouble; total."""

PROBLEMS: Mapping[ProblemKind, ProblemRow] = MappingProxyType(
    {
        ProblemKind.NOT_JSON: ProblemRow(
            400, Text(en="The body is not valid JSON.", zh="请求体不是有效的 JSON。")
        ),
        ProblemKind.INVALID_INPUT: ProblemRow(422, Text(en="A value is invalid.", zh="请求中有一个值无效。")),
        ProblemKind.UNAUTHENTICATED: ProblemRow(
            401,
            Text(en="A valid API key is required.", zh="需要有效的 API 密钥。"),
            remedy=Text(
                en="Send it as `Authorization: Bearer KEY`; `diagnose keys add` makes one.",
                zh="请以 `Authorization: Bearer KEY` 发送；用 `diagnose keys add` 创建密钥。",
            ),
        ),
        ProblemKind.NOT_PERMITTED: ProblemRow(
            403, Text(en="The role of this key does not allow that.", zh="此密钥的角色不允许该操作。")
        ),
        ProblemKind.FOREIGN_PAGE: ProblemRow(
            403,
            Text(
                en="The request used an unknown host name or came from another site's page.",
                zh="请求来自未知主机名或外部网页。",
            ),
            remedy=Text(
                en="Add this machine's names to the setting server.allowed_hosts.",
                zh="可在设置 server.allowed_hosts 中加入本机的名称。",
            ),
        ),
        ProblemKind.PROXIED: ProblemRow(
            403,
            Text(
                en="The request came through a proxy: use an API key.",
                zh="请求经由代理到达：请使用 API 密钥。",
            ),
        ),
        ProblemKind.NOT_FOUND: ProblemRow(
            404, Text(en="Not found, or not visible to you.", zh="未找到，或您无权查看。")
        ),
        ProblemKind.NO_SUCH_PATH: ProblemRow(
            404,
            Text(en="This path does not exist.", zh="没有此路径。"),
            remedy=Text(en="/openapi.json lists all paths.", zh="/openapi.json 列出了所有路径。"),
        ),
        ProblemKind.METHOD_NOT_ALLOWED: ProblemRow(
            405, Text(en="This path does not support that method.", zh="此路径不接受该方法。")
        ),
        ProblemKind.TOO_SLOW: ProblemRow(
            408, Text(en="The body did not arrive in time.", zh="请求体未在规定时间内到达。")
        ),
        ProblemKind.RUN_GOES_ON: ProblemRow(
            409,
            Text(
                en="The run is still in progress; this is available once it ends.",
                zh="运行仍在进行；结束后才能获取此内容。",
            ),
            retry_after_s=2,
        ),
        ProblemKind.RUN_TAKEN: ProblemRow(
            409,
            Text(
                en="The run has already been started, cancelled or ended.",
                zh="该运行此前已开始、取消或结束。",
            ),
        ),
        ProblemKind.TOO_LARGE: ProblemRow(413, Text(en="The body is too large.", zh="请求体过大。")),
        ProblemKind.UNSUPPORTED_MEDIA: ProblemRow(
            415,
            Text(
                en="The body must be application/json in UTF-8.",
                zh="请求体必须是 UTF-8 的 application/json。",
            ),
        ),
        ProblemKind.TOO_MANY_REQUESTS: ProblemRow(
            429, Text(en="This key has sent too many requests.", zh="此密钥的请求过于频繁。"), retry_after_s=1
        ),
        ProblemKind.TOO_MANY_RUNS: ProblemRow(
            429,
            Text(en="You have reached your limit of unfinished runs.", zh="您未完成的运行已达上限。"),
            retry_after_s=5,
            remedy=Text(en="Wait for one to end, or cancel one.", zh="请等待其中一个结束，或取消一个。"),
        ),
        ProblemKind.TOO_MANY_STREAMS: ProblemRow(
            429,
            Text(en="You have reached your limit of open streams.", zh="您打开的事件流已达上限。"),
            retry_after_s=5,
        ),
        ProblemKind.TOO_MANY_ALERTS: ProblemRow(
            503,
            Text(
                en="The limit of waiting notifications is reached; send this one again.",
                zh="等待处理的通知已达上限；请重新发送此通知。",
            ),
            retry_after_s=15,
            remedy=Text(
                en="The limit is the setting alerts.waiting_max.", zh="上限由设置 alerts.waiting_max 决定。"
            ),
        ),
        ProblemKind.TOO_MANY_SOURCES: TOO_MANY_SOURCES,
        ProblemKind.SOURCE_NOT_FOUND: SOURCE_NOT_FOUND,
        ProblemKind.UNSUPPORTED_SOURCE: UNSUPPORTED_SOURCE,
        ProblemKind.NO_ROOM_FOR_SOURCE: NO_ROOM_FOR_SOURCE,
        ProblemKind.NOT_TAKEN: ProblemRow(
            503,
            Text(en="The notification was not accepted; send it again.", zh="未能接收此通知；请重新发送。"),
            retry_after_s=5,
        ),
        ProblemKind.INTERNAL: ProblemRow(
            500,
            Text(
                en="An internal error occurred; it is logged under this request's id.",
                zh="服务内部出错；已按此请求记录。",
            ),
        ),
        **{OF_TROUBLE[trouble]: row for trouble, row in STORE_PROBLEMS.items()},
        ProblemKind.RUN_NOT_KEPT: ProblemRow(
            503,
            Text(
                en="The result of the run could not be stored, so it is not shown.",
                zh="运行的结果无法保存，因此不予显示。",
            ),
            retry_after_s=5,
        ),
        ProblemKind.NOT_READY: ProblemRow(
            503, Text(en="The service is not ready.", zh="服务尚未就绪。"), retry_after_s=2
        ),
        ProblemKind.SERVICE_STOPPING: ProblemRow(
            503,
            Text(
                en="The service is stopping and ended the run; ask again in a moment.",
                zh="服务正在停止，运行因此结束；请稍后再问。",
            ),
            retry_after_s=5,
        ),
    }
)

OF_ERROR: Mapping[type[DiagnosisHarnessError], ProblemKind] = MappingProxyType(
    {
        errors.InvalidInput: ProblemKind.INVALID_INPUT,
        errors.InvalidSetting: ProblemKind.INTERNAL,
        errors.RunUnknown: ProblemKind.NOT_FOUND,
        errors.RunGoesOn: ProblemKind.RUN_GOES_ON,
        errors.NotPermitted: ProblemKind.NOT_PERMITTED,
        errors.LimitReached: ProblemKind.TOO_MANY_REQUESTS,
        errors.TooManyRuns: ProblemKind.TOO_MANY_RUNS,
        errors.TooManyStreams: ProblemKind.TOO_MANY_STREAMS,
        errors.TooManyAlerts: ProblemKind.TOO_MANY_ALERTS,
        errors.SourceUnknown: ProblemKind.SOURCE_NOT_FOUND,
        errors.NoRoomForUpload: ProblemKind.NO_ROOM_FOR_SOURCE,
        errors.TooManySources: ProblemKind.TOO_MANY_SOURCES,
        errors.RunTaken: ProblemKind.RUN_TAKEN,
        errors.StoreFailure: ProblemKind.STORE_UNAVAILABLE,
        errors.RunNotKept: ProblemKind.RUN_NOT_KEPT,
        errors.JsonInvalid: ProblemKind.INTERNAL,
        errors.RunDocumentInvalid: ProblemKind.INTERNAL,
        errors.StoredBytesInvalid: ProblemKind.INTERNAL,
        errors.ContractViolation: ProblemKind.INTERNAL,
    }
)
"""An error is reported by its nearest class in this table, or as INTERNAL if none is listed."""

IN_RUNS_ONLY: frozenset[type[DiagnosisHarnessError]] = frozenset(
    {
        errors.RunAborted,
        errors.CapacityRefused,
        errors.InterruptCarried,
        errors.TechnicalFailure,
        errors.ArgumentProblem,
        errors.ProjectionTooLarge,
        errors.MalformedAnswer,
        errors.NothingToRelease,
        errors.AgentStopped,
    }
)
"""Errors, with their subclasses, that occur only inside a run: they become its outcome and not a problem."""


_BODY_UNREAD = frozenset(
    {ProblemKind.TOO_LARGE, ProblemKind.TOO_SLOW, ProblemKind.UNSUPPORTED_SOURCE}
    | {ProblemKind.NO_ROOM_FOR_SOURCE}
)
"""After these problems, part of the body may still be unread on the connection."""


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """What is wrong with one field, and what to do about it."""

    field: str
    problem: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem, before it has a language and a request.

    Attributes:
        reason: details in our own words, for the log only; never sent.
    """

    kind: ProblemKind
    fields: tuple[FieldProblem, ...] = ()
    retry_after_s: int | None = None
    limit: int | None = None
    reason: str = ""

    @property
    def row(self) -> ProblemRow:
        """Its row in the table."""
        return PROBLEMS[self.kind]

    def headers(self) -> dict[str, str]:
        """`WWW-Authenticate`, `Retry-After` and `Connection`, if the problem needs them."""
        headers = {}
        retry_after_s = self.row.retry_after_s if self.retry_after_s is None else self.retry_after_s
        if retry_after_s is not None:
            headers["retry-after"] = str(retry_after_s)
        if self.kind is ProblemKind.UNAUTHENTICATED:
            headers["www-authenticate"] = 'Bearer realm="diagnosis-harness"'
        if self.kind in (*_BODY_UNREAD, ProblemKind.NOT_TAKEN):
            headers["connection"] = "close"  # the rest of the body is not read
        return headers

    def body(self, language: Language, request_id: str) -> bytes:
        """The document as bytes."""
        # Refused input may hold half of a surrogate pair, which JSON can only escape.
        text = json.dumps(self.as_json(language, request_id), ensure_ascii=False)
        return text.encode("utf-8", "backslashreplace")

    def as_json(self, language: Language, request_id: str) -> dict[str, JsonValue]:
        """The document."""
        content: dict[str, JsonValue] = {
            "type": f"{_TYPE_PREFIX}{self.kind}",
            "title": self.row.title.in_(language),
            "status": self.row.status,
            "instance": f"{_INSTANCE_PREFIX}{request_id}",
        }
        if self.fields:
            first = self.fields[0]
            content["detail"] = f"{first.field}: {first.problem}; {first.remedy}."
            content["errors"] = [
                {"field": each.field, "problem": each.problem, "remedy": each.remedy} for each in self.fields
            ]
        elif self.row.remedy is not None:
            content["detail"] = self.row.remedy.in_(language)
        if self.limit is not None:
            content["limit"] = self.limit
        return content


_PASSES = frozenset({ProblemKind.TOO_SLOW, ProblemKind.TOO_MANY_REQUESTS, ProblemKind.TOO_MANY_RUNS})


def for_alerts(problem: Problem) -> Problem:
    """The problem for Alertmanager: a temporary one becomes a 5xx, since it retries nothing else."""
    return Problem(ProblemKind.NOT_TAKEN) if problem.kind in _PASSES else problem


def problem_of(error: DiagnosisHarnessError) -> Problem:
    """The problem that reports this error."""
    kind = next((OF_ERROR[each] for each in type(error).__mro__ if each in OF_ERROR), ProblemKind.INTERNAL)
    if isinstance(error, InvalidInput) and kind is ProblemKind.INVALID_INPUT:
        return Problem(kind, (field_of(error.place, error.problem, error.remedy),))
    if isinstance(error, LimitReached):
        return Problem(kind, limit=error.limit)
    if isinstance(error, NoRoomForUpload):
        return Problem(kind, reason=error_text(error))
    if isinstance(error, StoreFailure):
        return Problem(OF_TROUBLE[error.trouble], reason=error_text(error))
    return Problem(kind, reason=error_text(error) if isinstance(error, TechnicalFailure) else "")


def field_of(field: str, problem: str, remedy: str) -> FieldProblem:
    """A field at fault, in a bounded form."""
    return FieldProblem(_short(field), _short(problem), _short(remedy))


def _short(text: str) -> str:
    return text if len(text) <= _TEXT_MAX else f"{text[: _TEXT_MAX - 1]}…"
