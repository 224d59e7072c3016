"""Small files of exports, command outputs and logs, as the documentation of their tools shows them."""

from __future__ import annotations

import json
from typing import Final

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

EXPORT_SAMPLES: Final[dict[str, tuple[str, str]]] = {
    "graphite": ("render.json", json.dumps(_GRAPHITE)),
    "graphite-lines": ("carbon.out", "shop.cart.latency.p95 20.5 1778056800\nshop.web.errors 0 1778056800\n"),
    "graphite-raw": ("render.out", "shop.cart.cpu,1778056800,1778056920,60|20.5,None\n"),
    "graphite-csv": (
        "render.csv", "shop.cart.cpu,2026-05-06 08:40:00,20.5\nshop.cart.cpu,2026-05-06 08:41:00,\n",
    ),
    "victoriametrics": ("export.jsonl", json.dumps(_EXPORTED) + "\n"),
    "gcp-monitoring": ("listed.json", json.dumps({"timeSeries": [_TIME_SERIES]})),
}  # fmt: skip
"""The key of a reader → a file name that says nothing of its format, and a file of it."""

MORE_EXPORT_SAMPLES: Final[dict[str, tuple[str, str, str]]] = {
    "series of Cloud Monitoring in a list": ("gcp-monitoring", "listed.json", json.dumps([_TIME_SERIES])),
}
"""Other shapes of the same formats: what they are, key, file name, content."""
