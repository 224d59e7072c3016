"""Resolves a question to an inquiry from the content of the sources, before any player acts; pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC

from diagnosis_harness.diagnosis.inquiry import Inquiry, Inventory, KnownEntity, OnsetOrigin, Telemetry
from diagnosis_harness.diagnosis.names import KnownNames
from diagnosis_harness.diagnosis.question import timestamp_outside_recording
from diagnosis_harness.diagnosis.question_form import OF_OTHERS, SUSPECTING, QuestionForm
from diagnosis_harness.diagnosis.question_reading import (
    Background,
    QuestionReading,
    ZoneOrigin,
    read_question,
    shorten_for_matching,
)
from diagnosis_harness.diagnosis.zones import zone_of
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import FailureKind, OnsetOutsideData
from diagnosis_harness.kernel.masking import mask_or_withhold
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.toolbox.inventory import ends_of, entity_names
from diagnosis_harness.toolbox.ports import Sources, SourceSummary


@dataclass(frozen=True, slots=True)
class Carried:
    """What a question takes over from the previous turn.

    Attributes:
        affected: the affected entities that the previous turn published.
    """

    onset_s: float | None = None
    affected: tuple[str, ...] = ()


NOTHING_CARRIED = Carried()


def resolve_inquiry(
    ctx: RunContext,
    sources: Sources,
    question: str,
    onset_s: float | None,
    *,
    carried: Carried = NOTHING_CARRIED,
    zone: str | None = None,
) -> Inquiry:
    """The question, resolved against the content of the sources.

    It reads the topology and the summary that the source built when it was opened, but no series, span or
    log line. Everything in it is masked, like all that a player sees.

    Args:
        onset_s: when it began, if the caller states it separately from the question.
        zone: of times without one, if the caller states it separately; else that of the source, else UTC.
        carried: onset and affected entities of the previous turn; the question's own words take precedence.

    Raises:
        OnsetOutsideData: the question names a time with its date, nothing was recorded then, and no onset is
                stated separately.
    """
    summary, question = sources.summary.summary(ctx), mask_or_withhold(question)
    zone, zone_origin = _zone(summary, zone)
    outside_s = (
        timestamp_outside_recording(shorten_for_matching(question), summary.incident, zone_of(zone) or UTC)
        if onset_s is None
        else None
    )
    if outside_s is not None:
        raise OnsetOutsideData(
            f"the onset {utc_text(outside_s)} lies outside the data, which goes from {summary.incident}",
            kind=FailureKind.REJECTED,
        )
    names = _mask(entity_names(ctx, sources))
    alert = summary.alert
    alert_entity = None if alert.entity is None else names.get(alert.entity) or mask_or_withhold(alert.entity)
    known = KnownNames.of(names.values(), _mask_aliases(summary))
    reading = read_question(question, Background(known, alert_entity, summary.incident, zone, zone_origin))
    at_s, origin = _onset(summary, reading, asked_s=onset_s, carried_s=carried.onset_s)
    before = () if reading.unknown_names else tuple(each for each in carried.affected if each in known.names)
    others = OF_OTHERS if before else SUSPECTING
    suspect = reading.form.subject if reading.form.form in others else None
    named = tuple(each.name for each in reading.names if each.name is not None and each.name != suspect)
    alerted = None if reading.alert_name is None else reading.alert_name.name
    who = named or before or ((alerted,) if alerted is not None and not reading.unknown_names else ())
    return Inquiry(
        question=question,
        onset_s=at_s,
        onset_origin=origin,
        affected=who,
        carried=() if named else before,
        alert_entity=alert_entity,
        alert_signal=None if alert.signal is None else mask_or_withhold(alert.signal),
        alert_at_s=alert.time_s,
        inventory=_inventory(ctx, sources, summary, names),
        reading=reading,
    )


def _zone(summary: SourceSummary, asked: str | None) -> tuple[str, ZoneOrigin]:
    """The zone of this conversation: one for question and onset."""
    if asked is not None:
        return asked, ZoneOrigin.ASKED
    return ("UTC", ZoneOrigin.NOBODY) if summary.zone is None else (summary.zone, ZoneOrigin.SOURCE)


def _mask_aliases(summary: SourceSummary) -> dict[str, str]:
    return {mask_or_withhold(alias): mask_or_withhold(name) for alias, name in summary.aliases.items()}


def _onset(
    summary: SourceSummary, reading: QuestionReading, *, asked_s: float | None, carried_s: float | None
) -> tuple[float | None, OnsetOrigin]:
    """The first stated onset. A source that was opened with an onset repeats it as its own.

    A comparison of times is about the time that it names, even if another onset is stated separately.
    """
    named_s = reading.time.at_s
    if reading.form.form is QuestionForm.COMPARE_TIMES and named_s is not None:
        asked_s = None
    incident = summary.incident
    if carried_s is not None and incident is not None and not incident.contains(carried_s):
        carried_s = None  # the source has changed since the previous turn
    candidates = (
        (asked_s, OnsetOrigin.ASKED),
        (named_s, OnsetOrigin.QUESTION),
        (carried_s, OnsetOrigin.CARRIED),
        (summary.onset_s, OnsetOrigin.SOURCE),
        (summary.alert.time_s, OnsetOrigin.ALERT),
    )
    return next(((at_s, by) for at_s, by in candidates if at_s is not None), (None, OnsetOrigin.NOBODY))


def _inventory(ctx: RunContext, sources: Sources, summary: SourceSummary, names: dict[str, str]) -> Inventory:
    owners = sources.topology.owners(ctx) if sources.topology is not None else {}
    edges = sources.topology.edges(ctx) if sources.topology is not None else ()
    kinds: dict[str, set[Telemetry]] = {name: set() for name in names}
    for kind, entities in summary.entities_by_kind.items():
        for name in entities:
            for each in (name, *ends_of(name)):
                kinds[each].add(Telemetry(kind))
    for name in (*owners, *owners.values(), *(end for edge in edges for end in (edge.caller, edge.callee))):
        kinds[name].add(Telemetry.TOPOLOGY)
    return Inventory(
        entities=tuple(
            KnownEntity(
                shown,
                owner=names[owners[name]] if name in owners else None,
                telemetry=frozenset(kinds[name]),
            )
            for name, shown in sorted(names.items())
        ),
        edges=tuple((names[edge.caller], names[edge.callee]) for edge in edges),
        telemetry=_telemetry(summary, has_owners=bool(owners)),
        incident=summary.incident,
        baseline=summary.baseline,
    )


def _telemetry(summary: SourceSummary, *, has_owners: bool) -> frozenset[Telemetry]:
    counts = {
        Telemetry.METRICS: summary.metric_series,
        Telemetry.SPANS: summary.spans,
        Telemetry.LOGS: summary.log_lines,
        Telemetry.CHANGES: summary.changes,
        Telemetry.TOPOLOGY: summary.edges or has_owners,
    }
    return frozenset(kind for kind, count in counts.items() if count)


def _mask(names: Iterable[str]) -> dict[str, str]:
    """The names, masked. One pass over all of them finds whether any needs masking."""
    unmasked = tuple(names)
    joined = "\n".join(unmasked)
    if mask_or_withhold(joined) == joined:
        return {name: name for name in unmasked}
    return {name: mask_or_withhold(name) for name in unmasked}
