"""Chooses the players from the settings: one table for each role, with an entry for each player.

A new player is one more entry here: the name by which `[players]` chooses it, and how it is built from the
core (needed to meter language models) and the settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias, TypeVar, runtime_checkable

from diagnosis_harness.application.knowledge_query import AnswerWriter
from diagnosis_harness.application.router import IntentRouter
from diagnosis_harness.application.system.chat import SystemResponder
from diagnosis_harness.application.system.profile import PlayerProfile
from diagnosis_harness.diagnosis.policy import DiagnosisPolicy
from diagnosis_harness.guards.evidence_repair import EvidenceRepairer
from diagnosis_harness.guards.semantic_guard import SemanticJudge
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.retry_policy import RetryRole
from diagnosis_harness.kernel.errors import InvalidSetting
from diagnosis_harness.players.embedded.analyst import EmbeddedAnalyst
from diagnosis_harness.players.embedded.answer_writer import EmbeddedWriter
from diagnosis_harness.players.embedded.judge import EmbeddedJudge
from diagnosis_harness.players.embedded.repairer import EmbeddedRepairer
from diagnosis_harness.players.embedded.responder import EmbeddedResponder
from diagnosis_harness.players.embedded.router import EmbeddedRouter
from diagnosis_harness.settings import Settings

PlayerT = TypeVar("PlayerT")
Maker: TypeAlias = Callable[[DiagnosisHarnessCore, Settings], PlayerT]
Makers: TypeAlias = Mapping[str, Maker[PlayerT]]
"""How to build each player of a role, by its name in the settings."""

ROUTERS: Final[Makers[IntentRouter]] = {"embedded": lambda *_: EmbeddedRouter()}
POLICIES: Final[Makers[DiagnosisPolicy]] = {"embedded": lambda *_: EmbeddedAnalyst()}
REPAIRERS: Final[Makers[EvidenceRepairer]] = {"embedded": lambda *_: EmbeddedRepairer()}
JUDGES: Final[Makers[SemanticJudge]] = {"embedded": lambda *_: EmbeddedJudge()}
RESPONDERS: Final[Makers[SystemResponder]] = {"embedded": lambda *_: EmbeddedResponder()}
WRITERS: Final[Makers[AnswerWriter]] = {"embedded": lambda *_: EmbeddedWriter()}

_EMBEDDED = (
    EmbeddedRouter,
    EmbeddedAnalyst,
    EmbeddedRepairer,
    EmbeddedJudge,
    EmbeddedResponder,
    EmbeddedWriter,
)


@runtime_checkable
class AsksLlm(Protocol):
    """A player that uses a language model reports which one, for the profile of the system."""

    @property
    def llm(self) -> str:
        """The name of the language model."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Players:
    """One player for each role; they hold no state of a run and serve all runs of the process."""

    router: IntentRouter
    policy: DiagnosisPolicy
    repairer: EvidenceRepairer
    judge: SemanticJudge
    responder: SystemResponder
    writer: AnswerWriter

    def profiles(self) -> tuple[PlayerProfile, ...]:
        """The player of each role, for the profile of the system."""
        played: dict[RetryRole, object] = {
            RetryRole.ROUTER: self.router,
            RetryRole.SEMANTIC_GUARD: self.judge,
            RetryRole.DIAGNOSIS_AGENT: self.policy,
            RetryRole.EVIDENCE_REPAIR: self.repairer,
            RetryRole.SYSTEM_RESPONDER: self.responder,
            RetryRole.ANSWER_WRITER: self.writer,
        }
        return tuple(PlayerProfile(role.value, _player_name(player)) for role, player in played.items())


MakePlayers: TypeAlias = Callable[[DiagnosisHarnessCore], Players]
"""Builds the players of a process once it has its core."""


def choose_players(settings: Settings, *, policy: DiagnosisPolicy | None = None) -> MakePlayers:
    """The players that the settings choose; `policy`, if given, replaces the chosen one.

    Raises:
        InvalidSetting: a role names a player that does not exist.
    """
    chosen = settings.players
    router = _choose("router", chosen.router, ROUTERS)
    chosen_policy = _choose("policy", chosen.policy, POLICIES)
    repairer = _choose("repairer", chosen.repairer, REPAIRERS)
    judge = _choose("judge", chosen.judge, JUDGES)
    responder = _choose("responder", chosen.responder, RESPONDERS)
    writer = _choose("writer", chosen.writer, WRITERS)
    return lambda core: Players(
        router=router(core, settings),
        policy=policy or chosen_policy(core, settings),
        repairer=repairer(core, settings),
        judge=judge(core, settings),
        responder=responder(core, settings),
        writer=writer(core, settings),
    )


def build_writer(core: DiagnosisHarnessCore, settings: Settings) -> AnswerWriter:
    """The chosen writer alone, for questions to the runbooks: building a router takes a tenth of a second.

    Raises:
        InvalidSetting: the writer does not exist.
    """
    return _choose("writer", settings.players.writer, WRITERS)(core, settings)


def _choose(role: str, name: str, makers: Makers[PlayerT]) -> Maker[PlayerT]:
    make = makers.get(name)
    if make is None:
        known = ", ".join(sorted(makers))
        raise InvalidSetting(f"players.{role}", f"there is no player {name!r:.80}", f"name one of: {known}")
    return make


def _player_name(player: object) -> str | None:
    """What a player uses beyond embedded rules: its language model; for a custom player, its class."""
    if isinstance(player, AsksLlm):
        return player.llm
    return None if isinstance(player, _EMBEDDED) else type(player).__name__
