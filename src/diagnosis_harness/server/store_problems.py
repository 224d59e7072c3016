"""How a store that does not work is told: each store, and each way to fail, by a sentence of its own."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from diagnosis_harness.kernel.store_trouble import StoreTrouble
from diagnosis_harness.server.problem_row import ProblemRow

_LOG_SAYS_EN = "The log of the service says more under this request."
_LOG_SAYS_ZH = "服务日志中此请求的记录有更多说明。"

STORE_PROBLEMS: Mapping[StoreTrouble, ProblemRow] = MappingProxyType(
    {
        StoreTrouble.DATABASE_AWAY: ProblemRow(503, "The database does not answer.", "数据库没有响应。", 2),
        StoreTrouble.DATABASE_FULL: ProblemRow(
            503,
            "The database cannot be written: its disk is full.",
            "数据库无法写入：其磁盘已满。",
            5,
            "Make room on that disk; the service goes on by itself.",
            "请在该磁盘上腾出空间；服务会自行恢复。",
        ),
        StoreTrouble.DATABASE_LOCKED: ProblemRow(
            503,
            "The database cannot be written: another process holds it.",
            "数据库无法写入：它被另一个进程占用。",
            2,
            "Ask again in a moment; if it lasts, find the process that keeps it locked.",
            "请稍后再试；如果持续如此，请找出占用它的进程。",
        ),
        StoreTrouble.DATABASE_READ_ONLY: ProblemRow(
            503,
            "The database cannot be written: it may only be read.",
            "数据库无法写入：它是只读的。",
            5,
            "Make it writable: the rights of its file, or `default_transaction_read_only` of its server.",
            "请使其可写：检查文件权限，或其服务器的 `default_transaction_read_only`。",
        ),
        StoreTrouble.DATABASE_FAILED: ProblemRow(
            503, "The database reports an error.", "数据库报告错误。", 5, _LOG_SAYS_EN, _LOG_SAYS_ZH
        ),
        StoreTrouble.ROW_UNREADABLE: ProblemRow(
            500,
            "What the database holds of this cannot be read by this version of the program.",
            "数据库中的这项内容无法被此版本的程序读取。",
            None,
            _LOG_SAYS_EN,
            _LOG_SAYS_ZH,
        ),
        StoreTrouble.EVIDENCE_AWAY: ProblemRow(
            503,
            "The evidence store does not answer.",
            "证据存储没有响应。",
            2,
            "It stands in the setting evidence.url; what is in the database alone can still be asked for.",
            "其地址在设置 evidence.url 中；仅存于数据库的内容仍可查询。",
        ),
        StoreTrouble.EVIDENCE_FULL: ProblemRow(
            503,
            "The evidence store cannot be written: it has no memory left.",
            "证据存储无法写入：其内存已用尽。",
            5,
        ),
        StoreTrouble.EVIDENCE_READ_ONLY: ProblemRow(
            503,
            "The evidence store cannot be written: it may only be read.",
            "证据存储无法写入：它是只读的。",
            5,
        ),
        StoreTrouble.EVIDENCE_FAILED: ProblemRow(
            503, "The evidence store reports an error.", "证据存储报告错误。", 5, _LOG_SAYS_EN, _LOG_SAYS_ZH
        ),
        StoreTrouble.EVIDENCE_UNREADABLE: ProblemRow(
            500,
            "What is kept of this run's evidence cannot be read by this version of the program.",
            "此运行所保存的证据无法被此版本的程序读取。",
            None,
            _LOG_SAYS_EN,
            _LOG_SAYS_ZH,
        ),
        StoreTrouble.QUEUE_AWAY: ProblemRow(503, "The queue does not answer.", "队列没有响应。", 2),
    }
)
"""Total: no trouble is told as that of another store."""
