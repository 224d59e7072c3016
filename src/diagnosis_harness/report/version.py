"""The versions of a run document, and the fields of each.

A field that is newer than the first readable version is marked (`since`), and has the default that it gets
from an older document.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field
from types import MappingProxyType

SCHEMA_VERSION = "4"
"""It is increased when a reader of the previous version could not read a document.

2: root digest, stated onset. 3: the inquiry with its inventory, and the subject of each ranking. 4: the
attempts to disprove each cause."""
READABLE = ("2", "3", "4")
"""Versions that can be read and written again unchanged, oldest first."""
_SINCE = "since"
_OPTIONAL = "optional"


def optional(version: str) -> Mapping[str, str]:
    """Metadata of a field added within a version: there it may be missing, and None is not written.

    From the next version on it is always written.
    """
    return MappingProxyType({_SINCE: version, _OPTIONAL: version})


def is_optional(version: str, field: Field[object]) -> bool:
    """Whether a document of a version may lack this field."""
    return field.metadata.get(_OPTIONAL) == version


def since(version: str) -> Mapping[str, str]:
    """Metadata of a field that documents contain from this version on."""
    return MappingProxyType({_SINCE: version})


def version_tests_causes(version: str) -> bool:
    """Whether documents of a version contain the attempts to disprove each cause."""
    return READABLE.index(version) >= READABLE.index("4")


def version_has(version: str, field: Field[object]) -> bool:
    """Whether documents of a version have this field."""
    return READABLE.index(version) >= READABLE.index(field.metadata.get(_SINCE, READABLE[0]))
