"""What incident.toml states about signals: `[units]` and `[signals]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from diagnosis_harness.analysis.meaning import SignalForm, SignalKind, SignalSide
from diagnosis_harness.analysis.signal_words import divide_labels
from diagnosis_harness.toolbox.ports import UNSTATED, SeriesMeaning

_HARMFUL: Final = MappingProxyType({"up": 1, "down": -1, "neither": 0})


class SignalSettings(BaseModel):
    """`[signals."NAME"]`: the meaning of one signal, or of all whose names match a pattern."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    kind: (
        Literal[
            "latency",
            "errors",
            "availability",
            "cpu",
            "memory",
            "disk",
            "queue",
            "pool",
            "saturation",
            "efficiency",
            "traffic",
            "limit",
            "info",
            "other",
        ]
        | None
    ) = None
    harmful: Literal["up", "down", "neither"] | None = None
    side: Literal["own", "outgoing", "between", "host"] | None = None
    form: Literal["gauge", "counter", "ratio"] | None = None
    unit: Annotated[str, Field(min_length=1, max_length=500)] | None = None

    def meaning(self) -> SeriesMeaning:
        """The same as a value of the sources' port."""
        return SeriesMeaning(
            kind=None if self.kind is None else SignalKind(self.kind),
            side=None if self.side is None else SignalSide(self.side),
            harmful=None if self.harmful is None else _HARMFUL[self.harmful],
            form=None if self.form is None else SignalForm(self.form),
        )


@dataclass(frozen=True, slots=True)
class StatedSignals:
    """Units by name, and meanings by name or pattern in the order of the file."""

    units: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    signals: Mapping[str, SignalSettings] = field(default_factory=lambda: MappingProxyType({}))

    def unit(self, signal: str) -> str | None:
        """The unit of a signal; None if the settings do not state it."""
        plain, _ = divide_labels(signal)
        found = self._find(signal)
        return (found and found.unit) or self.units.get(signal) or self.units.get(plain)

    def meaning(self, signal: str) -> SeriesMeaning:
        """The meaning of a signal; an empty one if no name and no pattern matches."""
        found = self._find(signal)
        return UNSTATED if found is None else found.meaning()

    def _find(self, signal: str) -> SignalSettings | None:
        """The entry of exactly this name, else of the first pattern that matches, with or without labels."""
        plain, _ = divide_labels(signal)
        exact = self.signals.get(signal) or self.signals.get(plain)
        if exact is not None:
            return exact
        fitting = (
            one
            for pattern, one in self.signals.items()
            if fnmatchcase(signal, pattern) or fnmatchcase(plain, pattern)
        )
        return next(fitting, None)
