"""The embedded source: one incident's telemetry as files in a folder, each checked before it is used."""

from __future__ import annotations

from diagnosis_harness.adapters.sources.incident_folder.opening import open_incident_folder

__all__ = ["open_incident_folder"]
