"""The caller: a name, and a role that decides what is allowed. It is passed with every tool request."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CallerRole(StrEnum):
    """What a caller may do; each role includes the one before it."""

    VIEWER = "viewer"  # reads its own runs
    OPERATOR = "operator"  # starts and cancels its own runs
    ADMIN = "admin"  # sees and cancels everybody's runs


@dataclass(frozen=True, slots=True)
class Caller:
    """One caller. `name` is unique among callers and contains only letters, digits, `.`, `_` and `-`."""

    name: str
    role: CallerRole

    @property
    def identity(self) -> str:
        """The caller in the tool policy and in evidence records: `role/name`."""
        return f"{self.role}/{self.name}"

    @property
    def may_ask(self) -> bool:
        """Whether this caller may start and cancel runs."""
        return self.role is not CallerRole.VIEWER

    def may_see(self, asked_by: str) -> bool:
        """Whether this caller may see a run of the caller with this name."""
        return self.role is CallerRole.ADMIN or asked_by in self.sees

    @property
    def sees(self) -> tuple[str, ...]:
        """The callers whose runs this one may see unless it is an admin: itself first."""
        return KEYLESS if self.name == LOCAL.name else (self.name,)


LOCAL = Caller("local", CallerRole.ADMIN)
"""A person with access to the database files of this machine; all runs in it are theirs."""

ALERTS = Caller("alerts", CallerRole.OPERATOR)
"""The sender of alerts from this machine if no key is required. It is a separate caller, so that its
unfinished runs do not count towards the limit of the local user."""

WITHOUT_KEY = Caller(LOCAL.name, CallerRole.OPERATOR)
"""The caller over HTTP if no key is required. It is not an admin: behind a proxy that does not identify
itself, any client looks local, and runs that were started with a key belong to that key."""

KEYLESS = (LOCAL.name, ALERTS.name)
"""Names that no key may have: their runs belong to the local user."""
