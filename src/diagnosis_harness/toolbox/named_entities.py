"""Finds the services that a failure line names as the other end of a call. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from diagnosis_harness.kernel.name_match import fold_name, places_of

_TOWARDS: Final = re.compile(
    r"(?:\bcall(?:s|ed|ing)?(?: to)?|\bconnect(?:ing|ion|ed)?(?: refused)? (?:to|with)|\bconnect"
    r"|\bdial(?:ing)?(?: tcp)?|\blookup|\bupstream|\bdownstream|\bdependency|\brequests? to|\breach(?:ing)?"
    r"|\bcontact(?:ing)?|\b(?:response|answer|reply) from|\btalk(?:ing)? to|\bhttps?:|\bgrpc:|\btcp:"
    r"|\b(?:host|server|endpoint|peer|target|upstream)[ =:]"
    r"|\btime[d]? ?out (?:waiting for|connecting to|calling|from|after calling|talking to)|\bwaiting for"
    r"|\brefused (?:to|by)|\binstances? (?:available )?for|\bavailable for|\bunavailable"
    r"|\b(?:fetch|get|obtain|read|receiv|load)\w* .{0,30}from|\bquery(?:ing)?|\binvok(?:e|ing))\W*$"
)
"""Words before the name of a callee. A name alone is not a call: many service names are everyday words, and
a
line also names its caller."""
_CHARACTERS_BEFORE: Final = 48
"""Where such words are searched: `failed to connect to http://` counts, the sentence before it does not."""


def find_callees(
    line: str, writer: str, known: Collection[str], owners: Mapping[str, str]
) -> tuple[str, ...]:
    """The services that a line names as callees, in order; never its writer or a part of it."""
    folded = fold_name(line)
    found: dict[str, None] = {}
    for start, _, name in places_of(line, known):
        service = owners.get(name, name)
        if service != owners.get(writer, writer) and _TOWARDS.search(
            folded[max(0, start - _CHARACTERS_BEFORE) : start]
        ):
            found[service] = None
    return tuple(found)
