"""Phrases with which people ask about the system, in English and Chinese, in lower case."""

from __future__ import annotations

import re

from diagnosis_harness.application.system.answer import SystemTopic
from diagnosis_harness.application.system.profile import TelemetryKind

_ACT = (
    "restart|reboot|roll ?back|revert|scale|delete|remove|drop|deploy|redeploy|fix|repair|kill|stop|start"
    "|drain"
    "|execute|run (?:a |the |this |some )?(?:command|script|sql|kubectl)|change|modify|edit|update"
    "|patch|apply"
    "|silence|mute|disable|enable|block|page|email|send|create|open a ticket|merge|push|write to"
    "|turn (?:off|on)"
)
_ACT_ZH = (
    "重启|回滚|扩容|缩容|删除|删掉|部署|发布|修复|修好|修改|改掉|改一下|执行|杀掉|停掉"
    "|停止|关闭|启动|静默|屏蔽|清理|清空|发邮件|发消息|通知|建工单|合并|推送|写入"
)

ABOUT = (
    (
        SystemTopic.READ_ONLY,
        re.compile(
            rf"(?:(?:can|could|will|would|may) you (?:please |also |even |just |automatically )*|please "
            rf"|are you able to |are you allowed to |(?:^|[.!] )(?:go and )?)(?:{_ACT})\b"
            rf"|(?:你|您)?(?:能不能|可不可以|能否|可以|能|会|帮我|帮忙|请|替我|给我)"
            rf"(?:帮我|帮忙|直接|自动|自己|去|把[^，。？]{{0,20}})*(?:{_ACT_ZH})"
        ),
    ),
    (
        SystemTopic.IDENTITY,
        re.compile(
            r"who are you|what are you\b|your name|which version|what version|your version|introduce yourself"
            r"|are you (?:a |an )?(?:bot|robot|human|person|ai)\b|about yourself"
            r"|what is this\b|your purpose|how do you work|how accurate|make mistakes|who made you"
            r"|这是什么|用途|工作原理|说说你|多准|会出错|准确率"
            r"|你是谁|您是谁|你叫什么|你是什么|介绍一下(?:你|自己)|什么版本"
            r"|哪个版本|版本号|你是(?:机器人|人|ai)"
        ),
    ),
    (
        SystemTopic.PLAYERS,
        re.compile(
            r"which (?:llm|language model|ai model|model)|what (?:llm|language model|model)|\bllms?\b"
            r"|gpt|claude|gemini|llama|qwen|deepseek|openai|anthropic|language model"
            r"|语言模型|大模型|什么模型|哪个模型|哪家模型|通义|文心"
        ),
    ),
    (
        SystemTopic.ABILITIES,
        re.compile(
            r"what can (?:you|i)\b|what do you do\b|what are you (?:able|capable|for)"
            r"|your (?:abilities|capabilities|features)"
            r"|how can you help|what can't you|^\W*help\W*$|can you help"
            r"|你能做什么|你会做什么|能做什么|会什么|能干什么|有什么(?:功能|能力|用)|哪些功能"
            r"|能帮我(?:做)?什么|怎么帮|^\W*帮助\W*$"
        ),
    ),
    (SystemTopic.TOOLS, re.compile(r"\btools?\b|which commands|工具")),
    (
        SystemTopic.SOURCES,
        re.compile(
            r"(?:which|what|whose) (?:data|telemetry|sources?|backends?|systems?|services?|files?|signals?)\b"
            r"|\b(?:list|show|name) (?:me |all |the |your )*(?:services|sources|entities|components)\b"
            r"|哪些(?:服务|组件|系统)|什么服务|列出(?:所有)?服务|列一下服务|看得?到哪些"
            r"|data ?sources?|(?:can|do) you (?:see|have access|access|read|look at|connect)|connected to"
            r"|what (?:can|do) you see|数据源|哪些数据|什么数据|能看到|能访问|看得到|能读"
            r"|知道哪些(?:服务|系统)|看工单|接到你|接入了|连接了|连了"
        ),
    ),
    (
        SystemTopic.RUNBOOKS,
        re.compile(
            r"(?:which|what|how many|have|see|know|any) (?:the |our |my |any )?"
            r"(?:runbooks?|post-?mortems?|documents?|docs|playbooks?)\b"
            r"|(?:哪些|什么|多少|有没有|几份|几篇)[^，。？]{0,6}(?:手册|复盘|文档|预案)"
        ),
    ),
    (
        SystemTopic.LIMITS,
        re.compile(
            r"\blimits?\b|budget|how long (?:can|may|do|does|will)|time ?out"
            r"|how many (?:calls|questions|steps)|quota"
            r"|限制|局限|上限|预算|最长|最多|超时|多长时间|要多久"
        ),
    ),
    (
        SystemTopic.PRIVACY,
        re.compile(
            r"privacy|private|confidential|where (?:do|does|is) (?:my|our|the) data"
            r"|data (?:sent|go|leave|stored)"
            r"|(?:send|store|share|keep) (?:my|our|the) (?:data|logs|questions)|secrets?\b|gdpr"
            r"|(?:questions|data|logs) (?:being )?(?:stored|kept|saved|shared)|remember my"
            r"|隐私|保密|泄露|数据(?:会)?(?:发|传|存)|存我的|被保存|还记得我|外传|出境|脱敏"
        ),
    ),
    (
        SystemTopic.HOW_TO_ASK,
        re.compile(
            r"how (?:do|should|can|to) (?:i |we )?(?:ask|use|start|begin|talk|query)\b"
            r"|example questions?|usage"
            r"|(?:questions can i|should i|can i) ask|languages? do you"
            r"|怎么(?:问|提问|用|使用|开始)|如何(?:问|提问|使用|开始)|问你什么"
            r"|会哪些语言|什么语言|示例问题|用法"
        ),
    ),
)
"""The topics in the order in which an answer covers them."""

SMALL_TALK = (
    (
        SystemTopic.THANKS,
        re.compile(
            r"\bthank|\bthx\b|\bcheers\b|appreciate|nice work|ok great|well done"
            r"|谢谢|多谢|感谢|谢啦|辛苦了|干得漂亮"
        ),
    ),
    (SystemTopic.FAREWELL, re.compile(r"\bbye\b|good ?bye|see you\b|good night|再见|拜拜|晚安|下次见")),
    (
        SystemTopic.GREETING,
        re.compile(
            r"^\W*(?:hi|hello|hey|yo|ping|good (?:morning|afternoon|evening)|greetings)\b"
            r"|你好|您好|早上好|下午好|晚上好|嗨|嘿|哈喽|在吗|are you there"
        ),
    ),
)

KINDS = (
    (TelemetryKind.METRICS, re.compile(r"\bmetrics?\b|time series|指标|监控数据")),
    (TelemetryKind.LOGS, re.compile(r"\blogs?\b|日志")),
    (TelemetryKind.SPANS, re.compile(r"\btraces?\b|\bspans?\b|tracing|链路|跨度|追踪")),
    (TelemetryKind.TOPOLOGY, re.compile(r"topology|call graph|dependenc(?:y|ies)|拓扑|调用图|依赖关系")),
    (
        TelemetryKind.CHANGES,
        re.compile(r"\bdeploy(?:ment)?s\b|\bchanges\b|releases\b|变更|发布记录|部署记录"),
    ),
)

PRODUCTS = frozenset(
    """
    prometheus grafana loki tempo jaeger zipkin elasticsearch opensearch kibana splunk datadog dynatrace
    newrelic cloudwatch kubernetes k8s slack jira confluence pagerduty opsgenie github gitlab jenkins
    argocd mysql postgresql postgres redis kafka mongodb clickhouse victoriametrics alertmanager sentry
    skywalking zabbix nagios servicenow teams azure gcp aws stackdriver honeycomb 钉钉 飞书 企业微信 夜莺
    """.split()  # noqa: SIM905 - a list literal would take a page
)
"""Names that people ask about; the profile says whether the system has them."""
