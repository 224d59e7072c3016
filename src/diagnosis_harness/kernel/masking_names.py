"""The names of secrets in settings, queries and prose, in the languages that logs are written in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from diagnosis_harness.kernel.masking_hints import Hints


class KeyGroup(Enum):
    """How certain it is that a secret follows a name."""

    PASSWORD = "password"  # noqa: S105 - the name of a group
    """A word for password, in one of many languages: prose may follow it as well as a separator."""
    TOKEN = "token"  # noqa: S105 - the name of a group
    """A word for a token, key or other secret: a status word follows it as often as a value does."""
    SHORT = "short"
    """A word with other meanings (`pass`, `clave`): the value must look like a password."""
    NEARBY = "nearby"
    """A word that stands near secrets (`wifi`, `login`, `ключ`): only a value like no other word."""


@dataclass(frozen=True, slots=True)
class Key:
    """The place of a secret's name in a text."""

    start: int
    end: int
    group: KeyGroup


# Every branch begins with its own letter, so that the scan stops only at one of these letters.
_ENGLISH = re.compile(
    r"(?P<password>pass(?:word|wd(?<!nopasswd)|[ _-]?phrase|code)|pwd|pin[_ ]?code|(?<![a-z])psk(?![a-z]))"
    r"|secret(?<!\d:secret)(?:[_\- ]?(?:access[_\- ]?)?key(?:[_\-]?base)?)?|token(?<!unexpected token)"
    r"|credentials?|cookie|authorization"
    r"|api[_\- ]?key|app(?:lication)?[_\- ]?s?key|nwk[_\- ]?s?key|sdk[_\-]?key|validation[_\-]?key"
    r"|decryption[_\-]?key|pre-?shared[_\- ]?key|unseal[_\- ]?(?:key|share)|backup code|recovery code"
    r"|access[_\- ]?key|private[_\- ]?key|signing[_\- ]?key|encryption[_\- ]?key"
    r"|master(?:[_\- ]?key|auth)|shared[_\- ]?key|account[_\- ]?key|license[_\- ]?key"
    r"|subscription[_\-]?key|functions[_\-]key|consumer[_\-]?key|auth[_\-]key|redis[._\-]auth|requirepass"
    r"|sharedaccesssignature|x-amz-signature"
    r"|密[码碼钥鑰匙]|口令|令牌|凭证|憑證|金[钥鑰]|秘密鍵"
)
_CHINESE_PASSWORD = ("密码", "密碼", "口令")

_ABROAD = (
    # Latin letters
    "passwort", "kennwort", "zugangscode", "contraseña", "contrasena", "contrasenya", "contrasinal",
    "mot de passe", "motdepasse", "mot_de_passe", "senha", "palavra-passe", "palavra passe", "hasło", "haslo",
    "heslo", "geslo", "lozinka", "wachtwoord", "lösenord", "losenord", "adgangskode", "kodeord", "passord",
    "lykilorð", "salasana", "parool", "slaptažodis", "şifre", "sifre", "parolă", "jelszó", "jelszo",
    "pasahitza", "mật khẩu", "mat khau", "kata sandi", "kata laluan", "nenosiri",
    # other scripts
    "пароль", "парола", "лозинка", "құпия сөз", "нууц үг", "κωδικός", "κωδικος", "συνθηματικό", "كلمة المرور",
    "كلمة السر", "رمز عبور", "گذرواژه", "پاس ورڈ", "סיסמה", "סיסמא", "पासवर्ड", "পাসওয়ার্ড", "கடவுச்சொல்",
    "รหัสผ่าน", "პაროლი", "գաղտնաբառ", "비밀번호", "암호", "패스워드", "비번", "パスワード", "暗証番号",
    "パスフレーズ", "合言葉", "الرقم السري",
    # several words for a passphrase
    "phrase secrète", "phrase secrete", "phrase de passe", "frase de paso", "frase de acceso",
    "frase secreta", "frase-senha", "parola d'ordine", "frase di accesso", "кодовая фраза", "кодовую фразу",
    "кодова фраза", "кодову фразу", "секретная фраза", "hasłem", "hasła", "пароля", "паролем", "паролі",
    "şifresi",
)  # fmt: skip
_ABROAD_KEY = re.compile(rf"(?<![a-z])(?:{'|'.join(map(re.escape, sorted(_ABROAD, key=len, reverse=True)))})")

_SHORT_WORDS = ("pass", "pw", "clave", "parola", "creds", "mdp", "otp")
_GLUED = (
    "store|key|db|user|root|admin|smtp|mail|ftp|sql|bind|trust|sudo|login|auth|proxy|ldap|redis|pg|ssh|conn"
)
# As written, since the capital in `dbPass` counts.
_SHORT_KEY = re.compile(
    rf"(?:(?<![A-Za-z])(?:[Pp]ass|PASS|[Pp]w|PW|[Cc]lave|CLAVE|[Pp]arola|PAROLA|[Cc]reds|CREDS|[Mm]dp|MDP"
    rf"|(?:{_GLUED})pass|(?:{_GLUED.upper()})PASS|[Oo]tp|OTP)|(?<=[a-z0-9])(?:Pass|Pw|Otp))(?![A-Za-z])"
)
_NEARBY = (
    "wifi", "wi-fi", "wlan", "ssid", "login", "log in", "unseal", "passphrase", "locked out", "credential",
    "api-schlüssel", "schlüssel", "zugangsdaten", "clé", "identifiants", "clave", "credenciales", "chave",
    "segredo", "credenciais", "chiave", "credenziali", "segreto", "klucz", "sekret", "anahtar",
    "kimlik bilgileri", "ключ", "токен", "секрет", "пасс", "логин", "логін", "キー", "トークン", "鍵", "토큰",
    "키", "密钥", "账号", "帳號", "مفتاح", "رمز", "टोकन", "कुंजी",
)  # fmt: skip
_NEARBY_KEY = re.compile(
    "|".join(
        rf"(?<![a-z]){re.escape(word)}" if word[0].isascii() else re.escape(word)
        for word in sorted(_NEARBY, key=len, reverse=True)
    )
)
_POSSIBLE = Hints(
    [(word, KeyGroup.PASSWORD) for word in _ABROAD]
    + [(word, KeyGroup.SHORT) for word in _SHORT_WORDS]
    + [(word, KeyGroup.NEARBY) for word in _NEARBY]
)


def keys_of(text: str, lowered: str) -> list[Key]:
    """The names of secrets in a text, in order; `lowered` is the text in lower case, of the same length.

    A name ends a key: db_password, X-Api-Key, accessToken. A name that continues (`token_count`, `tokens`,
    `secretName`) is found as well, but matches no rule, since no value follows it.
    """
    keys = [Key(found.start(), found.end(), _english_group(found)) for found in _ENGLISH.finditer(lowered)]
    possible = set(_POSSIBLE.find(lowered))
    if KeyGroup.PASSWORD in possible:
        keys += _keys(_ABROAD_KEY, lowered, KeyGroup.PASSWORD)
    if KeyGroup.NEARBY in possible:
        keys += _keys(_NEARBY_KEY, lowered, KeyGroup.NEARBY)
    if KeyGroup.SHORT in possible:
        keys += _keys(_SHORT_KEY, text, KeyGroup.SHORT)
    return sorted(keys, key=lambda key: key.start)


def _english_group(found: re.Match[str]) -> KeyGroup:
    is_password = found["password"] is not None or found[0] in _CHINESE_PASSWORD
    return KeyGroup.PASSWORD if is_password else KeyGroup.TOKEN


def _keys(pattern: re.Pattern[str], text: str, group: KeyGroup) -> Sequence[Key]:
    return [Key(found.start(), found.end(), group) for found in pattern.finditer(text)]
