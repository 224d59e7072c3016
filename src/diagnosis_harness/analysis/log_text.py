"""Extracts what all log lines of one statement have in common, in a way that Python and databases can share.

Every pattern is simple enough for Python's `re` and for RE2, so that a source may mask lines where they are
stored.
"""

from __future__ import annotations

import re
from typing import Final

HEAD_MAX: Final = 300
"""Number of characters of the first line that are used: statements identify themselves at the front, and
payloads
of kilobytes would cost more than everything else."""
ANY: Final = "<*>"
"""Placeholder for a variable part."""

VARYING: Final = r"[A-Za-z_.+-]*[0-9][A-Za-z0-9_.+-]*|[A-Za-z0-9+_-]{40,}"
"""What is replaced: a word with a digit in it: numbers, times, sizes, addresses, ids, uuids, hexadecimal
digits, names of pods and
parts of a path; and any word of forty letters, which is a token or a digest. `/`, `:`, `=` and quotes divide
words, so the constant parts of a path, and keys before values, are kept."""

CODE_PLACE: Final = (
    r"[A-Za-z_$][A-Za-z0-9_$.]*#[0-9]+"
    r"|[A-Za-z_][A-Za-z0-9_]*\.(?:go|java|py|js|ts|rb|rs|cs|php|kt|cpp|cc):[0-9]+"
)
"""A place in the code (`OrderService#120`, `handler.go:88`), whose number identifies the statement."""
HTTP_FAILURE: Final = r"(?:HTTP/[0-9.]+\"?|[Ss]tatus(?:[ _-]?[Cc]ode)?)[ =:\"]{1,3}([45])[0-9][0-9]"
"""An HTTP status of failure: its class is part of what the line reports."""
HTTP_FAILURE_HINTS: Final = ("HTTP/", "tatus")
"""Every line with a status contains one of these; searching for them first is cheap."""

EXCEPTION_TYPE: Final = r"[A-Za-z_$][A-Za-z0-9_$.]*(?:Exception|Error|Panic|Fault)\b"
"""The type of an exception, searched for below the first line if a record has several lines."""

_LEVEL_WORD: Final = r"\b(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|FATAL|PANIC)\b"
"""A level in capitals at the front of a line, for records without a level field."""
_LEVEL_WITHIN: Final = 80
"""Number of characters in which a level may appear: a time, a thread and a logger may precede it, prose
follows."""

_LEVELS: Final = {
    "TRACE": "TRACE",
    "DEBUG": "DEBUG",
    "FINE": "DEBUG",
    "INFO": "INFO",
    "INFORMATION": "INFO",
    "NOTICE": "INFO",
    "WARN": "WARN",
    "WARNING": "WARN",
    "ERROR": "ERROR",
    "ERR": "ERROR",
    "SEVERE": "ERROR",
    "CRITICAL": "FATAL",
    "CRIT": "FATAL",
    "FATAL": "FATAL",
    "ALERT": "FATAL",
    "EMERG": "FATAL",
    "EMERGENCY": "FATAL",
    "PANIC": "FATAL",
}
"""One name for each level of syslog, log4j, Python, Go and .NET."""

_VARYING, _PLACE, _STATUS = re.compile(VARYING), re.compile(CODE_PLACE), re.compile(HTTP_FAILURE)
_EXCEPTION, _LEVEL = re.compile(EXCEPTION_TYPE), re.compile(_LEVEL_WORD)


def mask_text(message: str) -> str:
    """The fixed part of a line, followed by its class of status and its exception, if any."""
    first, _, below = message.partition("\n")
    head = first[:HEAD_MAX]
    status = _STATUS.search(head) if any(hint in head for hint in HTTP_FAILURE_HINTS) else None
    thrown = _EXCEPTION.search(below) if below else None
    masked = _VARYING.sub(ANY, head)
    return masked + (f" {status.group(1)}xx" if status else "") + (f" {thrown.group()}" if thrown else "")


def code_place(message: str) -> str | None:
    """The place in the code that wrote a line, if the line names one."""
    found = _PLACE.search(message[:HEAD_MAX])
    return found.group() if found else None


def exception_of(message: str) -> str | None:
    """The first exception type that a line, or the lines below it, names."""
    found = _EXCEPTION.search(message)
    return found.group() if found else None


def level_of(level: str | None, message: str) -> str | None:
    """The level by its usual name: from the record's field, else in capitals at the front of the message."""
    stated = (level or "").strip().upper()
    if stated:
        return _LEVELS.get(stated, stated)
    found = _LEVEL.search(message[:_LEVEL_WITHIN])
    return _LEVELS[found.group()] if found else None
