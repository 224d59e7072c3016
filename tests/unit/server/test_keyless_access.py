"""Who tries ids, who comes by a proxy, and who looks at the meters while the store is away."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.memory_keys import NEW, HeldKeys, door, key_of, play

from diagnosis_harness.application.callers.api_key import PresentedKey, new_key, read_key
from diagnosis_harness.kernel.ids import RandomIds
from diagnosis_harness.server.auth import (
    PROXY_HEADERS,
    came_by_proxy,
)
from diagnosis_harness.server.key_cache import KEY_CACHED_S, UNKNOWN_PER_MINUTE, KeyCache
from diagnosis_harness.testing.clock import ManualClock


def test_many_ids_that_are_none_cost_a_few_looks_and_keep_no_key_out() -> None:
    """Somebody who tries ids costs a look a second; a key that is there, or is made now, is let in."""

    async def act() -> None:
        store, clock = HeldKeys({NEW.key_id: key_of(NEW)}), ManualClock()
        ring, known = KeyCache(store, clock), read_key(NEW.shown)
        assert known is not None
        assert await ring.find_valid(known)
        for _ in range(5_000):
            assert await ring.find_valid(PresentedKey(new_key(RandomIds()).key_id, "0" * 64)) is None
        assert store.asked + store.asked_all <= UNKNOWN_PER_MINUTE + 2
        asked = store.asked
        assert await ring.find_valid(known)
        assert store.asked == asked
        fresh = new_key(RandomIds())
        store.stored[fresh.key_id] = key_of(fresh)
        clock.advance(1.0)
        presented = read_key(fresh.shown)
        assert presented is not None
        assert await ring.find_valid(presented)

    play(act)


def test_meters_are_reported_to_callers_who_had_a_key_before_the_store_disappeared() -> None:
    """A key seen before still reads the metrics while the store is away, and nothing else."""

    async def act() -> None:
        there = door()
        key = {"authorization": f"Bearer {NEW.shown}"}
        assert (await there.get("/metrics", **key)).status_code == 200
        there.store.is_away = True
        there.clock.advance(KEY_CACHED_S)
        assert (await there.get("/metrics", **key)).status_code == 200
        assert (await there.get("/v1/runs", **key)).status_code == 503
        wrong = {"authorization": f"Bearer dk_{NEW.key_id}_{'0' * 64}"}
        assert (await there.get("/metrics", **wrong)).status_code == 503

    play(act)


OF_CLIENTS = (
    "host", "user-agent", "accept", "accept-language", "accept-encoding", "authorization", "cookie",
    "referer", "content-type", "content-length", "connection", "cache-control", "pragma", "dnt", "range",
    "origin", "te",
    "upgrade-insecure-requests", "sec-fetch-site", "sec-fetch-mode", "sec-ch-ua", "x-requested-with",
    "x-request-id", "x-correlation-id", "traceparent", "tracestate", "baggage", "last-event-id",
    "if-none-match",
    "expect", "transfer-encoding", "priority", "x-b3-traceid", "idempotency-key",
)  # fmt: skip


@given(st.sets(st.sampled_from(OF_CLIENTS)))
def test_what_clients_send_by_themselves_is_not_a_proxy(names: set[str]) -> None:
    """A browser, curl, a library, an instrumented program: none of them is turned away."""
    assert not came_by_proxy(names)


OF_MAKERS = (
    "cf-connecting-ip", "CF-Ray", "x-forwarded-for", "X-Forwarded-Proto", "x-forwarded-server",
    "x-forwarded-port",
    "x-forwarded-client-cert", "x-original-forwarded-for", "x-envoy-external-address", "fly-client-ip",
    "x-azure-clientip", "x-vercel-forwarded-for", "X-ARR-SSL", "X-Amzn-Trace-Id", "Tailscale-User-Login",
    "x-goog-authenticated-user-email", "x-ms-client-principal-name", "x-auth-request-user",
)  # fmt: skip


@pytest.mark.parametrize("name", [*PROXY_HEADERS, *OF_MAKERS])
def test_on_loopback_without_a_key_a_proxy_is_refused(name: str) -> None:
    """Whoever is behind one is not here; with a key it makes no difference."""

    async def act() -> None:
        there = door(needs_key=False)
        response = await there.get(**{name: "192.0.2.7"})
        assert response.status_code == 403
        assert response.json()["title"] == "The request came through a proxy: use an API key."
        with_key = await there.get(**{name: "192.0.2.7", "authorization": f"Bearer {NEW.shown}"})
        assert with_key.json()["name"] == "ann"

    play(act)
