"""The problems that report store failures, one for each kind."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from diagnosis_harness.kernel.language import Text
from diagnosis_harness.kernel.store_trouble import StoreTrouble
from diagnosis_harness.server.problem_row import ProblemRow

_SEE_LOG = Text(en="See the service's log for this request.", zh="详见服务日志中此请求的记录。")

STORE_PROBLEMS: Mapping[StoreTrouble, ProblemRow] = MappingProxyType(
    {
        StoreTrouble.DATABASE_AWAY: ProblemRow(
            503, Text(en="The database does not answer.", zh="数据库没有响应。"), retry_after_s=2
        ),
        StoreTrouble.DATABASE_FULL: ProblemRow(
            503,
            Text(
                en="The database cannot be written to: its disk is full.", zh="数据库无法写入：其磁盘已满。"
            ),
            retry_after_s=5,
            remedy=Text(
                en="Free space on that disk; the service recovers by itself.",
                zh="请在该磁盘上腾出空间；服务会自行恢复。",
            ),
        ),
        StoreTrouble.DATABASE_LOCKED: ProblemRow(
            503,
            Text(
                en="The database cannot be written to: another process has locked it.",
                zh="数据库无法写入：它被另一个进程占用。",
            ),
            retry_after_s=2,
            remedy=Text(
                en="Try again in a moment; if it persists, find the process that holds the lock.",
                zh="请稍后再试；如果持续如此，请找出占用它的进程。",
            ),
        ),
        StoreTrouble.DATABASE_READ_ONLY: ProblemRow(
            503,
            Text(en="The database cannot be written to: it is read-only.", zh="数据库无法写入：它是只读的。"),
            retry_after_s=5,
            remedy=Text(
                en="Make it writable: check the file's permissions or `default_transaction_read_only`.",
                zh="请使其可写：检查文件权限，或其服务器的 `default_transaction_read_only`。",
            ),
        ),
        StoreTrouble.DATABASE_FAILED: ProblemRow(
            503,
            Text(en="The database reports an error.", zh="数据库报告错误。"),
            retry_after_s=5,
            remedy=_SEE_LOG,
        ),
        StoreTrouble.ROW_UNREADABLE: ProblemRow(
            500,
            Text(
                en="This version of the program cannot read what the database holds.",
                zh="此版本的程序无法读取数据库中的这项内容。",
            ),
            remedy=_SEE_LOG,
        ),
        StoreTrouble.EVIDENCE_AWAY: ProblemRow(
            503,
            Text(en="The evidence store does not answer.", zh="证据存储没有响应。"),
            retry_after_s=2,
            remedy=Text(
                en="Its address is the setting evidence.url; data in the database stays available.",
                zh="其地址在设置 evidence.url 中；仅存于数据库的内容仍可查询。",
            ),
        ),
        StoreTrouble.EVIDENCE_FULL: ProblemRow(
            503,
            Text(
                en="The evidence store cannot be written to: it is out of memory.",
                zh="证据存储无法写入：其内存已用尽。",
            ),
            retry_after_s=5,
        ),
        StoreTrouble.EVIDENCE_READ_ONLY: ProblemRow(
            503,
            Text(
                en="The evidence store cannot be written to: it is read-only.",
                zh="证据存储无法写入：它是只读的。",
            ),
            retry_after_s=5,
        ),
        StoreTrouble.EVIDENCE_FAILED: ProblemRow(
            503,
            Text(en="The evidence store reports an error.", zh="证据存储报告错误。"),
            retry_after_s=5,
            remedy=_SEE_LOG,
        ),
        StoreTrouble.EVIDENCE_UNREADABLE: ProblemRow(
            500,
            Text(
                en="This version of the program cannot read this run's stored evidence.",
                zh="此版本的程序无法读取此运行保存的证据。",
            ),
            remedy=_SEE_LOG,
        ),
        StoreTrouble.QUEUE_AWAY: ProblemRow(
            503, Text(en="The queue does not answer.", zh="队列没有响应。"), retry_after_s=2
        ),
    }
)
"""Has a row for every `StoreTrouble`."""
