"""Secrets recognised by what precedes them: a name, a command, a statement, a URL."""

from __future__ import annotations

import re
from collections.abc import Callable

from diagnosis_harness.kernel import masking_checks as checks
from diagnosis_harness.kernel.masking_names import KeyGroup
from diagnosis_harness.kernel.masking_rule import MaskingRule

_SURE = frozenset({KeyGroup.PASSWORD, KeyGroup.TOKEN})
_PASSWORD = frozenset({KeyGroup.PASSWORD})
_PROSE = frozenset({KeyGroup.PASSWORD, KeyGroup.SHORT})
_SHORT = frozenset({KeyGroup.SHORT})
_TOKEN = frozenset({KeyGroup.TOKEN})
_ANY = frozenset({KeyGroup.PASSWORD, KeyGroup.TOKEN, KeyGroup.SHORT})

_QUOTED = (
    r'\\"(?P<q1>[^"\\\n]*(?:\\(?!")[^"\\\n]*)*)'  # JSON inside a JSON string
    r'|"(?P<q2>[^"\\\n]*(?:\\.[^"\\\n]*)*)'
    r"|'(?P<q3>[^'\\\n]*(?:\\.[^'\\\n]*)*)"
)
_CLOSED = r"""(?P<secret>"(?P<q2>[^"\\\n]{1,200})"|'(?P<q3>[^'\\\n]{1,200})')"""
# A comma, semicolon or ampersand belongs to the value unless a blank or another key follows it.
_PLAIN = r"""[^\s"'<>,;&，。；、]*"""
_BARE = rf"""(?=[^\s"'<>，。；、]){_PLAIN}(?:[,;&](?!\s|$|[\w.\-"']{{1,40}}\s?[=:]){_PLAIN})*"""
_SCHEME = r"(?i:(?:bearer|basic|token|negotiate|apikey|ssws|key)\s{1,4})?"
_SEPARATOR = r"(?:\\?[\"']\]?)?\s{0,4}(?:=>|:=|==?|[:：＝])\s{0,4}"
_ARGUMENT = rf"(?P<secret>{_QUOTED}|[^\s\"'<>|;&-][^\s\"'<>|;]*)"
_GLUED_ARGUMENT = rf"(?P<secret>{_QUOTED}|[^\s\"'<>|;&]+)"
_WORD = r"(?P<secret>[!-~]{3,127}[!-+\--:<-~])"


def _after(
    groups: frozenset[KeyGroup], tail: str, check: Callable[[re.Match[str]], bool] = checks.is_value
) -> MaskingRule:
    """A value recognised by the name before it."""
    return MaskingRule("secret", re.compile(tail), after=groups, check=check)


def _command(programs: str, option: str, *hints: str) -> MaskingRule:
    """The value after an option that takes a secret in these programs, but not in others."""
    pattern = rf"(?<![\w.-])(?:{programs})\s(?:[^\n|;&]{{0,300}}?\s)?{option}"
    return MaskingRule("secret", re.compile(pattern), hints, check=checks.is_argument)


def _login(option: str, sign: str) -> str:
    """`user:password` in one argument, quoted or not."""
    user = rf"[^\s\"'/@={sign}]{{0,64}}"
    return (
        rf"{option}[ =]?(?:\"{user}{sign}(?P<q2>[^\"\n]{{1,200}})\"|'{user}{sign}(?P<q3>[^'\n]{{1,200}})'"
        rf"|{user}{sign}(?P<secret>[^\s\"'<>]{{1,200}}))"
    )


NAMED: tuple[MaskingRule, ...] = (
    _after(  # a block of YAML
        _SURE,
        r"[\"']?[ \t]{0,4}:[ \t]{0,4}[|>][+-]?\d?[ \t]{0,4}\n(?P<secret>(?:[ \t][^\n]*(?:\n|\Z))+)",
    ),
    _after(  # a whole line of YAML or of a header: the value may hold blanks
        _SURE, r"[ \t]{0,4}[:：][ \t]{1,4}(?P<secret>[^\s\"'|>{\[][^\n]*)", checks.is_line_value
    ),
    _after(  # the words of a passphrase
        _PASSWORD,
        r"[ \t]{0,4}[:=][ \t]{0,4}(?P<secret>[A-Za-z]{2,20}(?:[ \t][A-Za-z]{2,20}){2,11})(?=[ \t]*(?:\n|\Z))",
        checks.are_words_of_a_passphrase,
    ),
    _after(_SURE, rf"{_SEPARATOR}{_SCHEME}N?(?P<secret>{_QUOTED}|{_BARE})"),
    _after(_SHORT, rf"{_SEPARATOR}(?P<secret>{_QUOTED}|{_BARE})", checks.is_value_of_short_name),
    _after(  # an element of XML
        _ANY, r"(?:\s[^<>]{0,120})?>(?P<secret>[^<\n]{1,512})</"
    ),
    _after(  # name and value separated, as in `- name: DB_PASSWORD\n  value: x` or `key="ApiKey" value="x"`
        _SURE,
        rf"[\"']?[\s,]{{1,40}}[\"']?[Vv]alue[\"']?\s{{0,4}}[:=]\s{{0,4}}(?P<secret>{_QUOTED}|{_BARE})",
    ),
    _after(  # an option of a command
        _ANY, rf"\s{{1,4}}(?P<secret>{_QUOTED}|(?!-){_BARE})", checks.is_option_value
    ),
    _after(_PASSWORD, rf"(?:[ \t]{{1,4}}|[ \t]?\([ \t]?){_CLOSED}"),  # a statement, or a quotation in prose
    _after(_TOKEN, rf"[ \t]{{1,4}}{_CLOSED}", checks.is_quoted_key),
    _after(  # prose
        _SURE,
        rf"\s{{0,4}}(?:(?i:\b(?:is|was)\b)|是|为|為)\s{{0,4}}[:：]?\s{{0,4}}{_WORD}",
        checks.has_digit_or_sign,
    ),
    _after(
        _PROSE,
        r"\s{0,4}(?:(?i:\b(?:is|was|es|est|ist|lautet|to)\b)|é|è|は|는|은)\s{0,4}" + _WORD,
        checks.has_digit_or_sign,
    ),
    _after(
        _PASSWORD,
        rf"(?:\s{{1,3}}[-–—]\s{{1,3}}|\s{{0,3}}(?:->|\|)\s{{0,3}}){_WORD}",
        checks.looks_like_password,
    ),
    _after(_PASSWORD, rf"[\"']\s{{0,2}},\s{{0,2}}{_CLOSED}", checks.looks_like_password),  # two of a list
    _after(  # a name followed by its place or number
        _PASSWORD,
        r"(?:\d{1,2}|[._-](?:prod|production|dev|test|stage|staging|old|new|default|main|ro|rw|value|plain|\d{1,2}))"
        rf"{_SEPARATOR}(?P<secret>{_QUOTED}|{_BARE})",
    ),
    _after(_PROSE, r"[ \t]{1,3}[\[(]?(?P<secret>[!#-&(-+\--:<-Z\^-~]{5,128})", checks.looks_like_password),
    _after(
        _TOKEN,
        r"[ \t]{1,3}(?P<secret>[A-Za-z0-9_+/.-]{20,512}={0,2})(?![A-Za-z0-9_+/=-])",
        checks.looks_random,
    ),
    _after(
        _PASSWORD,
        r"\s(?:for|of|für|von|para|pour|для|de|di|do)\s[^\s:=]{1,40}(?:\s[^\s:=]{1,40})?\s?[:=]\s{0,2}"
        r"(?P<secret>[!-~]{5,128})",
        checks.looks_like_password,
    ),
)
"""Values after the name of a secret."""

COMMANDS: tuple[MaskingRule, ...] = (
    _command(r"(?:mysql|mariadb)[\w-]{0,24}|7za?", rf"-p{_GLUED_ARGUMENT}", "mysql", "mariadb", "7z"),
    _command(r"sshpass", rf"-p\s?{_ARGUMENT}", "sshpass"),
    _command(
        r"(?:redis|valkey|keydb)-(?:cli|benchmark)", rf"(?:-a ?|--pass[ =]){_ARGUMENT}", "redis-", "valkey-",
        "keydb-",
    ),
    _command(
        r"mongo(?:sh|dump|restore|export|import|stat|top|files)?|cqlsh|beeline|rabbitmqadmin|evil-winrm|ncftp\w{0,8}"
        r"|twine|(?:docker|podman|nerdctl|buildah|skopeo|oras|helm registry|oc|cf|az|ibmcloud) login",
        rf"-p[ =]?{_ARGUMENT}",
        "mongo", "cqlsh", "beeline", "rabbitmqadmin", "evil-winrm", "ncftp", "twine", " login",
    ),
    _command(
        r"sqlcmd|bcp|isql|tsql|mosquitto_[a-z]{2,5}|unzip|zip|ipmitool",
        rf"-P ?{_ARGUMENT}",
        "sqlcmd", "bcp", "isql", "tsql", "mosquitto_", "zip", "ipmitool",
    ),
    _command(r"snmp[a-z]{3,8}", rf"-[AX] ?{_ARGUMENT}", "snmp"),
    _command(r"ldap[a-z]{3,8}|vsql", rf"-w ?{_ARGUMENT}", "ldap", "vsql"),
    _command(r"plink|pscp|psftp|putty", rf"-pw {_ARGUMENT}", "plink", "pscp", "psftp", "putty"),
    _command(r"winrs|xfreerdp|rdesktop", rf"[-/]p[: ]{_ARGUMENT}", "winrs", "freerdp", "rdesktop"),
    _command(
        r"htpasswd", rf"-[a-zB]{{0,6}}b[a-zA-Z]{{0,6}}\s\S{{1,200}}\s\S{{1,64}}\s{_ARGUMENT}", "htpasswd"
    ),
    MaskingRule(  # the arguments as a list
        "secret",
        re.compile(
            r"[\"']htpasswd[\"'],\s?[\"']-\w{0,6}b\w{0,6}[\"'],\s?[\"'][^\"']{1,200}[\"'],\s?[\"'][^\"']{1,64}[\"'],\s?"
            rf"{_CLOSED}"
        ),
        ("htpasswd",),
        check=checks.is_value,
    ),
    _command(
        r"rabbitmqctl",
        rf"(?:add_user|change_password|authenticate_user)\s\S{{1,64}}\s{_ARGUMENT}",
        "rabbitmqctl",
    ),
    _command(r"net use", rf"/user:\S{{1,64}}\s{_ARGUMENT}", "net use"),
    _command(r"openssl", rf"-pass(?:in|out)?\spass:{_ARGUMENT}", "openssl"),
    _command(r"lftp", _login("-u", ","), "lftp"),
    _command(r"smbclient|rpcclient|smbget", _login("-U", "%"), "smbclient", "rpcclient", "smbget"),
    _command(
        r"curl|etcdctl|https?|xh|wget|ab|siege",
        _login("(?:-(?:[a-zA-Z]{0,8}[uU]|[aA])|--(?:proxy-)?user|--auth)", ":"),
        "curl", "etcdctl", "http", "xh", "wget", "ab ", "siege",
    ),
)  # fmt: skip
"""Arguments of well-known programs."""

PLACED: tuple[MaskingRule, ...] = (
    MaskingRule(
        "cookie",
        re.compile(
            # One that is deleted has no value.
            r"(?i:cookie)\s{0,4}[:=]\s{0,4}(?![^\s;,\"'=]{1,256}=;\s?(?i:max-age=0|expires=|path=))"
            r"(?P<secret>[^\s;,\"'=]{1,256}=[^\s;,\"']*(?:;\s{0,4}[^\s;,\"'=]{1,256}(?:=[^\s;,\"']*)?)*)"
        ),
        ("cookie",),
    ),
    MaskingRule(
        "dsn-password",
        re.compile(r"://[^\s:/@?#\"'<>]{0,256}:(?P<secret>[^\s/\"'<>]{1,512})@"),
        ("://",),
        check=checks.is_no_placeholder,
    ),
    MaskingRule(
        "dsn-password",
        re.compile(r"(?<![^\s\"'=])[\w.-]{1,64}:(?P<secret>[^\s\"']{1,256})@(?:tcp|unix)\("),
        ("@tcp(", "@unix("),
    ),
    MaskingRule(  # a token instead of a user
        "dsn-password",
        re.compile(r"://(?P<secret>[A-Za-z0-9_-]{20,256})(?::[^\s/@\"'<>]{0,64})?@"),
        ("://",),
        check=checks.holds_a_token,
    ),
    MaskingRule(
        "dsn-password",
        re.compile(
            r"(?:oracle:(?:thin|oci):|sqlplus\s(?:-\w{1,8}\s)?)[^\s/@]{1,64}/(?P<secret>[^\s@\"'<>]{1,128})@"
        ),
        ("oracle:", "sqlplus"),
    ),
    MaskingRule(
        "secret",
        re.compile(rf"(?i:\bidentified\s{{1,4}}by\s{{1,4}}){_CLOSED}"),
        ("identified",),
        check=checks.is_value,
    ),
    MaskingRule(  # the settings of Redis
        "secret",
        re.compile(r"(?i:\b(?:requirepass|masterauth)\s{1,4})(?P<secret>[^\s\"']{1,256})"),
        ("requirepass", "masterauth"),
        check=checks.is_value,
    ),
    MaskingRule(  # a user and a password in prose: `logged in as app/…`, `creds app / …`
        "secret",
        re.compile(
            r"(?i:\b(?:log(?:ged)?[ -]?in(?: as| with)?|creds?|credentials?)\b)[:=]?\s{1,3}"
            rf"[\w.@+-]{{1,64}}\s?[/:|]\s?{_WORD}"
        ),
        ("login", "log in", "log-in", "logged", "cred"),
        check=checks.is_no_name_with_digits,
    ),
    MaskingRule(  # protocol commands, as a client sends them
        "secret",
        re.compile(
            rf"\bAUTH(?:\s[\w.-]{{1,64}})?\s{_WORD}|\"AUTH\"(?:\s\"[^\"\n]{{1,64}}\")??\s\"(?P<q2>[^\"\n]{{1,200}})\"\s?$"
        ),
        ("auth",),
        check=checks.is_word_with_digit,
    ),
    MaskingRule(
        "secret",
        re.compile(r"(?:[>/:]|\bUSER\s\S{1,64})\s{1,4}PASS\s(?P<secret>[^\s]{1,128})\s?$", re.MULTILINE),
        ("pass ",),
    ),
    MaskingRule(
        "secret",
        re.compile(rf"\bLOGIN\s[\w.@-]{{1,64}}\s{_WORD}\s?$", re.MULTILINE),
        ("login ",),
        check=checks.is_word_with_digit,
    ),
    MaskingRule(
        "secret",
        re.compile(
            r"\becho\s{1,4}[\"']?[\w.-]{1,64}:(?P<secret>[^\s\"'|]{1,128})[\"']?\s{0,4}"
            r"\|\s{0,4}(?:sudo )?chpasswd"
        ),
        ("chpasswd",),
    ),
    MaskingRule(
        "secret",
        re.compile(
            r"\b(?:echo|printf)\s{1,4}[\"']?(?P<secret>[^\s\"'|$]{1,128})[\"']?\s{0,4}"
            r"\|(?:[^|\n]{1,200}--password-stdin|\s{0,4}sudo -S)"
        ),
        ("--password-stdin", "sudo -s"),
    ),
    MaskingRule(  # an option of any program that takes a user beside it
        "secret",
        re.compile(rf"(?<![\w-])(?:-u|--user(?:name)?)[ =][^\s\"']{{1,64}}\s-p[ =]?{_ARGUMENT}"),
        (" -p",),
        check=checks.looks_like_password,
    ),
)
"""Secrets recognised by a URL, a statement, a protocol or a pipe."""
