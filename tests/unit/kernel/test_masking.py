"""Masking: secrets and personal data go, telemetry stays, failure is closed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.kernel.errors import MaskingFailed
from diagnosis_harness.kernel.masking import RuleTable, mask, mask_value
from diagnosis_harness.kernel.masking_rule import MaskingRule

# Written in pieces, so that no scanner takes this file for a leak.
GITHUB = "gh" + "p_" + "aB3" * 12
AWS_ID = "AK" + "IA" + "IOSFODNN7EXAMPLE"
AWS_SECRET = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"
JWT = "ey" + "JhbGciOiJIUzI1NiJ9" + ".ey" + "JzdWIiOiIxMjM0NTYifQ" + ".c2lnbmF0dXJl-x_Y"
OWN_KEY = "dk" + "_0123456789ab_" + "0123456789abcdef" * 4
BODY = "MIIEowIBAAKCAQEAx4UbaDzY5xjW6hc9jwN0mX33XpTDVWrfzJ7lJaLhS8pQ2A+b"
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\nq3Fg==\n-----END RSA PRIVATE KEY-----"

SECRETS = [
    ("curl -fsSLu admin:S3cret https://h", "curl -fsSLu admin:[masked:secret] https://h"),
    ("DBPASS=abc123XYZ", "DBPASS=[masked:secret]"),
    ("REDISPASS: x9y8z7w6", "REDISPASS: [masked:secret]"),
    ("pass phrase: correct horse battery", "pass phrase: [masked:secret]"),
    ("passphrase=correct horse battery\nnext", "passphrase=[masked:secret]\nnext"),
    ("sent, otp=482913", "sent, otp=[masked:secret]"),
    ("https://hooks.zapier.com/hooks/catch/1234567/a1b2c3d", "https://hooks.zapier.com/hooks/catch/[masked:webhook]"),
    ("https://hook.eu1.make.com/a1b2c3d4e5f6g7h8", "https://hook.eu1.make.com/[masked:webhook]"),
    ("de89 3704 0044 0532 0130 00", "[masked:iban]"),
    ("password=hunter2 user=bob", "password=[masked:secret] user=bob"),
    ("db_password: hunter2x, retries: 3", None),
    ('{"password": "hun\\"ter2", "user": "bob"}', '{"password": "[masked:secret]", "user": "bob"}'),
    ('{"api_key":"x1y2z3"}', '{"api_key":"[masked:secret]"}'),
    (r'msg="{\"token\": \"abcd1234\", \"n\": 1}"', r'msg="{\"token\": \"[masked:secret]\", \"n\": 1}"'),
    ("DB_PASSWD='a b c' next", "DB_PASSWD='[masked:secret]' next"),
    ("spring.datasource.password: correct horse battery", "spring.datasource.password: [masked:secret]"),
    ("kind: Secret\n  password: |\n    line one\n    line two\nname: x", None),
    ("userPassword=Tr0ub4dor&3 ok", "userPassword=[masked:secret] ok"),
    ("GET /cb?access_token=abc123&state=9", "GET /cb?access_token=[masked:secret]&state=9"),
    ("X-Api-Key: 0123456789", "X-Api-Key: [masked:secret]"),
    ("Authorization: Bearer abc.def-123456 status=200", "Authorization: Bearer [masked:bearer] status=200"),
    ("authorization: Basic dXNlcjpwYXNz", "authorization: Basic [masked:basic-auth]"),
    ("sent header bearer a1b2c3d4e5f6", "sent header bearer [masked:bearer]"),
    ("Set-Cookie: sid=abc123; Path=/; HttpOnly", "Set-Cookie: [masked:cookie]"),
    ("密码：Abc12345，用户 张三", "密码：[masked:secret]，用户 张三"),
    ("数据库口令是Abc@123", "数据库口令是[masked:secret]"),
    ('config["secret"] = "x y"', 'config["secret"] = "[masked:secret]"'),
    ("{User:bob Password:hunter2}", "{User:bob Password:[masked:secret]}"),
    ("<password>hunter2</password>", "<password>[masked:secret]</password>"),
    ("mysqldump --password hunter2 --host db", "mysqldump --password [masked:secret] --host db"),
    ("the password is hunter2!", "the password is [masked:secret]"),
    ("logged in as app/Tr0ub4dor&3x, all well", "logged in as app/[masked:secret], all well"),
    ("creds app / hY7pQ2zz9", "creds app / [masked:secret]"),
    ("log in with admin:Winter2026!", "log in with admin:[masked:secret]"),
    ('password="never closed', 'password="[masked:secret]'),
    (f"token {JWT} refused", "token [masked:jwt] refused"),
    (f"first\\n{JWT}", "first\\n[masked:jwt]"),
    ("postgres://app:s3cr@t@db:5432/orders", "postgres://app:[masked:dsn-password]@db:5432/orders"),
    ("redis://:pw123@cache:6379/0", "redis://:[masked:dsn-password]@cache:6379/0"),
    ("dsn root:toor@tcp(db:3306)/shop", "dsn root:[masked:dsn-password]@tcp(db:3306)/shop"),
    (PEM, "[masked:pem]"),
    (PEM.replace("\n", "\\n") + " tail", "[masked:pem] tail"),
    (PEM[:60], "[masked:pem]"),
    (f"log line {BODY}", "log line [masked:pem]"),
    (f"aws key {AWS_ID} secret {AWS_SECRET} used", "aws key [masked:aws-key] secret [masked:aws-key] used"),
    ("id " + "AS" + "IA" + "IOSFODNN7EXAMPLE", "id [masked:aws-key]"),
    (f'{{"type": "service_account", "private_key": "{PEM}"}}'.replace("\n", "\\n"), None),
    ("AccountName=x;AccountKey=" + "aB3+" * 21 + "aB==;EndpointSuffix=y", None),
    ("gcp " + "AI" + "za" + "Sy0" * 11 + "ab", "gcp [masked:gcp-key]"),
    ("?sv=2020&sig=" + "aB3%2F" * 5, "?sv=2020&sig=[masked:azure-key]"),
    (f"remote {GITHUB}", "remote [masked:github-token]"),
    ("github" + "_pat_" + "11ABCDE0Y0abcdefghijkl", "[masked:github-token]"),
    ("gl" + "pat-" + "abcDEF123456_-xyz987", "[masked:gitlab-token]"),
    ("xo" + "xb-" + "1234567890-abcdefghij", "[masked:slack-token]"),
    ("https://hooks.slack.com/services/" + "T0AB/B0CD/x1y2z3x1y2z3", None),
    ("sk" + "_live_" + "4eC39HqLyjWDarjtT1zdp7dc", "[masked:stripe-key]"),
    ("sk" + "-proj-" + "aB3dE6gH9jK2mN5pQ8sT", "[masked:llm-key]"),
    ("sk" + "-ant-" + "api03-aB3dE6gH9jK2mN5p", "[masked:anthropic-key]"),
    ("np" + "m_" + "aB3" * 12, "[masked:npm-token]"),
    ("h" + "f_" + "aB3" * 11, "[masked:hf-token]"),
    ("mail from alice.b+x@example.co.uk failed", "mail from [masked:email] failed"),
    ("联系alice@example.com谢谢", "联系[masked:email]谢谢"),
    ("josé@example.com", "[masked:email]"),
    ("to=bob%40example.com&x=1", "to=[masked:email]&x=1"),
    ("call +44 20 7946 0958 now", "call [masked:phone] now"),
    ("+8613812345678", "[masked:phone]"),
    ("+86 138-1234-5678", "[masked:phone]"),
    ("phone=13812345678 ok", "phone=[masked:phone] ok"),
    ("用户13812345678登录失败", "用户[masked:phone]登录失败"),
    ('{"mobile":"13812345678"}', '{"mobile":"[masked:phone]"}'),
    ("138 1234 5678", "[masked:phone]"),
    ("热线 010-62345678", "热线 [masked:phone]"),
    ("(555) 234-5678", "[masked:phone]"),
    ("身份证11010519491231002X，已登记", "身份证[masked:cn-id]，已登记"),
    ("ssn 123-45-6789", "ssn [masked:us-ssn]"),
    ("paid with 4111 1111 1111 1111", "paid with [masked:card]"),
    ("card=378282246310005", "card=[masked:card]"),
    ("why does it reject " + OWN_KEY + "?", "why does it reject [masked:diagnose-key]?"),
    ("DB_PASS=summertime", "DB_PASS=[masked:secret]"),
    ("db_pass: summertime", "db_pass: [masked:secret]"),
    ('SMTP_PASS="two words"', 'SMTP_PASS="[masked:secret]"'),
    ("dbPass=x1y2z3, pool=5", "dbPass=[masked:secret], pool=5"),
    ("mysql -uroot -pS3cret -h db-1", "mysql -uroot -p[masked:secret] -h db-1"),
    ("curl -u admin:S3cret https://db-1/", "curl -u admin:[masked:secret] https://db-1/"),
    ("curl --user 'admin:S3 cret' https://db-1/", "curl --user 'admin:[masked:secret]' https://db-1/"),
    ("redis-cli -h db-1 -a S3cret ping", "redis-cli -h db-1 -a [masked:secret] ping"),
    ("sshpass -p S3cret ssh db-1", "sshpass -p [masked:secret] ssh db-1"),
    ("docker login -u bob -p S3cret db-1", "docker login -u bob -p [masked:secret] db-1"),
    ("passwd hunter2", "passwd [masked:secret]"),
    ("ALTER USER bob IDENTIFIED BY 'S3 cret';", "ALTER USER bob IDENTIFIED BY '[masked:secret]';"),
    ("login with bob and password hunter2x, then", "login with bob and password [masked:secret], then"),
    ("- name: DB_PASSWORD\n  value: summertime\n", "- name: DB_PASSWORD\n  value: [masked:secret]\n"),
    ("https://discord.com/api/webhooks/123456789012345678/" + "aB3-" * 17 + " 429", None),
    ("https://a.webhook.office.com/webhookb2/4bf92f35-77b3-4da6-a3ce-929d0e0e4736@x/IncomingWebhook/a", None),
    ("https://chat.io/hooks/" + "q1w2e3" * 4 + "ab 500", "https://chat.io/hooks/[masked:webhook] 500"),
    ("contraseña: hunter2", "contraseña: [masked:secret]"),
    ("le mot de passe est hunter2", "le mot de passe est [masked:secret]"),
    ("Пароль: hunter2", "Пароль: [masked:secret]"),
    ("das Passwort ist hunter2", "das Passwort ist [masked:secret]"),
    ("パスワードはhunter2です", "パスワードは[masked:secret]です"),
    ("비밀번호: hunter2", "비밀번호: [masked:secret]"),
    ("IBAN DE89 3704 0044 0532 0130 00 EUR", "IBAN [masked:iban] EUR"),
    ("to GB29NWBK60161331926819.", "to [masked:iban]."),
    ("write to bob@example.com. Next line", "write to [masked:email]. Next line"),
    ("phone +8613812345678 (20 s before the onset)", "phone [masked:phone] (20 s before the onset)"),
]  # fmt: skip

TELEMETRY = [
    "checkout latency_p90 rose from 0.21 s to 3.204 s between 2023-11-14 22:13:20 and 22:23:20 UTC",
    "2024-01-01T14:05:03.123456789Z ERROR [checkout-7d9f8b6c5-x2k4q] c.acme.Pay - status=503 ms=3204",
    "trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7",
    "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "request 550e8400-e29b-41d4-a716-446655440000 took 12ms",
    "uuid 12345678-1234-1234-1234-123456789012",
    "epoch 1700000000 ms 1700000000000 us 1700000000000000 ns 1700000000000000000",
    'container_memory_working_set_bytes{pod="checkout-0"} 15032385536 1700000000',
    "memory grew to 15032385536 bytes", "heap=13958643712", "1700000000,15032385536,18253611008",
    "duration_ns=15032385536", '{"value": 15032385536, "ts": 1700000000}',
    "10.0.0.5:4433 -> 192.168.100.200:5432 via fe80::1ff:fe23:4567:890a",
    "image r.local/s/cart:v2.3.1@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "lodash@4.17.21", "com.acme.Cart@1a2b3c4d",
    "pod payment-service-6c8d9f7b5d-abcde restarted 3 times",
    "sk-service-frontend-deployment-5c8f9d7b6d-x2k4q", "task-checkout-7d9f8b6c5",
    "prompt_tokens=512 total_tokens: 1024 max_token=4096", "token_count=5 tokens=12",
    "unexpected token: IDENTIFIER at line 3", "token: expired", "password: incorrect", "Authorization failed",
    "authorization=true", "password: null", "password=****", "password=${DB_PASSWORD}", 'secretName: "tls-x"',
    "bearer authentication failed", "basic health check passed", "invalid password attempts: 3",
    "http://payment:8080/charge?order=12345#a", "https://user.example.com/path:8080/x@y",
    "GET /api/v1/users/12345/orders/67890 200 0.021", "git@github.com:acme/shop.git",
    "root@node-1.cluster.local ssh closed", "cpu 0.4111111111111111 ratio 1234567890.4111111111111111",
    "order 4111111111111112 created", "snowflake 110105194912310021", "seq 4111-1111",
    "2024-01-01 - 2024-12-31",
    "range 100-200-3000", "p99=+12.5% (+3204 ms)", "offset +1500", "version 1.20.300-rc.4",
    "kafka-0 partition-12",
    "orders@shop-db.eu-west-1.rds.amazonaws.com_Database::SQL", "app@db.example.com:5432/orders",
    "job@worker.example.com_0", "GC pause 1.2e-05", "s3://bucket/key/2024/01/01/part-00000.parquet",
    "SELECT * FROM t WHERE id = 12345678901",
    "状态码 500，耗时 3204 毫秒，实例 checkout-0", "内存使用 15032385536 字节", "数据点 13812345678 个",
    "arn:aws:iam::123456789012:role/secret-reader", "aws region us-east-1 secret rotation done",
    "/usr/local/lib/python3.11/site-packages/aws/x", "[masked:jwt]", "password=[masked:secret]", "",
    "phone: +3204 (20 s before the onset)", "p99 moved by +12 345 678 (20 s before the onset)",
    "+15032385536 bytes",
    "first pass: 12 of 14", "compass: calibrated", "--- PASS: TestCart2 (0.01s)", "bypass=true",
    "docker run -p 8080:80 -u 1000:1000 cart", "mysql -u root -p shop", "nc -u 10.0.0.1:5000", "passwd app",
    "user-token 是 mobile-api2 所见现象的原因。", "auth-token latency_p90 rose (20 s before the onset)",
    "https://docs.acme.io/webhooks/retry", "DE12345 region", "密码错误次数: 3", "senha inválida",
    "BYPASS=true", "COMPASS: north", "otp service latency 33 ms", "the OTP was not sent",
    "ab12 cd34 ef56 7890 abcd 12", "de89370400440532013000", "curl -fsSL a:b",
    "Пароль неверный", "clave primaria",
    "logged in as app/service-a from 10.0.0.1",
    "credentials app/orders-v2 rejected by us-east1",
    "login orders-7f9c8d6b5-x2x4z / node-3: web-0 ok",
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SECRETS)
def test_a_secret_is_replaced_by_its_kind(text: str, expected: str | None) -> None:
    """Every form in the table is masked, and the text around it stays."""
    masked = mask(text)
    assert masked.counts
    if expected is not None:
        assert masked.text == expected


@pytest.mark.parametrize("text", TELEMETRY)
def test_ordinary_telemetry_is_not_touched(text: str) -> None:
    """Ids, times, addresses, versions, counts and names pass unchanged."""
    assert mask(text).text == text


@pytest.mark.parametrize(("text", "_"), SECRETS)
def test_masking_again_changes_nothing(text: str, _: str | None) -> None:
    """Masking the result changes nothing."""
    once = mask(text).text
    assert mask(once).text == once


def test_multi_line_secrets_leave_nothing_behind() -> None:
    """No part of a block survives, in YAML, in a service account and in a connection string."""
    for text, _ in SECRETS:
        for part in ("line one", "line two", "q3Fg==", "MIIEow", "aB3+aB3", "x1y2z3x1y2z3", "hunter2"):
            assert part not in mask(text).text


def test_counts_name_each_kind() -> None:
    """The counts say how many of each kind were replaced."""
    assert dict(mask("a@example.com b@example.com password=x9").counts) == {"email": 2, "secret": 1}


def test_values_are_masked_by_their_name_too() -> None:
    """A secret that only its field's name gives away is masked, at any depth."""
    found = mask_value(
        {"db": {"password": "plain", "note": "mail a@example.com"}, "n": 3, "l": ["token=abc1"]}
    )
    assert found == {
        "db": {"password": "[masked:secret]", "note": "mail [masked:email]"},
        "n": 3,
        "l": ["token=[masked:secret]"],
    }


@given(st.text(max_size=200), st.sampled_from(SECRETS), st.text(max_size=60))
def test_any_surroundings_come_to_rest(before: str, secret: tuple[str, str | None], after: str) -> None:
    """Masking is idempotent whatever text is around a secret."""
    once = mask(f"{before} {secret[0]}\n{after}").text
    assert mask(once).text == once


@given(
    st.lists(
        st.sampled_from(
            [
                "password",
                "=",
                ":",
                '"',
                "'",
                "\\",
                " ",
                "\n",
                ",",
                "a1",
                "@",
                "b.co",
                "[",
                "]",
                "eyJ",
                "://",
                "[masked:secret]",
                "-",
                "138",
                "12345678",
                "是",
                "İ",
                "\ud83d\ude00",
                "curl -u ",
                "http -a ",
                "redis-cli -a ",
                "mysql -p",
                " --password ",
            ]
        ),
        max_size=40,
    )
)
def test_any_pieces_come_to_rest(pieces: list[str]) -> None:
    """Masking is idempotent for every sequence of what the rules look for."""
    once = mask("".join(pieces)).text
    assert mask(once).text == once


@given(
    st.sampled_from([GITHUB, JWT, AWS_ID, "a.b@example.com", "4111111111111111"]),
    st.text("é文😀 ,;()", max_size=30),
)
def test_neighbours_of_a_secret_survive_whole(secret: str, around: str) -> None:
    """What is not the secret is not cut, whatever its script."""
    assert re.fullmatch(
        re.escape(around) + r" \[masked:[a-z-]+\] " + re.escape(around),
        mask(f"{around} {secret} {around}").text,
    )


def test_what_is_not_text_fails_closed() -> None:
    """Bytes are refused, not passed on."""
    with pytest.raises(MaskingFailed):
        mask(b"password=x")  # type: ignore[arg-type]  # the very thing that is tested


def test_a_rule_that_fails_hides_the_text() -> None:
    """A failing rule gives a typed failure that does not hold the text."""

    def raise_broken(match: re.Match[str]) -> bool:
        raise ValueError(match.string)

    rule = MaskingRule("broken", re.compile("(?P<secret>x)"), check=raise_broken)
    with pytest.raises(MaskingFailed) as caught:
        mask("a secret x", RuleTable([rule]))
    assert "secret x" not in str(caught.value)


def test_a_value_nested_too_deep_fails_closed() -> None:
    """Depth is bounded."""
    value: list[object] = []
    for _ in range(80):
        value = [value]
    with pytest.raises(MaskingFailed):
        mask_value(value)  # type: ignore[arg-type]  # nested lists are JSON; the checker cannot see the depth


LETTERS = [
    *(("h" + "f_", 30), ("gh" + "p_", 30), ("np" + "m_", 30), ("sk" + "_live_", 10), ("whs" + "ec_", 16)),
    *(("LT" + "AI", 12), ("AK" + "ID", 13), ("dck" + "r_pat_", 20), ("gs" + "k_", 30), ("AK" + "IA", 16)),
]
"""Beginnings of tokens, and how many letters of any kind make one of each."""


@pytest.mark.parametrize(("begin", "least"), LETTERS)
def test_a_token_of_letters_alone_goes_where_it_is_the_whole_value(begin: str, least: int) -> None:
    """A token need not hold a digit, and a label's value is often nothing but the token."""
    for token in (begin + "Q" * least, begin + ("QYWSXVRAKJLD" * 4)[:least]):
        assert "[masked:" in mask(token).text
        assert "[masked:" in str(mask_value({"note": token}))


@given(
    st.sampled_from([begin for begin, _ in LETTERS]),
    st.text("abcdefXYZ_", max_size=45),
)
def test_a_word_is_masked_alone_as_it_is_in_a_sentence(begin: str, rest: str) -> None:
    """No short cut sees less than the rules."""
    word = begin + rest

    assert mask(f"{word} .").text == f"{mask(word).text} ."
