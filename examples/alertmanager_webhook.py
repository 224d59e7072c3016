"""Does what Alertmanager does: posts a firing group, and the service answers with the run about it.

Start a service with `diagnose serve --from FOLDER`, then run `python examples/alertmanager_webhook.py`. The
settings for a real Alertmanager are in `alertmanager.yml` beside this file.
"""

from __future__ import annotations

import argparse
import json

import httpx2

NOTIFICATION = {
    "version": "4",
    "groupKey": '{}:{alertname="HighLatency"}',
    "status": "firing",
    "receiver": "diagnosis",
    "alerts": [
        {
            "status": "firing",
            "labels": {"alertname": "HighLatency", "service": "storefront"},
            "annotations": {"summary": "p99 above 2 s"},
            "startsAt": "2024-01-02T15:28:00Z",
        }
    ],
}


def send(url: str) -> None:
    """Send the group; then follow its run to the end."""
    with httpx2.Client(base_url=url, timeout=120) as client:
        response = client.post("/v1/alerts/alertmanager", json=NOTIFICATION)
        response.raise_for_status()
        print(json.dumps(response.json(), indent=2))
        for run in response.json()["runs"]:
            path = f"/v1/runs/{run['run_id']}"
            with client.stream("GET", f"{path}/events") as events:
                for _ in events.iter_lines():
                    pass  # the stream ends with the run
            print(client.get(f"{path}/report.md").text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8300")
    send(parser.parse_args().url)
