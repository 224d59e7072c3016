"""Secrets recognised by their own form: keys, tokens, blocks, webhooks."""

from __future__ import annotations

import re
from collections.abc import Callable

from diagnosis_harness.kernel import masking_checks as checks
from diagnosis_harness.kernel.masking_rule import MaskingRule

# A token begins where no letter, digit, `_` or `-` stands before it, or after an escaped line break or tab.
_LEFT = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
_RIGHT = r"(?![A-Za-z0-9_-])"
_RUN = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40}")
_RUN_LEFT = r"(?<![A-Za-z0-9+/=])(?<!sha512-)(?<!sha384-)"  # checksums of packages are kept
_RUN_RIGHT = r"(?![A-Za-z0-9+/=])"


def _token(kind: str, body: str, *hints: str, mixed: bool = False) -> MaskingRule:
    """A token recognised by its prefix."""
    pattern = re.compile(rf"{_LEFT}(?P<secret>{body}){_RIGHT}")
    return MaskingRule(kind, pattern, hints, check=checks.looks_random if mixed else None)


def _run(kind: str, body: str, check: Callable[[re.Match[str]], bool], *hints: str) -> MaskingRule:
    """A run of base64 characters recognised only by its form."""
    pattern = re.compile(rf"{_RUN_LEFT}(?P<secret>{body}){_RUN_RIGHT}")
    return MaskingRule(kind, pattern, hints, gate=_RUN, check=check)


TOKENS: tuple[MaskingRule, ...] = (
    MaskingRule(
        "pem",
        re.compile(
            r"(?P<secret>-----BEGIN [A-Z0-9 ]{1,60}-----.*?(?:-----END [A-Z0-9 ]{1,60}-----|\Z))", re.DOTALL
        ),
        ("-----begin ",),
    ),
    # Lines of a block whose first line is elsewhere.
    _run("pem", r"(?:MII|b3BlbnNzaC1rZXk)[A-Za-z0-9+/]{37,}={0,2}", checks.looks_random),
    _run("pem", r"[A-Za-z0-9+/]{64}", checks.looks_like_base64),
    _run("azure-key", r"[A-Za-z0-9+/]{86}==", checks.looks_random),
    _run("aws-key", r"[A-Za-z0-9/+]{40}", checks.looks_random, "akia", "asia", "aws", "secret"),
    _token("diagnose-key", r"dk_[0-9A-Fa-f]{12}_[0-9A-Fa-f]{64}", "dk_"),
    _token("jwt", r"eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){2,4}", "eyj"),
    _token("aws-key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}", "akia", "asia", "abia", "acca"),
    _token("gcp-key", r"AIza[A-Za-z0-9_-]{35}", "aiza"),
    _token("gcp-key", r"ya29\.[A-Za-z0-9_-]{20,}", "ya29."),
    _token("gcp-key", r"GOCSPX-[A-Za-z0-9_-]{20,}", "gocspx-"),
    MaskingRule("azure-key", re.compile(r"[?&;]sig=(?P<secret>[A-Za-z0-9%+/=_-]{20,})"), ("sig=",)),
    _token("alibaba-key", r"LTAI[A-Za-z0-9]{12,24}", "ltai"),
    _token("tencent-key", r"AKID[A-Za-z0-9]{13,40}", "akid"),
    _token("github-token", r"gh[pousr]_[A-Za-z0-9]{30,}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _token("github-token", r"github_pat_[A-Za-z0-9_]{22,}", "github_pat_"),
    _token("gitlab-token", r"gl(?:pat|rt|dt|ptt|oas|cbt|agent|ft|soat)-[A-Za-z0-9_.-]{16,}", "gl"),
    _token("slack-token", r"xox[abceoprs]-[A-Za-z0-9-]{10,}", "xox"),
    _token("slack-token", r"xapp-[A-Za-z0-9-]{10,}", "xapp-"),
    _token("stripe-key", r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}", "_live_", "_test_"),
    _token("stripe-key", r"whsec_[A-Za-z0-9]{16,}", "whsec_"),
    _token("anthropic-key", r"sk-ant-[A-Za-z0-9_-]{16,}", "sk-ant-"),
    _token("llm-key", r"sk-(?:proj-|svcacct-|or-)?[A-Za-z0-9_-]{20,}", "sk-", mixed=True),
    _token("llm-key", r"(?:gsk_|xai-|pplx-|r8_)[A-Za-z0-9]{30,}", "gsk_", "xai-", "pplx-", "r8_"),
    _token("npm-token", r"npm_[A-Za-z0-9]{30,}", "npm_"),
    _token("hf-token", r"hf_[A-Za-z0-9]{30,}", "hf_"),
    _token("package-token", r"pypi-[A-Za-z0-9_-]{40,}", "pypi-"),
    _token("package-token", r"rubygems_[a-f0-9]{40,}", "rubygems_"),
    _token("docker-token", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}", "dckr_"),
    _token("mail-key", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", "sg."),
    _token("mail-key", r"key-[a-f0-9]{32}", "key-"),
    _token("vault-token", r"hv[sbr]\.[A-Za-z0-9_-]{20,}", "hvs.", "hvb.", "hvr."),
    _token("cloud-token", r"do[opr]_v1_[a-f0-9]{40,}", "_v1_"),
    _token("cloud-token", r"dapi[a-f0-9]{32}", "dapi"),
    _token("cloud-token", r"pul-[a-f0-9]{40}", "pul-"),
    _token("cloud-token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{30,}", "dp."),
    _token("cloud-token", r"tskey-[a-z]{2,12}-[A-Za-z0-9-]{16,}", "tskey-"),
    _token("cloud-token", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,}", ".atlasv1."),
    _token("shop-token", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}", "shp"),
    _token("shop-token", r"sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}", "sq0"),
    _token("monitoring-key", r"NRAK-[A-Z0-9]{27}", "nrak-"),
    _token("monitoring-key", r"gl(?:sa|c)_[A-Za-z0-9_+/=]{32,}", "glsa_", "glc_"),
    _token("monitoring-key", r"sntry[su]_[A-Za-z0-9_+/=]{32,}", "sntry"),
    _token("product-token", r"ATATT3[A-Za-z0-9_=-]{40,}", "atatt3"),
    _token("product-token", r"(?:figd|ntn)_[A-Za-z0-9_-]{32,}", "figd_", "ntn_"),
    _token("product-token", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}", "lin_"),
    _token("product-token", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34,36}", "pmak-"),
    _token("product-token", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}", "age-secret-key-1"),
    MaskingRule(
        "telegram-token",
        re.compile(r"(?<![A-Za-z0-9])(?:bot)?\d{8,10}:(?P<secret>AA[A-Za-z0-9_-]{30,})(?![A-Za-z0-9_-])"),
        (":aa",),
    ),
    MaskingRule(
        "bearer",
        re.compile(r"(?i:\bbearer)\s{1,4}(?P<secret>[A-Za-z0-9._~+/=-]{8,})"),
        ("bearer",),
        check=checks.is_not_a_word,
    ),
    MaskingRule(
        "basic-auth",
        re.compile(r"(?i:\bbasic|\bauth plain|\bauth login)\s{1,4}(?P<secret>[A-Za-z0-9+/]{8,}={0,2})"),
        ("basic", "auth plain", "auth login"),
        check=checks.is_basic_credential,
    ),
)
"""Keys and tokens."""

_HOOK = r"https?://[^\s\"'<>/?#]{1,256}(?:/[^\s\"'<>/?#]{1,64}){0,6}?"

WEBHOOKS: tuple[MaskingRule, ...] = (
    MaskingRule(
        "slack-token",
        re.compile(r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/]{20,})"),
        ("hooks.slack.com",),
    ),
    MaskingRule(  # anyone who knows the path may post
        "webhook",
        re.compile(
            rf"{_HOOK}/(?:(?i:in(?:coming)?-?)?(?i:(?:web)?hooks?(?:b2)?)|integration"
            r"|with/key)/(?P<secret>[A-Za-z0-9_@%=.:~+-][A-Za-z0-9_@%=.:~+/-]{15,512})"
        ),
        ("hook", "integration/", "with/key/"),
        check=checks.holds_a_token,
    ),
    MaskingRule(  # hosts whose short paths are secret as well
        "webhook",
        re.compile(
            r"(?:hooks\.zapier\.com/hooks/(?:catch|standard)|hook\.(?:[a-z]{2}\d\.)?(?:make|integromat)\.com)/"
            r"(?P<secret>[A-Za-z0-9_/-]{7,256})"
        ),
        ("hooks.zapier.com", "make.com", "integromat.com"),
    ),
    MaskingRule(
        "webhook",
        re.compile(
            r"hook[^\s\"'<>?]{0,128}\?(?:[^\s\"'<>]{0,128}?&)?(?:key|k|t|code|auth)=(?P<secret>[\w-]{16,512})"
        ),
        ("hook",),
    ),
)
"""URLs whose path is the secret."""
