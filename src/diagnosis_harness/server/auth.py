"""Authentication: by API key or, on this machine when no key is required, without one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from diagnosis_harness.application.callers.api_key import ApiKey, read_key
from diagnosis_harness.application.callers.caller import ALERTS, WITHOUT_KEY, Caller
from diagnosis_harness.application.callers.key_store import KeyStore
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import InvalidSetting, StoreFailure
from diagnosis_harness.server.app_state import Admission
from diagnosis_harness.server.key_cache import KeyCache
from diagnosis_harness.server.problem_response import send_problem
from diagnosis_harness.server.problems import ALERT_PATHS, Problem, ProblemKind, problem_of
from diagnosis_harness.server.rate_limit import RateLimits

OPEN_PATHS = frozenset({"/healthz", "/readyz", "/openapi.json"})
"Paths that reveal nothing about runs; machines request them without a key."

PROXY_HEADERS = (
    "forwarded", "via", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "x-original-host", "x-real-port",
    "true-client-ip", "client-ip", "proxy-client-ip", "wl-proxy-client-ip", "x-proxyuser-ip", "x-remote-ip",
    "x-remote-addr", "remote-addr", "fastly-client-ip", "fastly-ff", "cdn-loop", "x-appengine-user-ip",
    "x-nf-client-connection-ip", "do-connecting-ip", "x-amz-cf-id", "x-arr-log-id", "x-original-url",
    "front-end-https", "x-url-scheme", "x-varnish", "x-sigsci-client-ip", "ali-cdn-real-ip", "x-host",
    "x-scheme", "x-nginx-proxy", "x-cloud-trace-context", "x-webauth-user", "remote-user", "x-remote-user",
    "x-ssl-client-verify", "ssl-client-verify", "x-client-verify",
)  # fmt: skip
"""Headers that proxies add (RFC 7239, RFC 9110 §7.6.3, and by custom), whose sender may be elsewhere."""

PROXY_PREFIXES = (
    "x-forwarded", "x-original-forwarded", "x-envoy-", "cf-", "fly-", "x-azure-", "x-vercel-",
    "x-arr-", "x-amzn-", "tailscale-", "x-goog-", "x-ms-client-", "x-auth-request-", "x-authentik-",
    "x-akamai-", "x-railway-", "x-tailscale-",
)  # fmt: skip
"""Prefixes of vendors' proxy headers: each vendor has several and introduces more."""

WATCHED_PATHS = frozenset({"/metrics"})
"""Open to recently valid keys while the store is unavailable, which is when they are needed most."""

_BEARER = re.compile(r"bearer +([!-~]+) *", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AuthRules:
    """The rules of authentication.

    Attributes:
        needs_key: whether a key is required, also on this machine.
        hosts: names of this machine that are accepted without a key, besides those of loopback.
        rate_per_minute: for keys without a rate of their own.
    """

    needs_key: bool
    hosts: frozenset[str]
    rate_per_minute: int


def bearer_token(headers: Collection[str]) -> str | None:
    """The token of the one `Authorization: Bearer` header; None if there is not exactly one."""
    if len(headers) != 1:
        return None
    found = _BEARER.fullmatch(next(iter(headers)))
    return found[1] if found else None


def is_loopback(host: str) -> bool:
    """Whether a name or address can be reached from this machine only."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def came_by_proxy(names: Iterable[str]) -> bool:
    """Whether headers of these names show that the request came through a proxy."""
    lower = [name.lower() for name in names]
    return any(name in PROXY_HEADERS or name.startswith(PROXY_PREFIXES) for name in lower)


async def require_key(keys: KeyStore, *, host: str) -> None:
    """Refuse to listen beyond loopback if callers could not be distinguished.

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


class AuthMiddleware:
    """ASGI middleware: lets a request in with an `Admission`, or answers it with a problem."""

    def __init__(self, app: ASGIApp, *, keys: KeyCache, rules: AuthRules, clock: Clock) -> None:
        self._app = app
        self._keys = keys
        self._rules = rules
        self._clock = clock
        self._rates = RateLimits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check host name, key and rate, in this order, before the body is read."""
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        answer = await self._authenticate(headers, scope["path"])
        if isinstance(answer, Problem):
            await send_problem(scope, receive, send, answer)
            return
        scope["state"]["admission"] = answer
        await self._app(scope, receive, send)

    async def _authenticate(self, headers: Headers, path: str) -> Admission | Problem:
        if not self._rules.needs_key and not self._has_own_names(headers):
            return Problem(ProblemKind.FOREIGN_PAGE)
        given = headers.getlist("authorization")
        if not given and not self._rules.needs_key:
            return Problem(ProblemKind.PROXIED) if came_by_proxy(headers) else Admission(_local_caller(path))
        presented = read_key(bearer_token(given) or "")
        if presented is None:
            return Problem(ProblemKind.UNAUTHENTICATED)
        try:
            key = await self._keys.find_valid(presented)
        except StoreFailure as failure:
            key = self._keys.find_cached(presented) if path in WATCHED_PATHS else None
            if key is None:
                return problem_of(failure)
        if key is not None and path in ALERT_PATHS:  # bounded by the number that may wait
            return Admission(key.caller, key.concurrent_runs)
        return Problem(ProblemKind.UNAUTHENTICATED) if key is None else self._count_request(key)

    def _count_request(self, key: ApiKey) -> Admission | Problem:
        per_minute = key.rate_per_minute or self._rules.rate_per_minute
        wait_s = self._rates.wait_s(key.key_id, now_s=self._clock.now_s(), per_minute=per_minute)
        if wait_s is not None:
            return Problem(ProblemKind.TOO_MANY_REQUESTS, retry_after_s=wait_s)
        return Admission(key.caller, key.concurrent_runs)

    def _has_own_names(self, headers: Headers) -> bool:
        """Whether host and origin are names of this machine, which prevents DNS rebinding."""
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self._is_local_name(_host_of(f"//{hosts[0]}")):
            return False
        return all(_host_of(origin, port=True) == _host_of(f"//{hosts[0]}", port=True) for origin in origins)

    def _is_local_name(self, host: str | None) -> bool:
        return host is not None and (is_loopback(host) or host in self._rules.hosts)


def _local_caller(path: str) -> Caller:
    """The caller without a key on this machine."""
    return ALERTS if path in ALERT_PATHS else WITHOUT_KEY


def _host_of(address: str, *, port: bool = False) -> str | None:
    """The host of an address, with its port if `port` is set; None if it has none."""
    try:
        parts = urlsplit(address)
        host = parts.hostname
        return f"{host}:{parts.port}" if port and host else host
    except ValueError:
        return None
