"""The system's words on itself: rendered from its profile, in the language of the question."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from diagnosis_harness.application.system.answer import SystemAnswer, SystemTopic
from diagnosis_harness.application.system.profile import SourceProfile, SystemProfile, TelemetryKind
from diagnosis_harness.application.system.words import ENGLISH, SystemWords
from diagnosis_harness.application.system.words_zh import CHINESE
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.names import named
from diagnosis_harness.report.measure import measure
from diagnosis_harness.report.timestamps import shown, span


def system_text(answer: SystemAnswer, profile: SystemProfile, language: Language) -> str:
    """What a person reads: a paragraph for each topic, then what was asked about by name or kind."""
    words = CHINESE if language is Language.ZH else ENGLISH
    parts = [_PARAGRAPHS[topic](profile, words) for topic in answer.topics]
    parts += [_kind(kind, profile, words) for kind in answer.kinds]
    parts += [_name(name, profile, words) for name in answer.asked_about]
    return "\n\n".join(dict.fromkeys(parts))


def holds(profile: SystemProfile, name: str) -> bool:
    """Whether a name is that of a source or a tool of the system."""
    return name.casefold() in {held.casefold() for held in profile.names}


def _name(name: str, profile: SystemProfile, words: SystemWords) -> str:
    for tool in profile.tools:
        if tool.name.casefold() == name.casefold():
            does = words.tool_lines.get(tool.name, tool.description)
            return words.is_tool.format(name=named(tool.name), does=shown(does))
    for source in profile.sources:
        if source.name.casefold() == name.casefold():
            return words.is_source.format(source=_source(source, words))
    return words.is_neither.format(name=named(name))


def _kind(kind: TelemetryKind, profile: SystemProfile, words: SystemWords) -> str:
    holding = [
        words.holds_kind.format(source=named(source.name), count=f"{held.count:,}", kind=words.kinds[kind])
        for source in profile.sources
        for held in source.holdings
        if held.kind is kind
    ]
    return "\n".join(holding) or words.no_kind.format(kind=words.kind_names[kind])


def _source(source: SourceProfile, words: SystemWords) -> str:
    held = words.comma.join(f"{one.count:,} {words.kinds[one.kind]}" for one in source.holdings)
    window = "" if source.window is None else words.window.format(*map(str, span(source.window)))
    return words.source.format(name=named(source.name), holds=held or words.holds_nothing, window=window)


def _greeting(profile: SystemProfile, words: SystemWords) -> str:
    return words.greeting.format(name=profile.name)


def _identity(profile: SystemProfile, words: SystemWords) -> str:
    return words.identity.format(name=profile.name, version=profile.version)


def _players(profile: SystemProfile, words: SystemWords) -> str:
    llms = dict.fromkeys(player.llm for player in profile.players if player.llm is not None)
    if not llms:
        return words.no_llm
    roles = [
        f"- {words.roles.get(player.role, player.role)}: "
        f"{named(player.llm) if player.llm else words.embedded}"
        for player in profile.players
    ]
    return "\n".join((words.llms.format(llms=words.comma.join(map(named, llms))), *roles))


def _abilities(profile: SystemProfile, words: SystemWords) -> str:
    can = [words.can_diagnose.format(count=len(profile.tools)) if profile.sources else words.cannot_diagnose]
    if profile.documents is not None:
        can.append(words.can_quote.format(count=f"{profile.documents:,}"))
    can.append(words.can_tell)
    return "\n".join((words.abilities, *(f"- {one}" for one in can), words.read_only_short))


def _tools(profile: SystemProfile, words: SystemWords) -> str:
    lines = [
        f"- {named(tool.name)}: {shown(words.tool_lines.get(tool.name, tool.description))}"
        for tool in profile.tools
    ]
    return "\n".join((words.tools.format(count=len(lines)), *lines)) if lines else words.no_tools


def _sources(profile: SystemProfile, words: SystemWords) -> str:
    lines = [f"- {_source(source, words)}" for source in profile.sources]
    return "\n".join((words.sources, *lines)) if lines else words.no_sources


def _runbooks(profile: SystemProfile, words: SystemWords) -> str:
    if profile.documents is None:
        return words.no_runbooks
    return words.runbooks.format(count=f"{profile.documents:,}")


def _limits(profile: SystemProfile, words: SystemWords) -> str:
    limits = profile.limits
    return words.limits.format(
        time=measure(limits.timeout_s, "s"), tool_calls=limits.tool_calls, llm_calls=limits.llm_calls
    )


def _privacy(profile: SystemProfile, words: SystemWords) -> str:
    llms = dict.fromkeys(named(player.llm) for player in profile.players if player.llm is not None)
    return words.privacy_llm.format(llms=words.comma.join(llms)) if llms else words.privacy_embedded


def _out_of_scope(profile: SystemProfile, words: SystemWords) -> str:
    return f"{words.out_of_scope}\n{_abilities(profile, words)}"


_PARAGRAPHS: Mapping[SystemTopic, Callable[[SystemProfile, SystemWords], str]] = {
    SystemTopic.GREETING: _greeting,
    SystemTopic.THANKS: lambda _, words: words.thanks,
    SystemTopic.FAREWELL: lambda _, words: words.farewell,
    SystemTopic.IDENTITY: _identity,
    SystemTopic.PLAYERS: _players,
    SystemTopic.ABILITIES: _abilities,
    SystemTopic.TOOLS: _tools,
    SystemTopic.SOURCES: _sources,
    SystemTopic.RUNBOOKS: _runbooks,
    SystemTopic.LIMITS: _limits,
    SystemTopic.READ_ONLY: lambda _, words: words.read_only,
    SystemTopic.PRIVACY: _privacy,
    SystemTopic.HOW_TO_ASK: lambda _, words: words.how_to_ask,
    SystemTopic.OUT_OF_SCOPE: _out_of_scope,
}
