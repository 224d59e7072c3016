"""The only source of random ids. Every id is a safe key segment: letters, digits, `-`."""

from __future__ import annotations

import secrets
import uuid
from typing import Protocol


class IdSource(Protocol):
    """Makes ids that are unique across all processes that share a store. Safe from any thread."""

    def new_run_id(self) -> str:
        """A fresh run id."""
        ...

    def new_session_id(self) -> str:
        """A fresh session id."""
        ...

    def new_tool_call_id(self) -> str:
        """A fresh tool call id, for a policy that gets none from a framework (the embedded analyst)."""
        ...

    def new_request_id(self) -> str:
        """A fresh id of a request to the service, for its log and its response."""
        ...

    def new_secret(self) -> str:
        """A fresh secret of 256 bits, as 64 hexadecimal digits."""
        ...


class RandomIds:
    """Random 128-bit ids with a prefix that shows what they name, and random secrets."""

    def new_run_id(self) -> str:
        """`run-` and 32 hexadecimal digits."""
        return f"run-{uuid.uuid4().hex}"

    def new_session_id(self) -> str:
        """`ses-` and 32 hexadecimal digits."""
        return f"ses-{uuid.uuid4().hex}"

    def new_tool_call_id(self) -> str:
        """`call-` and 32 hexadecimal digits."""
        return f"call-{uuid.uuid4().hex}"

    def new_request_id(self) -> str:
        """`req-` and 32 hexadecimal digits."""
        return f"req-{uuid.uuid4().hex}"

    def new_secret(self) -> str:
        """256 random bits as 64 hexadecimal digits."""
        return secrets.token_hex(32)
