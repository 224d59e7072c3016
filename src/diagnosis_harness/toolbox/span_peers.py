"""Finds the callee of a client span if the callee wrote no span: from the span's attributes or its operation.

Databases, providers and services without instrumentation write no spans; OpenTelemetry's client spans name
them (`peer.service`, `server.address`, `db.system`). A name inside the cluster refers to its service.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.toolbox.ports import SpanTable

CALLEE_LETTERS = 3
"""Minimum length of a name by which an operation may name its callee: shorter words are too ambiguous."""
_INSIDE = re.compile(r"[^.]+(\.[^.]+)?(\.svc(\..*)?|\.[^.]+\.local|\.local|\.internal)?")
"""Addresses inside a cluster: `orders`, `orders.shop`, `orders.shop.svc.cluster.local`, `orders.internal`."""
_WORDS = re.compile(r"[\s/.:]+")


@dataclass(frozen=True, slots=True)
class SpanPeers:
    """For each span the index of its callee in `names`, or -1 if unknown."""

    names: tuple[str, ...]
    of_span: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PeerReader:
    """Finds callees, given the known services and the owners of instances."""

    known: frozenset[str]
    owners: Mapping[str, str]

    def peers_of(self, part: SpanTable) -> SpanPeers:
        """The callee of each span that names one, or sends a request in an operation named after one."""
        of_peer = [self.entity_of(name) for name in part.peers]
        spelled = {name.lower(): name for name in self.known if len(name) >= CALLEE_LETTERS}
        of_operation = [_service_in(operation, spelled) for operation in part.operations]
        names = sorted({name for name in (*of_peer, *of_operation) if name is not None})
        place = {name: at for at, name in enumerate(names)}
        found = np.full(len(part), -1, dtype=np.int64)
        if part.client is not None:  # without span kinds an operation may equally name its caller
            coded = np.array([place.get(name or "", -1) for name in of_operation], dtype=np.int64)
            found[part.client] = coded[part.operation[part.client]]
        if part.peer is not None:
            coded = np.array([*(place[name] for name in of_peer), -1], dtype=np.int64)
            found = np.where(part.peer >= 0, coded[part.peer], found)
        used, found = np.unique(np.append(found, -1), return_inverse=True)
        return SpanPeers(tuple(names[at] for at in used.tolist()[1:]), found[:-1].astype(np.int64) - 1)

    def entity_of(self, peer: str) -> str:
        """The service of an address inside the cluster or of an instance, otherwise the name itself."""
        if peer in self.owners or peer in self.known:
            return self.owners.get(peer, peer)
        first = peer.split(".", 1)[0]
        inside = _INSIDE.fullmatch(peer) is not None
        return self.owners.get(first, first) if inside and first in {*self.owners, *self.known} else peer


def _service_in(operation: str, spelled: Mapping[str, str]) -> str | None:
    """The one known service that an operation names; None if it names none or several."""
    found = {spelled[word] for word in _WORDS.split(operation.lower()) if word in spelled}
    return found.pop() if len(found) == 1 else None
