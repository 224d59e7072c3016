"""API keys: making, reading and checking them. Only the SHA-256 of a secret is stored. Pure.

dk_<key id: 12 hexadecimal digits>_<secret: 64 hexadecimal digits>
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass

from diagnosis_harness.application.callers.caller import Caller, CallerRole
from diagnosis_harness.kernel.ids import IdSource

_FORM = re.compile(r"dk_([0-9a-f]{12})_([0-9a-f]{64})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A stored key.

    Attributes:
        name: of the caller who has it; no two valid keys share one.
        secret_sha256: 64 hexadecimal digits.
        rate_per_minute, concurrent_runs: limits of this key; None leaves the server's own.
    """

    key_id: str
    name: str
    role: CallerRole
    secret_sha256: str
    created_at_s: float
    revoked_at_s: float | None = None
    rate_per_minute: int | None = None
    concurrent_runs: int | None = None

    @property
    def caller(self) -> Caller:
        """The caller who uses it."""
        return Caller(self.name, self.role)

    def admits(self, secret: str) -> bool:
        """Whether this is its secret and it is not revoked; compares in constant time."""
        same = hmac.compare_digest(_sha256(secret), self.secret_sha256)
        return same and self.revoked_at_s is None


@dataclass(frozen=True, slots=True)
class NewKey:
    """A new key: `shown` is displayed once and not stored; `key_id` and the hash are stored."""

    key_id: str
    shown: str
    secret_sha256: str

    def __repr__(self) -> str:
        return f"NewKey({self.key_id})"


@dataclass(frozen=True, slots=True)
class PresentedKey:
    """What a client presented, in its two parts."""

    key_id: str
    secret: str

    def __repr__(self) -> str:
        return f"PresentedKey({self.key_id})"


def new_key(ids: IdSource) -> NewKey:
    """A fresh key with a secret of 256 random bits."""
    key_id, secret = ids.new_secret()[-12:], ids.new_secret()
    return NewKey(key_id, f"dk_{key_id}_{secret}", _sha256(secret))


def read_key(text: str) -> PresentedKey | None:
    """The parts of a key, or None if the text does not have the exact form of one."""
    found = _FORM.fullmatch(text)
    return PresentedKey(found[1], found[2]) if found else None


def _sha256(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
