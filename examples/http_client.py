"""A client of the service: asks, shows the run's stages as they come, and prints what was released.

Start a service with `diagnose serve --from FOLDER`, then run
`python examples/http_client.py "Why did the alert fire?"`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

import httpx2


def events(response: httpx2.Response) -> Iterator[tuple[str, dict[str, object]]]:
    """Server-sent events: the name and the data of each."""
    name = ""
    for line in response.iter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def ask(url: str, question: str, key: str | None) -> None:
    """One chat. Closing the connection early would cancel the run."""
    headers = {} if key is None else {"authorization": f"Bearer {key}"}
    with (
        httpx2.Client(base_url=url, headers=headers, timeout=120) as client,
        client.stream("POST", "/v1/chat", json={"question": question}) as response,
    ):
        if response.is_error:
            raise SystemExit(response.read().decode())  # a problem document says what is wrong
        for name, data in events(response):
            match name:
                case "metadata":
                    print("run", data["run_id"])
                case "status":
                    print("...", data["stage"])
                case "content" | "failure":
                    print(json.dumps(data, ensure_ascii=False, indent=2))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("question")
    parser.add_argument("--url", default="http://127.0.0.1:8300")
    parser.add_argument("--key", help="an API key, where the service asks for one")
    options = parser.parse_args()
    ask(options.url, options.question, options.key)
