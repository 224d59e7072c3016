"""What forgeries of saved runs are made of: sealing anew, and the parts of a document as JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from diagnosis_harness.report.document import root_digest
from diagnosis_harness.report.timeline import in_short

Held = dict[str, Any]
Random = np.random.Generator
Forgery = Callable[[Held, Random], bool]
"""Changes the document in place. False where it holds nothing that could be changed in this way."""


def seal(content: Held) -> bytes:
    """The file after digests and sizes of all records, and the root digest, are computed anew."""
    for record in content["records"]:
        if record["stored"] is not None:
            stored = record["stored"].encode()
            record["digest"] = f"sha256:{hashlib.sha256(stored).hexdigest()}"
            record["size_bytes"] = len(stored)
    content["root_digest"] = root_digest(content)
    return json.dumps(content, ensure_ascii=False, indent=2).encode() + b"\n"


def lines_of(content: Held, *names: str, status: str | None = None) -> list[Held]:
    """The lines of the trace with one of these names, and this status if one is given."""
    return [line for line in content["trace"] if line["name"] in names and status in (None, line["status"])]


def pick(several: list[Any], random: Random) -> Any:
    """One of several by chance; None of none."""
    return several[int(random.integers(len(several)))] if several else None


def rewrite(line: Held, **values: Any) -> bool:
    """Other data in a line, and the text that they render to."""
    changed = any(line["data"].get(name) != value for name, value in values.items())
    line["data"].update(values)
    line["text"] = in_short(line["data"])
    return changed


def counter_of(content: Held, name: str, tool: str | None = None) -> Held | None:
    """A counter of the run; that of one tool, or of all together."""
    return next(
        (each for each in content["run"]["usage"] if (each["name"], each["tool"]) == (name, tool)), None
    )


def has_release(content: Held) -> bool:
    """Whether the run released something: a conclusion or a fallback."""
    return content["release"]["outcome"] in ("SUCCESS", "FALLBACK")


def has_inventory(content: Held) -> bool:
    """Whether some record lists what the source contains, so that an inventory can contradict it."""
    return bool(content["inquiry"]) and any(
        record["tool"] in ("describe_sources", "match_entities") and record["status"] == "READY"
        for record in content["records"]
    )
