"""Secrets recognised by their place in a configuration file, a statement, a call or a session."""

from __future__ import annotations

import re

from diagnosis_harness.kernel import masking_checks as checks
from diagnosis_harness.kernel.masking_prose import is_no_id, is_of_login_module
from diagnosis_harness.kernel.masking_rule import MaskingRule

_CLOSED = r"""(?:"(?P<q2>[^"\\\n]{1,200})"|'(?P<q3>[^'\\\n]{1,200})')"""
_LITERAL = r"""(?:"[^"\n]{0,160}"|'[^'\n]{0,160}')"""


def _form(pattern: str, *hints: str, flags: re.RegexFlag = re.NOFLAG) -> MaskingRule:
    return MaskingRule("secret", re.compile(pattern, flags), hints, check=checks.is_value)


FORMS: tuple[MaskingRule, ...] = (
    # directives of HAProxy, Cisco and OpenVPN
    _form(r"(?i:\binsecure-password\s{1,4})(?P<secret>[^\s\"']{1,128})", "insecure-password"),
    _form(r"(?i:\bstats\s{1,4}auth\s{1,4})[\w.@-]{1,64}:(?P<secret>[^\s\"']{1,128})", "stats"),
    _form(r"(?i:\bsnmp-server\s{1,4}community\s{1,4})(?P<secret>[^\s\"']{1,128})", "snmp-server"),
    _form(
        r"(?i:\b(?:tacacs|radius)-server\s{1,4}(?:host\s\S{1,64}\s{1,4})?key\s{1,4})(?:\d\s{1,4})?"
        r"(?P<secret>[^\s\"']{1,128})",
        "tacacs-server",
        "radius-server",
    ),
    _form(
        r"(?i:\b(?:enable|username\s\S{1,64})\s{1,4}(?:secret|password)\s{1,4})(?:\d{1,2}\s{1,4})?"
        r"(?P<secret>[^\s\"']{4,128})\s?$",
        "enable ",
        "username ",
        flags=re.MULTILINE,
    ),
    # whole lines of .pgpass and of Postfix's sasl_passwd
    _form(
        r"^[ \t]{0,8}[\w.*-]{1,128}:(?:\d{2,5}|\*):[^:\s]{1,64}:[^:\s]{1,64}:(?P<secret>[^\s]{1,128})$",
        ":543",
        ":6432:",
        ":*:",
        flags=re.MULTILINE,
    ),
    _form(
        r"^[ \t]{0,8}\[?[\w.-]{1,128}\]?:\d{2,5}[ \t]{1,16}[\w.@+-]{1,128}:(?P<secret>[^\s]{1,128})$",
        ":587",
        ":465",
        ":25",
        flags=re.MULTILINE,
    ),
    _form(r"\bmachine\s\S{1,128}\slogin\s\S{1,128}\spassword\s(?P<secret>\S{1,128})", "machine "),
    MaskingRule(  # lines for chpasswd
        "secret",
        re.compile(
            r"chpasswd[^\n]{0,80}\n"
            r"(?P<secret>[ \t]{0,8}[\w.-]{1,64}:\S{1,128}(?:\n[ \t]{0,8}[\w.-]{1,64}:\S{1,128}){0,40})"
        ),
        ("chpasswd",),
    ),
    # a secret within braces of BIND, or in a JAAS login module
    _form(r"\bsecret\s{1,4}\"(?P<q2>[A-Za-z0-9+/]{16,}={0,2})\"\s{0,2};", "secret"),
    MaskingRule(
        "secret",
        re.compile(r"\buser_[\w.-]{1,64}\s{0,2}=\s{0,2}\"(?P<q2>[^\"\n]{1,200})\""),
        ("user_",),
        check=is_of_login_module,
    ),
    # an HTTP header, quoted or not; `Basic` may hold something else than a user and a password
    _form(
        r"(?i:authorization[\"']?\s{0,2}[:=,]?\s{0,2}[\"']?basic\s{1,4})(?P<secret>[A-Za-z0-9+/_-]{11,512}={0,2})",
        "basic",
    ),
    # the old and the new value of a plan, where one of them was masked
    _form(rf"\[masked:[a-z-]{{1,40}}\][\"']?\s{{0,2}}(?:->|=>|→)\s{{0,2}}{_CLOSED}", "[masked:"),
    # an element of XML that holds the value in another one
    _form(
        r"(?i:(?:password|passwd|secret|token|apikey|psk)>\s{0,8}<(?:value|string|plaintext)>)(?P<secret>[^<\n]{1,512})</",
        "value>",
        "string>",
        "plaintext>",
    ),
    # a name and a value, each quoted, as Redis and others log commands
    MaskingRule(
        "secret",
        re.compile(
            rf"(?i:\"(?:masterauth|requirepass|masteruser|[\w.-]{{0,40}}(?:password|passwd|secret))\"\s{{1,4}}){_CLOSED}"
        ),
        ("masterauth", "requirepass", "password", "passwd", "secret"),
        check=checks.is_value,
    ),
    # calls
    _form(
        r"(?i:\b(?:networkcredential|(?:set_?|with_?|http)?basic_?auth(?:entication)?|passwordauthentication|login"
        r"|usernamepasswordcredentials?|passwordcredential|auth\s?=\s?))"
        rf"\(\s{{0,4}}{_LITERAL},\s{{0,4}}{_CLOSED}\s{{0,4}}[,)]",
        "credential",
        "auth",
        "login(",
    ),
    _form(
        rf"(?i:connect(?:ion)?|new pdo|mysqli)\(\s{{0,4}}{_LITERAL},\s{{0,4}}(?:\d{{1,5}},\s{{0,4}})?"
        rf"{_LITERAL},\s{{0,4}}{_CLOSED}\s{{0,4}}[,)]",
        "connect",
        "new pdo",
        "mysqli",
    ),
    _form(
        rf"(?i:\bdefine\(\s{{0,4}}[\"'][\w]{{0,40}}(?:pass(?:word)?|secret|salt|token|_key)[\"']),\s{{0,4}}{_CLOSED}",
        "define(",
    ),
    _form(rf"\bAT\+[A-Z]{{2,16}}=[^\n\"]{{0,20}}{_LITERAL},{_LITERAL},{_CLOSED}", "at+"),
    _form(  # a session of expect
        r"assword[^\n]{0,12}\n\s{0,8}send\s(?:--\s)?\"(?P<q2>[^\"\n\\]{1,128})", "assword"
    ),
    _form(rf"(?i:\bconvertto-securestring\s{{1,4}}(?:-string\s{{1,4}})?){_CLOSED}", "securestring"),
    _form(r"(?i:\bwallet\(\s{0,4}[\"']?)(?P<secret>(?:0x)?[0-9a-f]{64})", "wallet("),
    _form(
        rf"(?i:\b(?:pgp_sym_(?:en|de)crypt|aes_(?:en|de)crypt|encryptbypassphrase)\((?:[^()\"'\n]{{1,80}},)?\s{{0,4}}){_CLOSED}",
        "crypt",
    ),
    _form(  # a name and a value as two columns or conditions of a statement
        r"(?i:\bset\s{1,4}\w{0,16}value\w{0,16}\s{0,4}=\s{0,4})'(?P<q3>[^'\n]{1,200})'"
        r"(?=[^\n;]{0,120}(?i:passw|secret|token|api_?key))",
        "value",
    ),
    _form(  # multipart form data
        r"(?i:name=\"[\w.-]{0,40}(?:password|passwd|secret|token|api_?key)\")\r?\n(?:[\w-]{1,40}:[^\n]{0,120}\n)?\r?\n"
        r"(?P<secret>[^\r\n]{1,200})",
        'name="',
    ),
    MaskingRule(  # links that let their reader in
        "secret",
        re.compile(
            r"/(?:reset|confirm|activate|activation|verify|invite|invitation|magic|magic-link|sso|unsubscribe)/"
            r"(?:[\w-]{1,24}/){0,2}(?P<secret>[A-Za-z0-9_-]{20,256})(?![A-Za-z0-9_-])"
        ),
        ("reset/", "confirm/", "activat", "verify/", "invit", "magic", "sso/", "unsubscribe/"),
        check=checks.looks_random,
    ),
    MaskingRule(  # `credential … -> …`
        "secret",
        re.compile(
            r"(?i:credentials?|token|secret|cl[eé]|key|キー|ключ|토큰)[^\n]{0,40}?(?:->|→|⇒|=>)\s{0,2}(?P<secret>[A-Za-z0-9_-]{20,256})"
            r"(?![A-Za-z0-9_-])"
        ),
        ("->", "→", "⇒", "=>"),
        check=checks.looks_random,
    ),
    MaskingRule(  # a long hexadecimal key, where the sentence says that it is one
        "secret",
        re.compile(
            r"(?i:\b(?:api|app|nwk|signing|encryption|master|private|secret|enable|webhook)[ _-]?"
            r"(?:s?key|secret)"
            r"|ключ\s\w{1,16}|schlüssel|segredo|chave|clave|clé|klucz|passphrase|passwor[dt]|kennwort|mdp)"
            r"[^\n.]{0,48}?[\s:„“\"«]{1,2}(?P<secret>[0-9a-fA-F]{32,128})(?![0-9a-fA-F])"
        ),
        (
            "key",
            "secret",
            "ключ",
            "schlüssel",
            "segredo",
            "chave",
            "clave",
            "clé",
            "klucz",
            "passphrase",
            "passwor",
            "kennwort",
            "mdp",
        ),
        check=is_no_id,
    ),
)
"""Settings, statements, calls."""
