"""Which caller may use which tool: a policy object, asked by preflight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.tools.spec import ToolSpec


class ToolAccess(Protocol):
    """Decides whether a caller may use a tool. Pure: no waiting, no input or output."""

    def permits(self, ctx: RunContext, caller: str, spec: ToolSpec) -> bool:
        """True when the caller holds every scope the tool names."""
        ...


@dataclass(frozen=True, slots=True)
class ScopeAccess:
    """Grants by caller name; a caller that is not listed may use nothing. `*` grants every scope."""

    grants: Mapping[str, frozenset[str]]

    def permits(self, ctx: RunContext, caller: str, spec: ToolSpec) -> bool:
        """True when the caller holds every scope the tool names, or `*`."""
        del ctx  # the port's first argument; a grant does not depend on the run
        granted = self.grants.get(caller)
        return granted is not None and ("*" in granted or granted.issuperset(spec.scope_names))


@dataclass(frozen=True, slots=True)
class RoleAccess:
    """Grants by the role in a caller's identity, `role/name`; a role that is not listed may use nothing."""

    grants: Mapping[str, frozenset[str]]

    def permits(self, ctx: RunContext, caller: str, spec: ToolSpec) -> bool:
        """True when the caller's role holds every scope the tool names, or `*`."""
        role, slash, name = caller.partition("/")
        return bool(slash and name) and ScopeAccess(self.grants).permits(ctx, role, spec)
