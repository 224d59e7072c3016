"""A saved run has one form in bytes: a file that says the same in another form does not verify."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.unit.audit.test_verify import codes

Saved = Callable[..., Any]


def test_a_key_that_occurs_twice_is_a_flaw_and_not_bad_input(saved: Saved) -> None:
    """Readers differ about which of the two counts: the file is not what the program wrote."""
    data: bytes = saved().data

    twice = data.replace(b'"limit_s": 120.0', b'"limit_s": 120.0,\n    "limit_s": 120.0', 1)

    assert twice != data
    assert codes(twice) == {"OTHER_BYTES"}
