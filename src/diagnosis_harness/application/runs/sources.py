"""The source that a run reads, and the sources that this process has."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

Lane: TypeAlias = str
"""A part of the queue: the runs about one source. ASCII letters, digits and `-`."""

ANY_LANE: Final = "any"
"""The lane of runs without a source, or about one that a caller sent: every process takes them."""

UPLOAD_PREFIX: Final = "upload-"
_UPLOAD_ID = re.compile(rf"{UPLOAD_PREFIX}[0-9a-f]{{32}}")

_DIGITS: Final = 32  # 128 bits distinguish the sources of one service


@dataclass(frozen=True, slots=True)
class SourceStamp:
    """The state of a source at one time.

    Attributes:
        identity: identifies the source on any machine and under any path: a digest of its kind, its
                configured description and its entities.
            content: a digest of its whole content.
    """

    identity: str
    content: str


@dataclass(frozen=True, slots=True)
class SourceBacklog:
    """How many QUEUED runs need one source; name and identity are None for runs without a source."""

    name: str | None
    identity: str | None
    runs: int

    @property
    def lane(self) -> Lane:
        """The part of the queue that they wait in."""
        return lane_of(self.name, self.identity)


@dataclass(frozen=True, slots=True)
class LeftRuns:
    """Queued runs that this process leaves to others.

    Attributes:
        is_another: whether this process has a different source of the same name.
    """

    backlog: SourceBacklog
    is_another: bool


class OwnSources(Protocol):
    """The sources that this process has."""

    def lanes(self) -> Collection[Lane]:
        """The lanes it can work on, including those of a source's earlier states."""
        ...

    async def stamp(self, name: str) -> SourceStamp | None:
        """The source in its present state, or in its last known one if it cannot be read.

        None if no source of that name is configured.
        """
        ...

    async def refresh(self) -> None:
        """Check whether any of them has changed."""
        ...


class NoSources:
    """`OwnSources` of a process without sources."""

    def lanes(self) -> Collection[Lane]:
        """Only the lane of runs without a source."""
        return (ANY_LANE,)

    async def stamp(self, name: str) -> SourceStamp | None:
        """None, since none is configured."""
        del name
        return None

    async def refresh(self) -> None:
        """Do nothing."""


def is_upload_id(name: str) -> bool:
    """Whether a name is the id of a source that a caller has sent; no configured source may have one."""
    return _UPLOAD_ID.fullmatch(name) is not None


def lane_of(name: str | None, identity: str | None) -> Lane:
    """The part of the queue in which the runs of a source wait.

    A run stored by an older program has only the name of its source.
    """
    if name is not None and is_upload_id(name):
        return ANY_LANE  # every process can fetch it
    if identity is not None:
        return f"source-{_short(identity)}"
    return ANY_LANE if name is None else f"name-{_short(name)}"


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
