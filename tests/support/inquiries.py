"""An inquiry for tests: about the hand-made evidence and the small incident, unless a test says otherwise."""

from __future__ import annotations

from collections.abc import Iterable

from tests.support.small_incident import CALLS

from diagnosis_harness.diagnosis.inquiry import Inquiry, Inventory, KnownEntity, OnsetOrigin, Telemetry
from diagnosis_harness.kernel.window import TimeWindow

EVERY_KIND = frozenset(Telemetry)
EVER = TimeWindow(0.0, 4_000_000_000.0)
AFFECTED = "checkout"
"""Whom the hand-made rankings of `testing.evidence` are about."""


def inquiry(
    *affected: str,
    onset_s: float | None = None,
    origin: OnsetOrigin | None = None,
    alert_entity: str | None = None,
    alert_signal: str | None = None,
    alert_at_s: float | None = None,
    also_known: Iterable[str] = (),
    incident: TimeWindow | None = EVER,
) -> Inquiry:
    """A question about `affected` (`checkout` where nobody is named) in a system that has every telemetry.

    Known are the services of the small incident, the one instance of each, and the names of the inquiry.

    Args:
        origin: ASKED with an onset, ALERT with the time of an alert alone, else NOBODY.
        also_known: further names, each a service of its own.
        incident: what the recording covers; long enough for any test, unless one says otherwise.
    """
    named = affected or ((alert_entity,) if alert_entity else (AFFECTED,))
    if origin is None:
        origin = OnsetOrigin.ASKED if onset_s is not None else OnsetOrigin.NOBODY
        origin = OnsetOrigin.ALERT if onset_s is None and alert_at_s is not None else origin
    owners: dict[str, str | None] = {f"{name}-7d9f": name for name in CALLS}
    services = (*CALLS, *named, *also_known)
    owners |= {name: None for name in services if name not in owners}
    return Inquiry(
        question=f"Why is {named[0]} slow?",
        onset_s=alert_at_s if origin is OnsetOrigin.ALERT else onset_s,
        onset_origin=origin,
        affected=named,
        alert_entity=alert_entity,
        alert_signal=alert_signal,
        alert_at_s=alert_at_s,
        inventory=Inventory(
            entities=tuple(KnownEntity(name, owner, EVERY_KIND) for name, owner in sorted(owners.items())),
            edges=tuple((caller, callee) for caller, found in CALLS.items() for callee in found),
            telemetry=EVERY_KIND,
            incident=incident,
        ),
    )
