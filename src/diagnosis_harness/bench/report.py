"""The output of a bench: one JSON document, and a table for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from diagnosis_harness.bench.calibration import Calibration, measure_calibration
from diagnosis_harness.bench.case import Condition, Ranked
from diagnosis_harness.bench.interval import Interval
from diagnosis_harness.bench.measures import Score
from diagnosis_harness.bench.runner import BenchResult
from diagnosis_harness.bench.scoring import ANSWERS, Outcome
from diagnosis_harness.kernel.json_value import JsonValue

FORMAT = 2
"""The version of the document; the first had one data set, one condition and fewer figures."""

COLUMNS = (
    *("", "n", "top-1", "95%", "top-3", "released"),
    *("wrong of them", "95%", "false alarm", "chance", "alert's", "loudest", "broken", "s each"),
)
CANDIDATES_WRITTEN = 10
REASON_SHOWN = 300  # characters: a sentence or two


def bench_document(
    results: Iterable[BenchResult], *, code: str, show_unseen: bool = False
) -> dict[str, JsonValue]:
    """Scores and every single outcome, by data set, condition and incident id.

    What was concluded about incidents that nobody looks at is left out unless asked for.
    """
    return {
        "format": FORMAT,
        "code": code,
        "data_sets": [
            {
                "data_set": result.data_set,
                "scores": [_score_json(condition, one) for condition, one in result.scores()],
                "calibration": {
                    condition.value: _calibration_json(measure_calibration(result.under(condition)))
                    for condition in result.conditions()
                },
                "incidents": [
                    _outcome_json(outcome, show_text=show_unseen or not outcome.run.case.unseen)
                    for outcome in result.outcomes
                ],
                "unscored": [
                    {"id": one.incident_id, "condition": one.condition.value, "sentence": one.sentence}
                    for one in result.unscored
                ],
            }
            for result in results
        ],
    }


def score_rows(result: BenchResult) -> list[tuple[str, ...]]:
    """Rows of the table under `COLUMNS`: the splits of a single condition, else a row for each condition."""
    scores = result.scores()
    single = len(result.conditions()) == 1
    return [
        _row(one.name if single else condition.value, one)
        for condition, one in scores
        if single or one.split == "all"
    ]


def wrong_shown(outcomes: Iterable[Outcome], *, show_unseen: bool) -> list[Outcome]:
    """The wrong releases that a report shows: none of incidents that nobody looks at, unless asked for."""
    return [outcome for outcome in outcomes if outcome.wrong and (show_unseen or not outcome.run.case.unseen)]


def line_of_unseen(outcomes: Sequence[Outcome], *, show_unseen: bool) -> str | None:
    """How many wrong releases are not shown, if there are any."""
    hidden = sum(outcome.wrong for outcome in outcomes) - len(wrong_shown(outcomes, show_unseen=show_unseen))
    if not hidden:
        return None
    why = "counted and not shown, so that nothing is tuned to them"
    return f"wrong releases of published seeds, {why}: {hidden}"


def wrong_rows(outcomes: Sequence[Outcome]) -> list[str]:
    """One line for every release that is wrong: these matter most."""
    return [
        f"{_where(outcome)}: {outcome.run.result.causes[0].entity} released,"
        f" {' and '.join(outcome.truth.entities) or 'nothing'} was at fault"
        for outcome in outcomes
        if outcome.wrong and outcome.run.result.causes
    ]


def rows_not_scored(result: BenchResult) -> list[str]:
    """One sentence for every incident that is in no figure."""
    return [f"{one.incident_id} ({one.condition.value}): {one.sentence}" for one in result.unscored]


def line_of_unused(outcomes: Sequence[Outcome]) -> str | None:
    """The roles of files that were written but that the product cannot use yet, if there are any."""
    roles = Counter(role for outcome in outcomes for role in outcome.run.case.unused)
    named = ", ".join(f"{role} (of {count} runs)" for role, count in sorted(roles.items()))
    return f"written and not used yet: {named}" if named else None


def failure_line(outcomes: Sequence[Outcome]) -> str | None:
    """A line about failures, if there were any; the figures then measure less than the whole path."""
    broken = [outcome for outcome in outcomes if outcome.broken]
    if not broken:
        return None
    tools = Counter(tool for outcome in broken for tool in outcome.run.result.failed_tools)
    calls = ", ".join(f"{tool} {count}" for tool, count in sorted(tools.items())) or "none"
    mute = sum(outcome.run.result.outcome not in ANSWERS for outcome in broken)
    return (
        f"NOT A MEASUREMENT OF THE WHOLE PATH: {len(broken)} of {len(outcomes)} runs broke"
        f" (failed tool calls: {calls}; runs without an answer: {mute})"
    )


def rows_without_answer(outcomes: Iterable[Outcome]) -> list[str]:
    """One line for every run that ended without an answer: which, how, and why."""
    return [
        f"{outcome.run.case.incident_id} ({outcome.run.case.condition.value}):"
        f" {outcome.run.result.outcome}, {_one_line(outcome.run.result.reason) or 'no reason given'}"
        for outcome in outcomes
        if outcome.run.result.outcome not in ANSWERS
    ]


def _one_line(text: str) -> str:
    return " ".join(text.split())[:REASON_SHOWN]


def share_text(score: Score, name: str) -> str:
    """A figure for people; a dash if it has no data."""
    figure = score.figures.get(name)
    return "–" if figure is None else f"{figure.share:.2f}"


def range_text(score: Score, name: str) -> str:
    """Its interval."""
    figure = score.figures.get(name)
    return "–" if figure is None else f"{figure.low:.2f}–{figure.high:.2f}"


def _where(outcome: Outcome) -> str:
    condition = outcome.run.case.condition
    shown = "" if condition is Condition.AS_PUBLISHED else f" ({condition.value})"
    return f"{outcome.run.case.incident_id}{shown}"


def _row(name: str, score: Score) -> tuple[str, ...]:
    return (
        name,
        str(score.runs),
        share_text(score, "top1"),
        range_text(score, "top1"),
        share_text(score, "top3"),
        share_text(score, "released"),
        share_text(score, "wrong"),
        range_text(score, "wrong"),
        share_text(score, "false_alarm"),
        share_text(score, "chance"),
        share_text(score, "alert"),
        share_text(score, "loudest"),
        str(round(score.figures["broken"].share * score.runs)),
        f"{score.costs.elapsed_s:.2f}",
    )


def _score_json(condition: Condition, score: Score) -> JsonValue:
    return {
        "condition": condition.value,
        "split": score.split,
        "name": score.name,
        "runs": score.runs,
        "figures": {name: interval_json(figure) for name, figure in score.figures.items()},
        "costs": dict(asdict(score.costs)),
    }


def interval_json(figure: Interval) -> JsonValue:
    """A figure with its interval and count."""
    return {"share": figure.share, "low": figure.low, "high": figure.high, "count": figure.count}


def _calibration_json(calibration: Calibration | None) -> JsonValue:
    if calibration is None:
        return None
    return {
        "brier": interval_json(calibration.brier),
        "base": interval_json(calibration.base),
        "bins": [
            {
                "low": one.low,
                "high": one.high,
                "confidence": one.confidence,
                "right": interval_json(one.right),
            }
            for one in calibration.bins
        ],
    }


def _outcome_json(outcome: Outcome, *, show_text: bool) -> JsonValue:
    run, truth = outcome.run, outcome.truth
    return {
        "id": run.case.incident_id,
        "condition": run.case.condition.value,
        "group": run.case.group,
        "scenario": run.case.scenario,
        "unused": list(run.case.unused),
        "truth": {
            "entities": list(truth.entities),
            "fault_kind": truth.fault_kind,
            "region": truth.region,
            "level": truth.level,
            "trigger": list(truth.trigger),
        },
        "standing": outcome.standing,
        "place": outcome.place,
        "outcome": run.result.outcome,
        "fallback": run.result.fallback,
        "decided_by": outcome.decided_by,
        "kind_right": outcome.kind_right,
        "region_right": outcome.region_right,
        "level_right": outcome.level_right,
        "kind_as_frozen": outcome.kind_as_frozen,
        "changes": dict(asdict(outcome.changes)),
        "broken": outcome.broken,
        "failed_tools": list(run.result.failed_tools),
        "onset": run.result.onset,
        "elapsed_s": run.cost.elapsed_s,
        "cpu_s": run.cost.cpu_s,
        "data_bytes": run.data_bytes,
        "record_bytes": run.result.record_bytes,
        "tool_calls": run.result.tool_calls,
        "causes": [_json_of_ranked(ranked) for ranked in run.result.causes],
        "candidates": [_json_of_ranked(ranked) for ranked in run.result.candidates[:CANDIDATES_WRITTEN]],
        "concluded": run.result.concluded if show_text else "",
        "reason": run.result.reason,
    }


def _json_of_ranked(ranked: Ranked) -> JsonValue:
    return {**asdict(ranked), "scope": list(ranked.scope)}
