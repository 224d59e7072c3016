"""Recognises values that only say where a secret is: references, calls and variables; pure."""

from __future__ import annotations

import re

QUOTES = ("q1", "q2", "q3")
"""The groups of a quoted value; one of them matches."""

_REFERENCE = re.compile(
    r"\$\{\{.*"  # GitHub
    r"|(?:vault|op|ssm|sops|akv|secretsmanager|awssm|secretref|env|keyring|ref\+[a-z]{2,20})(?:://|:)\S*"
    r"|arn:aws[\w-]*:.*"
    r"|(?:!\w{1,12} )?['\"]?\{\{resolve:.*|!(?:Ref|GetAtt|ImportValue|vault)\b.*"  # CloudFormation, Ansible
    r"|\(sensitive.*|<sensitive.*"  # Terraform
    r"|(?:var|local|data|module|env|secrets?|config|settings|self|this|args|opts|options|params|process\.env)"
    r"\.[A-Za-z_][\w.\[\]]*",
    re.DOTALL,
)
_CALL = re.compile(r"[A-Za-z_][\w.:]{0,80}\(")
_EMPTY = re.compile(r"[a-z_-]{1,24}=")
_WORDS = frozenset(
    {"new", "await", "lambda", "function", "async", "yield", "return"}
    | {"!Sub", "!Ref", "!GetAtt", "!Join", "!vault"}
)
_AFTER_TOKEN = re.compile(r"(?i:token|key)\W*$")
_WORDS_FOLLOW = re.compile(r"\s[\"'\w]")


def is_reference(match: re.Match[str], value: str) -> bool:
    """Whether a value is a reference, a call, an empty setting, or a word of prose after `token:`."""
    if any(name in match.re.groupindex and match[name] is not None for name in QUOTES):
        return _REFERENCE.fullmatch(value) is not None
    whole = (value + match.string[match.end() : match.end() + 1]).strip()
    if any(form.match(whole) for form in (_REFERENCE, _CALL)):
        return True
    return value in _WORDS or _EMPTY.fullmatch(value) is not None or _is_word_of_prose(match, value)


def _is_word_of_prose(match: re.Match[str], value: str) -> bool:
    if not (value.isascii() and value.isalpha() and value.islower() and match[0].startswith(": ")):
        return False
    before = match.string[max(0, match.start() - 12) : match.start()]
    return bool(_AFTER_TOKEN.search(before) and _WORDS_FOLLOW.match(match.string, match.end()))
