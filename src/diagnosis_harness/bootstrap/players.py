"""Who plays the roles: the embedded players, unless somebody else is handed over."""

from __future__ import annotations

from dataclasses import dataclass, field

from diagnosis_harness.application.knowledge_query import AnswerWriter
from diagnosis_harness.application.router import IntentRouter
from diagnosis_harness.application.system.chat import SystemResponder
from diagnosis_harness.application.system.profile import PlayerProfile
from diagnosis_harness.diagnosis.policy import DiagnosisPolicy
from diagnosis_harness.guards.evidence_repair import EvidenceRepairer
from diagnosis_harness.guards.semantic_guard import SemanticJudge
from diagnosis_harness.harness.retry_policy import RetryRole
from diagnosis_harness.players.embedded.analyst import EmbeddedAnalyst
from diagnosis_harness.players.embedded.answer_writer import EmbeddedWriter
from diagnosis_harness.players.embedded.judge import EmbeddedJudge
from diagnosis_harness.players.embedded.repairer import EmbeddedRepairer
from diagnosis_harness.players.embedded.responder import EmbeddedResponder
from diagnosis_harness.players.embedded.router import EmbeddedRouter


@dataclass(frozen=True, slots=True, kw_only=True)
class Players:
    """One player for each role; they hold no state of a run and serve all runs of the process."""

    router: IntentRouter = field(default_factory=EmbeddedRouter)
    policy: DiagnosisPolicy = field(default_factory=EmbeddedAnalyst)
    repairer: EvidenceRepairer = field(default_factory=EmbeddedRepairer)
    judge: SemanticJudge = field(default_factory=EmbeddedJudge)
    responder: SystemResponder = field(default_factory=EmbeddedResponder)
    writer: AnswerWriter = field(default_factory=EmbeddedWriter)

    def profiles(self) -> tuple[PlayerProfile, ...]:
        """Who plays what, as the system says it of itself."""
        return tuple(PlayerProfile(role.value) for role in RetryRole if role is not RetryRole.TOOL)
