"""`diagnose serve` and `diagnose worker`, on standard error."""

from __future__ import annotations

from diagnosis_harness.kernel.language import Text

DATABASE = Text(en="Database: {database}", zh="数据库：{database}")
WAITING = Text(
    en="The database does not answer yet ({problem}): waiting up to {limit:g} s.",
    zh="数据库尚无响应（{problem}）：最多等待 {limit:g} 秒。",
)
NO_DATABASE = Text(en="there is no database at {database}", zh="{database} 处没有数据库")
NO_DATABASE_REMEDY = Text(
    en="start `diagnose serve` first, in the same folder, or name its database with "
    "DIAGNOSE_DATABASE__URL or --settings",
    zh="请先在同一文件夹中启动 `diagnose serve`，或用 DIAGNOSE_DATABASE__URL 或 --settings 指定它的数据库",
)
WORKING = Text(
    en="Working as {owner}, {parallel} runs at a time. Ctrl+C stops.",
    zh="正以 {owner} 工作，同时处理 {parallel} 个运行。按 Ctrl+C 停止。",
)
LISTENING = Text(en="Listening on {url}. Ctrl+C stops.", zh="正在监听 {url}。按 Ctrl+C 停止。")
NO_SOURCE = Text(
    en=(
        "No source is configured: only sources that callers send (POST /v1/sources) can be asked about. "
        "Name a folder with --from to offer it to all."
    ),
    zh=(
        "没有配置数据源：只能对调用方上传的数据源（POST /v1/sources）提问。"
        "如需提供给所有调用方，请用 --from 指定文件夹。"
    ),
)
NO_SOURCE_HERE = Text(
    en=(
        "No source is configured here: only runs on sources that callers sent, and runs that need none, are "
        "taken. Name a folder with --from."
    ),
    zh="此处没有配置数据源：只处理调用方上传了数据源或不涉及数据源的运行。请用 --from 指定文件夹。",
)
OPEN_TO_ALL = Text(
    en="No API key is required: anybody on this machine may ask.",
    zh="不要求 API 密钥：本机上的任何人都可以提问。",
)
NO_KEY = Text(
    en="API keys are required, but none exists: create one with `diagnose keys add`.",
    zh="需要 API 密钥，但还没有任何密钥：请用 `diagnose keys add` 创建。",
)
STOPPING = Text(
    en="Stopping: no more runs are taken; those in progress may finish.",
    zh="正在停止：不再接收新的运行；进行中的运行可以结束。",
)
STOPPED = Text(en="Stopped.", zh="已停止。")
CANNOT_START = Text(
    en="Cannot start: {problem}; see database.url and queue.url in the settings.",
    zh="无法启动：{problem}；请检查设置中的 database.url 和 queue.url。",
)
STORE_AWAY = Text(
    en="Diagnoses need the evidence store, which failed: {problem}; see evidence.url in the settings.",
    zh="诊断需要证据存储，但它不可用：{problem}；请检查设置中的 evidence.url。",
)
