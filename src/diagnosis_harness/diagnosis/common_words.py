"""Ordinary words that are not read as the name of a service, even where a name is expected; data."""

from __future__ import annotations

from typing import Final

_FUNCTION: Final = """
a an all also and another any anybody anyone anything are as at be because been being both but by
can cannot could did do does doing done down each else even ever every everybody everyone everything
few for from had has have having he her here him his how i if in is it its just let like many maybe
me might more most much my neither never no nobody none nor not nothing now of off ok okay on one
only or other our out over own perhaps please really right same she should since so some somebody
someone something somewhere still such than that the their them then there these they thing things
this those though thus to today together tomorrow tonight too two up us very was we well were what
whatever when where whether which who whole whom whose why will with within without would yes
yesterday yet you your after again already always before between during earlier first last later until while
"""
_WATCHED: Final = """
access action actions activity address alarm alarms alert alerting alerts answer api apis app
application applications apps average backend backends bandwidth baseline batch begin behaviour
behavior bottleneck box boxes browser budget bug build builds burst business calls capacity case
cases cause causes cert certificate certificates change changes checks client clients cloud cluster
clusters code cold commit commits component components condition config configuration connection
connections connectivity consumer consumers container containers core cores count counter counts cpu
crash crashes culprit curve customer customers dashboard dashboards data datacenter deadlock delay
delays delivery demand dependencies dependency deploy deployment deployments deploys difference disk
disks dns domain downstream drop duration effect endpoint endpoints engine environment error errors
event events evidence exception exceptions failure failures fault faults feature features fix flag
flags fleet flow frequency garbage gc goroutines graph group handler health heap host hosts hour
hours image images impact in-flight incident incidents infra infrastructure ingestion instance
instances integration internet io issue issues job jobs jvm kernel kubernetes k8s lag latencies
latency leak leader level limit limits line lines link list load loadbalancer location lock locks
log logging logs loop machine machines maintenance memory message messages metric metrics
microservice microservices minute minutes model monitor monitoring morning mounts namespace net
network node nodes noise number numbers of operation operations operators others outage outages
output oom p50 p90 p95 p99 packet packets page pages part partition partitions parts patch path
paths peak people percentage percentile performance period pipeline place platform pod pods point
pool pools port ports prod production process processes processing product products provider query
queries quota rate rates ratio read reads reason reasons region regions regression release releases
replica replicas reply request requests resource resources response responses restart restarts
result results retries retry revenue risk rollback rollout root route rows rpc run runbook runs
saturation scale schedule scheduler script scripts second seconds series server servers service
services session sessions severity shard shards side signal signals signature site slo slowdown
slowness socket sockets source sources span spans spike spikes ssl stack staging start state status
step stop storage store stores story stuff subsystem support symptom symptoms system systems table
tables target task tasks team teams test tests thread threads throttling throughput ticket tickets
time timeout timeouts times tls tool tools topic topics trace traces traffic transaction
transactions trend trouble update updates upgrade upgrades upstream uptime usage use user users
utilisation utilization vendor version versions view vm vms volume wait waiting warning warnings way
web website week weeks work worker workers workload world write writes zone zones
"""
_STATES: Final = """
able affected alive available average awful back bad better big blocked blocking broken busy bursty
clear cold correct corrupt costly crashed crashing critical dead degraded degrading delayed
different disconnected done dropping elevated empty erroring exhausted expired expensive failed
failing fast faulty fine firing flaky flapping full gone good green happening hanging healthy heavy
high higher hot huge idle inconsistent increased increasing intermittent involved irregular large
late leaking likely long low lower missing new normal odd offline ok old online overloaded pending
poor problematic ready red refused rejected rejecting related responsible restarted restarting
running saturated short sick slow slower sluggish small spiking stable stale starved stopped strange
stuck sudden suddenly taking terrible throttled timing unable unavailable unhealthy unreachable
unresponsive unstable unusual usual weird worse worst wrong yellow become becoming experiencing getting
having keep keeps reporting returning seeing showing start started starting stopping throwing
"""
COMMON_EN: Final = frozenset(f"{_FUNCTION} {_WATCHED} {_STATES}".split())
"""English words that are not names, even where a name is expected."""

_CHINESE: Final = """
服务 微服务 系统 接口 数据 集群 节点 机器 主机 实例 容器 延迟 延时 耗时 响应
响应时间 错误 错误率 报错 异常 故障 告警 报警 流量 请求 请求量 用户 客户 页面 网站
网络 内存 磁盘 硬盘 连接 连接数 连接池 线程 线程池 日志 指标 监控 链路 调用 依赖
上游 下游 后端 业务 平台 应用 程序 进程 任务 作业 环境 生产 线上 机房 区域 发布
上线 变更 部署 升级 回滚 配置 版本 代码 它 他们 我们 你们 大家 所有 全部 整个
这个 那个 哪个 什么 这里 那里 突然 现在 今天 昨天 刚才 最近 一直 总是 老是 经常
还 又 都 会 这么 那么 很 太 原因 根因 问题 情况 状态 性能 吞吐 吞吐量 队列 缓存
数据库 网关 前端 消息 消费 重启 超时 失败 慢 挂 崩溃 整体 某些 部分 每个 有些
登录 下单量 一切 为什么 为何 为啥 怎么 请问 哪些 其他 别的 其余
"""
COMMON_ZH: Final = tuple(_CHINESE.split())
"""Chinese words that are not names, even where a name is expected; nor are phrases made of them."""

KIND_WORDS: Final[tuple[tuple[frozenset[str], frozenset[str]], ...]] = (
    (
        frozenset({"database", "databases", "db", "数据库"}),
        frozenset({"db", "database", "postgres", "postgresql", "pg", "mysql", "mariadb", "mongo", "mongodb"}),
    ),
    (frozenset({"cache", "缓存"}), frozenset({"cache", "redis", "memcached", "valkey"})),
    (
        frozenset({"queue", "broker", "队列", "消息队列"}),
        frozenset({"queue", "kafka", "rabbitmq", "mq", "nats", "sqs", "broker"}),
    ),
    (frozenset({"gateway", "ingress", "网关"}), frozenset({"gateway", "ingress", "gw", "nginx", "envoy"})),
    (frozenset({"frontend", "front-end", "前端"}), frozenset({"frontend", "front"})),
)
"""Words for a kind of component, and the parts of a name that identify it."""
