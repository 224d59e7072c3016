"""Claims become sentences: each predicate, in both languages, word for word."""

# ruff: noqa: E501 - the sentences stand whole, as they are published

from __future__ import annotations

from typing import Any

import pytest

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, Predicate
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.report.sentence import sentence
from diagnosis_harness.tools.evidence import Direction

START_S = 1_704_117_900.0  # 2024-01-01T14:05:00Z
WINDOW = TimeWindow(START_S, START_S + 900)
ROSE: dict[str, Any] = {
    "signal": "latency",
    "value": 3.2,
    "baseline": 0.85,
    "unit": "s",
    "direction": Direction.UP,
}
FELL: dict[str, Any] = {
    "signal": "requests",
    "value": 3,
    "baseline": 40,
    "unit": "rps",
    "direction": Direction.DOWN,
}
FLAT: dict[str, Any] = {
    "signal": "memory",
    "value": 1.4e9,
    "baseline": 1.4e9,
    "unit": "bytes",
    "direction": Direction.FLAT,
}


def sentence_for(predicate: Predicate, language: Language, **parts: Any) -> str:
    """The sentence for a claim about checkout."""
    return sentence(Claim("k", predicate, "checkout", (EvidenceRef("t", "i"),), **parts), language)


@pytest.mark.parametrize(
    ("predicate", "parts", "english", "chinese"),
    [
        (
            Predicate.CHANGED,
            {**ROSE, "window": WINDOW},
            "latency of checkout rose from 850 ms to 3.2 s (3.8 times) between 2024-01-01 14:05 and 14:20 UTC.",
            "2024-01-01 14:05 至 14:20 UTC，checkout 的 latency 从 850 ms 升到 3.2 s（3.8 倍）。",
        ),
        (
            Predicate.CHANGED,
            FELL,
            "requests of checkout fell from 40/s to 3/s.",
            "checkout 的 requests 从 40/s 降到 3/s。",
        ),
        (
            Predicate.CHANGED,
            FLAT,
            "memory of checkout stayed level at 1.4 GB.",
            "checkout 的 memory 保持在 1.4 GB。",
        ),
        (
            Predicate.CHANGED,
            {**FLAT, "value": 1.5e9},
            "memory of checkout stayed level (1.4 GB before, 1.5 GB then).",
            "checkout 的 memory 保持平稳（之前 1.4 GB，当时 1.5 GB）。",
        ),
        (
            Predicate.CHANGED,
            {"signal": "pods", "value": 12},
            "pods of checkout changed to 12.",
            "checkout 的 pods 变为 12。",
        ),
        (Predicate.CHANGED, {}, "checkout changed.", "checkout 发生变化。"),
        (
            Predicate.BEGAN,
            {"signal": "latency", "direction": Direction.UP, "onset_s": START_S + 7.5},
            "latency of checkout began to rise at 2024-01-01 14:05:07.500 UTC.",
            "2024-01-01 14:05:07.500 UTC，checkout 的 latency 开始上升。",
        ),
        (
            Predicate.BEGAN,
            {"onset_s": START_S},
            "checkout began to differ from normal at 2024-01-01 14:05 UTC.",
            "2024-01-01 14:05 UTC，checkout 开始偏离正常。",
        ),
        (
            Predicate.CAUSED,
            {"affected": "frontend", **ROSE, "onset_s": START_S},
            (
                "What frontend shows since 2024-01-01 14:05 UTC starts at checkout: "
                "its latency rose from 850 ms to 3.2 s (3.8 times)."
            ),
            (
                "2024-01-01 14:05 UTC 起，frontend 的异常始于 checkout："
                "其 latency 从 850 ms 升到 3.2 s（3.8 倍）。"
            ),
        ),
        (Predicate.CAUSED, {"affected": "checkout"}, "It starts at checkout.", "异常始于 checkout。"),
        (
            Predicate.CAUSED,
            {"affected": "checkout", **ROSE, "onset_s": START_S},
            (
                "It starts at checkout, from 2024-01-01 14:05 UTC on: "
                "its latency rose from 850 ms to 3.2 s (3.8 times)."
            ),
            "2024-01-01 14:05 UTC 起，异常始于 checkout：其 latency 从 850 ms 升到 3.2 s（3.8 倍）。",
        ),
        (
            Predicate.AFFECTED,
            {**ROSE, "onset_s": START_S},
            (
                "checkout is affected since 2024-01-01 14:05 UTC, not the cause: "
                "its latency rose from 850 ms to 3.2 s (3.8 times)."
            ),
            "2024-01-01 14:05 UTC 起，checkout 受到影响，并非原因：其 latency 从 850 ms 升到 3.2 s（3.8 倍）。",
        ),
        (
            Predicate.SATURATED,
            {"signal": "cpu", "value": 0.98, "baseline": 0.4, "unit": "ratio", "window": WINDOW},
            "cpu of checkout ran at its limit between 2024-01-01 14:05 and 14:20 UTC: at 98%, against 40% before.",
            "2024-01-01 14:05 至 14:20 UTC，checkout 的 cpu 达到上限，为 98%，之前为 40%。",
        ),
        (
            Predicate.SLOWED,
            {"value": 300, "baseline": 12, "unit": "ms"},
            "Time in checkout, or on the way to it, rose from 12 ms to 300 ms (25 times).",
            "checkout 内部或到它的途中耗时增加，从 12 ms 到 300 ms（25 倍）。",
        ),
        (
            Predicate.SLOWED,
            {"signal": "GET /cart", "value": 300, "baseline": 12, "unit": "ms"},
            "“GET /cart” of checkout slowed from 12 ms to 300 ms (25 times).",
            "checkout 的 “GET /cart” 变慢，从 12 ms 到 300 ms（25 倍）。",
        ),
        (
            Predicate.SLOWED,
            {"affected": "frontend", "value": 300, "baseline": 12, "unit": "ms"},
            "The way from frontend to checkout slowed from 12 ms to 300 ms (25 times).",
            "frontend 到 checkout 的调用途中变慢，从 12 ms 到 300 ms（25 倍）。",
        ),
        (
            Predicate.NORMAL,
            {"signal": "latency", "value": 0.32, "baseline": 0.3, "unit": "s"},
            "latency of checkout moved no further than it normally does: at 320 ms, against 300 ms before.",
            "checkout 的 latency 的波动没有超出其正常范围，为 320 ms，之前为 300 ms。",
        ),
        (
            Predicate.FAILED,
            {"signal": "GET /cart", "value": 0.4, "baseline": 0.0, "unit": "ratio"},
            "The share of “GET /cart” of checkout that fails rose from 0% to 40%.",
            "checkout 的 “GET /cart” 的失败比例上升，从 0% 到 40%。",
        ),
        (
            Predicate.FAILED,
            {"affected": "web", "signal": "GET /cart", "value": 0.4, "baseline": 0.0, "unit": "ratio"},
            "The share of calls from web to “GET /cart” of checkout that fail rose from 0% to 40%.",
            "web 调用 checkout 的 “GET /cart” 的失败比例上升，从 0% 到 40%。",
        ),
        (
            Predicate.DROPPED,
            {"affected": "charge", "signal": "POST /pay", "value": 0.5, "baseline": 0.1, "unit": "ratio"},
            "The share of “POST /pay” of checkout that ends without charge rose from 10% to 50% (5 times).",
            "checkout 的 “POST /pay” 结束时没有调用 charge 的比例上升，从 10% 到 50%（5 倍）。",
        ),
        (
            Predicate.CALLS,
            {"affected": "payment"},
            "checkout calls payment.",
            "checkout 调用 payment。",
        ),
        (
            Predicate.DEPLOYED,
            {"signal": "deploy", "onset_s": START_S},
            "checkout was changed (deploy) at 2024-01-01 14:05 UTC.",
            "2024-01-01 14:05 UTC，checkout 有一次变更（deploy）。",
        ),
        (
            Predicate.HAPPENED,
            {"signal": "OOMKilled", "affected": "current", "value": 3.0, "window": WINDOW},
            (
                "OOMKilled was reported of checkout 3 times between 2024-01-01 14:05 and 14:20 UTC: "
                "the container used more memory than it may, and was killed; it still lasts."
            ),
            (
                "2024-01-01 14:05 至 14:20 UTC，checkout 报告了 OOMKilled 3 次："
                "容器使用的内存超出许可，被强制终止；仍在持续。"
            ),
        ),
        (
            Predicate.HAPPENED,  # seen in a snapshot alone
            {"signal": "storage-full", "affected": "over", "window": WINDOW},
            "storage-full was reported of checkout between 2024-01-01 14:05 and 14:20 UTC: its storage is full; it is over.",
            "2024-01-01 14:05 至 14:20 UTC，checkout 报告了 storage-full：存储空间已满；已经结束。",
        ),
        (
            Predicate.IN_STATE,
            {"signal": "flag new-pricing", "affected": "on", "onset_s": START_S, "window": WINDOW},
            (
                "“flag new-pricing” of checkout was “on” since 2024-01-01 14:05 UTC, "
                "seen between 2024-01-01 14:05 and 14:20 UTC."
            ),
            (
                "2024-01-01 14:05 UTC 起，2024-01-01 14:05 至 14:20 UTC 观察到，"
                "checkout 的“flag new-pricing”为“on”。"
            ),
        ),
        (
            Predicate.IN_STATE,
            {"signal": "memory_limit", "value": 2e9, "unit": "bytes", "window": WINDOW},
            "“memory_limit” of checkout was 2 GB between 2024-01-01 14:05 and 14:20 UTC.",
            "2024-01-01 14:05 至 14:20 UTC，checkout 的“memory_limit”为 2 GB。",
        ),
        (
            Predicate.IN_STATE,  # a tool's words stay its words
            {"signal": "root-cause", "affected": "payment", "window": WINDOW},
            "“root-cause” of checkout was “payment” between 2024-01-01 14:05 and 14:20 UTC.",
            "2024-01-01 14:05 至 14:20 UTC，checkout 的“root-cause”为“payment”。",
        ),
        (
            Predicate.IN_STATE,
            {"signal": "port", "value": 8443.0, "window": WINDOW},
            "“port” of checkout was 8,443 between 2024-01-01 14:05 and 14:20 UTC.",
            "2024-01-01 14:05 至 14:20 UTC，checkout 的“port”为 8,443。",
        ),
        (
            Predicate.LOGGED,
            {"signal": "pool is full", "value": 150.0, "baseline": 0.0, "unit": "lines", "onset_s": START_S},
            "checkout wrote 150 log lines like “pool is full” since 2024-01-01 14:05 UTC, usually 0.",
            "2024-01-01 14:05 UTC 起，checkout 写了 150 条日志“pool is full”，平时为 0 条。",
        ),
        (
            Predicate.LOGGED,
            {
                "signal": "refused",
                "value": 12.0,
                "baseline": 2.5,
                "unit": "lines",
                "window": WINDOW,
                "affected": "shop",
            },
            "shop wrote 12 log lines like “refused”, naming checkout, between 2024-01-01 14:05 and 14:20 UTC, usually 2.5.",
            "2024-01-01 14:05 至 14:20 UTC，shop 写了 12 条提到 checkout 的日志“refused”，平时为 2.5 条。",
        ),
        (
            Predicate.BROKE_OFF,
            {
                "signal": "checking",
                "affected": "saved",
                "value": 0.05,
                "baseline": 1.0,
                "unit": "ratio",
                "direction": Direction.DOWN,
                "window": WINDOW,
            },
            "The share of log lines “checking” of checkout that “saved” follows fell from 100% to 5% between 2024-01-01 14:05 and 14:20 UTC.",
            "2024-01-01 14:05 至 14:20 UTC，checkout 的日志“checking”之后出现“saved”的比例，从 100% 到 5%。",
        ),
        (
            Predicate.COUNTED,
            {"signal": "requests", "value": 1_000_004.0, "baseline": 1_000_001.0, "window": WINDOW},
            (
                "1,000,004 requests of checkout were counted between 2024-01-01 14:05 and 14:20 UTC "
                "(1,000,001 in normal operation)."
            ),
            "2024-01-01 14:05 至 14:20 UTC，checkout 的 requests 数量为 1,000,004，正常时为 1,000,001。",
        ),
        (
            Predicate.COUNTED,
            {"signal": "restarts", "value": 1200.0, "baseline": 0.5, "window": WINDOW},
            "1,200 restarts of checkout were counted between 2024-01-01 14:05 and 14:20 UTC (0.5 in normal operation).",
            "2024-01-01 14:05 至 14:20 UTC，checkout 的 restarts 数量为 1,200，正常时为 0.5。",
        ),
        (
            Predicate.COUNTED,
            {"signal": "restarts", "value": 0.0, "window": WINDOW},
            "0 restarts of checkout were counted between 2024-01-01 14:05 and 14:20 UTC.",
            "2024-01-01 14:05 至 14:20 UTC，checkout 的 restarts 数量为 0。",
        ),
        (
            Predicate.ABSENT,
            {"signal": "time out", "window": WINDOW, "value": 12345.0, "unit": "log lines"},
            (
                "No log line that contains “time out” was found for checkout "
                "between 2024-01-01 14:05 and 14:20 UTC (12,345 log lines searched)."
            ),
            "2024-01-01 14:05 至 14:20 UTC，搜索了 12,345 行日志，没有发现 checkout 包含“time out”的日志。",
        ),
        (
            Predicate.ABSENT,
            {"window": WINDOW, "value": 3.0, "unit": "changes"},
            (
                "No recorded change was found for checkout between 2024-01-01 14:05 and 14:20 UTC "
                "(3 changes of any service looked through)."
            ),
            "2024-01-01 14:05 至 14:20 UTC，查看了各服务的 3 条变更记录，没有发现 checkout 的变更。",
        ),
        (
            Predicate.ABSENT,
            {"window": WINDOW, "value": 1234.0, "unit": "spans"},
            (
                "No time, failure or missing call beyond normal operation was found in the spans of checkout "
                "between 2024-01-01 14:05 and 14:20 UTC (1,234 spans compared)."
            ),
            (
                "2024-01-01 14:05 至 14:20 UTC，比较了 checkout 的 1,234 个 span，"
                "没有发现超出正常范围的耗时、失败或缺失的调用。"
            ),
        ),
        (
            Predicate.ABSENT,
            {"window": WINDOW, "value": 7.0, "unit": "metric series"},
            (
                "No metric of checkout moved beyond normal operation "
                "between 2024-01-01 14:05 and 14:20 UTC (7 metric series compared)."
            ),
            "2024-01-01 14:05 至 14:20 UTC，比较了 checkout 的 7 个指标序列，没有发现超出正常范围的变化。",
        ),
        (
            Predicate.ABSENT,
            {"signal": "errors", "window": WINDOW},
            "Whether anything was found for checkout is not known.",
            "是否发现了 checkout 的情况，无从得知。",
        ),
    ],
)
def test_a_claim_is_said_in_both_languages(
    predicate: Predicate, parts: dict[str, Any], english: str, chinese: str
) -> None:
    """The published sentence is this one, and no other."""
    assert sentence_for(predicate, Language.EN, **parts) == english
    assert sentence_for(predicate, Language.ZH, **parts) == chinese


def test_every_predicate_has_a_sentence_in_both_languages() -> None:
    """A new predicate cannot be forgotten."""
    for language in Language:
        sentences = {sentence_for(predicate, language, affected="b") for predicate in Predicate}
        assert len(sentences) == len(Predicate)


def test_names_from_data_cannot_disturb_the_sentence() -> None:
    """Line feeds, escapes and characters that reorder text stand as their code points."""
    claim = Claim("k", Predicate.CHANGED, "a\n\x1b[31m\u202eb", (EvidenceRef("t", "i"),))

    assert sentence(claim, Language.EN) == "“a\\u000a\\u001b[31m\\u202eb” changed."
