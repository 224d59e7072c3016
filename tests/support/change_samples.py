"""One small file of every format of events, changes and alerts; `format_samples` has the others."""

from __future__ import annotations

import json
from typing import Final


def minute(at: int) -> str:
    """A minute after 08:40 UTC on 6 May 2026, as ISO 8601."""
    return f"2026-05-06T08:{40 + at:02}:00Z"


def _events() -> object:
    def event(kind: str, name: str, reason: str, message: str, level: str) -> object:
        return {
            "apiVersion": "v1", "kind": "Event", "type": level, "reason": reason, "count": 3,
            "message": message,
            "involvedObject": {"kind": kind, "name": name, "namespace": "live"},
            "firstTimestamp": minute(0), "lastTimestamp": minute(2),
        }  # fmt: skip

    back_off = event(
        "Pod", "shop-7d4f9c6b5-x2lzq", "BackOff", "Back-off restarting failed container", "Warning"
    )
    scaled = event(
        "Deployment", "shop", "ScalingReplicaSet", "Scaled up replica set shop-7d4f9c6b5 to 1", "Normal"
    )
    return {"apiVersion": "v1", "kind": "List", "items": [back_off, scaled]}


def _pods() -> object:
    status = {
        "name": "shop",
        "restartCount": 4,
        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s"}},
        "lastState": {"terminated": {"reason": "OOMKilled", "exitCode": 137, "finishedAt": minute(2)}},
    }
    pod = {
        "kind": "Pod",
        "metadata": {
            "name": "shop-7d4f9c6b5-x2lzq",
            "ownerReferences": [{"kind": "ReplicaSet", "name": "shop-7d4f9c6b5"}],
        },
        "status": {
            "phase": "Running",
            "startTime": minute(0),
            "conditions": [{"type": "Ready", "lastTransitionTime": minute(3)}],
            "containerStatuses": [status],
        },
    }
    return {"apiVersion": "v1", "kind": "List", "items": [pod]}


_EVENT_TABLE = """LAST SEEN   TYPE      REASON              OBJECT                      MESSAGE
2m          Warning   BackOff             pod/shop-7d4f9c6b5-x2lzq    Back-off restarting failed container
5m3s        Normal    ScalingReplicaSet   deployment/shop             Scaled up replica set to 1
"""
_POD_TABLE = """NAME                   READY   STATUS             RESTARTS      AGE
shop-7d4f9c6b5-x2lzq   0/1     CrashLoopBackOff   4 (40s ago)   12m
web-0                  1/1     Running            0             3d
"""
_GIT_LOG = """commit 8d3f5b1c2a4e6f7089abcdef0123456789abcdef
Author: Ann <ann@example.org>
Date:   Wed May 6 10:39:20 2026 +0200

    Move the report to the primary

commit 1111111111111111111111111111111111111111
Author: Ben <ben@example.org>
Date:   Tue May 5 10:00:00 2026 +0200

    Raise the timeout
"""
_HELM_TABLE = (
    "REVISION\tUPDATED                 \tSTATUS    \tCHART     \tAPP VERSION\tDESCRIPTION     \n"
    "17      \tWed Apr 29 10:02:11 2026\tsuperseded\tshop-3.4.1\t3.4.1      \tUpgrade complete\n"
    "18      \tWed May  6 08:38:40 2026\tdeployed  \tshop-3.5.0\t3.5.0      \tUpgrade complete\n"
)
_DEPLOYMENTS = [
    {
        "url": "https://api.github.com/repos/acme/shop/deployments/1", "sha": "a" * 40, "ref": "v3.5.0",
        "task": "deploy", "environment": "production", "created_at": minute(0), "description": "reports",
    }
]  # fmt: skip
_GITLAB = [
    {
        "id": 1, "iid": 7, "ref": "main", "sha": "a" * 40, "status": "success", "updated_at": minute(0),
        "created_at": minute(0), "environment": {"name": "production"},
        "deployable": {"finished_at": minute(0), "project": {"name": "shop"}, "commit": {"title": "Reports"}},
    }
]  # fmt: skip
_RUNS = {
    "total_count": 1,
    "workflow_runs": [
        {
            "name": "Deploy", "head_branch": "main", "head_sha": "a" * 40, "conclusion": "success",
            "run_started_at": minute(0), "display_title": "Reports", "repository": {"name": "shop"},
        }
    ],
}  # fmt: skip
_GH_RUNS = [
    {"workflowName": "Deploy", "createdAt": minute(0), "displayTitle": "Reports", "conclusion": "success"}
]
_PIPELINES = [{"id": 1, "ref": "main", "sha": "a" * 40, "status": "success", "created_at": minute(0)}]
_HELM = [
    {
        "revision": 18, "updated": "2026-05-06T08:38:40.2Z", "status": "deployed", "chart": "shop-3.5.0",
        "app_version": "3.5.0", "description": "Upgrade complete",
    }
]  # fmt: skip
_ARGO = [
    {
        "id": 3, "revision": "a" * 40, "deployedAt": minute(0),
        "source": {"repoURL": "https://example.org/ops.git", "path": "shop", "targetRevision": "HEAD"},
    }
]  # fmt: skip
_ARGO_APPLICATION = {"kind": "Application", "metadata": {"name": "shop"}, "status": {"history": _ARGO}}
ALERTMANAGER = {
    "receiver": "oncall", "status": "firing", "version": "4",
    "alerts": [
        {
            "status": "firing", "startsAt": minute(2), "labels": {"alertname": "SlowShop", "service": "shop"},
            "annotations": {"summary": "p99 above 0.8 s"},
        }
    ],
}  # fmt: skip
_LEGACY_GRAFANA = {
    "ruleName": "SlowShop", "state": "alerting", "message": "too slow",
    "evalMatches": [{"metric": "latency", "value": 2.0, "tags": {"service": "shop"}}],
}  # fmt: skip
_PAGERDUTY = {
    "event": {
        "event_type": "incident.triggered", "occurred_at": minute(2),
        "data": {"title": "SlowShop", "created_at": minute(2), "service": {"summary": "shop"}},
    }
}  # fmt: skip


def _json(value: object) -> str:
    return json.dumps(value)


CHANGE_SAMPLES: Final[dict[str, tuple[str, str]]] = {
    "kubernetes-events": ("events.json", _json(_events())),
    "kubernetes-pods": ("pods.json", _json(_pods())),
    "kubectl-events": ("events.txt", _EVENT_TABLE),
    "kubectl-pods": ("pods.txt", _POD_TABLE),
    "gitlab-deployments": ("gitlab.json", _json(_GITLAB)),
    "github-deployments": ("github.json", _json(_DEPLOYMENTS)),
    "github-runs": ("runs.json", _json(_RUNS)),
    "gh-runs": ("gh.json", _json(_GH_RUNS)),
    "gitlab-pipelines": ("pipelines.json", _json(_PIPELINES)),
    "helm": ("helm.json", _json(_HELM)),
    "helm-table": ("history.txt", _HELM_TABLE),
    "argo": ("argo.json", _json(_ARGO)),
    "argo-application": ("application.json", _json(_ARGO_APPLICATION)),
    "git-log": ("git-log.txt", _GIT_LOG),
    "alertmanager": ("notification.json", _json(ALERTMANAGER)),
    "grafana-alert": ("grafana.json", _json(_LEGACY_GRAFANA)),
    "pagerduty": ("pagerduty.json", _json(_PAGERDUTY)),
}
"""The key of a reader → a file name that says nothing of its format, and a file of it."""
