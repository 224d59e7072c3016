"""A run to call tools in."""

from __future__ import annotations

import pytest

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.testing.runs import Rig


@pytest.fixture
def ctx() -> RunContext:
    """A run that is not over."""
    return Rig().run()
