"""What each kind of platform event means, in both languages, as half a sentence after its name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from diagnosis_harness.analysis.platform_event import EventKind
from diagnosis_harness.kernel.language import Text

EVENT_WORDS: Mapping[EventKind, Text] = MappingProxyType(
    {
        EventKind.OOM_KILLED: Text(
            en="the container used more memory than it may, and was killed",
            zh="容器使用的内存超出许可，被强制终止",
        ),
        EventKind.IMAGE_PULL: Text(
            en="the image of the container could not be pulled", zh="容器的镜像拉取失败"
        ),
        EventKind.BAD_CONFIG: Text(
            en="the container could not be created from its settings", zh="容器设置有误，创建失败"
        ),
        EventKind.CRASH_LOOP: Text(
            en="the container ends again and again after its start", zh="容器启动后反复退出"
        ),
        EventKind.UNSCHEDULABLE: Text(en="no node has room for the pod", zh="节点资源不足，Pod 无处可调度"),
        EventKind.EVICTED: Text(
            en="its node was short of a resource, and ended the pod", zh="节点资源紧张，Pod 被驱逐"
        ),
        EventKind.NODE_PRESSURE: Text(
            en="the node is short of memory, disk or processes", zh="节点的内存、磁盘或进程数紧张"
        ),
        EventKind.NODE_NOT_READY: Text(
            en="the node does not answer, or cannot run pods", zh="节点失联，或暂时无法运行 Pod"
        ),
        EventKind.MOUNT_FAILED: Text(en="a volume could not be mounted", zh="卷挂载失败"),
        EventKind.PROBE_FAILED: Text(en="its health check failed", zh="健康检查失败"),
        EventKind.ROLLOUT_FAILED: Text(
            en="the new revision did not become ready in time", zh="新修订版迟迟没有就绪"
        ),
        EventKind.REPLICAS_MISSING: Text(
            en="fewer replicas are available than wanted", zh="可用副本少于期望数量"
        ),
        EventKind.FAILOVER: Text(
            en="the database moved to its standby, and dropped its connections",
            zh="数据库切换到备机，连接中断",
        ),
        EventKind.STORAGE_FULL: Text(en="its storage is full", zh="存储空间已满"),
        EventKind.STORAGE_LOW: Text(en="its storage is nearly full", zh="存储空间即将用满"),
        EventKind.CONNECTION_LIMIT: Text(
            en="nearly as many connections are open as it accepts, or as many", zh="连接数接近或达到最大值"
        ),
        EventKind.REPLICATION_LAG: Text(en="the replica is behind its source", zh="副本落后于源库"),
        EventKind.RESTARTED: Text(en="it was stopped and started again", zh="实例经过重启"),
        EventKind.PARAMETERS_CHANGED: Text(en="its parameters were changed", zh="参数有改动"),
        EventKind.MAINTENANCE: Text(en="maintenance was done or announced", zh="有维护操作或维护通知"),
    }
)
"""Total over the kinds; a test checks it."""
