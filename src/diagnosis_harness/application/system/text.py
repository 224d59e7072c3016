"""Words the answer about the system from its profile, in the language of the question."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from diagnosis_harness.application.system import words
from diagnosis_harness.application.system.answer import SystemAnswer, SystemTopic
from diagnosis_harness.application.system.profile import (
    SourceProfile,
    SystemProfile,
    TelemetryKind,
    ToolProfile,
)
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.report.measure import measure
from diagnosis_harness.report.timestamps import escape_line, span

_SERVICES_SHOWN = 30
"""The most names of a source that are listed; more would fill the screen."""


def system_text(answer: SystemAnswer, profile: SystemProfile, language: Language) -> str:
    """The answer: a paragraph for each topic, then one for each name or kind in the question."""
    parts = [_PARAGRAPHS[topic](profile, language) for topic in answer.topics]
    parts += [_kind(kind, profile, language) for kind in answer.kinds]
    parts += [_name(name, profile, language) for name in answer.asked_about]
    return "\n\n".join(dict.fromkeys(parts))


def is_known_name(profile: SystemProfile, name: str) -> bool:
    """Whether a name is that of a source or a tool of the system."""
    return name.casefold() in {known.casefold() for known in profile.names}


def _name(name: str, profile: SystemProfile, language: Language) -> str:
    for tool in profile.tools:
        if tool.name.casefold() == name.casefold():
            does = _tool_line(tool, language)
            return words.IS_TOOL.render(language, name=display_name(tool.name), does=escape_line(does))
    for source in profile.sources:
        if source.name.casefold() == name.casefold():
            return words.IS_SOURCE.render(language, source=_source(source, language))
    return words.IS_NEITHER.render(language, name=display_name(name))


def _kind(kind: TelemetryKind, profile: SystemProfile, language: Language) -> str:
    holding = [
        words.HOLDS_KIND.render(
            language,
            source=display_name(source.name),
            count=f"{holding.count:,}",
            kind=words.KIND_COUNTED[kind].in_(language),
        )
        for source in profile.sources
        for holding in source.holdings
        if holding.kind is kind
    ]
    return "\n".join(holding) or words.NO_KIND.render(language, kind=words.KIND_NAMES[kind].in_(language))


def _source(source: SourceProfile, language: Language) -> str:
    kinds = words.COMMA.in_(language).join(
        f"{one.count:,} {words.KIND_COUNTED[one.kind].in_(language)}" for one in source.holdings
    )
    window = "" if source.window is None else _window(source.window, language)
    line = words.SOURCE_LINE.render(
        language,
        name=display_name(source.name),
        holds=kinds or words.HOLDS_NOTHING.in_(language),
        window=window,
    )
    services = _services(source, language)
    return f"{line}\n  {services}" if services else line


def _services(source: SourceProfile, language: Language) -> str:
    shown = source.services[:_SERVICES_SHOWN]
    names = words.LIST_COMMA.in_(language).join(map(display_name, shown))
    if not shown:
        return ""
    if source.services_count > len(shown):
        return words.SERVICES_SOME.render(language, names=names, count=source.services_count - len(shown))
    return words.SERVICES.render(language, names=names)


def _window(window: TimeWindow, language: Language) -> str:
    start, end = span(window)
    return words.WINDOW.render(language, start=start, end=end)


def _tool_line(tool: ToolProfile, language: Language) -> str:
    in_chinese = tool.description_zh if language is Language.ZH else None
    return in_chinese or tool.description


def _greeting(profile: SystemProfile, language: Language) -> str:
    return words.GREETING.render(language, name=profile.name)


def _identity(profile: SystemProfile, language: Language) -> str:
    return words.IDENTITY.render(language, name=profile.name, version=profile.version)


def _players(profile: SystemProfile, language: Language) -> str:
    llms = dict.fromkeys(player.llm for player in profile.players if player.llm is not None)
    if not llms:
        return words.NO_LLM.in_(language)
    roles = [
        f"- {words.ROLES[player.role].in_(language) if player.role in words.ROLES else player.role}: "
        f"{display_name(player.llm) if player.llm else words.EMBEDDED.in_(language)}"
        for player in profile.players
    ]
    return "\n".join(
        (words.LLMS.render(language, llms=words.COMMA.in_(language).join(map(display_name, llms))), *roles)
    )


def _abilities(profile: SystemProfile, language: Language) -> str:
    can = [
        words.CAN_DIAGNOSE.render(language, count=len(profile.tools))
        if profile.sources
        else words.CANNOT_DIAGNOSE.in_(language)
    ]
    if profile.documents is not None:
        can.append(words.CAN_QUOTE.render(language, count=f"{profile.documents:,}"))
    can.append(words.CAN_TELL.in_(language))
    return "\n".join(
        (words.ABILITIES.in_(language), *(f"- {one}" for one in can), words.READ_ONLY_SHORT.in_(language))
    )


def _tools(profile: SystemProfile, language: Language) -> str:
    lines = [
        f"- {display_name(tool.name)}: {escape_line(_tool_line(tool, language))}" for tool in profile.tools
    ]
    return (
        "\n".join((words.TOOLS.render(language, count=len(lines)), *lines))
        if lines
        else words.NO_TOOLS.in_(language)
    )


def _sources(profile: SystemProfile, language: Language) -> str:
    lines = [f"- {_source(source, language)}" for source in profile.sources]
    return "\n".join((words.SOURCES.in_(language), *lines)) if lines else words.NO_SOURCES.in_(language)


def _runbooks(profile: SystemProfile, language: Language) -> str:
    if profile.documents is None:
        return words.NO_RUNBOOKS.in_(language)
    return words.RUNBOOKS.render(language, count=f"{profile.documents:,}")


def _limits(profile: SystemProfile, language: Language) -> str:
    limits = profile.limits
    return words.LIMITS.render(
        language,
        time=measure(limits.timeout_s, "s"),
        tool_calls=limits.tool_calls,
        llm_calls=limits.llm_calls,
    )


def _privacy(profile: SystemProfile, language: Language) -> str:
    llms = dict.fromkeys(display_name(player.llm) for player in profile.players if player.llm is not None)
    return (
        words.PRIVACY_LLM.render(language, llms=words.COMMA.in_(language).join(llms))
        if llms
        else words.PRIVACY_EMBEDDED.in_(language)
    )


def _how_to_ask(profile: SystemProfile, language: Language) -> str:
    """How to ask, with an existing service as the example."""
    known = next((source.services[0] for source in profile.sources if source.services), None)
    return words.HOW_TO_ASK.render(language, service="checkout" if known is None else display_name(known))


def _out_of_scope(profile: SystemProfile, language: Language) -> str:
    return f"{words.OUT_OF_SCOPE.in_(language)}\n{_abilities(profile, language)}"


_PARAGRAPHS: Mapping[SystemTopic, Callable[[SystemProfile, Language], str]] = {
    SystemTopic.GREETING: _greeting,
    SystemTopic.THANKS: lambda _, language: words.THANKS.in_(language),
    SystemTopic.FAREWELL: lambda _, language: words.FAREWELL.in_(language),
    SystemTopic.IDENTITY: _identity,
    SystemTopic.PLAYERS: _players,
    SystemTopic.ABILITIES: _abilities,
    SystemTopic.TOOLS: _tools,
    SystemTopic.SOURCES: _sources,
    SystemTopic.RUNBOOKS: _runbooks,
    SystemTopic.LIMITS: _limits,
    SystemTopic.READ_ONLY: lambda _, language: words.READ_ONLY.in_(language),
    SystemTopic.PRIVACY: _privacy,
    SystemTopic.HOW_TO_ASK: _how_to_ask,
    SystemTopic.OUT_OF_SCOPE: _out_of_scope,
}
