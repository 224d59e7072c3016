"""Secrets that people tell each other in a sentence: near a word for a secret, or beside a user's name."""

from __future__ import annotations

import re

from diagnosis_harness.kernel import masking_checks as checks
from diagnosis_harness.kernel.masking_names import KeyGroup
from diagnosis_harness.kernel.masking_references import QUOTES
from diagnosis_harness.kernel.masking_rule import MaskingRule

_BREAK = re.compile(r"[.!?]\s|[。！？]|\[masked:")
"""The end of a sentence, or a secret that the word has already; what follows belongs to something else."""
_PLACEHOLDER_BEGUN = re.compile(r"\[masked:[a-z-]{1,40}$")
_NAMED_BEFORE = re.compile(
    r"(?i:\b(?:ids?|trace|request|span|commit|pod|build|release|version|order|ticket|incident|host|node|job|task|file"
    r"|class|module|kid|ref|revision|digest|image|tag|branch|partition|topic|table|index|bucket|queue|error"
    r"|container|instance|session|device|customer|account|cluster|policy|role|user)[\s:=#\"'(]{1,3}$)"
)
"""Words before a name or an id."""
_IDS = re.compile(
    r"[0-9a-fA-F]{7,}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|v?\d+(?:\.\d+)+[\w.+-]*"
    r"|[\w-]+(?:\.[\w-]+)+|[a-z0-9]{1,40}(?:[._-][a-z0-9]{1,40}){1,9}|[A-Z0-9]+(?:[_-][A-Z0-9]+)*"
    r"|[^@]+@[^@]+\.[a-z]{2,}"
)
"""Identifiers, versions, host and file names, and mail addresses."""
_NOT_IN_PASSWORDS = frozenset("=:([{<>\\\"'`,;?|")
"""Signs of code and punctuation; a password may hold them, but so do many other words of a log line."""
_SIGN = frozenset("!#$%^*@&+~")


def is_generated_near(match: re.Match[str]) -> bool:
    """Whether a word in a sentence about a secret is made up like a password, and is no name and no id."""
    value = checks.secret_of(match)
    if not (_is_near(match) and checks.is_value(match)) or _NOT_IN_PASSWORDS & set(value.rstrip("=")):
        return False
    if "/" in value and not (len(value) >= 20 and _mixes(value)):
        return False  # base64 may have it, but so has a path
    if _IDS.fullmatch(value) or (len(value) <= 24 and checks.WORDS_WITH_DIGITS.fullmatch(value)):
        return False
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", value)
    digits = sum(len(part) for part in parts if part.isdigit())
    words = [part for part in parts if part.isalpha()]
    # Anything else is a name in camel case, such as OAuth2Client.
    return bool(_SIGN & set(value)) or digits >= 4 or not words or any(len(word) < 3 for word in words)


def is_quoted_near(match: re.Match[str]) -> bool:
    """Whether a quotation of the same sentence can be a secret."""
    return checks.is_value(match) and _is_near(match)


def is_no_id(match: re.Match[str]) -> bool:
    """Whether it is of the same sentence, and no word before it says that it is an id or a digest."""
    return _is_near(match)


def is_of_login_module(match: re.Match[str]) -> bool:
    """Whether a user is one of a login module of Java, which has passwords as their values."""
    return "LoginModule" in checks.text_before(match, match.start(), 2_000) and checks.is_value(match)


def _is_near(match: re.Match[str]) -> bool:
    groups = match.re.groupindex
    start = next(
        match.start(name) for name in ("secret", *QUOTES) if name in groups and match[name] is not None
    )
    if _PLACEHOLDER_BEGUN.search(checks.text_before(match, match.start(), 48)):
        return False  # the word is that of a placeholder
    if _BREAK.search(match.string, match.start(), start):
        return False
    return _NAMED_BEFORE.search(checks.text_before(match, start, 24)) is None


def _mixes(value: str) -> bool:
    return all(any(test(sign) for sign in value) for test in (str.isupper, str.islower, str.isdigit))


_BEGIN = r"(?:(?<![!-~])|(?<=[\"'(`\[]))"
# Upper case, lower case and digit; or a sign with letter and digit; or a word with at least three digits.
_FORM = (
    r"(?:(?=[!-~]{0,64}[A-Z])(?=[!-~]{0,64}[a-z])(?=[!-~]{0,64}\d)"
    r"|(?=[!-~]{0,64}[!#$%^*@&+~])(?=[!-~]{0,64}\d)(?=[!-~]{0,64}[A-Za-z])"
    r"|(?=[A-Za-z]{4,20}\d{3,6}(?!\.?[A-Za-z0-9_@/=-])))"
)
_EDGE = r"[A-Za-z0-9!#$%^*@&+~_=-]"
_VALUE = rf"{_FORM}(?P<secret>{_EDGE}[!-~]{{5,126}}{_EDGE})"
_NEAR = r"[^\n]{0,60}?"
_AS = "as|als|come|como|comme|jako|как|як|olarak"
_WORDS_FOR_ONE = (
    "password", "passphrase", "passcode", "passwort", "kennwort", "contraseña", "mot de passe", "mdp",
    "phrase secrète", "senha", "clave", "hasło", "пароль", "şifre", "token", "secret",
)  # fmt: skip
_USERS = ("admin", "administrator", "root", "user", "sa", "postgres", "guest", "deploy", "operator")
_BETWEEN = (":", "/", " :", " /", " barra", " slash")

PROSE: tuple[MaskingRule, ...] = (
    MaskingRule(
        "secret", re.compile(_NEAR + _BEGIN + _VALUE), after=frozenset(KeyGroup), check=is_generated_near
    ),
    MaskingRule(  # in the quotation marks of prose
        "secret",
        re.compile(
            _NEAR + r"(?:„(?P<q1>[^“”\n]{4,80})[“”]|[«「『“]\s?(?P<q2>[^»」』”\n]{4,80}?)\s?[»」』”])"
        ),
        after=frozenset({KeyGroup.PASSWORD}),
        check=is_quoted_near,
    ),
    MaskingRule(
        "secret",
        re.compile(_NEAR + r"(?<![!-~])(?P<secret>[0-9a-f]{32})(?![0-9A-Za-z])"),
        after=frozenset({KeyGroup.PASSWORD}),
        check=is_no_id,
    ),
    MaskingRule(  # `I set … as the password`
        "secret",
        re.compile(
            rf"{_BEGIN}{_VALUE}[\"'»”“」)]?(?:\s»)?\s(?:{_AS})\s(?:[^\W\d]{{1,12}}\s){{0,2}}"
            rf"(?i:{'|'.join(_WORDS_FOR_ONE)})"
        ),
        _WORDS_FOR_ONE,
        check=is_generated_near,
    ),
    MaskingRule(  # `admin / …`, `root:…`
        "secret",
        re.compile(
            rf"(?<![\w./@-])(?i:{'|'.join(_USERS)}|svc[\w-]{{0,24}})(?:\s?[:/]\s?|\s(?:barra|slash)\s)"
            rf"(?:{_VALUE}|(?<=\s/\s)(?P<q1>[0-9a-f]{{32}})(?![0-9a-f]))"
        ),
        ("svc", *(user + sign for user in _USERS for sign in _BETWEEN)),
        check=is_generated_near,
    ),
)
"""Values in sentences."""
