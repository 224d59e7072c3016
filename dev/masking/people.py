"""Personal data that is valid by its own rules but belongs to no person."""

from __future__ import annotations

from collections.abc import Callable

from dev.masking.dice import LOWER, WORDS, Dice

_IBANS = {
    "DE": "nnnnnnnnnnnnnnnnnn", "FR": "nnnnnnnnnncccccccccccnn", "GB": "aaaannnnnnnnnnnnnn",
    "NL": "aaaannnnnnnnnn", "ES": "nnnnnnnnnnnnnnnnnnnn", "IT": "annnnnnnnnncccccccccccc",
    "CH": "nnnnncccccccccccc", "AT": "nnnnnnnnnnnnnnnn", "BE": "nnnnnnnnnnnn",
    "PL": "nnnnnnnnnnnnnnnnnnnnnnnn", "SE": "nnnnnnnnnnnnnnnnnnnn", "NO": "nnnnnnnnnnn",
    "TR": "nnnnnncccccccccccccccc", "SA": "nncccccccccccccccccc", "IE": "aaaannnnnnnnnnnnnn",
    "MT": "aaaannnnncccccccccccccccccc",
}  # fmt: skip
"""Countries and the form behind the check digits: n a digit, a a letter, c either (ISO 13616 registry)."""


def _mail(dice: Dice) -> str:
    name = dice.pick(("alice", "bob", "li.wei", "maria.garcia", "j.smith", "zhang_san", "ops-team"))
    extra = dice.pick(("", "", "+alerts", str(dice.number(1, 99))))
    host = dice.pick(("example.com", "example.co.uk", "mail.example.org", "acme.io", "firma.de"))
    return f"{name}{extra}@{host}"


def _mail_in_url(dice: Dice) -> str:
    return _mail(dice).replace("@", "%40")


def _phone(dice: Dice) -> str:
    return dice.pick(
        (
            f"+44 20 7946 0{dice.number(100, 999)}",
            f"+49 30 {dice.number(1000000, 9999999)}",
            f"+1-415-555-{dice.number(1000, 9999)}",
            f"+33 6 {dice.number(10, 99)} {dice.number(10, 99)} {dice.number(10, 99)} {dice.number(10, 99)}",
            f"+8613{dice.number(100000000, 999999999)}",
            f"+1 (212) 555-{dice.number(1000, 9999)}",
        )
    )


def _cn_mobile(dice: Dice) -> str:
    return f"1{dice.pick('3578')}{dice.number(100000000, 999999999)}"


def _cn_groups(dice: Dice) -> str:
    return f"13{dice.number(0, 9)} {dice.number(1000, 9999)} {dice.number(1000, 9999)}"


def _us_phone(dice: Dice) -> str:
    return dice.pick((f"(415) 555-{dice.number(1000, 9999)}", f"212-555-{dice.number(1000, 9999)}"))


def _ssn(dice: Dice) -> str:
    return f"{dice.number(100, 665)}-{dice.number(10, 99)}-{dice.number(1000, 9999)}"


def _card_plain(dice: Dice) -> str:
    digits = dice.pick(("4", "51", "53", "6011")) + dice.text("0123456789", 20)
    digits = digits[:15]
    total = sum(
        int(digit) if place % 2 else sum(divmod(2 * int(digit), 10))
        for place, digit in enumerate(reversed(digits))
    )
    return digits + str(-total % 10)


def _card(dice: Dice) -> str:
    plain, gap = _card_plain(dice), dice.pick(" -")
    return gap.join(plain[at : at + 4] for at in range(0, 16, 4))


def _cn_id(dice: Dice) -> str:
    day = f"{dice.number(1950, 2010)}{dice.number(1, 12):02}{dice.number(1, 28):02}"
    text = f"{dice.pick(('110105', '310101', '440305'))}{day}{dice.number(0, 999):03}"
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return text + "10X98765432"[sum(w * int(d) for w, d in zip(weights, text, strict=True)) % 11]


def _iban(dice: Dice) -> str:
    country = dice.pick(sorted(_IBANS))
    letters = LOWER.upper()
    kinds = {"n": "0123456789", "a": letters, "c": "0123456789" + letters}
    body = "".join(dice.text(kinds[kind], 1) for kind in _IBANS[country])
    rest = int("".join(str(int(character, 36)) for character in f"{body}{country}00")) % 97
    return f"{country}{98 - rest:02}{body}"


def _iban_groups(dice: Dice) -> str:
    plain = _iban(dice)
    return " ".join(plain[at : at + 4] for at in range(0, len(plain), 4))


PEOPLE: dict[str, Callable[[Dice], str]] = {
    "mail": _mail, "mailurl": _mail_in_url, "phone": _phone, "cnmobile": _cn_mobile, "cngroups": _cn_groups,
    "usphone": _us_phone, "ssn": _ssn, "card": _card, "cardplain": _card_plain, "cnid": _cn_id, "iban": _iban,
    "ibangroups": _iban_groups,
}  # fmt: skip
"""Personal data, by its placeholder in templates."""


def _host(dice: Dice) -> str:
    return dice.pick(
        ("db-1.shop.svc", "10.0.0.12", "cache.internal", "shop.example.com", "orders-db", "mq1.acme.io")
    )


def _user(dice: Dice) -> str:
    return dice.pick(("root", "admin", "app", "shop_rw", "svc-orders", "deploy", "jenkins"))


AROUND: dict[str, Callable[[Dice], str]] = {
    "host": _host,
    "user": _user,
    "hex8": lambda dice: dice.text("0123456789abcdef", 8),
    "word": lambda dice: dice.pick(WORDS),
}
"""Text around a secret that is not secret."""
