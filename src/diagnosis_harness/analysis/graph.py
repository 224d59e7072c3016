"""Call graphs, followed through entities without data."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CallGraph:
    """Directed calls between named entities; no entity calls itself."""

    callees: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    callers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def entities(self) -> tuple[str, ...]:
        """All entities that have an edge, sorted."""
        return tuple(sorted({*self.callees, *self.callers}))

    @property
    def entries(self) -> tuple[str, ...]:
        """Entities that call others and have no callers, sorted."""
        return tuple(name for name in self.entities if name in self.callees and name not in self.callers)


def graph_of(edges: Iterable[tuple[str, str]]) -> CallGraph:
    """The graph of (caller, callee) pairs; duplicates and self-calls are dropped."""
    out: dict[str, set[str]] = {}
    into: dict[str, set[str]] = {}
    for caller, callee in edges:
        if caller != callee:
            out.setdefault(caller, set()).add(callee)
            into.setdefault(callee, set()).add(caller)
    return CallGraph(
        {name: tuple(sorted(found)) for name, found in sorted(out.items())},
        {name: tuple(sorted(found)) for name, found in sorted(into.items())},
    )


def reachable(graph: CallGraph, start: str) -> frozenset[str]:
    """The entity and everything that it calls, directly or through others."""
    seen = {start}
    waiting = [start]
    while waiting:
        for callee in graph.callees.get(waiting.pop(), ()):
            if callee not in seen:
                seen.add(callee)
                waiting.append(callee)
    return frozenset(seen)


def shortest_paths(graph: CallGraph, start: str, goals: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """For each goal, the entities on a shortest path of calls, including both ends.

    Empty if there is no path.

    The graph is walked once for all goals.
    """
    before: dict[str, str] = {}
    ring = [start]
    while ring:
        ahead: list[str] = []
        for name in ring:
            for callee in graph.callees.get(name, ()):
                if callee != start and callee not in before:
                    before[callee] = name
                    ahead.append(callee)
        ring = ahead
    return {goal: _walk_back(before, start, goal) for goal in goals}


def _walk_back(before: Mapping[str, str], start: str, goal: str) -> tuple[str, ...]:
    if goal != start and goal not in before:
        return ()
    path = [goal]
    while path[-1] != start:
        path.append(before[path[-1]])
    return tuple(reversed(path))


def nearest_known_callees(graph: CallGraph, entity: str, known: Collection[str]) -> tuple[str, ...]:
    """The nearest callees that have data, sorted; entities without data are walked through."""
    found: set[str] = set()
    seen = {entity}
    waiting = [entity]
    while waiting:
        for callee in graph.callees.get(waiting.pop(), ()):
            if callee in seen:
                continue
            seen.add(callee)
            if callee in known:
                found.add(callee)
            else:
                waiting.append(callee)
    return tuple(sorted(found))


def walk(
    graph: CallGraph, start: str, *, towards_callers: bool, depth: int
) -> tuple[tuple[str, str, int], ...]:
    """Edges (caller, callee, distance) outward from `start`, nearest first, each edge once."""
    step = graph.callers if towards_callers else graph.callees
    found: list[tuple[str, str, int]] = []
    seen = {start}
    ring = [start]
    for distance in range(1, depth + 1):
        ahead: list[str] = []
        for name in ring:
            for other in step.get(name, ()):
                found.append((other, name, distance) if towards_callers else (name, other, distance))
                if other not in seen:
                    seen.add(other)
                    ahead.append(other)
        ring = sorted(ahead)
    return tuple(found)
