"""The problems with sources that callers send."""

from __future__ import annotations

from diagnosis_harness.kernel.language import Text
from diagnosis_harness.server.problem_row import ProblemRow

TOO_MANY_SOURCES = ProblemRow(
    429,
    Text(en="You have reached your limit of stored sources.", zh="您保存的数据源已达上限。"),
    remedy=Text(
        en="Delete one with `DELETE /v1/sources/{source_id}`, or wait until one expires.",
        zh="请用 `DELETE /v1/sources/{source_id}` 删除一个，或等待其中一个过期。",
    ),
)
SOURCE_NOT_FOUND = ProblemRow(
    404,
    Text(
        en="The source was not found, has expired, or is not yours.",
        zh="未找到该数据源，或它已过期，或不属于您。",
    ),
    remedy=Text(en="Send it again with `POST /v1/sources`.", zh="请用 `POST /v1/sources` 重新上传。"),
)
UNSUPPORTED_SOURCE = ProblemRow(
    415,
    Text(
        en="The body must be one archive or file, with a content type that says so.",
        zh="请求体必须是一个归档或文件，并带有相应的内容类型。",
    ),
    remedy=Text(
        en="Send it as `curl --data-binary @incident.zip -H 'Content-Type: application/zip'`, "
        "not as a form and without Content-Encoding.",
        zh="请以 `curl --data-binary @incident.zip -H 'Content-Type: application/zip'` 发送，"
        "不要用表单，也不要带 Content-Encoding。",
    ),
)
NO_ROOM_FOR_SOURCE = ProblemRow(
    503,
    Text(
        en="The service has no room on its disk for this source.",
        zh="服务的磁盘没有空间存放此数据源。",
    ),
    retry_after_s=60,
    remedy=Text(
        en="Its operator can free space, or set uploads.folder to another disk.",
        zh="运维人员可以腾出空间，或将 uploads.folder 设为其他磁盘。",
    ),
)
