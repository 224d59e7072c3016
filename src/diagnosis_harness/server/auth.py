"""Who is let in: an API key, or, on this machine itself and where no key is asked for, whoever is here."""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Collection, Coroutine
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, TypeVar
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from diagnosis_harness.application.callers.api_key import ApiKey, PresentedKey, read_key
from diagnosis_harness.application.callers.caller import LOCAL
from diagnosis_harness.application.callers.key_store import KeyStore
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import FailureKind, InvalidSetting, StoreFailure
from diagnosis_harness.server.face import Admission
from diagnosis_harness.server.problems import Problem, ProblemKind, problem_of
from diagnosis_harness.server.rate_limit import RateLimits
from diagnosis_harness.server.replies import send_problem
from diagnosis_harness.server.within import within

T = TypeVar("T")

OPEN_PATHS = frozenset({"/healthz", "/readyz", "/openapi.json"})
"""Paths that tell nothing of any run and are asked for by machines without a key."""

KEY_HELD_S = 5.0
"""For how long a key that was read is believed: a key that another process revokes is refused after that."""

PROXY_HEADERS = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
"""What a proxy adds (RFC 7239, RFC 9110 §7.6.3, and custom): whoever sent the request is elsewhere."""

UNKNOWN_PER_MINUTE = 120
"""Looks into the store for ids that no key here has; further ones share a look a second."""

LOOK_LIMIT_S = 1.5
WATCHED_PATHS = frozenset({"/metrics"})
"""Told to whoever had a key a moment ago also while the store is away, which is when they are looked at."""

_ALL_HELD_S = 1.0
_KEYS_HELD_MAX = 1_000
_BEARER = re.compile(r"bearer +([!-~]+) *", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DoorRules:
    """What is asked of a request before it is let in.

    Attributes:
        needs_key: whether a key is asked for, also on this machine.
        hosts: names by which this machine may be called where no key is asked for, beside those of loopback.
        rate_per_minute: for a key that says nothing itself.
    """

    needs_key: bool
    hosts: frozenset[str]
    rate_per_minute: int


def bearer_of(headers: Collection[str]) -> str | None:
    """The token of the one `Authorization: Bearer` header; None where there is not exactly one."""
    if len(headers) != 1:
        return None
    found = _BEARER.fullmatch(next(iter(headers)))
    return found[1] if found else None


def is_loopback(host: str) -> bool:
    """Whether a name or an address is this machine's own, and reached from nowhere else."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


async def require_key(keys: KeyStore, *, host: str) -> None:
    """Refuse to listen beyond loopback where nobody could be told from anybody else.

    Raises:
        InvalidSetting: there is no valid key.
        StoreFailure: it cannot be looked up.
    """
    if not is_loopback(host) and all(key.revoked_at_s is not None for key in await keys.keys()):
        raise InvalidSetting(
            "server.host",
            f"{host} can be reached from other machines, and there is no API key",
            "make one with `diagnose keys add`, or listen on 127.0.0.1",
        )


class KeyRing:
    """Keys as they were read a moment ago, also those that are none: not each request asks the store.

    Ids that are none are held apart, so that they push out no key; and where many new ones come, as from
    somebody who tries, all of them together cost one look at all keys a second.
    """

    def __init__(self, keys: KeyStore, clock: Clock) -> None:
        self._keys = keys
        self._clock = clock
        self._held: OrderedDict[str, tuple[ApiKey, float]] = OrderedDict()
        self._unknown: OrderedDict[str, float] = OrderedDict()
        self._looks = RateLimits()
        self._all: tuple[dict[str, ApiKey], float] = ({}, 0.0)
        self._reading = asyncio.Lock()

    async def admitted(self, presented: PresentedKey) -> ApiKey | None:
        """The valid key that was presented; None where there is none.

        Raises:
            StoreFailure: it cannot be looked up.
        """
        key = await self._key(presented.key_id)
        return key if key is not None and key.admits(presented.secret) else None

    def remembered(self, presented: PresentedKey) -> ApiKey | None:
        """The key as it was read last, however long ago, if this is it."""
        held = self._held.get(presented.key_id)
        return held[0] if held is not None and held[0].admits(presented.secret) else None

    def forget(self, key_id: str) -> None:
        """Look the key up again: it was changed here."""
        self._held.pop(key_id, None)
        self._unknown.pop(key_id, None)

    async def _key(self, key_id: str) -> ApiKey | None:
        now_s = self._clock.now_s()
        held = self._held.get(key_id)
        if held is not None and now_s < held[1]:
            return held[0]
        if now_s < self._unknown.get(key_id, 0.0):
            return None
        is_known = held is not None
        if is_known or self._looks.wait_s("", now_s=now_s, per_minute=UNKNOWN_PER_MINUTE) is None:
            key = await self._read(self._keys.key(key_id))
        else:
            key = (await self._all_keys()).get(key_id)
        self._held.pop(key_id, None)
        self._unknown.pop(key_id, None)
        if key is None:
            _hold(self._unknown, key_id, now_s + KEY_HELD_S)
        else:
            _hold(self._held, key_id, (key, now_s + KEY_HELD_S))
        return key

    async def _read(self, look: Coroutine[Any, Any, T]) -> T:
        """What the store says, soon: a request that waits for it has not been let in."""
        try:
            return await within(self._clock, LOOK_LIMIT_S, look)
        except TimeoutError:
            raise StoreFailure("the keys cannot be looked up", kind=FailureKind.TIMEOUT) from None

    async def _all_keys(self) -> dict[str, ApiKey]:
        """All of them, read at most once in a while, however many ask at once."""
        async with self._reading:
            now_s = self._clock.now_s()
            if now_s >= self._all[1]:
                keys = {key.key_id: key for key in await self._read(self._keys.keys())}
                self._all = (keys, now_s + _ALL_HELD_S)
            return self._all[0]


def _hold(held: OrderedDict[str, T], key_id: str, what: T) -> None:
    """Keep it; of very many, the one that was read first goes."""
    held[key_id] = what
    if len(held) > _KEYS_HELD_MAX:
        held.popitem(last=False)


class Doorkeeper:
    """ASGI middleware: lets a request in with an `Admission`, or answers it with a problem."""

    def __init__(self, app: ASGIApp, *, ring: KeyRing, rules: DoorRules, clock: Clock) -> None:
        self._app = app
        self._ring = ring
        self._rules = rules
        self._clock = clock
        self._rates = RateLimits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check name, key and rate, in this order; nothing of the body is read before."""
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        answer = await self._checked(headers, scope["path"])
        if isinstance(answer, Problem):
            await send_problem(scope, receive, send, answer)
            return
        scope["state"]["admission"] = answer
        await self._app(scope, receive, send)

    async def _checked(self, headers: Headers, path: str) -> Admission | Problem:
        if not self._rules.needs_key and not self._is_called_right(headers):
            return Problem(ProblemKind.FOREIGN_PAGE)
        given = headers.getlist("authorization")
        if not given and not self._rules.needs_key:
            is_proxied = any(name in headers for name in PROXY_HEADERS)
            return Problem(ProblemKind.PROXIED) if is_proxied else Admission(LOCAL)
        presented = read_key(bearer_of(given) or "")
        if presented is None:
            return Problem(ProblemKind.UNAUTHENTICATED)
        try:
            key = await self._ring.admitted(presented)
        except StoreFailure as failure:
            key = self._ring.remembered(presented) if path in WATCHED_PATHS else None
            if key is None:
                return problem_of(failure)
        return Problem(ProblemKind.UNAUTHENTICATED) if key is None else self._counted(key)

    def _counted(self, key: ApiKey) -> Admission | Problem:
        per_minute = key.rate_per_minute or self._rules.rate_per_minute
        wait_s = self._rates.wait_s(key.key_id, now_s=self._clock.now_s(), per_minute=per_minute)
        if wait_s is not None:
            return Problem(ProblemKind.TOO_MANY_REQUESTS, retry_after_s=wait_s)
        return Admission(key.caller, key.concurrent_runs)

    def _is_called_right(self, headers: Headers) -> bool:
        """By a name of this machine, and by no page of another: no browser is led here (DNS rebinding)."""
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self._is_ours(_host_of(f"//{hosts[0]}")):
            return False
        return all(_host_of(origin, port=True) == _host_of(f"//{hosts[0]}", port=True) for origin in origins)

    def _is_ours(self, host: str | None) -> bool:
        return host is not None and (is_loopback(host) or host in self._rules.hosts)


def _host_of(address: str, *, port: bool = False) -> str | None:
    """The host of an address, with its port where asked for; None where it has none."""
    try:
        parts = urlsplit(address)
        host = parts.hostname
        return f"{host}:{parts.port}" if port and host else host
    except ValueError:
        return None
