"""Seeded choices, and the values that secrets are made of."""

from __future__ import annotations

import base64
import string
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")

LOWER = string.ascii_lowercase
HEX = "0123456789abcdef"
WORDS = (
    "Summer", "winter", "dragon", "Coffee", "monkey", "Welcome", "tiger", "Falcon", "harbour", "Blue",
    "maple", "rocket", "Secure", "garden", "falcon", "zebra", "Munich", "Harbin", "sunshine", "letmein",
)  # fmt: skip


class Dice:
    """One seed, one corpus."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def number(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return int(self._rng.integers(low, high + 1))

    def pick(self, values: Sequence[T]) -> T:
        """One of the values."""
        return values[self.number(0, len(values) - 1)]

    def text(self, alphabet: str, length: int) -> str:
        """So many characters of an alphabet."""
        return "".join(alphabet[place] for place in self._rng.integers(0, len(alphabet), length))

    def octets(self, length: int) -> bytes:
        """So many random bytes."""
        return self._rng.bytes(length)


def _password(dice: Dice) -> str:
    """A password as people and programs make them, without blanks, quotes and shell metacharacters."""
    style = dice.number(0, 6)
    if style == 0:
        return f"{dice.pick(WORDS)}{dice.number(1, 9999)}"
    if style == 1:
        return f"{dice.pick(WORDS)}{dice.pick('!@#$%^*_-+')}{dice.number(10, 2030)}"
    if style == 2:
        return "-".join(dice.pick(WORDS).lower() for _ in range(3)) + f"-{dice.number(1, 99)}"
    if style == 3:
        return dice.text(string.ascii_letters + string.digits, dice.number(10, 24))
    if style == 4:
        return dice.text(HEX, 32)
    if style == 5:
        return "P" + dice.text(string.ascii_letters + string.digits + "!#$%*_-+.", dice.number(9, 20)) + "7q"
    return dice.pick(WORDS).lower() + dice.pick(WORDS).lower()


def _mix(dice: Dice) -> str:
    """A password with a digit, by which it is recognised in prose."""
    return f"{dice.pick(WORDS)}{dice.pick(('', '!', '#', '_'))}{dice.number(1, 99999)}"


def _phrase(dice: Dice) -> str:
    """A password inside quotation marks, which may contain blanks and brackets."""
    if dice.number(0, 1):
        return _password(dice)
    return " ".join(dice.pick(WORDS) for _ in range(3)) + dice.pick(("", " 9!", " (x)", ", 7;"))


def _alphanumeric(length: int) -> Callable[[Dice], str]:
    return lambda dice: dice.text(string.ascii_letters + string.digits, length)


def _hexadecimal(length: int) -> Callable[[Dice], str]:
    return lambda dice: dice.text(HEX, length)


def _url_safe(length: int) -> Callable[[Dice], str]:
    # The last one is no sign: a key that ends in one is cut by whatever copies a word.
    return lambda dice: dice.text(string.ascii_letters + string.digits + "_-", length - 1) + dice.pick("aZ7")


def _upper(length: int) -> Callable[[Dice], str]:
    return lambda dice: dice.text(string.ascii_uppercase + string.digits, length)


def _digits(length: int) -> Callable[[Dice], str]:
    return lambda dice: dice.pick("123456789") + dice.text(string.digits, length - 1)


def _encode(length: int) -> Callable[[Dice], str]:
    return lambda dice: base64.b64encode(dice.octets(length)).decode()


def _uuid(dice: Dice) -> str:
    return "-".join(dice.text(HEX, length) for length in (8, 4, 4, 4, 12))


def _web_token(dice: Dice) -> str:
    def part(octets: bytes) -> str:
        return base64.urlsafe_b64encode(octets).decode().rstrip("=")

    head = part(b'{"alg":"%s","typ":"JWT"}' % dice.pick((b"HS256", b"RS256", b"ES256")))
    body = part(b'{"sub":"%d","exp":%d}' % (dice.number(1, 99999), dice.number(1_700_000_000, 1_800_000_000)))
    return f"{head}.{body}.{part(dice.octets(32))}"


def _user_password(dice: Dice) -> str:
    return base64.b64encode(f"{dice.pick(('admin', 'svc', 'bob'))}:{_password(dice)}".encode()).decode()


def _auth_plain(dice: Dice) -> str:
    return base64.b64encode(f"\0{dice.pick(('admin', 'bob'))}\0{_password(dice)}".encode()).decode()


def _pem_body(dice: Dice) -> str:
    return "MII" + base64.b64encode(dice.octets(192)).decode()


VALUES: dict[str, Callable[[Dice], str]] = {
    "pw": _password,
    "mixed": _mix,
    "phrase": _phrase,
    "jwt": _web_token,
    "uuid": _uuid,
    "userpw": _user_password,
    "authplain": _auth_plain,
    "pembody": _pem_body,
    **{
        f"an{length}": _alphanumeric(length)
        for length in (12, 16, 20, 22, 24, 26, 27, 32, 36, 40, 43, 48, 64)
    },
    **{f"hex{length}": _hexadecimal(length) for length in (12, 32, 36, 40, 64)},
    **{f"url{length}": _url_safe(length) for length in (16, 24, 27, 32, 35, 40, 43, 68, 80, 93)},
    **{f"up{length}": _upper(length) for length in (8, 9, 10, 11, 16)},
    **{f"n{length}": _digits(length) for length in (9, 10, 12, 13, 18, 19)},
    **{f"b64x{length}": _encode(length) for length in (24, 30, 32, 48, 64)},
}
"""The kinds of secrets, by their placeholders in templates."""
