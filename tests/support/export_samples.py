"""Small files of exports, command outputs and logs, as the documentation of their tools shows them."""

from __future__ import annotations

import json
from typing import Final

from tests.support.described_objects import APPLICATION, NODE, POD

REPLICA_SET: Final = {
    "kind": "ReplicaSet",
    "metadata": {
        "name": "cart-7d9c6b8f5d", "creationTimestamp": "2026-05-06T08:38:00Z",
        "ownerReferences": [{"kind": "Deployment", "name": "cart"}],
        "annotations": {"deployment.kubernetes.io/revision": "14"},
    },
    "spec": {"template": {"spec": {"containers": [{"name": "cart", "image": "registry/cart:v2"}]}}},
}  # fmt: skip
ARGO_HISTORY: Final = """\
ID  DATE                           REVISION
0   2026-05-04 10:01:12 +0000 UTC  HEAD (a1b2c3d)
1   2026-05-06 10:38:40 +0200 CEST  HEAD (9f8e7d6)
"""
JENKINS_BUILD: Final = {
    "number": 412, "result": "SUCCESS", "timestamp": 1778056680000, "duration": 60000,
    "url": "https://ci.example/job/deploy-cart/412/",
}  # fmt: skip
GITLAB_JOB: Final = {
    "id": 8, "name": "deploy_prod", "stage": "deploy", "status": "success", "ref": "main",
    "finished_at": "2026-05-06T08:39:00Z", "commit": {"short_id": "0ff3ae19", "title": "Move reports"},
    "pipeline": {"id": 6}, "web_url": "https://gitlab.example/shop/cart/-/jobs/8",
}  # fmt: skip
CLOUDWATCH_CSV: Final = """\
Label,cart CPU,db CPU
MetricName,CPUUtilization,CPUUtilization
ServiceName,cart,
DBInstanceIdentifier,,cart-db
Statistic,Average,Average
Unit,Percent,Percent

2026/05/06 08:40:00,20.5,10
2026/05/06 08:41:00,90,
"""
_GRAPHITE: Final = [{"target": "shop.cart.cpu", "datapoints": [[20.5, 1778056800], [None, 1778056860]]}]
_EXPORTED: Final = {
    "metric": {"__name__": "queue_length", "job": "cart"}, "values": [3, 4],
    "timestamps": [1778056800000, 1778056860000],
}  # fmt: skip
_TIME_SERIES: Final = {
    "metric": {"type": "run.googleapis.com/container/cpu/utilizations"},
    "resource": {"type": "cloud_run_revision", "labels": {"service_name": "cart"}},
    "metricKind": "GAUGE", "valueType": "DOUBLE",
    "points": [{"interval": {"endTime": "2026-05-06T08:40:00Z"}, "value": {"doubleValue": 0.5}}],
}  # fmt: skip
_SERILOG: Final = {"@t": "2026-05-06T08:40:00.1234567Z", "@mt": "{User} paid", "User": "u1", "@l": "Error"}
_ENVOY_JSON: Final = {
    "start_time": "2026-05-06T08:40:00.000Z", "method": "GET", "path": "/pay", "response_code": 503,
    "response_flags": "UF", "duration": 20, "authority": "cart:8080",
}  # fmt: skip
_TRAEFIK: Final = {
    "StartUTC": "2026-05-06T08:40:00.1Z", "RequestMethod": "GET", "RequestPath": "/", "DownstreamStatus": 200,
    "Duration": 20_000_000, "ServiceName": "cart@docker",
}  # fmt: skip
_SPAN: Final = {
    "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "cart"}}]},
    "scopeSpans": [
        {
            "spans": [
                {
                    "traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174",
                    "name": "GET /",
                    "startTimeUnixNano": "1778056800000000000", "endTimeUnixNano": "1778056800050000000",
                }
            ]
        }
    ],
}  # fmt: skip
_ZIPKIN: Final = {
    "traceId": "5af7183fb1d4cf5f", "id": "352bff9a74ca9ad2", "name": "get /", "timestamp": 1778056800000000,
    "duration": 1431, "localEndpoint": {"serviceName": "cart"},
}  # fmt: skip


def _minutes(request: object) -> str:
    """The request in each of four minutes."""
    return "".join(json.dumps(request).replace("T08:40", f"T08:4{at}") + "\n" for at in range(4))


EXPORT_SAMPLES: Final[dict[str, tuple[str, str]]] = {
    "graphite": ("render.json", json.dumps(_GRAPHITE)),
    "graphite-lines": ("carbon.out", "shop.cart.latency.p95 20.5 1778056800\nshop.web.errors 0 1778056800\n"),
    "graphite-raw": ("render.out", "shop.cart.cpu,1778056800,1778056920,60|20.5,None\n"),
    "graphite-csv": (
        "render.csv", "shop.cart.cpu,2026-05-06 08:40:00,20.5\nshop.cart.cpu,2026-05-06 08:41:00,\n",
    ),
    "serilog": ("shop.clef", json.dumps(_SERILOG) + "\n"),
    "access-log-json": ("edge.json", _minutes(_ENVOY_JSON)),
    "kubectl-describe": ("seen.txt", POD),
    "replica-sets": ("sets.json", json.dumps({"kind": "ReplicaSetList", "items": [REPLICA_SET]})),
    "argo-history": ("cart.txt", ARGO_HISTORY),
    "argo-get": ("seen-app.txt", APPLICATION),
    "jenkins": ("builds.json", json.dumps({"name": "deploy-cart", "builds": [JENKINS_BUILD]})),
    "gitlab-jobs": ("done.json", json.dumps([GITLAB_JOB])),
    "cloudwatch-csv": ("graph.csv", CLOUDWATCH_CSV),
    "victoriametrics": ("export.jsonl", json.dumps(_EXPORTED) + "\n"),
    "gcp-monitoring": ("listed.json", json.dumps({"timeSeries": [_TIME_SERIES]})),
}  # fmt: skip
"""The key of a reader → a file name that says nothing of its format, and a file of it."""

MORE_EXPORT_SAMPLES: Final[dict[str, tuple[str, str, str]]] = {
    "syslog of RFC 5424": (
        "text", "messages.log",
        '<131>1 2026-05-06T08:40:00.003Z web-1 cart 71 ID47 [shop@32473 zone="a"] pool exhausted\n' * 3,
    ),
    "docker compose logs": (
        "text", "compose.log",
        "cart-1  | 2026-05-06T08:40:00.1Z ready\ndb-1 | 2026-05-06T08:40:01.1Z LOG: on\n" * 2,
    ),
    "journalctl -o short-iso": (
        "text", "unit.log", "2026-05-06T08:40:00+0000 web-1 cart[71]: ready\n" * 3,
    ),
    "error log of Apache": (
        "text", "error.log", "[Wed May 06 08:40:00.123456 2026] [proxy:error] [pid 7] AH00957: refused\n" * 3,
    ),
    "description of a node": ("kubectl-describe", "node.txt", NODE),
    "Jenkins, several jobs": (
        "jenkins", "jobs.json", json.dumps({"jobs": [{"name": "cart", "builds": [JENKINS_BUILD]}]}),
    ),
    "Jaeger 2": ("otlp-traces", "jaeger.json", json.dumps({"result": {"resourceSpans": [_SPAN]}}) + "\n"),
    "lists of Zipkin, one a line": ("zipkin", "zipkin.jsonl", (json.dumps([_ZIPKIN]) + "\n") * 2),
    "access log of Traefik": ("access-log-json", "edge.log", _minutes(_TRAEFIK)),
    "series of Cloud Monitoring in a list": ("gcp-monitoring", "listed.json", json.dumps([_TIME_SERIES])),
}  # fmt: skip
"""Other shapes of the same formats: what they are, key, file name, content."""
