"""What a bench says: one JSON document, and a table for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from diagnosis_harness.bench.case import Ranked
from diagnosis_harness.bench.scoring import ANSWERS, Interval, Outcome, Score, score_groups
from diagnosis_harness.kernel.json_value import JsonValue

COLUMNS = (
    "",
    "n",
    "top-1",
    "95%",
    "chance",
    "top-3",
    "top-5",
    "Avg@5",
    "success",
    "wrong",
    "broken",
    "s each",
)


def bench_document(data_set: str, outcomes: Sequence[Outcome]) -> dict[str, JsonValue]:
    """Scores and every single outcome, by incident id."""
    return {
        "data_set": data_set,
        "scores": [_score_json(score) for score in score_groups(outcomes)],
        "incidents": [_outcome_json(outcome) for outcome in outcomes],
    }


def score_rows(outcomes: Sequence[Outcome]) -> list[tuple[str, ...]]:
    """Rows of the table under `COLUMNS`, as text."""
    return [_row(score) for score in score_groups(outcomes)]


def wrong_rows(outcomes: Sequence[Outcome]) -> list[str]:
    """One line for every success that named a wrong cause: these matter most."""
    return [
        f"{outcome.run.case.incident_id}: {outcome.run.result.causes[0].entity} released,"
        f" {' and '.join(outcome.truth.entities) or 'nothing'} was at fault"
        for outcome in outcomes
        if outcome.confident_and_wrong
    ]


def failure_line(outcomes: Sequence[Outcome]) -> str | None:
    """What did not work, when something did not; the figures then measure less than the whole path."""
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


def _row(score: Score) -> tuple[str, ...]:
    places = (
        ("",) * 6
        if not score.faulty
        else (
            f"{score.top[1].share:.2f}",
            f"{score.top[1].low:.2f}-{score.top[1].high:.2f}",
            f"{score.chance[1]:.2f}",
            f"{score.top[3].share:.2f}",
            f"{score.top[5].share:.2f}",
            f"{score.average_at_5:.2f}",
        )
    )
    return (
        score.name,
        str(score.runs),
        *places,
        f"{score.success.share:.2f}",
        f"{score.confident_and_wrong.share:.2f}",
        str(score.broken),
        f"{score.median_s:.2f}",
    )


def _score_json(score: Score) -> JsonValue:
    return {
        "name": score.name,
        "runs": score.runs,
        "faulty": score.faulty,
        "top": {str(k): _interval(interval) for k, interval in score.top.items()},
        "chance": {str(k): share for k, share in score.chance.items()},
        "average_at_5": score.average_at_5,
        "success": _interval(score.success),
        "confident_and_wrong": _interval(score.confident_and_wrong),
        "broken": score.broken,
        "right": _interval(score.right),
        "median_s": score.median_s,
        "longest_s": score.longest_s,
    }


def _interval(interval: Interval) -> JsonValue:
    return {"share": interval.share, "low": interval.low, "high": interval.high}


def _outcome_json(outcome: Outcome) -> JsonValue:
    return {
        "id": outcome.run.case.incident_id,
        "group": outcome.run.case.group,
        "scenario": outcome.run.case.scenario,
        "truth": {
            "entities": list(outcome.truth.entities),
            "fault_kind": outcome.truth.fault_kind,
            "region": outcome.truth.region,
        },
        "place": outcome.place,
        "outcome": outcome.run.result.outcome,
        "right": outcome.right,
        "confident_and_wrong": outcome.confident_and_wrong,
        "broken": outcome.broken,
        "failed_tools": list(outcome.run.result.failed_tools),
        "elapsed_s": outcome.run.elapsed_s,
        "causes": [_json_of_ranked(ranked) for ranked in outcome.run.result.causes],
        "candidates": [_json_of_ranked(ranked) for ranked in outcome.run.result.candidates[:10]],
    }


def _json_of_ranked(ranked: Ranked) -> JsonValue:
    return dict(asdict(ranked))
