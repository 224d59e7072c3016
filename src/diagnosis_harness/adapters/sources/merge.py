"""Merges several sources under one name; each kind of telemetry comes from one of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeVar

from diagnosis_harness.adapters.sources.part import OpenedPart
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.toolbox.ports import AlertInfo, Sources, SourceSummary

_Stated = TypeVar("_Stated")

ROLES: Final = ("metrics", "spans", "topology", "logs", "changes")


@dataclass(frozen=True, slots=True)
class ChosenPart:
    """An opened part, and the kinds of telemetry that are taken from it; all if none is named."""

    kind: str
    opened: OpenedPart
    roles: Collection[str] = ()

    def has(self, role: str) -> bool:
        """Whether this part provides telemetry of a kind."""
        return (not self.roles or role in self.roles) and getattr(self.opened.sources, role) is not None


@dataclass(frozen=True, slots=True)
class FixedSummary:
    """`SummarySource` with the counts taken when the parts were opened."""

    value: SourceSummary

    def summary(self, ctx: RunContext) -> SourceSummary:
        """The summary of all parts together."""
        del ctx
        return self.value


def merge_parts(name: str, parts: Sequence[ChosenPart]) -> OpenedPart:
    """The parts as one source; a single part that is taken whole is returned unchanged.

    Entities are united, notes follow one another, and counts are those of the part that provides the
    telemetry.

    Raises:
        InvalidInput: two parts provide the same kind of telemetry, state different alerts or onsets, or cover
            separate times.
    """
    if len(parts) == 1 and not parts[0].roles:
        return parts[0].opened
    place = f"sources.{name}"
    owner = {role: _owner(place, role, parts) for role in ROLES}
    summary = _merge_summaries(place, name, owner, parts)
    ports = {role: getattr(part.opened.sources, role) for role, part in owner.items() if part is not None}
    described: JsonValue = [
        [part.kind, ",".join(sorted(part.roles)), part.opened.described] for part in parts
    ]
    return OpenedPart(Sources(FixedSummary(summary), **ports), summary, described)


def _owner(place: str, role: str, parts: Sequence[ChosenPart]) -> ChosenPart | None:
    found = [part for part in parts if part.has(role)]
    if len(found) > 1:
        kinds = " and ".join(part.kind for part in found)
        raise InvalidInput(
            place,
            f"{role} come from several of its parts ({kinds})",
            "name under `roles` of each part what is taken from it",
        )
    return found[0] if found else None


def _merge_summaries(
    place: str, name: str, owner: Mapping[str, ChosenPart | None], parts: Sequence[ChosenPart]
) -> SourceSummary:
    chosen = {
        role: SourceSummary("") if part is None else part.opened.summary for role, part in owner.items()
    }
    every = [part.opened.summary for part in parts]
    windows = [one.incident for one in every if one.incident is not None]
    _refuse_separate_times(place, windows)
    alerts = [one.alert for one in every if one.alert != AlertInfo()]
    return SourceSummary(
        name=name,
        alert=_only(place, "alerts", alerts) or AlertInfo(),
        onset_s=_only(place, "onsets", [one.onset_s for one in every if one.onset_s is not None]),
        incident=_span(windows),
        baseline=_span([one.baseline for one in every if one.baseline is not None]),
        metric_series=chosen["metrics"].metric_series,
        log_lines=chosen["logs"].log_lines,
        spans=chosen["spans"].spans,
        edges=chosen["topology"].edges,
        changes=chosen["changes"].changes,
        entities=tuple(sorted({entity for one in every for entity in one.entities})),
        files=tuple(note for one in every for note in one.files),
        entities_by_kind={
            role: one.entities_by_kind[role] for role, one in chosen.items() if role in one.entities_by_kind
        },
    )


def _only(place: str, what: str, stated: Iterable[_Stated]) -> _Stated | None:
    found = list(stated)
    if any(one != found[0] for one in found):
        raise InvalidInput(place, f"its parts state different {what}", "state it in one of them")
    return found[0] if found else None


def _span(windows: Sequence[TimeWindow]) -> TimeWindow | None:
    if not windows:
        return None
    return TimeWindow(min(one.start_s for one in windows), max(one.end_s for one in windows))


def _refuse_separate_times(place: str, windows: Sequence[TimeWindow]) -> None:
    ordered = sorted(windows)
    for one, other in pairwise(ordered):
        if not one.overlaps(other):
            raise InvalidInput(
                place,
                f"two of its parts do not overlap in time: one covers {one}, another {other}",
                "give them recordings of the same incident, and check their zones",
            )
