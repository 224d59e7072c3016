"""Checks of possible secrets that their form alone does not decide; pure, each linear in the match."""

from __future__ import annotations

import base64
import binascii
import re

from diagnosis_harness.kernel.masking_references import QUOTES, is_reference

PLACEHOLDER = re.compile(r"\[masked:[a-z-]+\]?")
"""A placeholder; its bracket is optional, since a delimiter may cut it off."""

_NO_SECRETS = frozenset(
    {
        "", "null", "none", "nil", "true", "false", "yes", "no", "on", "off", "empty", "undefined", "unknown",
        "invalid", "incorrect", "wrong", "missing", "expired", "expires", "required", "failed", "failure",
        "rejected", "denied", "revoked", "refreshed", "rotated", "changed", "updated", "reset", "not", "is",
        "was", "has", "enabled", "disabled", "valid", "ok", "error", "the", "no-cache", "redacted", "hidden",
        "string", "str", "optional", "bearer", "basic", "created", "accepted", "mismatch", "authentication",
        "password", "cannot",
        "错误", "无效", "已过期", "过期", "不正确", "为空", "正确", "缺失", "錯誤", "無效",
        "неверный", "неверно",
        "incorrecto", "incorrecta", "inválida", "incorreta", "falsch", "ungültig", "niepoprawne",
    }
)  # fmt: skip
_PLACEHOLDERS = re.compile(
    r"^(?:[*•.#_-]{1,64}|x{3,64}|X{3,64}|\$\{?[A-Za-z_][\w.]*\}?|\{\{?[^}]*\}?\}?|<[^>]*>?|%[sdv]|\$\d+)$"
)
_COUNT = re.compile(r"\d{1,7}(?:\.\d+)?")
_AFTER_TOKEN = re.compile(r"(?i:token|key)\W*$")
_SCHEMES = frozenset({"bearer", "basic", "token", "negotiate", "apikey", "ssws", "key"})
_PLAIN_KEY = re.compile(r"[ \t]*(?:-[ \t]+)?[\w.\-]{1,80}")
_LINE_TOKEN = re.compile(r"(?i:secret|authorization)$")
_TOKEN_KEY = re.compile(
    r"(?i:token|credentials?|cookie|key|secret|authorization|signature|[钥鑰匙]|令牌|凭证|憑證)$"
)
_NAMED_KEY = re.compile(r"(?i:[_\- ]key)$")
_HYPHENATED = re.compile(r"\w-[A-Za-z]{2,12}$")
_JOINED_SHORT = re.compile(
    r"(?:[A-Za-z0-9][_.\-]|[a-z0-9](?=P)|[a-z]{2,8}(?=pass)|[A-Z]{2,8}(?=PASS))(?i:pass|pw|clave|parola|mdp|creds)$"
)
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z\-]{1,40}$")
WORDS_WITH_DIGITS = re.compile(
    r"(?:sha|md|aes|rsa|oauth|utf|http|ssh|ipv|base|argon|bcrypt|pbkdf|scrypt|log|x|h|v|s)-?\d[\w.\-]{0,8}"
    r"|[\w.-]{1,40}-[a-z0-9]{8,10}-[a-z0-9]{5}|\w{1,40}_[a-z]{0,8}\d{1,3}|\d[\d.,:TZ/+%-]*[a-zA-Z%]{0,3}",
    re.IGNORECASE,
)
"""Algorithms, versions, pods, signals such as latency_p90, times and numbers with a unit."""
_CARD_ISSUER = re.compile(r"4|5[1-5]|2[2-7]|35|3[47]|6011|6[245]|622")
_CARD_WORDS = re.compile(r"(?i:card|pan|visa|account|[卡账帐]号?)[\s\w:=：\"']{0,8}$")
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


def is_no_placeholder(match: re.Match[str]) -> bool:
    """Whether a password in a URL is written out, and not as `***` or `${PASSWORD}`."""
    return not _PLACEHOLDERS.match(match["secret"])


def looks_random(match: re.Match[str]) -> bool:
    """Whether it mixes upper case, lower case and digits, as generated keys do, but not paths and names."""
    text = match["secret"]
    upper = sum(character.isupper() for character in text)
    lower = sum(character.islower() for character in text)
    mixed = upper >= 2 and lower >= 2 and any(character.isdigit() for character in text)
    return mixed and text.count("/") <= 1 + len(text) // 16


def looks_like_base64(match: re.Match[str]) -> bool:
    """Whether it looks random, with a character that hexadecimal digests and names do not contain."""
    return looks_random(match) and ("+" in match["secret"] or "/" in match["secret"])


def is_not_a_word(match: re.Match[str]) -> bool:
    """Whether it is not a plain word, as in `bearer authentication failed`."""
    return not re.fullmatch(r"[A-Z]?[a-z-]+[.:]?", match["secret"])


def is_basic_credential(match: re.Match[str]) -> bool:
    """Whether it is Base64 of `user:password`, or of what SASL sends instead."""
    text = match["secret"]
    try:
        plain = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        return False
    return b":" in plain or plain.startswith(b"\0")


def is_value(match: re.Match[str]) -> bool:
    """Whether a value can be a secret: no placeholder, no status word; for a token, no plain number."""
    value = secret_of(match).strip("\\\"'").rstrip(").]}:")
    if PLACEHOLDER.fullmatch(value) or PLACEHOLDER.fullmatch(secret_of(match).strip("\\\"'")):
        return False
    if value.lower() in _NO_SECRETS or _PLACEHOLDERS.match(value) or is_reference(match, value):
        return False
    return not (_COUNT.fullmatch(value) and _AFTER_TOKEN.search(text_before(match, match.start(), 12)))


def is_line_value(match: re.Match[str]) -> bool:
    """Whether the rest of a line after a key can be a secret: it does not begin with a status word."""
    before = text_before(match, match.start(), 160).rpartition("\n")[2]
    if not _PLAIN_KEY.fullmatch(before):
        return False
    if _TOKEN_KEY.search(before) and not _LINE_TOKEN.search(before):
        return False
    first = re.split(r"[\s,;.]", match["secret"].strip(), maxsplit=1)[0]
    return first.lower() not in _NO_SECRETS | _SCHEMES and is_value(match)


def are_words_of_a_passphrase(match: re.Match[str]) -> bool:
    """Whether several words can be a secret: only after a name such as passphrase; else they are prose."""
    return text_before(match, match.start(), 12).lower().endswith("phrase")


def is_value_of_short_name(match: re.Match[str]) -> bool:
    """Whether the value after `pass` and the like is a password, by its form or that of the name."""
    before = text_before(match, match.start(), 48)
    value = secret_of(match)
    if not is_value(match) or (
        before.endswith("PASS") and match[0].startswith(":") and not _ends_longer_name(before)
    ):
        return False  # test runners print `PASS: TestCart`
    quoted = any(name in match.re.groupindex and match[name] is not None for name in QUOTES)
    if not quoted and _COUNT.fullmatch(value.rstrip(").]}")) and len(value) < 6:
        return False
    attached = match[0].startswith((":", "=")) and not match[0][1:2].isspace()
    if quoted or attached or _ends_longer_name(before) or "=" in match[0][:4]:
        return True
    line_end = match.string.find("\n", match.end(), match.end() + 1) >= 0 or match.end() == len(match.string)
    is_line = line_end and _PLAIN_KEY.fullmatch(before.rpartition("\n")[2]) is not None
    return is_line or re.search(r"[\d!#$%&*+@^_~]", value) is not None


def _ends_longer_name(before: str) -> bool:
    """Whether a short name is the end of a longer one, as in `smtp_pass` and `dbPass`."""
    return _JOINED_SHORT.search(before) is not None


def is_option_value(match: re.Match[str]) -> bool:
    """Whether the value of a command-line option can be a secret, as in `--db-password x`."""
    return _OPTION.search(text_before(match, match.start(), 48)) is not None and is_value(match)


def is_quoted_key(match: re.Match[str]) -> bool:
    """Whether a quoted text after the name of a key is one; a token or secret may be quoted by name."""
    return _NAMED_KEY.search(text_before(match, match.start(), 12)) is not None and is_value(match)


def is_argument(match: re.Match[str]) -> bool:
    """Whether a value is more than the number of a port, user or group, or the name of a variable."""
    value = secret_of(match)
    return is_value(match) and not re.fullmatch(r"[\d.:/\-]*(?:tcp|udp)?|\$\(.*", value)


def has_digit_or_sign(match: re.Match[str]) -> bool:
    """Whether a word does not occur in prose."""
    value = match["secret"].rstrip(".,;!?)")
    if _HYPHENATED.search(text_before(match, match.start(), 20)):
        return False  # a name such as auth-token, and words about it
    return is_value(match) and re.search(r"[\d!#$%&*+@^_~]", value) is not None


def looks_like_password(match: re.Match[str]) -> bool:
    """Whether it mixes letters and digits, unlike the words of a sentence about a password."""
    value = match["secret"].strip("'\"").rstrip(".,;!?)]:'\"")
    if _HYPHENATED.search(text_before(match, match.start(), 20)) or not is_value(match):
        return False
    mixed = re.search(r"[A-Za-z]", value) and re.search(r"\d", value)
    is_plain = "=" in value or "/" in value or "(" in value or "[" in value
    return len(value) >= 5 and bool(mixed) and not is_plain and not WORDS_WITH_DIGITS.fullmatch(value)


def is_no_name_with_digits(match: re.Match[str]) -> bool:
    """Whether it looks like a password and not like `orders-v2`, `us-east1` or a pod's name."""
    value = match["secret"].rstrip(".,;!?)]:")
    return looks_like_password(match) and not re.fullmatch(
        r"[a-z0-9]{1,20}(?:[._-][a-z0-9]{1,20}){1,9}", value
    )


def is_word_with_digit(match: re.Match[str]) -> bool:
    """Whether an argument looks like a password."""
    value = secret_of(match)
    return is_value(match) and (match[0].startswith('"') or re.search(r"\d", value) is not None)


def holds_a_token(match: re.Match[str]) -> bool:
    """Whether a path has a generated part: long, with digits and letters."""
    return any(_is_generated(part) for part in re.split(r"[/@=]|%2F", match["secret"]))


def _is_generated(part: str) -> bool:
    if len(part) < 16:
        return False
    digits = sum(character.isdigit() for character in part)
    upper = sum(character.isupper() for character in part)
    lower = sum(character.islower() for character in part)
    if not upper and not lower:
        return False
    return digits >= 3 or (digits >= 1 and part.isalnum()) or (4 * upper >= len(part) and lower >= 3)


def secret_of(match: re.Match[str]) -> str:
    """The text that a rule found, without its own quotes."""
    groups = match.re.groupindex
    for name in ("secret", *QUOTES):
        if name in groups and match[name] is not None:
            return str(match[name])
    return ""


def text_before(match: re.Match[str], end: int, length: int) -> str:
    """So much of the text before a place."""
    return match.string[max(0, end - length) : end]


def is_mailbox(match: re.Match[str]) -> bool:
    """Whether it is a person's address: not `git@…`, nor a user or database on a cluster or cloud host."""
    domain = match["domain"].lower()
    if domain.endswith(_CLOUD_HOSTS):
        return False
    top = domain.rsplit(".", 1)[-1]
    local = re.split(r"@|%40", match["secret"], maxsplit=1)[0].strip(".")
    return top not in _INTERNAL and local.lower() not in {"git", "hg", ""}


def has_cn_id_checksum(match: re.Match[str]) -> bool:
    """Whether the last digit is the checksum of the first seventeen (GB 11643, ISO 7064 MOD 11-2)."""
    text = str(match["secret"])
    total = sum(weight * int(digit) for weight, digit in zip(_CN_ID_WEIGHTS, text, strict=False))
    return _CN_ID_CHECKS[total % 11] == text[-1].upper()


def is_ssn(match: re.Match[str]) -> bool:
    """Whether the US Social Security Administration can have issued the number."""
    area, group, serial = match["secret"].split("-")
    return area not in {"000", "666"} and group != "00" and serial != "0000"


def is_card(match: re.Match[str]) -> bool:
    """Whether it has a card's first digits and check digit (ISO/IEC 7812), and not one digit repeated."""
    if not _CARD_ISSUER.match(match["secret"]):
        return False
    if (
        len(match["secret"]) > 16
        and match["secret"].isdigit()
        and not _CARD_WORDS.search(text_before(match, match.start(), 24))
    ):
        return False  # as long as the ids that distributed systems make
    digits = [int(character) for character in match["secret"] if character.isdigit()]
    total = sum(
        digit if place % 2 == 0 else sum(divmod(2 * digit, 10))
        for place, digit in enumerate(reversed(digits))
    )
    return total % 10 == 0 and len(set(digits)) > 1


def is_international_phone(match: re.Match[str]) -> bool:
    """Whether it has nine to fifteen digits (ITU-T E.164), no decimal point, and is not a count."""
    text = str(match["secret"])
    points = text.count(".")
    if points == 1 or (points and " " in text) or _UNIT_AFTER.match(match.string, match.end("secret")):
        return False
    return 9 <= sum(character.isdigit() for character in text) <= 15


def has_iban_checksum(match: re.Match[str]) -> bool:
    """Whether the two digits after the country are the checksum of the rest (ISO 7064 MOD 97-10)."""
    text = match["secret"].replace(" ", "").replace("-", "")
    return int("".join(str(int(character, 36)) for character in text[4:] + text[:4])) % 97 == 1


def looks_like_phone(match: re.Match[str]) -> bool:
    """Whether it is alone or follows a word such as `tel`; eleven digits may also be a count of bytes."""
    start, end = match.span("secret")
    if _UNIT_AFTER.match(match.string, end):
        return False
    before = match.string[max(0, start - 24) : start]
    alone = not before.strip() and not match.string[end : end + 24].strip()
    return alone or _PHONE_WORDS.search(before) is not None
