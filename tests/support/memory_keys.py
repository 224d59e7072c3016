"""Keys in memory, and a door that they open."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import httpx2
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from diagnosis_harness.application.callers.api_key import ApiKey, NewKey, new_key
from diagnosis_harness.application.callers.caller import CallerRole
from diagnosis_harness.kernel.errors import StoreFailure
from diagnosis_harness.kernel.ids import RandomIds
from diagnosis_harness.server.auth import (
    AuthMiddleware,
    AuthRules,
)
from diagnosis_harness.server.error_middleware import ErrorMiddleware
from diagnosis_harness.server.key_cache import KeyCache
from diagnosis_harness.server.metrics import Metrics
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds

NEW = new_key(RandomIds())


def key_of(new: NewKey, **changes: Any) -> ApiKey:
    """The key as it is kept."""
    stored_key = ApiKey(
        key_id=new.key_id,
        name="ann",
        role=CallerRole.OPERATOR,
        secret_sha256=new.secret_sha256,
        created_at_s=0.0,
    )
    return replace(stored_key, **changes)


@dataclass(slots=True)
class HeldKeys:
    """A key store in memory that counts how often it is asked, and can be away."""

    stored: dict[str, ApiKey] = field(default_factory=dict)
    asked: int = 0
    asked_all: int = 0
    is_away: bool = False

    async def add(self, key: ApiKey) -> bool:
        """Keep it."""
        self.stored[key.key_id] = key
        return True

    async def key(self, key_id: str) -> ApiKey | None:
        """Find it."""
        self.asked += 1
        if self.is_away:
            raise StoreFailure("away")
        return self.stored.get(key_id)

    async def keys(self) -> tuple[ApiKey, ...]:
        """All of them."""
        self.asked_all += 1
        return tuple(self.stored.values())

    async def revoke(self, key_id: str, *, at_s: float) -> bool:
        """Make it invalid."""
        self.stored[key_id] = replace(self.stored[key_id], revoked_at_s=at_s)
        return True


@dataclass(slots=True)
class Door:
    """A doorkeeper before an application that says who came in."""

    store: HeldKeys
    clock: ManualClock
    app: ErrorMiddleware

    async def get(self, path: str = "/v1/runs", **headers: str) -> httpx2.Response:
        """Ask through it."""
        host = headers.pop("host", "127.0.0.1:8300")
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(self.app), base_url=f"http://{host}"
        ) as client:
            return await client.get(path, headers=headers)


def door(*, needs_key: bool = True, hosts: tuple[str, ...] = (), key: ApiKey | None = None) -> Door:
    """A door with one key."""
    store, clock = HeldKeys({NEW.key_id: key or key_of(NEW)}), ManualClock()

    async def inside(scope: Scope, receive: Receive, send: Send) -> None:
        admission = scope["state"].get("admission")
        who = {} if admission is None else {"name": admission.caller.name, "runs": admission.unfinished_max}
        await JSONResponse(who)(scope, receive, send)

    rules = AuthRules(needs_key=needs_key, hosts=frozenset(hosts), rate_per_minute=3)
    keeper = AuthMiddleware(inside, keys=KeyCache(store, clock), rules=rules, clock=clock)
    return Door(store, clock, ErrorMiddleware(keeper, ids=CountingIds(), metrics=Metrics(), clock=clock))


def play(act: Callable[[], Awaitable[None]]) -> None:
    """Run a test in a loop."""

    async def finish() -> None:
        await act()

    asyncio.run(finish())
