"""Ranks candidates for the cause, with the evidence for each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from diagnosis_harness.analysis.rank import Candidate
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.json_value import Scalar
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.kernel.window import TimeWindow, utc_text
from diagnosis_harness.toolbox.arguments import ONSET_PARAMETER, UNTIL_PARAMETER, text, timestamp
from diagnosis_harness.toolbox.effect import can_produce
from diagnosis_harness.toolbox.incident_view import IncidentView, RankedCauses
from diagnosis_harness.toolbox.signal_item import change_window_of
from diagnosis_harness.toolbox.sound_system import shows_nothing_unusual
from diagnosis_harness.toolbox.views import ViewPart, Views
from diagnosis_harness.toolbox.wording import digits, round4
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.spec import ArgumentValue, Parameter, ParameterKind, ToolFindings, ToolSpec

CANDIDATES_RANKED = 12  # a report shows five; a dozen also shows the close ones


@dataclass(frozen=True, slots=True)
class RankCauses:
    """CAUSE_SCORE items, most suspect first; `entity` is the service, `peer` the affected entity.

    `score` is the evidence above what normal operation shows, in log units; 0 or less means none.
    Attributes of an item: `rank`; `strength` (0 to 1: 0 if normal operation shows the same or is unknown);
    `margin` (0 to 1, lead over the next; only for the first); `modalities` (kinds of evidence that agree);
    `decided_by`; `fault_kind`; `region` (signal, operation or call); one `<modality>_score` per kind of
    evidence; `explained_by` and `explained_score`, if a better suspect among its callees explains it;
    `reality` (0 to 1, whether the alerting indicator shows a problem); `effect` (`shown`, `normal` if the
    affected entity is known to be calm, `unknown`); `fits` (whether the findings can produce the effect);
    `path` (`known`, or `none` if no recorded call leads there from the affected entity; omitted without a
    call graph); `also_seen_as` (a balancer or another view of the same node, merged with it); `onset`. If
    everything is normal, an OVERVIEW item says so, with the number of metric series examined.
    `independent_of` (the first candidate, if this one broke independently of it) with `lead` (0 to 1, over
    the others that the first one does not explain either).
    """

    views: Views

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="rank_causes",
            description="Services ranked as the cause: metrics, spans, logs and call graph weighed together.",
            description_zh="综合指标、跨度、日志和调用图，给可能的原因服务排序。",
            parameters=(
                ONSET_PARAMETER,
                UNTIL_PARAMETER,
                Parameter(
                    "alert_entity",
                    ParameterKind.ENTITY,
                    "The affected entity. Default: the one that the alert names.",
                ),
                Parameter("alert_signal", ParameterKind.TEXT, "Its signal. Default: the alert's."),
            ),
            scope_names=("metrics:read", "spans:read", "topology:read"),
        )

    def entities(self, ctx: RunContext) -> Collection[str]:
        """The names that it accepts."""
        return self.views.names(ctx)

    def run(self, ctx: RunContext, arguments: Mapping[str, ArgumentValue]) -> ToolFindings:
        """Return the ranking.

        Without an onset, at that of the named entity, otherwise at that of the system.
        """
        given, named = timestamp(arguments, "onset"), text(arguments, "alert_entity")
        own = None if given is not None or named is None else self.views.onset_of_entity(ctx, named)
        onset_s = given if own is None else own.time_s
        view = self.views.for_onset(ctx, onset_s, until_s=timestamp(arguments, "until"))
        if view is None:
            return ToolFindings((), note="no onset is stated, and no indicator changed clearly")
        if view.metrics is None and view.spans is None and view.logs is None and not view.events:
            for kind in ViewPart:
                self.views.require(kind)
        alert = self.views.sources.summary.summary(ctx).alert
        signal = text(arguments, "alert_signal")
        if named is not None and named != alert.entity:
            alert = replace(alert, entity=named, signal=None, statistic=None)
        if signal is not None and signal != alert.signal:
            alert = replace(alert, signal=signal, statistic=None)
        ranking = view.ranking(alert)
        window = _window(view)
        searched = onset_s is None and self.views.is_onset_searched(ctx)
        items = tuple(
            _item(one, place, ranking, window=window, onset_s=view.onset_s, searched=searched)
            for place, one in enumerate(ranking.candidates[:CANDIDATES_RANKED], start=1)
        )
        if not searched and not self.views.troubles():
            items += _overview(view, ranking, window)
        return ToolFindings(
            items,
            window,
            looked_at=len(ranking.candidates),
            note=_note(view, ranking, self.views.troubles()),
        )


def _overview(
    view: IncidentView, ranking: RankedCauses, window: TimeWindow | None
) -> tuple[EvidenceItem, ...]:
    """The finding that nothing is unusual; empty if something is, or if there is too little data."""
    if view.metrics is None or ranking.affected is None or window is None:
        return ()
    if ranking.aliases.get(ranking.affected, ranking.affected) != ranking.service:
        return ()  # series of the whole service are examined, and a single part may be broken
    if not shows_nothing_unusual(view, ranking, ranking.affected_services):
        return ()
    count = len(view.metrics.rows)
    line = (
        f"nothing unusual around {utc_text(view.onset_s)}: what {display_name(ranking.affected)} shows is as "
        f"usual over the whole recording, and none of {count} metric series stands out from normal operation"
    )
    return (
        EvidenceItem(
            "sound",
            ItemKind.OVERVIEW,
            line,
            entity=ranking.affected,
            value=float(count),
            window=window,
            attributes={"onset": utc_text(view.onset_s)},
        ),
    )


def _item(
    one: Candidate,
    place: int,
    ranking: RankedCauses,
    *,
    window: TimeWindow | None,
    onset_s: float,
    searched: bool,
) -> EvidenceItem:
    score, strength, margin = round4(one.score), round4(one.strength), round4(one.margin)
    attributes: dict[str, Scalar] = {
        "rank": place,
        "strength": strength,
        "margin": margin,
        "modalities": one.modalities,
        "decided_by": one.decided_by.value,
        "fault_kind": one.fault_kind,
        "region": one.region,
        "reality": round4(ranking.reality),
        "onset": utc_text(onset_s),
    }
    if searched:
        attributes["onset_searched"] = True
    attributes |= _safety(one, ranking)
    for clue in one.clues:
        attributes[f"{clue.modality.value}_score"] = round4(clue.excess)
        if clue.explained_by is not None and clue.explained_by == one.explained_by:
            attributes["explained_by"] = clue.explained_by
            attributes["explained_score"] = round4(clue.explained)
        if clue.correlation is not None:
            attributes["correlation"] = round4(clue.correlation)
    if (instance := one.instance) is not None:
        attributes["instance"] = instance
    if ranking.affected is not None:
        affected = f"what {display_name(ranking.affected)} shows"
    else:
        affected = "the incident"
    views = _views(one, ranking)
    line = (
        f"{display_name(one.entity)} ranks {place} as the cause of {affected} from {utc_text(onset_s)} on: "
        f"score {digits(score)}, strength {digits(strength)}, {one.fault_kind}, "
        f"decided by {one.decided_by.value} ({display_name(one.region)})"
    )
    if views:
        line += f", also seen as {display_name(views[0])}"
    if isinstance(first := attributes.get("independent_of"), str):
        line += f", independent of {display_name(first)}"
    if place == 1:
        line += f", margin {digits(margin)}"
    return EvidenceItem(
        f"c{place}",
        ItemKind.CAUSE_SCORE,
        line,
        entity=one.entity,
        peer=ranking.affected,
        window=window,
        onset_s=onset_s,
        score=score,
        attributes=attributes,
    )


def _safety(one: Candidate, ranking: RankedCauses) -> dict[str, Scalar]:
    """What decides whether a candidate may be released: its effect, its path, and its own evidence."""
    own, views = ranking.own[one.entity], _views(one, ranking)
    found: dict[str, Scalar] = {
        "effect": ranking.effect.state.value,
        "fits": can_produce(ranking.effect, one.natures),
        "origin": " ".join(own.origins),
        "open": own.open,
        "symptom_only": not own.origins and not own.unseen and one.entity == ranking.service,
    }
    if ranking.paths is not None:
        found["path"] = "known" if ranking.paths.get(one.entity) else "none"
    for number, name in enumerate(own.unseen, start=1):
        found[f"unseen_{number}"] = name
    if views:
        found["also_seen_as"] = views[0]
    independent_candidate = ranking.independent
    if independent_candidate is not None and independent_candidate.entity == one.entity:
        found |= {"independent_of": ranking.candidates[0].entity, "lead": round4(independent_candidate.lead)}
    return found


def _views(one: Candidate, ranking: RankedCauses) -> list[str]:
    return sorted(view for view, node in ranking.aliases.items() if node == one.entity)


def _window(view: IncidentView) -> TimeWindow | None:
    return None if view.metrics is None else change_window_of(view.metrics, view.onset_s)


def _note(view: IncidentView, ranking: RankedCauses, troubles: Sequence[str]) -> str | None:
    lacking = [
        name for name, view_part in (("metrics", view.metrics), ("spans", view.spans)) if view_part is None
    ] + ([] if view.graph.entities else ["call graph"])
    parts = [f"without {', '.join(lacking)}"] if lacking else []
    parts += troubles
    if ranking.indicator is None:
        parts.append("no alerting indicator to compare with")
    if view.over_s is not None:
        parts.append(f"judged until {utc_text(view.over_s)}, when the trouble was over")
    return "; ".join(parts) or None
