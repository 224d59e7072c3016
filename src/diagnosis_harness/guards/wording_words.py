"""The closed vocabulary of free wording: every word that a shown sentence may contain, and its meaning.

A sentence with any other word, unless it is a name or number of the cited evidence, is not shown. A word
that asserts something (a direction, a denial, a cause) is allowed only if the claim asserts it.
"""

from __future__ import annotations

from diagnosis_harness.diagnosis.word_class import WordClass


def words(text: str) -> frozenset[str]:
    """Split a text into a set of words, so that tables stay readable."""
    return frozenset(text.split())


_ENGLISH: dict[WordClass, str] = {
    WordClass.PLAIN: (
        "the a an of in on at to from and its it this that these which was is were are be been being "
        "has have had between during with per for as by when while then now here there value values "
        "level levels series metric metrics signal signals measure measured reading service services "
        "component instance time times window period incident reached reaching reach went go goes "
        "going moved move moves ran shows show showed stands stood about around "
        "roughly approximately nearly utc what itself inside way evidence record "
        "also unit part code codes status port http https"
    ),
    WordClass.CHANGE: "changed change changes",
    WordClass.NOUN: (
        "request requests operation operations span spans share rate ratio response responses percentage"
    ),
    WordClass.UP: (
        "rose rise rises rising risen increased increase increases increasing grew grow grows growing "
        "grown climbed climb climbs climbing jumped jump jumps spiked spike spikes surged surge surges "
        "higher up upward upwards elevated"
    ),
    WordClass.DOWN: (
        "fell fall falls falling fallen decreased decrease decreases decreasing declined decline "
        "declines dropped drop drops dropping lower lowered reduced reduction shrank shrunk down "
        "downward downwards sank sunk"
    ),
    WordClass.SLOW: "slow slowed slows slowing slower longer delayed slowdown",
    WordClass.FAST: "fast faster quicker shorter sped",
    WordClass.FLAT: (
        "flat stable steady unchanged constant stayed stays stay remained remains normal normally"
    ),
    WordClass.NEGATION: (
        "no not never none nothing nobody neither nor without cannot cant isnt wasnt arent werent "
        "didnt doesnt dont hasnt havent hadnt wont couldnt wouldnt shouldnt lacks lacking absent "
        "missing"
    ),
    WordClass.WIDE: (
        "all any every everything everywhere always ever only solely entire entirely whole completely "
        "totally global globally everyone anything anywhere exclusively certainly definitely proven "
        "undoubtedly"
    ),
    WordClass.CAUSE: (
        "cause caused causes causing because due led leads leading root culprit responsible reason "
        "trigger triggered triggers triggering made makes behind origin source result resulted "
        "explains explained"
    ),
    WordClass.AFFECT: ("affected affects affect hit impacted suffers suffered suffering victim"),
    WordClass.BEGIN: ("began begin begins beginning started start starts starting since onset"),
    WordClass.FAIL: ("fail failed fails failing failure failures error errors erroring errored"),
    WordClass.LIMIT: ("limit saturated saturates saturation exhausted capacity full maxed ceiling"),
    WordClass.CALL: "call calls called calling invokes invoked",
    WordClass.DEPLOY: "deployed deploy deploys deployment deployments release released rollout",
    WordClass.FLAG: "flag flags toggled toggle",
    WordClass.CONFIG: "configuration config configured reconfigured",
    WordClass.VERSION: "version versions update updated upgrade upgraded",
    WordClass.NOW: "now then",
    WordClass.SEEN: "found seen observed recorded logged returned",
    WordClass.USUAL: (
        "usual usually previously baseline earlier before versus vs against compared than instead"
    ),
}

_PHRASES: dict[WordClass, tuple[str, ...]] = {
    WordClass.NO_CAUSE: ("not the cause", "并非原因", "不是原因", "不是根因", "并非根因"),
    WordClass.NO_MOVE: (
        "no further than it normally does",
        "no further than usual",
        "no further than normal",
        "within its normal range",
        "within its usual range",
        "没有超出其正常范围",
        "没有超出正常范围",
        "未超出正常范围",
        "在正常范围内",
    ),
    WordClass.TROUBLE: ("differ from normal", "differs from normal", "differed from normal", "偏离正常"),
    WordClass.LACK: (
        "ends without",
        "ended without",
        "ending without",
        "that end without",
        "没有调用",
        "未调用",
        "没有再调用",
    ),
}

_CHINESE: dict[WordClass, str] = {
    WordClass.PLAIN: (
        "的 了 在 于 与 和 及 其 该 此 这 是 为 到 至 从 由 则 而 且 并 就 时 期间 之间 内 中 间 "
        "上 下 处 有 有着 一个 一次 一段 值 数值 指标 信号 序列 水平 服务 组件 实例 时间 时长 耗时 "
        "窗口 时段 时刻 事故 故障期间 达到 达 变为 变成 变更为 发生 显示 表现 大约 "
        "约 约为 左右 将近 自身 内部 途中 路径 所 所示 出现 记录 证据 表现出 部分 每 状态码 "
        "端口 代码 同时 也 到了 波动 结束 调用途中"
    ),
    WordClass.CHANGE: "变化 变动 发生变化 变更",
    WordClass.NOW: "现在 此时 当时",
    WordClass.NOUN: "请求 操作 跨度 比例 占比 比率 响应",
    WordClass.TROUBLE: "异常",
    WordClass.UP: (
        "上升 上升到 上升至 升高 升高到 升高至 升到 升至 增加 增加到 增加至 增长 增长到 增长至 增大 "
        "上涨 上涨到 涨到 涨至 激增 飙升 飙升到 飙升至 变高 更高 增至 增到 提高 提高到 攀升 攀升到 "
        "攀升至 走高 升"
    ),
    WordClass.DOWN: (
        "下降 下降到 下降至 降低 降低到 降低至 减少 减少到 减少至 降到 降至 跌到 跌至 回落 回落到 "
        "回落至 下跌 下跌到 变低 更低 减小 走低 骤降 骤降到 骤降至 降"
    ),
    WordClass.SLOW: "变慢 更慢 慢 缓慢 变长 更长 延长",
    WordClass.FAST: "变快 更快 快 变短 更短 缩短",
    WordClass.FLAT: "平稳 稳定 不变 持平 保持 保持在 正常 没有变化 未变化",
    WordClass.NEGATION: ("没有 没 未 无 不 非 并非 并未 未曾 不曾 毫无 不是 未见 无法 不会 从不 缺少"),
    WordClass.WIDE: ("所有 任何 全部 从未 始终 一直 永远 整个 只有 只 唯一 全局 完全 必然 肯定 全都 都"),
    WordClass.CAUSE: (
        "导致 引起 造成 引发 致使 触发 原因 根因 根本原因 因为 由于 因 源于 归因于 元凶 使得 使"
    ),
    WordClass.AFFECT: "受影响 受到影响 受累 被影响",
    WordClass.BEGIN: "开始 起 自 始于",
    WordClass.FAIL: "失败 错误 报错 出错 失败率 错误率",
    WordClass.LIMIT: "饱和 上限 达到上限 耗尽 打满 跑满 用尽 瓶颈",
    WordClass.CALL: "调用",
    WordClass.DEPLOY: "部署 发布 上线",
    WordClass.FLAG: "开关",
    WordClass.CONFIG: "配置",
    WordClass.VERSION: "版本 更新 升级",
    WordClass.SEEN: "发现 查到 看到 观察到 查询到 记录到 查询 范围 任何情况",
    WordClass.USUAL: "平时 通常 正常时 基线 之前 此前 原来 原先 以往 相比 对比 较",
}

WORDS: dict[str, WordClass] = {word: kind for kind, text in _ENGLISH.items() for word in text.split()}
HAN: dict[str, WordClass] = {word: kind for kind, text in _CHINESE.items() for word in text.split()}
PHRASE_CLASSES: dict[str, WordClass] = {
    phrase: kind for kind, phrases in _PHRASES.items() for phrase in phrases
}

INVERTING = words(
    "by because due result resulted explained triggered behind 由 被 因 因为 由于 源于 归因于 受"
)
"""Words that reverse the order of cause and effect, or of caller and callee."""


KINDS_OF_CHANGE: dict[WordClass, frozenset[str]] = {
    WordClass.DEPLOY: words("deploy deployment release rollout"),
    WordClass.FLAG: words("flag feature-flag feature_flag toggle"),
    WordClass.CONFIG: words("config configuration config-change"),
}
"""How the recorder must have named a change for a word of the class to be allowed."""
