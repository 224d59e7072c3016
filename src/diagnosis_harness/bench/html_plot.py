"""The two plots of a bench's page, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from diagnosis_harness.bench.calibration import Calibration
from diagnosis_harness.bench.interval import Interval

ROW, LEFT, WIDE = 22, 230, 420
SIDE, EDGE = 260, 40
BESIDE = (-6, 16)
"""Offsets of the counts of neighbouring dots, above and below, so that they do not overlap."""


def interval_plot(title: str, rows: Sequence[tuple[str, Interval]]) -> str:
    """A dot with its interval for each row, on a scale from zero to one."""
    if not rows:
        return ""
    height = ROW * (len(rows) + 2)
    marks = "".join(_mark(row, name, figure) for row, (name, figure) in enumerate(rows, start=1))
    grid = "".join(
        f'<line x1="{_x(at)}" x2="{_x(at)}" y1="{ROW}" y2="{height - ROW}" stroke="var(--line)"/>'
        f'<text x="{_x(at)}" y="{height - 6}" text-anchor="middle">{at:g}</text>'
        for at in (0, 0.25, 0.5, 0.75, 1)
    )
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><svg viewBox="0 0 {LEFT + WIDE + 80} {height}"'
        f' width="{LEFT + WIDE + 80}" role="img" aria-label="{escape(title)}">{grid}{marks}</svg></figure>'
    )


def _mark(row: int, name: str, figure: Interval) -> str:
    y = ROW * row + ROW // 2
    return (
        f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end">{escape(name)}</text>'
        f'<line x1="{_x(figure.low)}" x2="{_x(figure.high)}" y1="{y}" y2="{y}" stroke="var(--ink)"'
        f' stroke-width="2"/><circle cx="{_x(figure.share)}" cy="{y}" r="4" fill="var(--ink)"/>'
        f'<text x="{LEFT + WIDE + 12}" y="{y + 4}">{figure.share:.2f} of {figure.count}</text>'
    )


def _x(share: float) -> float:
    return round(LEFT + WIDE * share, 1)


def reliability_plot(calibration: Calibration) -> str:
    """Share of right releases by their confidence; a calibrated confidence lies on the diagonal."""
    dots = "".join(
        f'<line x1="{_right(one.confidence)}" x2="{_right(one.confidence)}" y1="{_up(one.right.low)}"'
        f' y2="{_up(one.right.high)}" stroke="var(--ink)" stroke-width="2"/>'
        f'<circle cx="{_right(one.confidence)}" cy="{_up(one.right.share)}" r="4" fill="var(--ink)"/>'
        f'<text x="{_right(one.confidence) + 6}" y="{_up(one.right.share) + BESIDE[at % 2]}">'
        f"{one.right.count}</text>"
        for at, one in enumerate(calibration.bins)
    )
    size = SIDE + 2 * EDGE
    return (
        f"<figure><figcaption>Right releases over confidence, with how many</figcaption><svg"
        f' viewBox="0 0 {size} {size}" width="{size}" role="img" aria-label="calibration curve">'
        f'<rect x="{EDGE}" y="{EDGE}" width="{SIDE}" height="{SIDE}" fill="none" stroke="var(--line)"/>'
        f'<line x1="{EDGE}" y1="{EDGE + SIDE}" x2="{EDGE + SIDE}" y2="{EDGE}" stroke="var(--line)"'
        f' stroke-dasharray="4"/><text x="{EDGE}" y="{size - 18}">0</text>'
        f'<text x="{EDGE + SIDE}" y="{size - 18}" text-anchor="end">confidence 1</text>'
        f'<text x="6" y="{EDGE + 4}">1</text>{dots}</svg></figure>'
    )


def _right(share: float) -> float:
    return round(EDGE + SIDE * share, 1)


def _up(share: float) -> float:
    return round(EDGE + SIDE * (1 - share), 1)
