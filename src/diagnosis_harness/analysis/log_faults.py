"""A table of phrases that state what went wrong in a log line of failure, the most specific first."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Mechanism(StrEnum):
    """What a log line can report as the fault."""

    OUT_OF_MEMORY = "out of memory"
    POOL_EXHAUSTED = "pool exhausted"
    DISK_FULL = "disk full"
    LOCK = "lock"
    RATE_LIMIT = "rate limit"
    NAME_RESOLUTION = "name resolution"
    CERTIFICATE = "certificate"
    PERMISSION = "permission"
    CONFIGURATION = "configuration"
    SCHEMA = "schema"
    REFUSED = "connection refused"
    UNREACHABLE = "unreachable"
    CODE = "code error"
    GIVEN_UP = "caller gave up"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class LogPhrase:
    """The phrases of one mechanism.

    Attributes:
        phrases: what runtimes, databases and libraries write about it.
        fault_kind: the kind of fault it indicates (wire value of a fault kind).
    """

    mechanism: Mechanism
    phrases: re.Pattern[str]
    fault_kind: str


def _row(mechanism: Mechanism, fault_kind: str, *phrases: str) -> LogPhrase:
    return LogPhrase(mechanism, re.compile("|".join(phrases), re.IGNORECASE), fault_kind)


PHRASES: Final = (
    # The JVM, Go, Node, Python, the kernel's killer and cgroups.
    _row(
        Mechanism.OUT_OF_MEMORY,
        "MEMORY",
        r"out ?of ?memory",
        r"\boom\b",
        r"oom[-_ ]?kill",
        r"cannot allocate memory",
        r"memoryerror",
        r"heap space",
        r"heap out of",
        r"gc overhead limit",
        r"memory limit exceeded",
    ),
    # HikariPool, pgx, database/sql, threads, queues of workers, file descriptors.
    _row(
        Mechanism.POOL_EXHAUSTED,
        "SATURATION",
        r"pool\b.{0,40}\b(?:exhausted|saturated|full|timed? ?out|not available|limit)",
        r"too many (?:connections|clients|open files)",
        r"connection is not available",
        r"(?:remaining|no (?:free|available|more)) connection",
        r"no available (?:worker|thread)s?",
        r"(?:queue|buffer) (?:is )?full",
        r"rejectedexecution",
        r"resource temporarily unavailable",
    ),
    _row(
        Mechanism.DISK_FULL,
        "SATURATION",
        r"no space left",
        r"disk (?:is )?full",
        r"disk quota",
        r"enospc",
        r"storage (?:is )?full",
        r"read-only file ?system",
    ),
    # PostgreSQL, MySQL, SQL Server, SQLite.
    _row(
        Mechanism.LOCK,
        "LOCK",
        r"deadlock",
        r"lock wait",
        r"could not obtain lock",
        r"lock timeout",
        r"database is locked",
        r"lock request time ?out",
        r"could not serialize",
    ),
    _row(
        Mechanism.RATE_LIMIT,
        "SATURATION",
        r"rate ?limit",
        r"too many requests",
        r"throttl",
        r"throughput ?exceeded",
        r"quota exceeded",
        r"resource_?exhausted",
    ),
    _row(
        Mechanism.NAME_RESOLUTION,
        "NETWORK",
        r"no such host",
        r"name or service not known",
        r"unknown ?host",
        r"getaddrinfo",
        r"enotfound",
        r"eai_again",
        r"temporary failure in name resolution",
        r"nxdomain",
        r"servfail",
    ),
    _row(
        Mechanism.CERTIFICATE,
        "CONFIGURATION",
        r"x509",
        r"certificate (?:has )?(?:expired|verify|unknown|is not|signed)",
        r"ssl ?handshake",
        r"tls handshake",
        r"pkix path",
    ),
    _row(
        Mechanism.PERMISSION,
        "CONFIGURATION",
        r"permission denied",
        r"access ?denied",
        r"unauthori[sz]ed",
        r"forbidden",
        r"authentication (?:failed|failure)",
        r"invalid (?:token|credentials|signature|issuer|audience)",
        r"not authorized",
        r"token (?:has )?expired",
    ),
    _row(
        Mechanism.CONFIGURATION,
        "CONFIGURATION",
        r"(?:missing|invalid|unknown) (?:config(?:uration)?|environment variable|setting|property|flag)\b",
        r"(?:configuration|config) (?:error|invalid|parse|missing)",
        r"failed to (?:load|parse|read) (?:the )?(?:config|settings|yaml)",
        r"could not resolve placeholder",
        r"environment variable .{0,40}(?:not set|required|missing)",
        r"yaml: ",
        r"beancreationexception",
    ),
    # A database schema that differs from what the code expects.
    _row(
        Mechanism.SCHEMA,
        "CODE",
        r"(?:relation|table|column) .{0,60}(?:does not exist|doesn't exist|not found)",
        r"no such (?:table|column)",
        r"unknown column",
        r"duplicate (?:key|entry|column)",
        r"violates .{0,30}constraint",
        r"undefined ?(?:table|column)",
    ),
    _row(
        Mechanism.REFUSED,
        "ERRORS",
        r"connection refused",
        r"econnrefused",
        r"connectexception",
        r"refused to connect",
    ),
    _row(
        Mechanism.UNREACHABLE,
        "NETWORK",
        r"connection (?:was )?reset",
        r"econnreset",
        r"broken pipe",
        r"epipe",
        r"no route to host",
        r"(?:host|network) (?:is )?unreachable",
        r"socket hang up",
        r"unexpected eof",
        r"connection closed",
    ),
    # Faults of the program itself, as its runtime names them.
    _row(
        Mechanism.CODE,
        "CODE",
        r"panic: ",
        r"concurrent map (?:writes|read|iteration)",
        r"concurrentmodification",
        r"data race",
        r"nil pointer",
        r"nullpointer",
        r"null reference",
        r"typeerror",
        r"attributeerror",
        r"keyerror",
        r"valueerror",
        r"indexerror",
        r"index out of (?:range|bounds)",
        r"illegalstate",
        r"illegalargument",
        r"classcast",
        r"segmentation fault",
        r"sigsegv",
        r"stack ?overflow",
        r"assertion(?:error| failed)",
        r"nosuchmethod",
        r"classnotfound",
        r"arithmeticexception",
        r"division by zero",
        r"divide by zero",
        r"is not a function",
        r"undefined is not",
        r"cannot read propert",
        r"unhandled",
        r"duplicate registration",
        r"modulenotfound",
        r"importerror",
        r"no module named",
        r"numberformat",
        r"unmarshal",
        r"parse error",
        r"jsondecodeerror",
    ),
    # Written by the callee when the caller's timeout ended, which is not a failure of the writer.
    _row(
        Mechanism.GIVEN_UP,
        "LATENCY",
        r"cancell?ed by (?:the )?(?:client|caller)",
        r"context cancell?ed",
        r"client (?:has )?(?:closed|disconnected|cancell?ed|aborted|gone)",
        r"client closed request",
    ),
    # Last: most other faults also cause a timeout somewhere.
    _row(
        Mechanism.TIMEOUT,
        "LATENCY",
        r"time[d]?[ -]?out",
        r"deadline ?(?:was )?exceeded",
        r"etimedout",
        r"context deadline",
    ),
)

_FAILURE: Final = re.compile(
    r"\b(?:fail(?:ed|ure|s|ing)?|errors?|exception|fatal|panic|refused|denied|abort(?:ed|ing)?|"
    r"crash(?:ed)?|unable|cannot|could not|unavailable|rejected|exhausted|timed ?out|timeout)\b|"
    r"[a-z]+(?:Exception|Error)\b",
    re.IGNORECASE,
)
_HARMLESS: Final = re.compile(
    r"\b(?:no|0|zero|without)\s+(?:errors?|failures?|failed)\b|errors?[=: ]+0\b|failed[=: ]+0\b|"
    r"time-?out[=: ]+\d|(?:err|error)\s*[=:]\s*(?:nil|null|none|\"\"|false)",
    re.IGNORECASE,
)
SERIOUS: Final = frozenset({"WARN", "ERROR", "FATAL"})
"""Levels at which a program reports a problem."""
CALM: Final = frozenset({"TRACE", "DEBUG"})
"""Levels at which handled failures are written."""


def mechanism_of(text: str) -> LogPhrase | None:
    """What a line reports as the fault; None if it contains no phrase of the table."""
    return next((row for row in PHRASES if row.phrases.search(text)), None)


def reports_failure(level: str | None, text: str) -> bool:
    """Whether a line reports a failure, by its level or otherwise by its words."""
    if level in SERIOUS:
        return True
    if level in CALM:
        return False
    plain = _HARMLESS.sub(" ", text)
    return _FAILURE.search(plain) is not None


def fault_kind_in(text: str) -> str:
    """The kind of fault that a line of failure indicates; ERRORS if it names no mechanism."""
    found = mechanism_of(text)
    return "ERRORS" if found is None else found.fault_kind
