"""The simulated system: its call graph, its instances, and its normal speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from diagnosis_harness.toolbox.ports import CallEdge


class Role(StrEnum):
    """The role of a part of the system."""

    ENTRY = "entry"
    SERVICE = "service"
    DATABASE = "database"
    CACHE = "cache"
    EXTERNAL = "external"  # an outside provider: seen in calls, without CPU or memory


@dataclass(frozen=True, slots=True)
class Service:
    """One part of the system.

    `service_time_s` is the mean own time of a request on an idle instance, without callees; `spread` is the
    standard deviation of its logarithm. `servers` is the number of requests an instance can process at once.
    """

    name: str
    role: Role
    instances: tuple[str, ...]
    operations: tuple[str, ...]
    service_time_s: float
    spread: float
    servers: float
    cpu_share: float
    memory_limit_bytes: float
    error_rate: float


@dataclass(frozen=True, slots=True)
class Call:
    """A request of `caller` calls `callee` once with this probability, and gives up after `timeout_s`.

    If a required call fails, the caller's request fails; otherwise the caller continues without the answer.
    """

    caller: str
    callee: str
    probability: float
    timeout_s: float
    network_s: float
    required: bool


@dataclass(frozen=True, slots=True)
class System:
    """A call graph without cycles; `services` are in calling order, the entry first."""

    services: tuple[Service, ...]
    calls: tuple[Call, ...]

    @property
    def entry(self) -> Service:
        """The part that users call."""
        return self.services[0]

    def service(self, name: str) -> Service:
        """The part of that name.

        Raises:
            KeyError: it does not exist.
        """
        for service in self.services:
            if service.name == name:
                return service
        raise KeyError(name)

    def calls_of(self, name: str) -> tuple[Call, ...]:
        """The calls that one part makes, in order."""
        return tuple(call for call in self.calls if call.caller == name)

    def calls_to(self, name: str) -> tuple[Call, ...]:
        """The calls that one part receives."""
        return tuple(call for call in self.calls if call.callee == name)

    def visits(self, *, required: bool = False) -> dict[str, float]:
        """Mean requests at each part per request at the entry; with `required`, by required calls only."""
        visits = {service.name: 0.0 for service in self.services}
        visits[self.entry.name] = 1.0
        for service in self.services:
            for call in self.calls_of(service.name):
                if call.required or not required:
                    visits[call.callee] += visits[service.name] * call.probability
        return visits

    def edges(self) -> tuple[CallEdge, ...]:
        """Caller and callee of all calls, ordered."""
        return tuple(CallEdge(*pair) for pair in sorted((call.caller, call.callee) for call in self.calls))


ENTRIES = ("storefront", "api-gateway", "web", "mobile-api")
FRONT = ("checkout", "catalog", "search", "accounts", "orders")
BACK = (
    "cart",
    "pricing",
    "inventory",
    "shipping",
    "payments",
    "reviews",
    "promotions",
    "recommendations",
    "tax",
)
PROVIDERS = ("card-network", "address-lookup", "mail-relay")
MIB = 1024.0 * 1024.0


@dataclass(frozen=True, slots=True)
class _Plan:
    """Names and links before speeds are chosen."""

    roles: dict[str, Role]
    links: list[tuple[str, str]]


def build_system(rng: np.random.Generator, *, mean_rate_per_s: float) -> System:
    """A system of 8 to 14 parts whose busiest instances are about half used at the mean rate."""
    plan = _plan(rng)
    names = list(plan.roles)
    calls = tuple(
        _call(rng, caller, callee, plan.roles[callee]) for caller, callee in _order_links(plan, names)
    )
    visits = dict.fromkeys(names, 0.0)
    visits[names[0]] = 1.0
    for call in calls:
        visits[call.callee] += visits[call.caller] * call.probability
    services = tuple(
        _service(rng, name, plan.roles[name], rate_per_s=mean_rate_per_s * visits[name]) for name in names
    )
    return System(services, calls)


def _plan(rng: np.random.Generator) -> _Plan:
    entry = _pick(rng, ENTRIES, 1)[0]
    front = _pick(rng, FRONT, int(rng.integers(2, 4)))
    back = _pick(rng, BACK, int(rng.integers(3, 6)))
    links = [(entry, name) for name in front]
    for name in back:
        links += [(caller, name) for caller in _pick(rng, front, 1 if rng.random() < 0.65 else 2)]
    roles = {entry: Role.ENTRY} | dict.fromkeys((*front, *back), Role.SERVICE)
    owners = _pick(rng, back, 2) + _pick(rng, front, 1)
    for owner in owners[: 2 + int(rng.random() < 0.6)]:
        roles[f"{owner}-db"] = Role.DATABASE
        links.append((owner, f"{owner}-db"))
    shared = _pick(rng, [name for name in back if name not in owners] or back, 1)[0]
    links.append((shared, f"{owners[0]}-db"))
    if rng.random() < 0.7:
        owner = _pick(rng, front, 1)[0]
        roles[f"{owner}-cache"] = Role.CACHE
        links.append((owner, f"{owner}-cache"))
    if rng.random() < 0.6:
        provider = _pick(rng, PROVIDERS, 1)[0]
        roles[provider] = Role.EXTERNAL
        links.append((_pick(rng, back, 1)[0], provider))
    return _Plan(roles, list(dict.fromkeys(links)))


def _order_links(plan: _Plan, names: list[str]) -> list[tuple[str, str]]:
    """Links by caller in calling order, so that every caller comes before its callees."""
    return sorted(plan.links, key=lambda link: names.index(link[0]))


def _call(rng: np.random.Generator, caller: str, callee: str, role: Role) -> Call:
    """A call. Calls of the entry are always required, calls of a cache never."""
    likely = {Role.SERVICE: (0.45, 0.95), Role.DATABASE: (0.7, 1.0), Role.CACHE: (0.8, 1.0)}
    timeout_s = {Role.CACHE: 0.3, Role.DATABASE: 2.0, Role.EXTERNAL: 3.0}
    low, high = likely.get(role, (0.4, 0.8))
    return Call(
        caller=caller,
        callee=callee,
        probability=float(rng.uniform(low, high)),
        timeout_s=float(timeout_s.get(role, 2.5) * rng.uniform(0.9, 1.4)),
        network_s=float(rng.uniform(0.0004, 0.0015) * (12.0 if role is Role.EXTERNAL else 1.0)),
        required=caller in ENTRIES or (role is not Role.CACHE and bool(rng.random() < 0.9)),
    )


SPEED_S = {
    Role.ENTRY: (0.006, 0.015),
    Role.SERVICE: (0.008, 0.035),
    Role.DATABASE: (0.004, 0.012),
    Role.CACHE: (0.0005, 0.0015),
    Role.EXTERNAL: (0.05, 0.12),
}


def _service(rng: np.random.Generator, name: str, role: Role, *, rate_per_s: float) -> Service:
    count = {Role.DATABASE: 1, Role.CACHE: 1, Role.EXTERNAL: 1}.get(role, int(rng.integers(2, 4)))
    service_time_s = float(rng.uniform(*SPEED_S[role]))
    busy = rng.uniform(0.2, 0.5)
    return Service(
        name=name,
        role=role,
        instances=_instances(rng, name, count) if role in {Role.ENTRY, Role.SERVICE} else (name,),
        operations=_operations(name, role),
        service_time_s=service_time_s,
        spread=float(rng.uniform(0.25, 0.55)),
        servers=max(1.0, rate_per_s / count * service_time_s / busy),
        cpu_share=float(rng.uniform(0.6, 0.95)),
        memory_limit_bytes=float(rng.choice([512, 768, 1024, 2048])) * MIB,
        error_rate=float(rng.uniform(0.0001, 0.0015)),
    )


def _instances(rng: np.random.Generator, name: str, count: int) -> tuple[str, ...]:
    release = _letters(rng, 9)
    return tuple(f"{name}-{release}-{_letters(rng, 5)}" for _ in range(count))


def _operations(name: str, role: Role) -> tuple[str, ...]:
    stem = name.removesuffix("-db").removesuffix("-cache")
    if role is Role.ENTRY:
        return ("GET /", "GET /items", "POST /orders")
    if role is Role.DATABASE:
        return (f"SELECT {stem}", f"UPDATE {stem}")
    if role is Role.CACHE:
        return (f"GET {stem}", f"SET {stem}")
    if role is Role.EXTERNAL:
        return (f"POST {stem}/v1",)
    return (f"GET /{stem}", f"GET /{stem}/{{id}}", f"POST /{stem}")


def _pick(rng: np.random.Generator, names: Sequence[str], count: int) -> list[str]:
    """Distinct names in random order; no more than there are."""
    order = rng.permutation(len(names))[:count]
    return [names[int(index)] for index in order]


def _letters(rng: np.random.Generator, count: int) -> str:
    """The letters of generated names, without vowels, so that no word can occur by chance."""
    alphabet = "bcdfghjklmnpqrstvwxz2456789"
    return "".join(alphabet[int(index)] for index in rng.integers(0, len(alphabet), count))
