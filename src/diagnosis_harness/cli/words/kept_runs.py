"""Runs that are kept on this machine: `--no-keep`, `--session`, `diagnose show`."""

from __future__ import annotations

from diagnosis_harness.kernel.language import Text

NOT_KEPT = Text(
    en="The run was not kept ({problem}). `--no-keep` turns keeping off.",
    zh="本次运行未能保存（{problem}）。用 `--no-keep` 可关闭保存。",
)
KEPT = Text(
    en="Kept as {run}. To go on: diagnose ask --session last …, diagnose why last",
    zh="已保存为 {run}。继续：diagnose ask --session last …，diagnose why last",
)
PROMPT = Text(en="Next question (empty to end): ", zh="下一个问题（直接回车结束）：")
NO_PLACE = Text(en="no run is kept on this machine", zh="本机没有保存运行")
NO_PLACE_REMEDY = Text(
    en="set HOME, or name a folder in the setting retention.folder",
    zh="请设置 HOME，或在设置 retention.folder 中指定文件夹",
)
UNREADABLE = Text(en="the kept runs cannot be read ({problem})", zh="无法读取已保存的运行（{problem}）")
UNREADABLE_REMEDY = Text(
    en="check the file, or name another folder in the setting retention.folder",
    zh="请检查该文件，或在设置 retention.folder 中指定别的文件夹",
)
NONE_KEPT = Text(en="no run is kept yet", zh="还没有保存任何运行")
NONE_KEPT_REMEDY = Text(
    en="ask something first, or name the file of a run", zh="请先提问，或给出运行文件的路径"
)
NO_SUCH_RUN = Text(
    en="there is no such file, and no kept run whose id starts with that",
    zh="没有这个文件，也没有编号以此开头的已保存运行",
)
NO_SUCH_RUN_REMEDY = Text(
    en="`diagnose show --list` lists the kept runs, `diagnose runs list` those of a service",
    zh="`diagnose show --list` 列出已保存的运行，`diagnose runs list` 列出服务的运行",
)
NO_SUCH_SESSION = Text(en="no run of this session is kept", zh="没有保存此会话的任何运行")
NO_SUCH_SESSION_REMEDY = Text(
    en="give `last`, or a session that `diagnose show --list` names",
    zh="请给出 `last`，或 `diagnose show --list` 列出的会话",
)
FOLDER_GONE = Text(
    en="the folder of its last run, {folder}, is not there any more",
    zh="其上次运行的文件夹 {folder} 已不存在",
)
FOLDER_UNKNOWN = Text(en="the folder of its last run was deleted", zh="其上次运行的文件夹已删除")
FOLDER_REMEDY = Text(en="name one with --from", zh="请用 --from 指定文件夹")
DELETED = Text(en="Kept runs deleted: {count}", zh="已删除保存的运行：{count}")
NOTHING_LISTED = Text(en="No run is kept.", zh="没有已保存的运行。")
COLUMNS = (
    Text(en="run", zh="运行"),
    Text(en="session", zh="会话"),
    Text(en="asked at", zh="提问时间"),
    Text(en="outcome", zh="结果"),
    Text(en="question", zh="问题"),
)
