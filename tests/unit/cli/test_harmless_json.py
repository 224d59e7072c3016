"""JSON for a terminal: what would steer it is escaped, and every reader still reads the same values."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.cli.output import harmless_json
from diagnosis_harness.report.timestamps import escape_line


@given(st.text(st.characters(exclude_categories=())))
def test_what_is_harmless_says_the_same(text: str) -> None:
    """Whatever the characters: an escape of JSON is that character, to every reader."""
    written = harmless_json(json.dumps([text], ensure_ascii=False))

    assert json.loads(written) == [text]
    assert all(escape_line(c) == c for c in written)
