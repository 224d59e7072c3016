"""Runbooks in memory, and a system's profile, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from diagnosis_harness.application.system.profile import (
    Holding,
    PlayerProfile,
    RunLimits,
    SourceProfile,
    SystemProfile,
    TelemetryKind,
    ToolProfile,
)
from diagnosis_harness.kernel.errors import FailureKind, KnowledgeUnavailable
from diagnosis_harness.knowledge.document import read_runbook
from diagnosis_harness.knowledge.index import KnowledgeIndex, terms_of_passage
from diagnosis_harness.knowledge.retrieval import Holdings, Retrieval

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext

ROLLBACK = """# Checkout

## Rollback
Undo a bad release of checkout:

1. Run `argocd app rollback checkout`.
2. Tell the release channel.

## Symptoms
The error ratio of checkout is above 2%.
"""
RUNBOOKS = {
    "checkout.md": ROLLBACK,
    "disk.md": "# Disk full\n\nDelete archived logs older than 7 days.\n",
    "tls.md": "# Certificates\n\nAsk cert-manager to issue the certificate again.\n",
    "磁盘.md": "# 磁盘写满\n\n删除超过七天的归档日志。\n",
}

PROFILE = SystemProfile(
    name="diagnosis-harness",
    version="1.2.3",
    tools=(
        ToolProfile("search_logs", "Count log lines."),
        ToolProfile("rank_causes", "Services ranked as the cause."),
    ),
    sources=(
        SourceProfile("shop", (Holding(TelemetryKind.METRICS, 12), Holding(TelemetryKind.LOGS, 3_400))),
    ),
    documents=4,
    players=(PlayerProfile("ROUTER"), PlayerProfile("DIAGNOSIS_AGENT")),
    limits=RunLimits(timeout_s=120.0, llm_calls=40, tool_calls=60),
)


def index_of(files: Mapping[str, str] = RUNBOOKS, *, size: int = 1_200) -> KnowledgeIndex:
    """Texts as they are indexed, by words alone."""
    passages = [
        passage
        for file, text in files.items()
        for passage in read_runbook(file, text.encode(), size=size).passages
    ]
    return KnowledgeIndex(passages, terms=[terms_of_passage(passage) for passage in passages])


class MemoryKnowledge:
    """Plays `KnowledgeBase` over texts; counts searches, and fails when configured to."""

    def __init__(self, files: Mapping[str, str] = RUNBOOKS, *, is_stale: bool = False) -> None:
        self._index = index_of(files)
        self._is_stale = is_stale
        self.searches = 0
        self.is_broken = False

    def search(self, ctx: RunContext, question: str) -> Retrieval:
        """What the index finds."""
        del ctx
        self.searches += 1
        if self.is_broken:
            raise KnowledgeUnavailable("the runbooks are away", kind=FailureKind.UNAVAILABLE)
        found = self._index.search(question)
        return Retrieval(found.hits, found.nearest, found.searched, is_stale=self._is_stale)

    def holdings(self, ctx: RunContext) -> Holdings:
        """What is indexed."""
        del ctx
        return self._index.holdings
