"""One small file of every format that is read as it is, shaped as the documentation of its tool shows it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from tests.support.change_samples import ALERTMANAGER, CHANGE_SAMPLES, minute
from tests.support.export_samples import EXPORT_SAMPLES, MORE_EXPORT_SAMPLES

FIRST_S: Final = 1_778_056_800  # 2026-05-06T08:40:00Z
_NANOSECONDS: Final = 1_000_000_000


def _matrix() -> object:
    values = [[FIRST_S + 60 * at, f"0.{at}"] for at in range(5)]
    return {
        "status": "success",
        "data": {
            "resultType": "matrix",
            "result": [
                {"metric": {"__name__": "up", "job": "shop", "instance": "10.0.0.7:8080"}, "values": values},
                {"metric": {"__name__": "up", "job": "shop", "instance": "10.0.0.8:8080"}, "values": values},
            ],
        },
    }


def _exposition() -> str:
    lines = [
        "# HELP http_request_duration_seconds Time to answer.",
        "# TYPE http_request_duration_seconds histogram",
    ]
    for at in range(3):
        time_ms = (FIRST_S + 60 * at) * 1000
        for bound, count in (("0.1", 60), ("0.5", 108), ("+Inf", 120)):
            lines.append(
                f'http_request_duration_seconds_bucket{{job="shop",le="{bound}"}} {count * at} {time_ms}'
            )
        lines.append(f'http_request_duration_seconds_sum{{job="shop"}} {24 * at} {time_ms}')
        lines.append(f'http_request_duration_seconds_count{{job="shop"}} {120 * at} {time_ms}')
    return "\n".join(lines) + "\n"


def _attribute(key: str, value: str) -> object:
    return {"key": key, "value": {"stringValue": value}}


def _resource(service: str) -> object:
    return {"attributes": [_attribute("service.name", service)]}


def _otlp_spans() -> Sequence[object]:
    def span(own: str, parent: str, after_ms: int, lasts_ms: int, code: int) -> object:
        start = FIRST_S * _NANOSECONDS + after_ms * 1_000_000
        return {
            "traceId": "5b8efff798038103d269b633813fc60c",
            "spanId": own,
            "parentSpanId": parent,
            "name": "GET /",
            "kind": 2,
            "startTimeUnixNano": str(start),
            "endTimeUnixNano": str(start + lasts_ms * 1_000_000),
            "status": {"code": code} if code else {},
        }

    return [
        {"resource": _resource("web"), "scopeSpans": [{"spans": [span("aa", "", 0, 100, 0)]}]},
        {"resource": _resource("shop"), "scopeSpans": [{"spans": [span("bb", "aa", 10, 50, 2)]}]},
    ]


def _otlp_metrics() -> object:
    points = [
        {"timeUnixNano": str((FIRST_S + 60 * at) * _NANOSECONDS), "asDouble": 0.5 + at} for at in range(3)
    ]
    counts = [
        {
            "timeUnixNano": str((FIRST_S + 60 * at) * _NANOSECONDS),
            "count": str(100 * at),
            "sum": 20 * at,
            "explicitBounds": [0.1, 0.5],
            "bucketCounts": [str(50 * at), str(40 * at), str(10 * at)],
        }
        for at in range(3)
    ]
    metrics = [
        {"name": "queue.size", "unit": "1", "gauge": {"dataPoints": points}},
        {
            "name": "http.server.request.duration",
            "unit": "s",
            "histogram": {"aggregationTemporality": 2, "dataPoints": counts},
        },
    ]
    return {"resourceMetrics": [{"resource": _resource("shop"), "scopeMetrics": [{"metrics": metrics}]}]}


def _otlp_logs() -> object:
    record = {
        "timeUnixNano": str(FIRST_S * _NANOSECONDS),
        "severityText": "ERROR",
        "body": {"stringValue": "pool exhausted"},
    }
    return {"resourceLogs": [{"resource": _resource("shop"), "scopeLogs": [{"logRecords": [record]}]}]}


def _jaeger() -> object:
    def span(own: str, parent: str | None, process: str, lasts_us: int, *, failed: bool) -> object:
        references = [{"refType": "CHILD_OF", "traceID": "t1", "spanID": parent}] if parent else []
        tags = [{"key": "error", "type": "bool", "value": True}] if failed else []
        return {
            "traceID": "t1", "spanID": own, "operationName": "GET /", "references": references, "tags": tags,
            "startTime": FIRST_S * 1_000_000, "duration": lasts_us, "processID": process, "logs": [],
        }  # fmt: skip

    spans = [span("a", None, "p1", 100_000, failed=False), span("b", "a", "p2", 50_000, failed=True)]
    processes = {"p1": {"serviceName": "web", "tags": []}, "p2": {"serviceName": "shop", "tags": []}}
    return {"data": [{"traceID": "t1", "spans": spans, "processes": processes}], "total": 0, "errors": None}


def _zipkin() -> object:
    base = {"traceId": "t1", "timestamp": FIRST_S * 1_000_000}
    return [
        {
            **base, "id": "a", "name": "get", "kind": "CLIENT", "duration": 100_000,
            "localEndpoint": {"serviceName": "web"},
        },
        {
            **base, "id": "a", "name": "get", "kind": "SERVER", "shared": True, "duration": 50_000,
            "localEndpoint": {"serviceName": "shop"}, "tags": {"error": "500"},
        },
    ]  # fmt: skip


def _loki() -> object:
    values = [[str((FIRST_S + at) * _NANOSECONDS), "pool exhausted"] for at in range(2)]
    stream = {"app": "shop", "level": "error", "pod": "shop-0"}
    return {
        "status": "success",
        "data": {"resultType": "streams", "result": [{"stream": stream, "values": values}]},
    }


def _journal() -> str:
    record = {
        "__REALTIME_TIMESTAMP": str(FIRST_S * 1_000_000),
        "_SYSTEMD_UNIT": "shop.service",
        "PRIORITY": "3",
        "MESSAGE": "pool exhausted",
    }
    return json.dumps(record) + "\n" + json.dumps({**record, "MESSAGE": [112, 111, 111, 108]}) + "\n"


def _elastic() -> object:
    source = {
        "@timestamp": "2026-05-06T08:40:00.000Z",
        "message": "pool exhausted",
        "log.level": "error",
        "service": {"name": "shop"},
    }
    return {
        "took": 3,
        "hits": {"total": {"value": 1}, "hits": [{"_index": "logs", "_id": "1", "_source": source}]},
    }


_COMBINED = """10.0.0.7 - - [06/May/2026:08:40:01 +0000] "GET /cart HTTP/1.1" 200 512 "-" "curl/8.0"
10.0.0.7 - - [06/May/2026:08:41:01 +0000] "GET /cart HTTP/1.1" 502 512 "-" "curl/8.0"
10.0.0.7 - - [06/May/2026:08:41:31 +0000] "GET /cart HTTP/1.1" 200 512 "-" "curl/8.0"
10.0.0.7 - - [06/May/2026:08:42:01 +0000] "GET /cart HTTP/1.1" 200 512 "-" "curl/8.0"
"""
_ENVOY = """[2026-05-06T08:40:01.000Z] "GET /cart HTTP/1.1" 200 - 0 91 5 4 "-" "-" "shop" "10.0.0.1:8080"
[2026-05-06T08:41:01.000Z] "GET /cart HTTP/1.1" 503 UF 0 91 5000 - "-" "-" "id-2" "shop" "10.0.0.1:8080"
[2026-05-06T08:42:01.000Z] "GET /cart HTTP/1.1" 200 - 0 91 5 4 "-" "-" "id-3" "shop" "10.0.0.1:8080"
"""
_TEXT = """2026-05-06 08:40:00,214 INFO [worker-3] Cart - served
2026-05-06 08:41:00,214 ERROR [worker-3] Cart - cannot answer
java.sql.SQLTransientConnectionException: HikariPool-1 - Connection is not available
\tat com.zaxxer.hikari.pool.HikariPool.createTimeoutException(HikariPool.java:696)
"""
_SADF = (
    "# hostname;interval;timestamp;CPU;%user;%idle\n"
    "pay-1;60;2026-05-06 08:40:00 UTC;-1;30.1;60.2\npay-1;60;2026-05-06 08:41:00 UTC;-1;88.0;2.1\n"
)


def _sadf_json() -> object:
    samples = [
        {
            "timestamp": {"date": "2026-05-06", "time": f"08:4{at}:00", "utc": 1, "interval": 60},
            "cpu-load": [{"cpu": "all", "user": 30.0 + at, "idle": 60.0}],
            "network": {"net-dev": [{"iface": "eth0", "rxpck": 10.0}]},
        }
        for at in range(2)
    ]
    return {"sysstat": {"hosts": [{"nodename": "pay-1", "statistics": samples}]}}


def _azure() -> object:
    data = [{"timeStamp": minute(at), "average": 40.0 + at} for at in range(3)]
    return {
        "cost": 0,
        "interval": "PT1M",
        "value": [
            {
                "id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/shop"
                "/providers/Microsoft.Insights/metrics/Percentage CPU",
                "type": "Microsoft.Insights/metrics",
                "name": {"value": "Percentage CPU", "localizedValue": "Percentage CPU"},
                "unit": "Percent",
                "timeseries": [{"metadatavalues": [], "data": data}],
            }
        ],
    }


def _frames() -> object:
    fields = [
        {"name": "Time", "type": "time"},
        {"name": "Value", "type": "number", "labels": {"service": "shop"}},
    ]
    values = [[(FIRST_S + 60 * at) * 1000 for at in range(3)], [1.0, 2.0, 3.0]]
    frame = {"schema": {"name": "latency_ms", "fields": fields}, "data": {"values": values}}
    return {"results": {"A": {"status": 200, "frames": [frame]}}}


_CLOUDWATCH = {
    "MetricDataResults": [
        {
            "Id": "m0", "Label": "shop latency", "StatusCode": "Complete",
            "Timestamps": [minute(at) for at in (2, 1, 0)], "Values": [3.0, 2.0, 1.0],
        }
    ]
}  # fmt: skip
_STATISTICS = {
    "Label": "CPUUtilization",
    "Datapoints": [{"Timestamp": minute(at), "Average": 40.0 + at, "Unit": "Percent"} for at in range(3)],
}
_DATADOG = {
    "status": "ok",
    "series": [
        {
            "metric": "system.cpu.user", "scope": "service:shop", "tag_set": ["service:shop"],
            "unit": [{"family": "percentage", "name": "percent"}, None],
            "pointlist": [[(FIRST_S + 60 * at) * 1000.0, 40.0 + at] for at in range(3)],
        }
    ],
}  # fmt: skip
_DATADOG_2 = {
    "data": {
        "type": "timeseries_response",
        "attributes": {
            "series": [{"group_tags": ["service:shop"], "query_index": 0, "unit": None}],
            "times": [(FIRST_S + 60 * at) * 1000 for at in range(3)],
            "values": [[40.0, 41.0, 42.0]],
        },
    }
}
_INSIGHTS = {
    "status": "Complete",
    "results": [
        [
            {"field": "@timestamp", "value": "2026-05-06 08:40:00.000"},
            {"field": "@message", "value": "pool exhausted"},
            {"field": "@logStream", "value": "shop"},
        ]
    ],
}
_CLOUDWATCH_LOGS = {
    "events": [
        {"logStreamName": "shop", "timestamp": FIRST_S * 1000, "message": "pool exhausted", "eventId": "1"}
    ]
}
_GCP = {
    "entries": [
        {
            "logName": "projects/p/logs/stdout", "timestamp": minute(0), "severity": "ERROR",
            "textPayload": "pool exhausted", "resource": {"labels": {"container_name": "shop"}},
        }
    ]
}  # fmt: skip
_LOG_LIST = [
    {"timestamp": "2026-05-06T08:41:00Z", "service": "seats", "status": "error", "message": "lock time-out"},
    {"timestamp": "2026-05-06T08:43:00Z", "service": "seats", "status": "info", "message": "seat 12 sold"},
]
_DATADOG_LOGS = {
    "data": [
        {
            "id": "1", "type": "log",
            "attributes": {
                "timestamp": minute(0), "service": "shop", "status": "error", "message": "pool exhausted",
            },
        }
    ]
}  # fmt: skip


_SAR: Final = """\
Linux 5.15.0-91-generic (web-1) \t05/06/2026 \t_x86_64_\t(4 CPU)

08:30:01 AM       DEV       tps     rkB/s     wkB/s     await     %util
08:40:01 AM       sda     12.00      1.00     20.00      0.80      1.20
08:40:01 AM       sdb      2.00      0.00      4.00      0.50      0.10
08:50:01 AM       sda     90.00      1.00    900.00     40.80     99.20
08:50:01 AM       sdb      2.00      0.00      4.00      0.50      0.10
Average:          sda     51.00      1.00    460.00     20.80     50.20
"""


def _json(value: object) -> str:
    return json.dumps(value)


_EVENT_LIST: Final = {
    "events": [
        {
            "date": "2026-05-06T08:41:00Z",
            "source_identifier": "orders-db",
            "event_categories": ["failover"],
            "message": "Multi-AZ failover started",
        }
    ]
}
_POD_LIST: Final = {
    "pods": [
        {
            "name": "cart-6d5f7c9b8d-x2x4z",
            "phase": "Running",
            "start_time": "2026-05-06T08:40:00Z",
            "containers": [{"name": "cart", "state": {"started_at": "2026-05-06T08:41:00Z"}}],
        }
    ]
}
_LOG_TEXT: Final = {
    "pod_name": "cart-6d5f7c9b8d-x2x4z",
    "logs": "2026-05-06T08:40:00Z INFO started\n2026-05-06T08:41:00Z ERROR no connection left\n",
}
_NAMED_SERIES: Final = {
    "service": "cart",
    "cpu_percent": {"timestamps": ["2026-05-06T08:40:00Z", "2026-05-06T08:41:00Z"], "values": [5, 80]},
}
SAMPLES: Final[dict[str, tuple[str, str]]] = (
    CHANGE_SAMPLES
    | EXPORT_SAMPLES
    | {
        "prometheus": ("answer.json", _json(_matrix())),
        "exposition": ("page.prom", _exposition()),
        "otlp-traces": ("spans.json", _json({"resourceSpans": _otlp_spans()})),
        "otlp-logs": ("records.json", _json(_otlp_logs())),
        "otlp-metrics": ("points.json", _json(_otlp_metrics())),
        "jaeger": ("jaeger.json", _json(_jaeger())),
        "zipkin": ("zipkin.json", _json(_zipkin())),
        "loki": ("loki.json", _json(_loki())),
        "journald": ("journal.json", _journal()),
        "elasticsearch": ("hits.json", _json(_elastic())),
        "logs-insights": ("insights.json", _json(_INSIGHTS)),
        "cloudwatch-logs": ("group.json", _json(_CLOUDWATCH_LOGS)),
        "gcp-logging": ("gcp.json", _json(_GCP)),
        "log-list": ("saved.json", _json({"logs": _LOG_LIST})),
        "datadog-logs": ("datadog.json", _json(_DATADOG_LOGS)),
        "access-log": ("shop-access.log", _COMBINED),
        "envoy": ("envoy.log", _ENVOY),
        "text": ("shop.log", _TEXT),
        "cloudwatch": ("cloudwatch.json", _json(_CLOUDWATCH)),
        "cloudwatch-statistics": ("shop.json", _json(_STATISTICS)),
        "datadog": ("cpu.json", _json(_DATADOG)),
        "datadog-v2": ("cpu-2.json", _json(_DATADOG_2)),
        "azure": ("azure.json", _json(_azure())),
        "pod-list": ("seen.json", _json(_POD_LIST)),
        "log-text": ("answer.json", _json(_LOG_TEXT)),
        "named-series": ("values.json", _json(_NAMED_SERIES)),
        "event-list": ("told.json", _json(_EVENT_LIST)),
        "grafana-frames": ("panel.json", _json(_frames())),
        "sadf-json": ("sadf.json", _json(_sadf_json())),
        "sadf": ("sadf.csv", _SADF),
        "sar": ("disk.out", _SAR),
    }
)
"""The key of a reader → a file name that says nothing of its format, and a file of it."""

MORE_SAMPLES: Final[dict[str, tuple[str, str, str]]] = MORE_EXPORT_SAMPLES | {
    "one OTLP document a line": (
        "otlp-traces", "spans.jsonl",
        "".join(_json({"resourceSpans": [one]}) + "\n" for one in _otlp_spans()),
    ),
    "Tempo, batches": ("otlp-traces", "tempo.json", _json({"batches": _otlp_spans()})),
    "Tempo, second API": ("otlp-traces", "tempo.json", _json({"trace": {"resourceSpans": _otlp_spans()}})),
    "Zipkin, lists of lists": ("zipkin", "zipkin.json", _json([_zipkin()])),
    "Alertmanager, API": ("alertmanager", "alerts.json", _json(ALERTMANAGER["alerts"])),
    "answers in a row": ("prometheus", "both.json", _json(_matrix()) + "\n" + _json(_matrix())),
    "indented by jq": ("prometheus", "answer.json", json.dumps(_matrix(), indent=2)),
}  # fmt: skip
"""Other shapes of the same formats: what they are, key, file name, content."""
