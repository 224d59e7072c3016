"""Last looks at a possible secret, where its form alone does not tell; pure, each linear in the match."""

from __future__ import annotations

import base64
import binascii
import re

PLACEHOLDER = re.compile(r"\[masked:[a-z-]+\]?")
"""What stands where something was masked; without its bracket where a delimiter cut it off."""

_NO_SECRETS = frozenset(
    {
        "", "null", "none", "nil", "true", "false", "yes", "no", "on", "off", "empty", "undefined", "unknown",
        "invalid", "incorrect", "wrong", "missing", "expired", "expires", "required", "failed", "failure",
        "rejected", "denied", "revoked", "refreshed", "rotated", "changed", "updated", "reset", "not", "is",
        "was", "has", "enabled", "disabled", "valid", "ok", "error", "the", "no-cache", "redacted", "hidden",
        "string", "str", "optional", "bearer", "basic",
    }
)  # fmt: skip
_PLACEHOLDERS = re.compile(
    r"^(?:[*•.#_-]{1,64}|x{3,64}|X{3,64}|\$\{?[A-Za-z_][\w.]*\}?|\{\{?[^}]*\}?\}?|<[^>]*>?|%[sdv]|\$\d+)$"
)
_COUNT = re.compile(r"\d{1,7}(?:\.\d+)?")
_AFTER_TOKEN = re.compile(r"(?i:token)\W*$")
_LINE_KEY = re.compile(
    r"[ \t]*+(?:-[ \t]++)?[\w.\-]{0,64}?"
    r"(?i:password|passwd|passphrase|passcode|pwd|secret|authorization|密码|口令)"
)
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z\-]{1,40}$")
_CARD_ISSUER = re.compile(r"4|5[1-5]|2[2-7]|35|3[47]|6011|6[245]|622")
_INTERNAL = frozenset(
    {"local", "internal", "svc", "lan", "localdomain", "cluster", "corp", "intra", "home", "arpa", "service"}
)
_CLOUD_HOSTS = (
    ".amazonaws.com",
    ".amazonaws.com.cn",
    ".windows.net",
    ".azure.com",
    ".googleapis.com",
    ".aliyuncs.com",
)
_CN_ID_CHECKS = "10X98765432"
_CN_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_PHONE_WORDS = re.compile(
    r"(?:phone|mobile|msisdn|cell|tel|call(?:er|ing)?|dial|sms|whatsapp|contact|user(?:name)?|customer"
    r"|subscriber|member|account|login|recipient|number|no\.?|to|from|by|手机号?码?|电话|联系方式|联系人?|短信|用户"
    r"|账号|帐号|客户|会员|号码?|呼叫|致电|拨打)[\s:=：\"'（(#]{0,6}$",
    re.IGNORECASE,
)
_UNIT_AFTER = re.compile(
    r"\s{0,2}(?:bytes?|[kmgt]?i?b|ns|us|µs|ms|s|sec|min|h|req|reqs|requests|ops|rows|packets|cores?|times|次|字节|个|毫秒"
    r"|纳秒|微秒|条|行)(?![A-Za-z])",
    re.IGNORECASE,
)


def looks_random(match: re.Match[str]) -> bool:
    """Upper and lower case and digits, as a made key has and a path or name has not."""
    text = match["secret"]
    upper = sum(character.isupper() for character in text)
    lower = sum(character.islower() for character in text)
    mixed = upper >= 2 and lower >= 2 and any(character.isdigit() for character in text)
    return mixed and text.count("/") <= 1 + len(text) // 16


def looks_like_base64(match: re.Match[str]) -> bool:
    """Random, with a sign that hexadecimal digests and names do not have."""
    return looks_random(match) and ("+" in match["secret"] or "/" in match["secret"])


def is_no_word(match: re.Match[str]) -> bool:
    """Not a plain word, as in `bearer authentication failed`."""
    return not re.fullmatch(r"[A-Z]?[a-z-]+[.:]?", match["secret"])


def is_basic_credential(match: re.Match[str]) -> bool:
    """Base64 of `user:password`."""
    text = match["secret"]
    try:
        return b":" in base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        return False


def is_value(match: re.Match[str]) -> bool:
    """A value that can be a secret: no placeholder, no word of a status; for a token, no plain number."""
    value = match["secret"].strip("\\\"'").rstrip(").]}:")
    if PLACEHOLDER.fullmatch(value) or PLACEHOLDER.fullmatch(match["secret"].strip("\\\"'")):
        return False
    if value.lower() in _NO_SECRETS or _PLACEHOLDERS.match(value):
        return False
    key = match.string[max(0, match.start("secret") - 12) : match.start("secret")]
    return not (_COUNT.fullmatch(value) and _AFTER_TOKEN.search(key))


def is_line_value(match: re.Match[str]) -> bool:
    """The rest of a line that a key begins, unless it begins with a word of a status."""
    before = match.string[max(0, match.start() - 160) : match.start()].rpartition("\n")[2]
    if not _LINE_KEY.fullmatch(before):
        return False
    first = re.split(r"[\s,;.]", match["secret"].strip(), maxsplit=1)[0]
    return first.lower() not in _NO_SECRETS and is_value(match)


def is_option_value(match: re.Match[str]) -> bool:
    """What follows an option of a command, as in `--db-password x`."""
    before = match.string[max(0, match.start() - 48) : match.start()]
    return _OPTION.search(before) is not None and is_value(match)


def has_digit_or_sign(match: re.Match[str]) -> bool:
    """A word that nobody would write in prose."""
    value = match["secret"].rstrip(".,;!?)")
    return is_value(match) and re.search(r"[\d!#$%&*+@^_~]", value) is not None


def is_mailbox(match: re.Match[str]) -> bool:
    """An address of a person: not `git@…`, not a user or database on a host of a cluster or cloud."""
    domain = match["domain"].lower()
    if domain.endswith(_CLOUD_HOSTS):
        return False
    top = domain.rsplit(".", 1)[-1]
    local = re.split(r"@|%40", match["secret"], maxsplit=1)[0].strip(".")
    return top not in _INTERNAL and local.lower() not in {"git", "hg", ""}


def has_cn_id_checksum(match: re.Match[str]) -> bool:
    """The last digit follows from the seventeen before it (GB 11643, ISO 7064 MOD 11-2)."""
    text = str(match["secret"])
    total = sum(weight * int(digit) for weight, digit in zip(_CN_ID_WEIGHTS, text, strict=False))
    return _CN_ID_CHECKS[total % 11] == text[-1].upper()


def is_ssn(match: re.Match[str]) -> bool:
    """A number that the US Social Security Administration can have given."""
    area, group, serial = match["secret"].split("-")
    return area not in {"000", "666"} and group != "00" and serial != "0000"


def is_card(match: re.Match[str]) -> bool:
    """A payment card's first digits and its check digit (ISO/IEC 7812), and not one digit repeated."""
    if not _CARD_ISSUER.match(match["secret"]):
        return False
    digits = [int(character) for character in match["secret"] if character.isdigit()]
    total = sum(
        digit if place % 2 == 0 else sum(divmod(2 * digit, 10))
        for place, digit in enumerate(reversed(digits))
    )
    return total % 10 == 0 and len(set(digits)) > 1


def has_phone_length(match: re.Match[str]) -> bool:
    """Nine to fifteen digits (ITU-T E.164)."""
    return 9 <= sum(character.isdigit() for character in str(match["secret"])) <= 15


def stands_as_phone(match: re.Match[str]) -> bool:
    """Alone, or after a word that goes with a phone number; eleven digits are a count of bytes as well."""
    start, end = match.span("secret")
    if _UNIT_AFTER.match(match.string, end):
        return False
    before = match.string[max(0, start - 24) : start]
    alone = not before.strip() and not match.string[end : end + 24].strip()
    return alone or _PHONE_WORDS.search(before) is not None
