"""What a word of an agent's own sentence says; `guards.wording_words` lists the words of each class."""

from __future__ import annotations

from enum import StrEnum


class WordClass(StrEnum):
    """The meaning of a word."""

    PLAIN = "PLAIN"  # no meaning by itself
    UP = "UP"
    DOWN = "DOWN"
    SLOW = "SLOW"  # up, if the value is a time
    FAST = "FAST"  # down, if the value is a time
    FLAT = "FLAT"
    NEGATION = "NEGATION"
    WIDE = "WIDE"  # all, never, only: claims more than any record shows
    CAUSE = "CAUSE"
    AFFECT = "AFFECT"
    BEGIN = "BEGIN"
    FAIL = "FAIL"
    LIMIT = "LIMIT"
    CALL = "CALL"
    DEPLOY = "DEPLOY"  # a deploy, a flag, a configuration and a version are four different changes
    FLAG = "FLAG"
    CONFIG = "CONFIG"
    VERSION = "VERSION"
    SEEN = "SEEN"
    LACK = "LACK"  # ends without a call
    NO_CAUSE = "NO_CAUSE"  # a fixed phrase: not the cause
    NO_MOVE = "NO_MOVE"  # a fixed phrase: no further than usual
    CHANGE = "CHANGE"
    NOUN = "NOUN"  # could name a signal other than the claim's
    TROUBLE = "TROUBLE"
    USUAL = "USUAL"  # marks the baseline; allowed only beside its number
    NOW = "NOW"  # marks the value; allowed only beside its number
