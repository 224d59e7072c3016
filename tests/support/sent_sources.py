"""Sources that tests send to a service."""

from __future__ import annotations

from typing import Any

import httpx2
from tests.support.archives import METRICS, zip_of

ZIP, GZIP = "application/zip", "application/gzip"
SMALL = zip_of({"metrics.csv": METRICS})


def send(
    client: httpx2.Client, content: bytes, kind: str = ZIP, *, name: str | None = None, **headers: str
) -> httpx2.Response:
    """Send a source."""
    params = {} if name is None else {"name": name}
    return client.post(
        "/v1/sources", content=content, params=params, headers={"content-type": kind, **headers}
    )


def send_source(client: httpx2.Client, content: bytes = SMALL, kind: str = ZIP) -> dict[str, Any]:
    """A source that was taken."""
    response = send(client, content, kind)
    assert response.status_code == 201, response.text
    document: dict[str, Any] = response.json()
    return document
