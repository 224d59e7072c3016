"""Finds the signals that moved after the onset, the most unusual first."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from diagnosis_harness.analysis.meaning import RESOURCES, SYMPTOMS, SignalKind
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.toolbox.arguments import (
    ENTITIES,
    ONSET_PARAMETER,
    UNTIL_PARAMETER,
    names,
    timestamp,
    whole,
)
from diagnosis_harness.toolbox.ended_series import items_of_ended
from diagnosis_harness.toolbox.held_limits import limit_items
from diagnosis_harness.toolbox.incident_view import IncidentView
from diagnosis_harness.toolbox.metric_table import MetricTable
from diagnosis_harness.toolbox.signal_item import (
    SignalMove,
    change_window_of,
    find_step_before,
    moves_of,
    signal_item,
    usable,
)
from diagnosis_harness.toolbox.views import ViewPart, Views
from diagnosis_harness.tools.evidence import Direction
from diagnosis_harness.tools.spec import ArgumentValue, Parameter, ParameterKind, ToolFindings, ToolSpec

LEAST_Z = 2.0  # a hint; a finding needs three
POINTS = 24  # of a course that fits on one terminal line beside its numbers
DEFAULT_LIMIT = 30  # more than an answer cites, and their courses fit into a record


CALM_TOO = Parameter(
    "calm",
    ParameterKind.FLAG,
    "Also what did not move, behind what did.",
)


@dataclass(frozen=True, slots=True)
class FindChangedSignals:
    """SIGNAL_CHANGE items, and STATE items for services whose series all ended and series at a limit.

    Harmful moves come before neutral ones, and the strongest signal of every service before the second of
    any, so that one service with many moves does not crowd out the others. For named entities, signals that
    had moved before the onset follow.

    Attributes of an item: `z` (robust score relative to what the series does by itself), `bad`, `kind`,
    `ratio`, `median`, `false_alarm` (share of normal windows that moved as far), `owner` (service of an
    instance), `began_before` (it had moved before the onset, at `onset_s`, and had not come back by then),
    `unsettled` (it seems to have moved before the onset, possibly by chance).
    """

    views: Views

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        limit = Parameter(
            "limit",
            ParameterKind.INTEGER,
            f"Signals at most, {DEFAULT_LIMIT} if left out.",
            least=1,
            most=100,
        )
        return ToolSpec(
            name="find_changed_signals",
            description="Signals that moved after onset against normal operation, by robust score.",
            description_zh="与正常运行相比，故障后发生变化的信号，按稳健分数排列。",
            parameters=(ONSET_PARAMETER, UNTIL_PARAMETER, ENTITIES, CALM_TOO, limit),
            scope_names=("metrics:read",),
        )

    def entities(self, ctx: RunContext) -> Collection[str]:
        """The names that it accepts."""
        return self.views.names(ctx)

    def run(self, ctx: RunContext, arguments: Mapping[str, ArgumentValue]) -> ToolFindings:
        """Return the signals that moved."""
        view = self.views.for_onset(ctx, timestamp(arguments, "onset"), until_s=timestamp(arguments, "until"))
        self.views.require(ViewPart.METRICS)
        if view is None or view.metrics is None:
            return ToolFindings((), note="no metrics, or no onset to compare around")
        table = view.metrics
        wanted = names(arguments, "entities")
        places = [
            place
            for place, row in enumerate(table.rows)
            if wanted is None or row.entity in wanted or row.owner in wanted
        ]
        moves = moves_of(table)
        found = [moves[place] for place in places if _is_finding(moves[place], table)]
        ordered = _by_turns(found, table)
        if wanted is not None:
            ordered += _find_earlier_moves(table, [moves[place] for place in places], view.onset_s)
        found_in = [(table, move) for move in ordered]
        if arguments.get("calm") is True:
            listed_rows = {move.row for move in ordered}
            found_in += self._rest(ctx, view, [place for place in places if place not in listed_rows])
        listed = found_in[: whole(arguments, "limit", DEFAULT_LIMIT)]
        items = tuple(
            signal_item(its_table, move, f"s{place}", onset_s=view.onset_s, points=POINTS)
            for place, (its_table, move) in enumerate(listed, start=1)
        )
        window = change_window_of(table, view.onset_s)
        states = (
            each
            for each in (*items_of_ended(table, window), *limit_items(table, window))
            if wanted is None or each.entity in wanted or each.attributes.get("owner") in wanted
        )
        return ToolFindings(
            (*items, *states),
            window=window,
            looked_at=sum(usable(moves[place], table) for place in places),
            left_out=len(found_in) - len(listed),
            narrow="name some entities to see more of their signals",
            note=_note(table),
        )

    def _rest(
        self, ctx: RunContext, view: IncidentView, places: Sequence[int]
    ) -> list[tuple[MetricTable, SignalMove]]:
        """Rows that moved only after the trouble was over, then rows that are calm up to the end."""
        table = self.views.uncut(ctx, view).metrics
        if table is None:
            return []
        every = moves_of(table)
        moves = [every[place] for place in places]
        late = [move for move in moves if _is_finding(move, table)]
        return [(table, move) for move in (*late, *_calm(table, moves))]


def _is_finding(move: SignalMove, table: MetricTable) -> bool:
    return move.z >= LEAST_Z and move.direction is not Direction.FLAT and usable(move, table)


def _find_earlier_moves(table: MetricTable, moves: Sequence[SignalMove], onset_s: float) -> list[SignalMove]:
    """Rows that look calm around the onset because they had clearly moved before it.

    Only for named entities: for all entities most of these would be older, unrelated problems.
    """
    calm = (move for move in moves if usable(move, table) and not _is_finding(move, table))
    return [
        move
        for move in calm
        if (step := find_step_before(table, move, onset_s=onset_s)) is not None and step.is_clear
    ]


def _calm(table: MetricTable, moves: Sequence[SignalMove]) -> list[SignalMove]:
    """The rows that are no finding: symptoms first, then the resources, then the rest.

    A move smaller than a hint counts as no move and has no direction.
    """
    rest = [move for move in moves if usable(move, table) and not _is_finding(move, table)]
    calm = [replace(move, direction=Direction.FLAT, bad=False) for move in rest]
    return sorted(calm, key=lambda move: (_order_of(table.rows[move.row].meaning.kind), move.row))


def _order_of(kind: SignalKind) -> int:
    return 0 if kind in SYMPTOMS else 1 if kind in RESOURCES else 2


def _by_turns(found: Sequence[SignalMove], table: MetricTable) -> list[SignalMove]:
    """Harmful moves first; within each group the first of each service, then the seconds, each by score."""
    ordered = sorted(found, key=lambda move: (not move.bad, -move.z, move.row))
    turn: dict[tuple[bool, str], int] = {}
    turns = []
    for move in ordered:
        key = (move.bad, table.rows[move.row].owner)
        turn[key] = turn.get(key, 0) + 1
        turns.append(turn[key])
    return [
        move
        for _, move in sorted(
            zip(turns, ordered, strict=True), key=lambda one: (not one[1].bad, one[0], -one[1].z, one[1].row)
        )
    ]


def _note(table: MetricTable) -> str | None:
    if table.baseline_points == 0:
        return f"no baseline recording: compared with {table.split} steps before onset only"
    if table.split == 0:
        return "nothing before onset: compared with the baseline recording only"
    return None
