"""Fakes that implement our ports, for our tests, contract suites and users of the package.

The names below are for the tests of programs that embed the harness (docs/testing.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # at run time, each name is imported at its first use
    from diagnosis_harness.testing.clock import ManualClock
    from diagnosis_harness.testing.ids import CountingIds
    from diagnosis_harness.testing.scripted_policy import ScriptedPolicy
    from diagnosis_harness.testing.scripted_tool import ScriptedTool
    from diagnosis_harness.testing.sources import InMemorySources, series_of

__all__ = ["CountingIds", "InMemorySources", "ManualClock", "ScriptedPolicy", "ScriptedTool", "series_of"]

_HOMES = {
    "CountingIds": "ids",
    "InMemorySources": "sources",
    "ManualClock": "clock",
    "ScriptedPolicy": "scripted_policy",
    "ScriptedTool": "scripted_tool",
    "series_of": "sources",
}


def __getattr__(name: str) -> object:
    """A public name, imported on its first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
