"""Ids that count up, so that a test can name them and every run of it is the same."""

from __future__ import annotations

import itertools


class CountingIds:
    """`run-1`, `run-2`, …; sessions and tool calls are counted separately."""

    def __init__(self) -> None:
        self._runs = itertools.count(1)
        self._sessions = itertools.count(1)
        self._tool_calls = itertools.count(1)
        self._requests = itertools.count(1)
        self._secrets = itertools.count(1)

    def new_run_id(self) -> str:
        """The next `run-N`."""
        return f"run-{next(self._runs)}"

    def new_session_id(self) -> str:
        """The next `ses-N`."""
        return f"ses-{next(self._sessions)}"

    def new_tool_call_id(self) -> str:
        """The next `call-N`."""
        return f"call-{next(self._tool_calls)}"

    def new_request_id(self) -> str:
        """The next `req-N`."""
        return f"req-{next(self._requests)}"

    def new_secret(self) -> str:
        """The next number as 64 hexadecimal digits."""
        return f"{next(self._secrets):064x}"
