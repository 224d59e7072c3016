"""Decides whether a quote is a verbatim part of a line that does not cut a number, word or identifier."""

from __future__ import annotations

_JOINERS = frozenset(".,-/:@")
"""Characters that join two letters or digits into one number or identifier: `0.21`, `api-gateway`, `14:05`.
"""


def is_verbatim(quote: str, line: str) -> bool:
    """Whether the line contains the quote with both ends outside of any number, word or identifier.

    `0.2` is not a quote of `0.21 s`, nor `gateway` of `api-gateway`: both occur in the line, but it states
    neither. Text without blanks between words, such as Chinese, may be cut anywhere.
    """
    if not quote.strip():
        return False
    at = line.find(quote)
    while at >= 0:
        if not _parts(line, at) and not _parts(line, at + len(quote)):
            return True
        at = line.find(quote, at + 1)
    return False


def _parts(line: str, at: int) -> bool:
    """Whether a cut before this character falls inside a number, a word or an identifier."""
    if not 0 < at < len(line):
        return False
    before, after = line[at - 1], line[at]
    if _is_inner(before):
        return _is_inner(after) or (after in _JOINERS and _is_inner(line[at + 1 : at + 2]))
    if not _is_inner(after):
        return False
    if before in "+-" and after.isdigit():
        return True
    return before in _JOINERS and at > 1 and _is_inner(line[at - 2])


def _is_inner(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")
