"""Masking of secrets in sentences, settings and calls, and of values that only say where a secret is."""

from __future__ import annotations

import pytest

from diagnosis_harness.kernel.masking import mask

HEX = "9b1de0c4f7a2" * 2 + "5e6d7c8b"

TOLD = [
    ("the new password for the standby of orders is set to xK9pQ2mW7z now", "xK9pQ2mW7z"),
    ("I put Winter!2031 as the root password", "Winter!2031"),
    ("on the bastion it is admin / rV7#kk20Lq", "rV7#kk20Lq"),
    ("vendor default (root:Calvin2024) still works", "Calvin2024"),
    ("guest wifi downstairs, key Bq7Zr0Tn", "Bq7Zr0Tn"),
    (f"пароль от кластера временно {HEX}, потом сменим", HEX),
    ("das Kennwort der Replik lautet jetzt „drei blaue Esel“", "drei blaue Esel"),
    ("la frase de paso del almacén: «caballo 9 verde»", "caballo 9 verde"),
    ("数据库的密码已经改成Zx9!kk20Lq了", "Zx9!kk20Lq"),
    ("デプロイ用トークンはaB3dE6gH9jK2mN5pQ8sTです", "aB3dE6gH9jK2mN5pQ8sT"),
    ('auth = requests.auth.HTTPBasicAuth("ann", "sea side 4")', "sea side 4"),
    ('pool.connect("10.0.0.4", 5432, "app", "horse77")', "horse77"),
    ("db-7.acme.io:5432:orders:app:four words", None),
    ("db-7.acme.io:5432:orders:app:fourWords1", "fourWords1"),
    ("[smtp.acme.io]:587 relay@acme.io:oneTwo33", "oneTwo33"),
    ("stats auth ops:grey-goose", "grey-goose"),
    ("snmp-server community n0tPublic RO", "n0tPublic"),
    ('key "k1" { algorithm hmac-sha256; secret "q7Zr0TnaB3dE6gH9jK2mN5=="; };', "q7Zr0TnaB3dE6gH9jK2mN5=="),
    ('com.acme.DigestLoginModule required user_ann="sea5ide";', "sea5ide"),
    ('  ~ admin_password = "[masked:secret]" -> "sea5ide2"', "sea5ide2"),
    ('expect "assword:"\nsend "sea5ide2\\r"', "sea5ide2"),
    ("chpasswd input:\nroot:sea5ide2\nann:horse77", "horse77"),
    ("GET /account/reset/MTI/aB3dE6gH9jK2mN5pQ8sTvW HTTP/1.1", "aB3dE6gH9jK2mN5pQ8sTvW"),
    ("<AdminPassword><Value>sea5ide2</Value></AdminPassword>", "sea5ide2"),
]
"""Lines, and what must not stay of them; None for a line in which nothing can be known to be a secret."""

NOT_TOLD = [
    "password = var.db_password", "token: ${{ secrets.DEPLOY_TOKEN }}", "password: vault:secret/data/shop#db",
    'secret = os.getenv("APP_SECRET")', "const token = await read(process.env.TOKEN_FILE)",
    "+ admin_password = (sensitive value)", "postgres://app:***@10.0.0.4:5432/orders",
    "%ops ALL=(ALL) NOPASSWD: /usr/bin/systemctl restart cart", "Set-Cookie: sid=; Max-Age=0; Path=/",
    "arn:aws:secretsmanager:eu-west-1:206887490656:secret:prod/db-AbCdEf",
    f"password reset mail for request {HEX} was queued", f"token check failed, trace {HEX}",
    "login of user svc2 from 10.1.2.3 failed after 3 attempts",
    "wrong password on db-1.shop.svc, pod cart-7d9f8-x2k4",
    "OAuth2ClientFilter: no credentials", "passphrase needed by Sha256Signer.java:114",
    "the login page of v2.14.0 loads slowly", "admin: 4 pods, root: 2", "user /api/v1/Orders2 not found",
    "SASL failed, invalid credentials listener=SASL_SSL-9093",
    "the password policy changed. Xk12Qz34 is the live build",
]  # fmt: skip


@pytest.mark.parametrize(("line", "secret"), TOLD)
def test_a_secret_told_in_a_line_goes(line: str, secret: str | None) -> None:
    """In a sentence of any language, a setting, a call or a session."""
    masked = mask(line).text

    assert masked == line if secret is None else secret not in masked
    assert masked == mask(masked).text


def test_a_list_of_secrets_comes_to_rest_at_once() -> None:
    """The word in a placeholder is no word for the value that follows it."""
    line = ", ".join(f"горшок: Winter{number}x!9" for number in range(1_000, 1_020))

    assert mask(f"the password is rV7#kk20Lq, {line}").text.count("[masked:") == 1


@pytest.mark.parametrize("line", NOT_TOLD)
def test_a_line_that_only_speaks_of_secrets_stays(line: str) -> None:
    """References, calls, ids, names and versions beside a word for a secret."""
    assert mask(line).text == line
