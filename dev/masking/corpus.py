"""The corpora: lines with planted secrets, and innocent lines, from one seed.

They have what real systems and people write, whether or not a rule recognises it; nothing here reads the
rules. Each was written without a look at the rules, and at the corpora before it.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dev.masking.dice import HEX, LOWER, VALUES, Dice
from dev.masking.people import AROUND, PEOPLE

CORPORA = (FIRST := "first", SECOND := "second")
_SLOT = re.compile(r"\{\{(?P<secret>[a-z0-9]+)\}\}|\{(?P<plain>[a-z0-9]+)\}")
_GOES_ON = "…"
_BEFORE = ("", "", "2024-01-01T14:05:03Z INFO ", "[checkout-0] ", "level=warn msg=", "> ", "step 3: ")
_AFTER = ("", " status=401", " (attempt 3 of 5)", " took 12 ms", "; retry in 5 s", ", code 7")
_HALVED_FROM = 12
"""From this length on, half a secret is a leak as well; half a short one may be an ordinary word."""


@dataclass(frozen=True, slots=True)
class Planted:
    """A line with secrets.

    Attributes:
        around: the text before and after all of them, which must survive.
    """

    kind: str
    text: str
    secrets: tuple[str, ...]
    around: tuple[str, str]

    def leaks_in(self, masked: str) -> tuple[str, ...]:
        """The secrets that are in the masked text, whole or by half."""
        return tuple(secret for secret in self.secrets if any(part in masked for part in _parts(secret)))

    def is_cut(self, masked: str) -> bool:
        """Whether text around the secrets was masked as well."""
        before, after = self.around
        return not (masked.startswith(before) and masked.endswith(after))


@dataclass(frozen=True, slots=True)
class Innocent:
    """A line without any secret."""

    kind: str
    text: str


def plant(seed: int, *, each: int, corpus: str = FIRST) -> list[Planted]:
    """Lines of every template, this many of each."""
    dice = Dice(seed)
    return [
        _plant(dice, kind, template)
        for kind, templates in _templates(corpus, "planted.txt").items()
        for template in templates
        for _ in range(each)
    ]


def innocents(seed: int, *, each: int, corpus: str = FIRST) -> list[Innocent]:
    """Lines of every template, this many of each."""
    dice = Dice(seed)
    return [
        Innocent(kind, _fill(dice, template))
        for kind, templates in _templates(corpus, "innocent.txt").items()
        for template in templates
        for _ in range(each)
    ]


def _templates(corpus: str, file: str) -> dict[str, list[str]]:
    """The lines of a file by kind; what stands before the first kind explains the file."""
    kinds: dict[str, list[str]] = {}
    for line in (Path(__file__).parent / corpus / file).read_text(encoding="utf-8").split("\n"):
        if line.startswith("== "):
            kinds[line.removeprefix("== ")] = []
        elif kinds and line:
            kinds[list(kinds)[-1]].append(line.replace("↵", "\n"))
    return kinds


def _plant(dice: Dice, kind: str, template: str) -> Planted:
    before, after = "", ""
    if template.endswith(_GOES_ON):
        template = template.removesuffix(_GOES_ON)
        before, after = dice.pick(_BEFORE), dice.pick(_AFTER)
    secrets: list[str] = []

    def fill(slot: re.Match[str]) -> str:
        if (name := slot["secret"]) is not None:
            secrets.append((VALUES | PEOPLE)[name](dice))
            return secrets[-1]
        return (AROUND | VALUES)[slot["plain"]](dice)

    return Planted(kind, before + _SLOT.sub(fill, template) + after, tuple(secrets), (before, after))


def _parts(secret: str) -> tuple[str, ...]:
    middle = len(secret) // 2
    return (secret, secret[:middle], secret[middle:]) if len(secret) >= _HALVED_FROM else (secret,)


def _fill(dice: Dice, template: str) -> str:
    filled = re.sub(r"(?<!\{)\{([a-z0-9]+)\}", lambda slot: PLAIN[slot[1]](dice), template)
    return filled.replace("{{", "{").replace("}}", "}")


def _digits(length: int) -> Callable[[Dice], str]:
    return lambda dice: dice.pick("123456789") + dice.text(string.digits, length - 1)


def _hexadecimal(length: int) -> Callable[[Dice], str]:
    return lambda dice: dice.text(HEX, length)


def _time(dice: Dice) -> str:
    day = f"2023-{dice.number(1, 12):02}-{dice.number(1, 28):02}"
    clock = f"{dice.number(0, 23):02}:{dice.number(0, 59):02}:{dice.number(0, 59):02}"
    return dice.pick((f"{day}T{clock}Z", f"{day} {clock} UTC", f"{day}T{clock}.{dice.number(100, 999)}Z"))


def _pod(dice: Dice) -> str:
    return f"{_service(dice)}-{dice.text(LOWER + '23456789', 10)}-{dice.text(LOWER + '23456789', 5)}"


def _service(dice: Dice) -> str:
    return dice.pick(
        (
            "checkout",
            "orders",
            "mobile-api",
            "payment",
            "auth-token-service",
            "cart",
            "password-reset",
            "支付",
        )
    )


PLAIN: dict[str, Callable[[Dice], str]] = {
    "time": _time,
    "pod": _pod,
    "svc": _service,
    "svc2": _service,
    "ip": lambda dice: f"10.{dice.number(0, 255)}.{dice.number(0, 255)}.{dice.number(1, 254)}",
    "port": lambda dice: str(dice.number(1024, 65535)),
    "small": lambda dice: str(dice.number(1, 99)),
    "digit": lambda dice: str(dice.number(0, 9)),
    "int": lambda dice: str(dice.number(1, 9999)),
    "status": lambda dice: dice.pick(("200", "401", "404", "500", "503")),
    "float": lambda dice: f"{dice.number(0, 9999) / dice.pick((1000, 100, 10)):.{dice.number(1, 3)}f}",
    "b64": VALUES["b64x64"],
    "uuid": VALUES["uuid"],
    **{f"n{length}": _digits(length) for length in range(5, 20)},
    **{f"hex{length}": _hexadecimal(length) for length in (4, 7, 8, 12, 16, 24, 32, 40, 64)},
}
"""The values that replace a name in an innocent line."""
