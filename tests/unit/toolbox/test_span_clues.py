"""What spans say against an entity, and what they do not."""

from __future__ import annotations

import pytest
from tests.support.spans import SpanRow, clues_of

from diagnosis_harness.analysis.clue import Modality

TRACES, NORMAL = 120, 80


def findings(child: str, *, called_s: tuple[float, float], gone: bool = False) -> set[Modality]:
    """Findings where each request makes one inner call, which lasts so long before and after the onset."""
    rows: list[SpanRow] = []
    for trace in range(TRACES):
        late = trace >= NORMAL
        rows.append((-1, 0, 0, 10.0 * trace, 1.0 + called_s[late]))
        if not (late and gone):
            rows.append((len(rows) - 1, 0, 1, 10.0 * trace, called_s[late]))
    found = clues_of(rows, ("shop",), ("checkout", child), onset_s=10.0 * NORMAL)
    return {clue.modality for clue in found if clue.excess > 0}


@pytest.mark.parametrize(
    ("child", "expected"),
    [
        ("reserve", {Modality.ERRORS}),
        ("BasicErrorController.error", set()),
        ("rollback order", set()),
        ("order.fallback", set()),
    ],
)
def test_a_handler_of_failures_that_is_no_longer_called_is_not_trouble(
    child: str, expected: set[Modality]
) -> None:
    """Errors before the onset that stopped are no early end of requests."""
    assert findings(child, called_s=(0.1, 0.1), gone=True) == expected


@pytest.mark.parametrize(("late_s", "expected"), [(0.02, set()), (0.5, {Modality.SELF_TIME})])
def test_slower_work_that_affects_no_request_is_not_a_cause(late_s: float, expected: set[Modality]) -> None:
    """A query of 1 ms that takes 20 ms is unlike normal operation, and two hundredths of a request."""
    assert findings("SELECT price", called_s=(0.001, late_s)) == expected
