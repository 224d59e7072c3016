"""The key of a tool call in a store, built from ids that the framework gave."""

from __future__ import annotations

import re

from diagnosis_harness.kernel.errors import InvalidIdentity

_SAFE_SEGMENT = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)


def is_safe_segment(text: object) -> bool:
    """Whether a text is allowed in a key: 1 to 128 of `A-Z a-z 0-9 . _ -`, and nothing else."""
    return isinstance(text, str) and _SAFE_SEGMENT.fullmatch(text) is not None


class ToolCallKeyFactory:
    """Builds `{prefix}:{run_id}:{tool_call_id}`. It never makes, rewrites or replaces an id.

    Raises:
        InvalidIdentity: the prefix is not a safe segment.
    """

    __slots__ = ("_prefix",)

    def __init__(self, prefix: str) -> None:
        self._prefix = _require_safe("key prefix", prefix)

    def key(self, run_id: str, tool_call_id: str) -> str:
        """The key of one tool call.

        Raises:
            InvalidIdentity: an id is blank, too long or holds anything but safe characters.
        """
        return (
            f"{self._prefix}:{_require_safe('run id', run_id)}:{_require_safe('tool call id', tool_call_id)}"
        )


def _require_safe(what: str, text: str) -> str:
    if not is_safe_segment(text):
        raise InvalidIdentity(f"{what} {text!r:.150} is not 1 to 128 of A-Z a-z 0-9 . _ -")
    return text
