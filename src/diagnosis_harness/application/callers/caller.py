"""Who asks: a name, and a role that decides what may be asked for. It travels with every tool request."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CallerRole(StrEnum):
    """What a caller may do; each may all that the one before it may."""

    VIEWER = "viewer"  # reads what was asked under this name
    OPERATOR = "operator"  # asks and cancels
    ADMIN = "admin"  # sees and cancels everybody's runs


@dataclass(frozen=True, slots=True)
class Caller:
    """One caller. `name` is unique among callers and holds letters, digits, `.`, `_` and `-` only."""

    name: str
    role: CallerRole

    @property
    def identity(self) -> str:
        """How the tool policy and the evidence records know the caller: `role/name`."""
        return f"{self.role}/{self.name}"

    @property
    def may_ask(self) -> bool:
        """Whether this caller may start and cancel runs."""
        return self.role is not CallerRole.VIEWER

    def may_see(self, asked_by: str) -> bool:
        """Whether this caller may see a run that was asked for by the caller of this name."""
        return self.role is CallerRole.ADMIN or asked_by in self.sees

    @property
    def sees(self) -> tuple[str, ...]:
        """The callers whose runs this one may see, where it is no admin: itself first."""
        return KEYLESS if self.name == LOCAL.name else (self.name,)


LOCAL = Caller("local", CallerRole.ADMIN)
"""Whoever is at the database of this machine itself: its files are theirs, and so are all runs in it."""

ALERTS = Caller("alerts", CallerRole.OPERATOR)
"""Whoever sends notifications of alerts from this machine, where no key is asked for: apart from the people
here, so that neither has the other's unfinished runs counted as its own."""

WITHOUT_KEY = Caller(LOCAL.name, CallerRole.OPERATOR)
"""Whoever asks over HTTP where no key is asked for. No admin: a proxy that says nothing of itself makes the
whole world look like this machine, and what was asked with a key is that key's."""

KEYLESS = (LOCAL.name, ALERTS.name)
"""Names that no key may have. Their runs belong to whoever is here."""
