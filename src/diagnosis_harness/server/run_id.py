"""The id of a run in a path."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path

from diagnosis_harness.harness.keys import is_safe_segment
from diagnosis_harness.kernel.errors import RunUnknown


def safe_id(run_id: Annotated[str, Path(description="The run.", max_length=200)]) -> str:
    """The id, if it is well-formed: any other cannot be a run, so no store is queried."""
    if not is_safe_segment(run_id):
        raise RunUnknown(run_id)
    return run_id


RunId = Annotated[str, Depends(safe_id)]
