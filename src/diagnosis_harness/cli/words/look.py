"""`diagnose look`: how the files of a folder are read, and what they hold."""

from __future__ import annotations

from diagnosis_harness.application.folder_look import DecidedBy, Lack
from diagnosis_harness.kernel.language import Text

HEADLINE = Text(
    en="{name}: {read} of {files} files read, {services} services, {signals} signals",
    zh="{name}：读取了 {files} 个文件中的 {read} 个，{services} 个服务，{signals} 个信号",
)
SPAN = Text(en="{start} to {end} UTC ({took})", zh="{start} 至 {end} UTC（{took}）")
ZONE = Text(en="Times that name no zone are read as {zone}.", zh="未写时区的时间按 {zone} 读取。")
FILES = Text(en="Files", zh="文件")
UNREAD = Text(en="Not read", zh="未读取")
SERVICES = Text(en="Services", zh="服务")
SIGNALS = Text(en="Signals", zh="信号")
MISSING = Text(en="Missing, and what that prevents", zh="缺少的数据及其影响")
ROLES = {
    "metrics": Text(en="metrics", zh="指标"),
    "traces": Text(en="spans", zh="调用链"),
    "spans": Text(en="spans", zh="调用链"),
    "topology": Text(en="topology", zh="拓扑"),
    "logs": Text(en="logs", zh="日志"),
    "changes": Text(en="changes", zh="变更"),
    "alert": Text(en="alert", zh="告警"),
    "events": Text(en="events", zh="事件"),
    "states": Text(en="states", zh="状态"),
}
DECIDED = {
    DecidedBy.SETTINGS: Text(en="by incident.toml", zh="按 incident.toml"),
    DecidedBy.NAME: Text(en="by its name", zh="按文件名"),
    DecidedBy.CONTENT: Text(en="by its content", zh="按内容"),
}
ROWS = Text(en="{count} rows", zh="{count} 行")
EVERY = Text(en="every {step}", zh="间隔 {step}")
GAPS = Text(en="nothing between {gaps}", zh="{gaps} 之间没有数据")
GAPS_BETWEEN = Text(en=", ", zh="、")
INSTANCES = Text(en="instances: {names}", zh="实例：{names}")
MORE = Text(en="and {count} more (--json lists all)", zh="以及另外 {count} 个（--json 列出全部）")
HARMFUL = {
    1: Text(en="a rise is harmful", zh="上升有害"),
    -1: Text(en="a fall is harmful", zh="下降有害"),
    0: Text(en="neither way is harmful by itself", zh="升降本身无害"),
}
KINDS = {
    "latency": Text(en="latency", zh="延迟"),
    "errors": Text(en="errors", zh="错误"),
    "availability": Text(en="availability", zh="可用性"),
    "cpu": Text(en="CPU", zh="CPU"),
    "memory": Text(en="memory", zh="内存"),
    "saturation": Text(en="saturation", zh="饱和度"),
    "traffic": Text(en="traffic", zh="流量"),
    "queue": Text(en="queue", zh="队列"),
    "pool": Text(en="pool", zh="连接池"),
    "disk": Text(en="disk", zh="磁盘"),
    "limit": Text(en="limit", zh="上限"),
    "efficiency": Text(en="efficiency", zh="效率"),
    "info": Text(en="information", zh="信息"),
    "other": Text(en="meaning not known", zh="含义未知"),
}
"""By `SignalKind`."""
SIDES = {
    "own": Text(en="", zh=""),
    "outgoing": Text(en="of calls it makes", zh="对外调用"),
    "between": Text(en="on the way between", zh="调用途中"),
    "host": Text(en="of the machine", zh="所在主机"),
}
"""By `SignalSide`."""
NO_UNIT = Text(en="no unit", zh="无单位")
SERIES = Text(en="{series} series, {points} values", zh="{series} 条序列，{points} 个值")
LACKS = {
    Lack.METRICS: Text(
        en="no metrics: no signal is compared, a cause can only come from spans or logs",
        zh="没有指标：无法比较信号，只能从调用链或日志找原因",
    ),
    Lack.SPANS: Text(
        en="no spans: a slow call cannot be followed into the service that is slow",
        zh="没有调用链：无法把慢调用追到具体的服务",
    ),
    Lack.TOPOLOGY: Text(
        en="no topology: who calls whom is known only as far as spans show it",
        zh="没有拓扑：调用关系只能从调用链得知",
    ),
    Lack.LOGS: Text(en="no logs: no error message can be quoted", zh="没有日志：无法引用错误信息"),
    Lack.CHANGES: Text(
        en="no changes: whether a deploy came before is not known",
        zh="没有变更：不知道故障前是否有发布",
    ),
    Lack.ALERT: Text(
        en="no alert: what is affected must come from the question",
        zh="没有告警：受影响的对象只能由问题说明",
    ),
    Lack.ONSET: Text(
        en="no time of the onset: it is estimated, unless the question or --onset says it",
        zh="没有故障开始时间：除非问题或 --onset 说明，否则靠估计",
    ),
    Lack.BASELINE: Text(
        en="no baseline: normal is what came before the onset",
        zh="没有基线：以故障开始之前为正常",
    ),
}
OBSTACLE = Text(
    en="Nothing can be diagnosed yet: {place}: {problem}; {remedy}.",
    zh="目前无法诊断：{place}：{problem}；{remedy}。",
)
WRITTEN = Text(en="Wrote {file}: correct it, and look again.", zh="已写入 {file}：请修改后再看一次。")
