"""Builds all tools over one set of sources."""

from __future__ import annotations

from diagnosis_harness.toolbox.compare_logs import CompareLogs
from diagnosis_harness.toolbox.compare_spans import CompareSpans
from diagnosis_harness.toolbox.describe_sources import DescribeSources
from diagnosis_harness.toolbox.estimate_onset import EstimateOnset
from diagnosis_harness.toolbox.find_changed_signals import FindChangedSignals
from diagnosis_harness.toolbox.inspect_signal import InspectSignal
from diagnosis_harness.toolbox.list_changes import ListChanges
from diagnosis_harness.toolbox.match_entities import MatchEntities
from diagnosis_harness.toolbox.platform_events import PlatformEvents
from diagnosis_harness.toolbox.ports import Sources
from diagnosis_harness.toolbox.rank_causes import RankCauses
from diagnosis_harness.toolbox.search_logs import SearchLogs
from diagnosis_harness.toolbox.views import Views
from diagnosis_harness.toolbox.walk_topology import WalkTopology
from diagnosis_harness.toolbox.weigh_changes import WeighChanges
from diagnosis_harness.tools.spec import Tool


def build_tools(sources: Sources) -> tuple[Tool, ...]:
    """The tools, in the usual order of an investigation; they share one cache."""
    views = Views(sources)
    return (
        DescribeSources(sources),
        MatchEntities(sources),
        EstimateOnset(views),
        FindChangedSignals(views),
        CompareSpans(views),
        CompareLogs(views),
        PlatformEvents(views),
        ListChanges(views),
        WeighChanges(views),
        RankCauses(views),
        InspectSignal(views),
        WalkTopology(views),
        SearchLogs(sources),
    )
