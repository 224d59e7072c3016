"""Items about how the trouble stands towards the question: before the recording, over, or only load.

Such an item names no cause. `guards.without_cause` decides whether a claim about it answers the question.
"""

from __future__ import annotations

from diagnosis_harness.analysis.clue import Nature
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.kernel.window import TimeWindow, utc_text
from diagnosis_harness.toolbox.clues import LEAST_DEMAND, demand_growth
from diagnosis_harness.toolbox.effect import EffectState
from diagnosis_harness.toolbox.incident_view import IncidentView, RankedCauses
from diagnosis_harness.toolbox.ports import SourceSummary
from diagnosis_harness.toolbox.rare_events import counts_requests
from diagnosis_harness.toolbox.signal_item import change_window_of
from diagnosis_harness.toolbox.sound_system import STANDS_OUT
from diagnosis_harness.toolbox.wording import quantity, round4
from diagnosis_harness.tools.evidence import LOAD_FACTOR, Circumstance, Direction, EvidenceItem, ItemKind

NOTHING_BEFORE_S = 60.0
"""Seconds before a stated time that show nothing normal: metrics are often recorded once a minute."""
LEAST_LEAD = 0.25
"""Lead over the next candidate from which more than the load is to blame (`guards.weaknesses`)."""


def nothing_before_item(
    summary: SourceSummary, entity: str | None, *, stated_s: float | None
) -> EvidenceItem | None:
    """That the recording begins no earlier than the stated trouble, where nothing normal was recorded."""
    recorded = summary.incident
    if entity is None or stated_s is None or recorded is None or summary.baseline is not None:
        return None
    if stated_s > recorded.start_s + NOTHING_BEFORE_S:
        return None
    return EvidenceItem(
        "before",
        ItemKind.CIRCUMSTANCE,
        f"nothing normal of {display_name(entity)} was recorded before {utc_text(stated_s)}: the recording "
        f"begins at {utc_text(recorded.start_s)}",
        entity=entity,
        window=recorded,
        onset_s=stated_s,
        attributes={"circumstance": Circumstance.NOTHING_BEFORE},
    )


def over_item(view: IncidentView, whole: IncidentView, affected: str | None) -> EvidenceItem | None:
    """That what an entity showed was over before the end of the recording; None while it lasts."""
    if view.over_s is None or affected is None or whole.metrics is None:
        return None
    window = TimeWindow(view.onset_s, change_window_of(whole.metrics, view.onset_s).end_s)
    return EvidenceItem(
        "over",
        ItemKind.CIRCUMSTANCE,
        f"what {display_name(affected)} showed from {utc_text(view.onset_s)} on was over at "
        f"{utc_text(view.over_s)}, up to {utc_text(window.end_s)}",
        entity=affected,
        window=window,
        onset_s=view.over_s,
        attributes={"circumstance": Circumstance.OVER},
    )


def load_item(view: IncidentView, ranking: RankedCauses) -> EvidenceItem | None:
    """That requests from outside rose and trouble follows them, or fell and nothing inside is in trouble.

    Requests come from outside if no recorded entity calls the affected one. Nothing follows the load that
    fails by itself, leads the other candidates, or serves no more requests than before.
    """
    service, table = ranking.service, view.metrics
    if service is None or table is None or view.graph.callers.get(service):
        return None
    counted = [
        place
        for place, row in enumerate(table.rows)
        if row.entity == service and row.caller is None and counts_requests(row)
    ]
    if not counted:
        return None
    place = counted[0]
    usual, late = float(table.shift.level[place]), float(table.shift.value[place])
    if not usual > 0:
        return None
    if late >= LOAD_FACTOR * usual and _follows_the_load(view, ranking):
        which, direction = Circumstance.MORE_REQUESTS, Direction.UP
    elif 0 <= late * LOAD_FACTOR <= usual and _is_calm_inside(ranking):
        which, direction = Circumstance.FEWER_REQUESTS, Direction.DOWN
    else:
        return None
    row, verb = table.rows[place], "rose" if direction is Direction.UP else "fell"
    usual, late = round4(usual), round4(late)
    return EvidenceItem(
        "load",
        ItemKind.CIRCUMSTANCE,
        f"{display_name(row.signal)} of {display_name(service)} {verb} from {quantity(usual, row.unit)} to "
        f"{quantity(late, row.unit)}, and no candidate stands out beside that",
        entity=service,
        signal=row.signal,
        value=late,
        baseline=usual,
        unit=row.unit,
        direction=direction,
        window=change_window_of(table, view.onset_s),
        attributes={"circumstance": which},
    )


def _follows_the_load(view: IncidentView, ranking: RankedCauses) -> bool:
    """Whether the entity shows trouble, and every candidate is slow or busy with more requests than usual."""
    if ranking.effect.state is not EffectState.SHOWN or view.metrics is None:
        return False
    suspects = [one for one in ranking.candidates if one.score >= STANDS_OUT]
    if suspects and suspects[0].margin >= LEAST_LEAD:
        return False
    demand = demand_growth(view.metrics)
    return all(
        demand.get(one.entity, LEAST_DEMAND) >= LEAST_DEMAND and Nature.FAILING not in one.natures
        for one in suspects
    )


def _is_calm_inside(ranking: RankedCauses) -> bool:
    return all(one.score < STANDS_OUT for one in ranking.candidates)
