"""What counts as a secret or as personal data in text, as one table (see `kernel.masking`).

Every pattern is linear: a repeat without bound is possessive, or stops at what it cannot match, and no
pattern starts again inside a run that it has read. Rules are tried only where a hint, a long run or the name
of a secret stands in the text, so that an ordinary line costs little more than a few substring searches.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from diagnosis_harness.kernel import masking_checks as checks


@dataclass(frozen=True, slots=True)
class MaskingRule:
    """One form of a secret.

    Attributes:
        kind: what the replacement names; lower case letters and dashes.
        pattern: finds it; the group `secret`, or where it is quoted `q1` to `q3`, is what is replaced.
        hints: lower-case texts of which one stands wherever the pattern can match; none: always try.
        gate: matches somewhere in every text that the pattern matches; asked once for all that share it.
        after_key: the pattern is matched only right behind the name of a secret.
        check: a last look at a match where its form alone does not tell.
    """

    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...] = ()
    gate: re.Pattern[str] | None = None
    after_key: bool = False
    check: Callable[[re.Match[str]], bool] | None = None


# Every branch begins with its own letter, so that the scan stops only where one of these letters stands.
SECRET_KEY = re.compile(
    r"pass(?:word|wd|phrase|code)|pwd|secret|token(?<!unexpected token)|credentials?|authorization|cookie"
    r"|api[_\- ]?key|access[_\- ]?key|private[_\- ]?key|signing[_\- ]?key|encryption[_\- ]?key"
    r"|master[_\- ]?key|shared[_\- ]?key|account[_\- ]?key|sharedaccesssignature|x-amz-signature"
    r"|密码|口令|密钥|令牌|凭证"
)
"""The name of a secret, as it ends a key, in lower case: db_password, X-Api-Key, accessToken. A name that
goes on (`token_count`, `tokens`, `secretName`) is not followed by a value and so gives no match."""

# A token begins where no letter, digit, `_` or `-` stands before it, or after an escaped line break or tab.
_LEFT = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
_RIGHT = r"(?![A-Za-z0-9_-])"
_RUN = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40}")
_RUN_LEFT = r"(?<![A-Za-z0-9+/=])"
_RUN_RIGHT = r"(?![A-Za-z0-9+/=])"
_DIGITS = re.compile(r"\d(?:[ ().-]{0,2}\d){8}")

_QUOTED = (
    r'\\"(?P<q1>(?:[^"\\\n]|\\(?!"))*+)'  # JSON inside a JSON string
    r'|"(?P<q2>(?:[^"\\\n]|\\.)*+)'
    r"|'(?P<q3>(?:[^'\\\n]|\\.)*+)"
)
# A comma, semicolon or ampersand belongs to the value unless a blank or another key follows it.
_BARE = r"""(?:[^\s"'<>,;&，。；]|[,;&](?!\s|$|[\w.\-"']{1,40}\s?[=:]))++"""
_SCHEME = r"(?i:(?:bearer|basic|token|negotiate|apikey)\s{1,4})?"
_MAIL = r"A-Za-z0-9._%+\-À-ɏΑ-ωА-я"


def _token(kind: str, body: str, *hints: str, mixed: bool = False) -> MaskingRule:
    """A token that its own beginning gives away."""
    pattern = re.compile(rf"{_LEFT}(?P<secret>{body}){_RIGHT}")
    return MaskingRule(kind, pattern, hints, check=checks.looks_random if mixed else None)


def _run(kind: str, body: str, check: Callable[[re.Match[str]], bool], *hints: str) -> MaskingRule:
    """A run of base64 characters that nothing but its form gives away."""
    pattern = re.compile(rf"{_RUN_LEFT}(?P<secret>{body}){_RUN_RIGHT}")
    return MaskingRule(kind, pattern, hints, gate=_RUN, check=check)


def _after_key(tail: str, check: Callable[[re.Match[str]], bool]) -> MaskingRule:
    """A value that the name before it gives away."""
    return MaskingRule("secret", re.compile(tail), after_key=True, check=check)


def _number(
    kind: str, first: str, rest: str, check: Callable[[re.Match[str]], bool] | None = None
) -> MaskingRule:
    """A number that is no part of a longer number or name; `first` is its first character."""
    pattern = re.compile(rf"(?P<secret>{first}(?<![A-Za-z0-9_.+-]{first}){rest})(?![A-Za-z0-9_-]|\.\d)")
    return MaskingRule(kind, pattern, gate=_DIGITS, check=check)


RULES: tuple[MaskingRule, ...] = (
    MaskingRule(
        "pem",
        re.compile(
            r"(?P<secret>-----BEGIN [A-Z0-9 ]{1,60}-----.*?(?:-----END [A-Z0-9 ]{1,60}-----|\Z))", re.DOTALL
        ),
        ("-----begin ",),
    ),
    # Lines of a block whose first line stands elsewhere.
    _run("pem", r"(?:MII|b3BlbnNzaC1rZXk)[A-Za-z0-9+/]{37,}+={0,2}", checks.looks_random),
    _run("pem", r"[A-Za-z0-9+/]{64}", checks.looks_like_base64),
    _run("azure-key", r"[A-Za-z0-9+/]{86}==", checks.looks_random),
    _run("aws-key", r"[A-Za-z0-9/+]{40}", checks.looks_random, "akia", "asia", "aws", "secret"),
    _token("jwt", r"eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+){2,4}", "eyj"),
    _token("aws-key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}", "akia", "asia", "abia", "acca"),
    _token("gcp-key", r"AIza[A-Za-z0-9_-]{35}", "aiza"),
    _token("gcp-key", r"ya29\.[A-Za-z0-9_-]{20,}+", "ya29."),
    _token("gcp-key", r"GOCSPX-[A-Za-z0-9_-]{20,}+", "gocspx-"),
    MaskingRule("azure-key", re.compile(r"[?&;]sig=(?P<secret>[A-Za-z0-9%+/=_-]{20,}+)"), ("sig=",)),
    _token("alibaba-key", r"LTAI[A-Za-z0-9]{12,24}", "ltai"),
    _token("tencent-key", r"AKID[A-Za-z0-9]{13,40}", "akid"),
    _token("github-token", r"gh[pousr]_[A-Za-z0-9]{30,}+", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _token("github-token", r"github_pat_[A-Za-z0-9_]{22,}+", "github_pat_"),
    _token("gitlab-token", r"gl(?:pat|rt|dt|ptt|oas|cbt)-[A-Za-z0-9_-]{16,}+", "gl"),
    _token("slack-token", r"xox[abceoprs]-[A-Za-z0-9-]{10,}+", "xox"),
    _token("slack-token", r"xapp-[A-Za-z0-9-]{10,}+", "xapp-"),
    MaskingRule(
        "slack-token",
        re.compile(r"hooks\.slack\.com/services/(?P<secret>[A-Za-z0-9/]{20,}+)"),
        ("hooks.slack.com",),
    ),
    _token("stripe-key", r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}+", "_live_", "_test_"),
    _token("stripe-key", r"whsec_[A-Za-z0-9]{16,}+", "whsec_"),
    _token("anthropic-key", r"sk-ant-[A-Za-z0-9_-]{16,}+", "sk-ant-"),
    _token("llm-key", r"sk-(?:proj-|svcacct-|or-)?[A-Za-z0-9_-]{20,}+", "sk-", mixed=True),
    _token("npm-token", r"npm_[A-Za-z0-9]{30,}+", "npm_"),
    _token("hf-token", r"hf_[A-Za-z0-9]{30,}+", "hf_"),
    _token("package-token", r"pypi-[A-Za-z0-9_-]{40,}+", "pypi-"),
    _token("mail-key", r"SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+", "sg."),
    _token("vault-token", r"hv[sbr]\.[A-Za-z0-9_-]{20,}+", "hvs.", "hvb.", "hvr."),
    _token("cloud-token", r"dop_v1_[a-f0-9]{40,}+", "dop_v1_"),
    _token("cloud-token", r"dapi[a-f0-9]{32}", "dapi"),
    _token("cloud-token", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}", "shp"),
    MaskingRule(
        "bearer",
        re.compile(r"(?i:\bbearer)\s{1,4}(?P<secret>[A-Za-z0-9._~+/=-]{8,}+)"),
        ("bearer",),
        check=checks.is_no_word,
    ),
    MaskingRule(
        "basic-auth",
        re.compile(r"(?i:\bbasic)\s{1,4}(?P<secret>[A-Za-z0-9+/]{8,}+={0,2})"),
        ("basic",),
        check=checks.is_basic_credential,
    ),
    MaskingRule(
        "dsn-password",
        re.compile(r"://[^\s:/@?#\"'<>]{0,256}+:(?P<secret>[^\s/\"'<>]{1,512})@"),
        ("://",),
    ),
    MaskingRule(
        "dsn-password",
        re.compile(r"(?<![^\s\"'=])[\w.-]{1,64}+:(?P<secret>[^\s@\"']{1,256}+)@(?:tcp|unix)\("),
        ("@tcp(", "@unix("),
    ),
    MaskingRule(
        "cookie",
        re.compile(
            r"(?i:cookie)\s{0,4}[:=]\s{0,4}"
            r"(?P<secret>[^\s;,\"'=]{1,256}+=[^\s;,\"']*+(?:;\s{0,4}[^\s;,\"'=]{1,256}+(?:=[^\s;,\"']*+)?)*+)"
        ),
        ("cookie",),
    ),
    _after_key(  # a block of YAML
        r"[\"']?[ \t]{0,4}:[ \t]{0,4}[|>][+-]?\d?[ \t]{0,4}\n(?P<secret>(?:[ \t]++[^\n]*+(?:\n|\Z))++)",
        checks.is_value,
    ),
    _after_key(  # a whole line of YAML or of a header: the value may hold blanks
        r"[ \t]{0,4}[:：][ \t]{1,4}(?P<secret>[^\s\"'|>{\[][^\n]*+)", checks.is_line_value
    ),
    _after_key(
        rf"(?:\\?[\"']\]?)?\s{{0,4}}(?:=>|:=|==?|[:：＝])\s{{0,4}}{_SCHEME}(?P<secret>{_QUOTED}|{_BARE})",
        checks.is_value,
    ),
    _after_key(r"(?:\s[^<>]{0,120})?>(?P<secret>[^<\n]++)</", checks.is_value),  # an element of XML
    _after_key(  # an option of a command
        rf"\s{{1,4}}(?P<secret>{_QUOTED}|[^\s\"'<>-][^\s\"'<>]*+)", checks.is_option_value
    ),
    _after_key(  # prose
        r"\s{0,4}(?:(?i:\bis\b)|是|为)\s{0,4}(?P<secret>[!-~]{4,}+)", checks.has_digit_or_sign
    ),
    MaskingRule(
        "email",
        re.compile(
            rf"(?<![{_MAIL}])(?P<secret>[{_MAIL}]++@"
            r"(?P<domain>(?:[A-Za-z0-9À-ɏ][A-Za-z0-9À-ɏ-]*+\.)++[A-Za-z]{2,24}+))(?![A-Za-z0-9_]|:\d|::)"
        ),
        ("@",),
        check=checks.is_mailbox,
    ),
    MaskingRule(
        "email",  # as a URL writes it
        re.compile(r"(?<![\w.+-])(?P<secret>[\w.+-]++%40(?P<domain>(?:[A-Za-z0-9-]++\.)++[A-Za-z]{2,24}+))"),
        ("%40",),
        check=checks.is_mailbox,
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
        re.compile(
            r"(?P<secret>\+(?<![A-Za-z0-9_.+-]\+)[1-9]\d{0,2}+(?:[ .\-]?\(?\d{1,4}\)?){2,6})"
            r"(?![A-Za-z0-9_-]|\.\d)"
        ),
        ("+",),
        gate=_DIGITS,
        check=checks.has_phone_length,
    ),
    _number("phone", "1", r"[3-9]\d[ -]\d{4}[ -]\d{4}"),  # Chinese mobile, written in groups
    _number("phone", "8", r"6[ -]1[3-9]\d[ -]?\d{4}[ -]?\d{4}"),
    # Chinese mobile, bare: eleven digits are a count of bytes as well, so its neighbours must tell.
    _number("phone", "1", r"[3-9]\d{9}", checks.stands_as_phone),
    _number("phone", "0", r"(?:10|2\d|[3-9]\d\d)[ -][1-9]\d{6,7}"),  # Chinese landline
    _number("phone", r"\(", r"0(?:10|2\d|[3-9]\d\d)\) ?[1-9]\d{6,7}"),
    _number("phone", "[2-9]", r"\d\d-[2-9]\d\d-\d{4}"),  # North America
    _number("phone", r"\(", r"[2-9]\d\d\) ?[2-9]\d\d-\d{4}"),
)
"""Every kind of secret and personal data. Where two find the same place, the first names it."""
