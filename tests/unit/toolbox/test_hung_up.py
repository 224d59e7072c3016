"""Connections that a failing caller ends are an effect of that caller, wherever they are counted."""

from __future__ import annotations

import numpy as np
import pytest

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.testing.sources import InMemorySources
from diagnosis_harness.toolbox.ports import AlertInfo, CallEdge, LogLine, Series
from diagnosis_harness.toolbox.rank_causes import RankCauses
from diagnosis_harness.toolbox.views import Views

ONSET_S = 1_704_117_900.0  # 2024-01-01T14:05:00Z
TIME_S = ONSET_S + 30.0 * np.arange(-120, 20, dtype=np.float64)
CRASHED = "panic: runtime error: invalid memory address or nil pointer dereference"


def line(entity: str, signal: str, usual: float, rise: float) -> Series:
    """A noisy ratio that steps up at the onset."""
    rng = np.random.default_rng(sum(map(ord, entity + signal)))
    value = usual * rng.lognormal(0.0, 0.1, len(TIME_S)) + rise * (TIME_S >= ONSET_S)
    return Series(entity, signal, "ratio", TIME_S, value)


def who_ranks_first(ctx: RunContext, *written: tuple[str, str]) -> str | None:
    """The first candidate where web calls cart, both fail more, and these lines of failure are new."""
    quiet = [
        LogLine(ONSET_S - 3_600.0 + 20.0 * n, name, "INFO", "handled request")
        for n in range(210)
        for name in ("web", "cart")
    ]
    failed = [
        LogLine(ONSET_S + 20.0 * n + place, name, "ERROR", text)
        for n in range(28)
        for place, (name, text) in enumerate(written)
    ]
    sources = InMemorySources(
        incident=(
            line("web", "error_ratio", 0.002, 0.1),
            line("cart", "error_ratio", 0.002, 0.05),
        ),
        log_lines=tuple(sorted([*quiet, *failed], key=lambda each: each.time_s)),
        call_edges=(CallEdge("web", "cart"),),
        alert=AlertInfo(entity="web", signal="error_ratio", time_s=ONSET_S),
        onset_s=ONSET_S,
    )
    items = RankCauses(Views(sources.sources())).run(ctx, {}).items
    return next((item.entity for item in items if (item.score or 0.0) > 0), None)


@pytest.mark.parametrize(
    "text",
    [
        "upstream web reset connection during checkout",
        "response from web: broken pipe",
        "peer web disconnected",
    ],
)
def test_the_callee_of_a_crashing_caller_is_not_to_blame(ctx: RunContext, text: str) -> None:
    """It counts failures since the other end of its connections is gone."""
    assert who_ranks_first(ctx, ("web", CRASHED), ("cart", text)) == "web"


@pytest.mark.parametrize(
    "written",
    [
        (
            ("cart", "upstream web reset connection during checkout"),
        ),  # a caller that fails by nothing of its own
        (("web", CRASHED), ("cart", "failed to write the cart: table is full")),  # a failure of cart's own
    ],
)
def test_a_service_that_fails_by_itself_is_still_blamed(
    ctx: RunContext, written: tuple[tuple[str, str], ...]
) -> None:
    """A caller may end a connection since it waited too long."""
    assert who_ranks_first(ctx, *written) == "cart"
