"""Who is let in: the header, the key behind it, the name by which the machine is called, the rate."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.memory_keys import NEW, HeldKeys, door, key_of, play

from diagnosis_harness.application.callers.api_key import PresentedKey, new_key, read_key
from diagnosis_harness.kernel.errors import InvalidSetting
from diagnosis_harness.kernel.ids import RandomIds
from diagnosis_harness.server.auth import (
    bearer_token,
    is_loopback,
    require_key,
)
from diagnosis_harness.server.key_cache import KEY_CACHED_S, KeyCache
from diagnosis_harness.testing.clock import ManualClock

# ---------------------------------------------------------------- the header


@given(
    st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1),
    st.sampled_from(["Bearer", "bearer"]),
)
def test_a_bearer_header_gives_its_token(token: str, scheme: str) -> None:
    """Whatever the token; the scheme is written in any case (RFC 9110 §11.1)."""
    assert bearer_token([f"{scheme} {token}"]) == token


@given(st.text(max_size=200))
def test_any_other_text_gives_no_key(text: str) -> None:
    """It parses as a key of exactly one form, or as none."""
    token = bearer_token([text])
    assert token is None or text.lower().startswith("bearer ")
    presented = read_key(token or "")
    assert presented is None or re.fullmatch(r"dk_[0-9a-f]{12}_[0-9a-f]{64}", token or "")


def test_two_headers_are_none() -> None:
    """Which of them counts is not guessed."""
    assert bearer_token([f"Bearer {NEW.shown}", f"Bearer {NEW.shown}"]) is None
    assert bearer_token([]) is None


# ---------------------------------------------------------------- keys


def test_a_key_is_believed_for_a_moment_and_no_longer() -> None:
    """Within the moment the store is not asked; after it, a revocation by another process counts."""

    async def act() -> None:
        store, clock = HeldKeys({NEW.key_id: key_of(NEW)}), ManualClock()
        ring, presented = KeyCache(store, clock), read_key(NEW.shown)
        assert presented is not None
        for _ in range(5):
            assert await ring.find_valid(presented)
        assert store.asked == 1
        await store.revoke(NEW.key_id, at_s=1.0)
        clock.advance(KEY_CACHED_S - 0.1)
        assert await ring.find_valid(presented)
        clock.advance(0.1)
        assert await ring.find_valid(presented) is None

    play(act)


def test_a_key_that_was_revoked_here_is_refused_at_once() -> None:
    """Revoking a key updates the key ring."""

    async def act() -> None:
        store = HeldKeys({NEW.key_id: key_of(NEW)})
        ring, presented = KeyCache(store, ManualClock()), read_key(NEW.shown)
        assert presented is not None
        assert await ring.find_valid(presented)
        await store.revoke(NEW.key_id, at_s=1.0)
        ring.forget(NEW.key_id)
        assert await ring.find_valid(presented) is None

    play(act)


def test_the_right_id_with_another_secret_is_refused_also_from_memory() -> None:
    """What is remembered is the hash, not that somebody was let in."""

    async def act() -> None:
        ring = KeyCache(HeldKeys({NEW.key_id: key_of(NEW)}), ManualClock())
        right = read_key(NEW.shown)
        assert right is not None
        assert await ring.find_valid(right)
        assert await ring.find_valid(PresentedKey(NEW.key_id, "0" * 64)) is None

    play(act)


def test_listening_beyond_loopback_needs_a_valid_key() -> None:
    """None, or revoked ones alone: one sentence says what to do. On loopback nothing is asked."""

    async def act() -> None:
        store = HeldKeys()
        await require_key(store, host="127.0.0.1")
        for stored_key in ({}, {NEW.key_id: key_of(NEW, revoked_at_s=1.0)}):
            store.stored = dict(stored_key)
            with pytest.raises(InvalidSetting, match="diagnose keys add"):
                await require_key(store, host="0.0.0.0")  # noqa: S104 - that is the point
        store.stored = {NEW.key_id: key_of(NEW)}
        await require_key(store, host="0.0.0.0")  # noqa: S104 - as above

    play(act)


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("localhost", True),
        ("LOCALHOST.", True),
        ("0.0.0.0", False),  # noqa: S104 - that is the point
        ("::", False),
        ("", False),
        ("10.0.0.1", False),
        ("localhost.evil.test", False),
        ("127.0.0.1.evil.test", False),
    ],
)
def test_loopback_is_distinguished_from_everything_else(host: str, own: bool) -> None:
    """By address, or by its one name."""
    assert is_loopback(host) is own


# ---------------------------------------------------------------- the door


def test_without_a_required_key_a_request_is_refused() -> None:
    """No header, another scheme, a wrong secret, an unknown id: 401 and the way to do it, alike for all."""

    async def act() -> None:
        there = door()
        wrong = [
            {},
            {"authorization": "Basic dTpw"},
            {"authorization": "Bearer nonsense"},
            {"authorization": f"Bearer dk_{NEW.key_id}_{'0' * 64}"},
            {"authorization": f"Bearer {new_key(RandomIds()).shown}"},
        ]
        for headers in wrong:
            response = await there.get(**headers)
            assert response.status_code == 401
            assert response.headers["www-authenticate"].startswith("Bearer")
            body = response.json()
            body.pop("instance")
            assert body == {
                "type": "urn:diagnosis-harness:problem:unauthenticated",
                "title": "A valid API key is required.",
                "status": 401,
                "detail": "Send it as `Authorization: Bearer KEY`; `diagnose keys add` makes one.",
            }

    play(act)


def test_a_key_has_its_name_and_its_limits() -> None:
    """What the application learns about the caller."""

    async def act() -> None:
        there = door(key=key_of(NEW, concurrent_runs=2))
        response = await there.get(authorization=f"Bearer {NEW.shown}")
        assert response.json() == {"name": "ann", "runs": 2}

    play(act)


def test_one_key_has_a_rate_and_is_told_when_to_retry() -> None:
    """429 with `Retry-After`; after that time it may."""

    async def act() -> None:
        there = door()
        right = {"authorization": f"Bearer {NEW.shown}"}
        assert [(await there.get(**right)).status_code for _ in range(4)] == [200, 200, 200, 429]
        refused = await there.get(**right)
        there.clock.advance(float(refused.headers["retry-after"]))
        assert (await there.get(**right)).status_code == 200

    play(act)


def test_a_store_that_is_unavailable_is_a_problem_and_no_admission() -> None:
    """503, not 401 and not the local admin."""

    async def act() -> None:
        there = door(needs_key=False)
        there.store.is_away = True
        assert (await there.get(authorization=f"Bearer {NEW.shown}")).status_code == 503

    play(act)


def test_on_loopback_without_a_key_one_is_the_local_admin_and_a_wrong_key_is_still_wrong() -> None:
    """A key that is presented is checked wherever it is presented."""

    async def act() -> None:
        there = door(needs_key=False)
        assert (await there.get()).json()["name"] == "local"
        assert (await there.get(authorization=f"Bearer {NEW.shown}")).json()["name"] == "ann"
        assert (await there.get(authorization="Bearer x")).status_code == 401

    play(act)


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("127.0.0.1:8300", None, 200),
        ("localhost:8300", "http://localhost:8300", 200),
        ("[::1]:8300", "http://[::1]:8300", 200),
        ("tunnel.test:8300", None, 200),
        ("evil.test:8300", None, 403),
        ("127.0.0.1.evil.test", None, 403),
        ("127.0.0.1:8300", "http://evil.test", 403),
        ("127.0.0.1:8300", "http://127.0.0.1:9999", 403),
        ("127.0.0.1:8300", "null", 403),
    ],
)
def test_where_no_key_is_asked_for_no_page_of_another_gets_in(
    host: str, origin: str | None, status: int
) -> None:
    """DNS rebinding comes by a foreign name, a hostile page with a foreign origin."""

    async def act() -> None:
        there = door(needs_key=False, hosts=("tunnel.test",))
        headers = {"host": host} if origin is None else {"host": host, "origin": origin}
        assert (await there.get(**headers)).status_code == status

    play(act)


def test_health_is_reported_without_a_key_and_nothing_else_is() -> None:
    """Whoever balances load has none."""

    async def act() -> None:
        there = door()
        for path in ("/healthz", "/readyz", "/openapi.json"):
            assert (await there.get(path)).status_code == 200
        for path in ("/metrics", "/", "/healthz/", "/v1/runs", "/healthz/../v1/runs"):
            assert (await there.get(path)).status_code == 401

    play(act)
