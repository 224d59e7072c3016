"""Personal data: addresses, telephone numbers, identity documents, accounts."""

from __future__ import annotations

import re
from collections.abc import Callable

from diagnosis_harness.kernel import masking_checks as checks
from diagnosis_harness.kernel.masking_rule import MaskingRule

_DIGITS = re.compile(r"\d(?:[ ().-]{0,2}\d){8}")
_MAIL = r"A-Za-z0-9._%+\-À-ɏΑ-ωА-я"
_IBAN_BEGIN = re.compile(r"[A-Z]{2}\d\d[ -]?[A-Z0-9]{4}")
_GROUPED_BEGIN = re.compile(r"[a-z]{2}\d\d[ -][a-z0-9]{4}")
_IBAN_COUNTRIES = {
    15: "NO", 16: "BE", 18: "DK FI FK FO GL NL SD", 19: "MK SI", 20: "AT BA EE KZ LT LU MN XK",
    21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA", 23: "AE GI IL IQ OM SO TL", 24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST", 26: "IS TR", 27: "BI DJ FR GR IT MC MR SM", 28: "AL AZ BY CY DO GT HU LB NI PL SV",
    29: "BR EG PS QA UA", 30: "JO KW MU YE", 31: "MT SC", 32: "LC", 33: "RU",
}  # fmt: skip
"""Countries by the length of their numbers (ISO 13616 registry)."""


def _iban(*, small: bool = False) -> str:
    """IBANs of every country at its length, whole or in groups of four; in lower case only in groups."""
    gap, character = ("[ -]", "[a-z0-9]") if small else ("[ -]?", "[A-Z0-9]")
    forms = []
    for length, countries in _IBAN_COUNTRIES.items():
        fours, rest = divmod(length - 4, 4)
        names = (countries.lower() if small else countries).replace(" ", "|")
        last = rf"(?P=g{length}){character}{{{rest}}}" if rest else ""
        forms.append(
            rf"(?:{names})\d\d(?P<g{length}>{gap}){character}{{4}}"
            rf"(?:(?P=g{length}){character}{{4}}){{{fours - 1}}}{last}"
        )
    return "|".join(forms)


def _number(
    kind: str, first: str, rest: str, check: Callable[[re.Match[str]], bool] | None = None
) -> MaskingRule:
    """A number that is not part of a longer number or name; `first` is its first character."""
    pattern = re.compile(rf"(?P<secret>{first}(?<![A-Za-z0-9_.+-]{first}){rest})(?![A-Za-z0-9_-]|\.\d)")
    return MaskingRule(kind, pattern, gate=_DIGITS, check=check)


PERSONAL: tuple[MaskingRule, ...] = (
    MaskingRule(
        "email",
        re.compile(
            rf"(?<![{_MAIL}])(?P<secret>[{_MAIL}]+@"
            r"(?P<domain>(?:[A-Za-z0-9À-ɏ][A-Za-z0-9À-ɏ-]*\.)+[A-Za-z]{2,24}))(?![A-Za-z0-9_-]|\.[A-Za-z0-9]|:\d|::)"
        ),
        ("@",),
        check=checks.is_mailbox,
    ),
    MaskingRule(
        "email",  # as a URL writes it
        re.compile(
            r"(?<![\w.+-])(?P<secret>[\w.+-]+%40(?P<domain>(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,24}))"
            r"(?![A-Za-z0-9_-]|\.[A-Za-z0-9])"
        ),
        ("%40",),
        check=checks.is_mailbox,
    ),
    MaskingRule(
        "iban",
        re.compile(rf"(?<![A-Za-z0-9_.+/-])(?P<secret>{_iban()})(?![A-Za-z0-9_-])"),
        gate=_IBAN_BEGIN,
        check=checks.has_iban_checksum,
    ),
    MaskingRule(  # a digest may look like a lower-case one without gaps
        "iban",
        re.compile(rf"(?<![a-z0-9_.+/-])(?P<secret>{_iban(small=True)})(?![a-z0-9_-])"),
        gate=_GROUPED_BEGIN,
        check=checks.has_iban_checksum,
    ),
    _number(
        "cn-id",
        "[1-9]",
        r"\d{5}(?:18|19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx]",
        checks.has_cn_id_checksum,
    ),
    _number("us-ssn", "[0-8]", r"\d\d-\d\d-\d{4}", checks.is_ssn),
    _number(
        "card",
        "[2-6]",
        r"\d{3}(?P<gap>[ -]?)\d{4}(?P=gap)\d{4}(?P=gap)\d{4}(?:\d{1,3})?",
        checks.is_card,
    ),
    _number("card", "3", r"[47]\d\d(?P<gap>[ -]?)\d{6}(?P=gap)\d{5}", checks.is_card),
    MaskingRule(
        "phone",
        # Brackets come in pairs: one that opens after the number belongs to the sentence.
        re.compile(
            r"(?P<secret>\+(?<![A-Za-z0-9_.+-]\+)[1-9]\d{0,2}(?:[ .\-]?(?:\(\d{1,4}\)|\d{1,4})){2,6})"
            r"(?![A-Za-z0-9_-]|\.\d)"
        ),
        ("+",),
        gate=_DIGITS,
        check=checks.is_international_phone,
    ),
    _number("phone", "1", r"[3-9]\d[ -]\d{4}[ -]\d{4}"),  # Chinese mobile, written in groups
    _number("phone", "8", r"6[ -]1[3-9]\d[ -]?\d{4}[ -]?\d{4}"),
    # Chinese mobile, bare: eleven digits are a count of bytes as well, so the words around it decide.
    _number("phone", "1", r"[3-9]\d{9}", checks.looks_like_phone),
    _number("phone", "0", r"(?:10|2\d|[3-9]\d\d)[ -][1-9]\d{6,7}"),  # Chinese landline
    _number("phone", r"\(", r"0(?:10|2\d|[3-9]\d\d)\) ?[1-9]\d{6,7}"),
    _number("phone", "[2-9]", r"\d\d-[2-9]\d\d-\d{4}"),  # North America
    _number("phone", r"\(", r"[2-9]\d\d\) ?[2-9]\d\d-\d{4}"),
)
"""Rules for data that identifies a person."""
