"""A bench as one self-contained HTML page: tables, curves, and each wrong release with its evidence.

Names and sentences come from data sets and are escaped; the page has no script and loads nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from diagnosis_harness.bench.calibration import Calibration, measure_calibration
from diagnosis_harness.bench.case import Condition
from diagnosis_harness.bench.html_plot import interval_plot, reliability_plot
from diagnosis_harness.bench.interval import Interval
from diagnosis_harness.bench.measures import MEASURES, Score
from diagnosis_harness.bench.report import (
    failure_line,
    line_of_unseen,
    line_of_unused,
    rows_not_scored,
    rows_without_answer,
    wrong_shown,
)
from diagnosis_harness.bench.runner import BenchResult
from diagnosis_harness.bench.scoring import Outcome

STYLE = Path(__file__).with_suffix(".css")
FOREWORD = (
    "Intervals are at 95%: Wilson's for shares, a seeded bootstrap's for means. Equal scores take the worst"
    " place. Figures that nothing speaks of are left out."
)
MAIN = ("top1", "top3", "released", "wrong", "kind", "false_alarm", "chance", "alert", "loudest", "broken")
TITLES = {measure.name: measure.title for measure in MEASURES}


def html_page(results: Sequence[BenchResult], *, code: str, show_unseen: bool = False) -> str:
    """The page of one bench; wrong releases of unseen incidents are counted, and shown only if asked for."""
    title = "Bench: " + ", ".join(result.data_set for result in results)
    return "".join(
        (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{STYLE.read_text(encoding='utf-8')}</style></head><body><h1>{escape(title)}</h1>",
            f"<p>Code and settings <code>{escape(code[:12])}</code>. {FOREWORD}</p>",
            _contents(results),
            *(part for result in results for part in _data_set(result, show_unseen=show_unseen)),
            _legend(),
            "</body></html>\n",
        )
    )


def _contents(results: Sequence[BenchResult]) -> str:
    if len(results) < 2:
        return ""
    links = (f'<a href="#{escape(each.data_set)}">{escape(each.data_set)}</a>' for each in results)
    return f"<nav>{''.join(links)}</nav>"


def _data_set(result: BenchResult, *, show_unseen: bool) -> Iterator[str]:
    yield f'<h2 id="{escape(result.data_set)}">{escape(result.data_set)}</h2>'
    if (broken := failure_line(result.outcomes)) is not None:
        yield f'<p class="bad">{escape(broken)}</p>'
    scores = result.scores()
    whole = [(condition.value, score) for condition, score in scores if score.split == "all"]
    yield _table("condition", whole)
    yield interval_plot("top-1 by condition", _bars(whole, "top1"))
    asked = [(name, score) for name, score in whole if not Condition(name).healthy]
    yield interval_plot("wrong of released, by condition", _bars(asked, "wrong"))
    yield interval_plot("false alarms where nothing was wrong, by condition", _bars(whole, "false_alarm"))
    for condition in result.conditions():
        outcomes = result.under(condition)
        yield from _condition(condition, scores, outcomes)
        yield from (_wrong(outcome) for outcome in wrong_shown(outcomes, show_unseen=show_unseen))
        if (hidden := line_of_unseen(outcomes, show_unseen=show_unseen)) is not None:
            yield f"<p>{escape(hidden)}</p>"
    if (unused := line_of_unused(result.outcomes)) is not None:
        yield f"<p>{escape(unused)}</p>"
    yield _list("Without an answer", rows_without_answer(result.outcomes))
    yield _list("Not scored", rows_not_scored(result))


def _list(heading: str, lines: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<h3>{escape(heading)}</h3><ul>{items}</ul>" if lines else ""


def _condition(
    condition: Condition, scores: Iterable[tuple[Condition, Score]], outcomes: Sequence[Outcome]
) -> Iterator[str]:
    yield f"<h3>{escape(condition.value)}</h3>"
    mine = [score for scored, score in scores if scored is condition]
    yield _further(mine[0])
    for split in dict.fromkeys(score.split for score in mine[1:]):
        yield _table(split, [(score.name, score) for score in mine if score.split == split])
    calibration = measure_calibration(outcomes)
    if calibration is not None:
        yield _calibration(calibration)
    yield _costs(mine[0])


def _table(heading: str, rows: Sequence[tuple[str, Score]]) -> str:
    shown = [name for name in MAIN if any(name in score.figures for _, score in rows)]
    head = "".join(f"<th>{escape(TITLES[name])}</th>" for name in shown)
    body = "".join(
        f"<tr><td>{escape(name)}</td><td>{score.runs}</td>"
        + "".join(f"<td>{_cell(score.figures.get(figure))}</td>" for figure in shown)
        + "</tr>"
        for name, score in rows
    )
    return (
        f'<div class="wide"><table><thead><tr><th>{escape(heading)}</th><th>n</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _further(score: Score) -> str:
    """Figures that only some data sets have, each with its explanation."""
    rows = "".join(
        f"<tr><td>{escape(measure.title)}: {escape(measure.says)}</td><td>{_cell(figure)}</td>"
        f"<td>{figure.count}</td></tr>"
        for measure in MEASURES
        if measure.name not in MAIN and (figure := score.figures.get(measure.name)) is not None
    )
    return (
        f"<table><thead><tr><th>further</th><th></th><th>of</th></tr></thead><tbody>{rows}</tbody></table>"
        if rows
        else ""
    )


def _cell(figure: Interval | None) -> str:
    if figure is None:
        return "–"
    return f"{figure.share:.2f} <small>{figure.low:.2f}–{figure.high:.2f}</small>"


def _bars(rows: Iterable[tuple[str, Score]], name: str) -> list[tuple[str, Interval]]:
    return [(row, score.figures[name]) for row, score in rows if name in score.figures]


def _calibration(calibration: Calibration) -> str:
    return (
        reliability_plot(calibration)
        + f"<p>Brier score {_cell(calibration.brier)}, of whoever always says the share of right releases"
        f" {_cell(calibration.base)}; {calibration.brier.count} releases.</p>"
    )


def _costs(score: Score) -> str:
    costs = score.costs
    return (
        f"<p>Medians: {costs.elapsed_s:.2f} s (longest {costs.longest_s:.2f} s), {costs.cpu_s:.2f} s of CPU,"
        f" {costs.data_bytes / 1e6:.2f} MB in the folder, {costs.record_bytes / 1e3:.1f} kB of records,"
        f" {costs.tool_calls:.0f} tool calls.</p>"
    )


def _wrong(outcome: Outcome) -> str:
    """One wrong release: what was blamed, the evidence, and the sentences."""
    run, truth = outcome.run, outcome.truth
    blamed = "; ".join(
        f"{cause.entity} ({cause.fault_kind}, {cause.region or 'no region'}, decided by"
        f" {cause.decided_by or 'what is not known'}"
        + ("" if cause.confidence is None else f", confidence {cause.confidence:.2f}")
        + ("" if cause.margin is None else f", margin {cause.margin:.2f}")
        + ")"
        for cause in run.result.causes
    )
    right = ", ".join(truth.entities) or "nothing"
    candidates = ", ".join(candidate.entity for candidate in run.result.candidates[:5]) or "none"
    return (
        f'<details><summary><span class="bad">wrong</span> {escape(run.case.incident_id)}:'
        f" {escape(blamed)}</summary><p>At fault: {escape(right)} ({escape(truth.fault_kind)}). Place of the"
        f" right one: {outcome.place or 'not named'}. Candidates: {escape(candidates)}.</p>"
        f"<pre>{escape(run.result.concluded)}</pre></details>"
    )


def _legend() -> str:
    items = "".join(f"<li><b>{escape(m.title)}</b>: {escape(m.says)}</li>" for m in MEASURES)
    return f"<h2>Figures</h2><ul>{items}</ul>"
