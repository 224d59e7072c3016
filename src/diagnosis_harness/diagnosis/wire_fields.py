"""Reading JSON strictly: exact types, no unknown field, bounded; every objection names its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from math import isfinite
from typing import TypeVar

from diagnosis_harness.diagnosis.answer_size import ANSWER_TEXT_MAX
from diagnosis_harness.harness.keys import is_safe_segment
from diagnosis_harness.kernel.errors import MalformedAnswer
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.window import TimeWindow, parse_utc

SIZE_MAX_BYTES = 256 * 1024
DEPTH_MAX = 16
LIST_MAX = 200

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)

_STRUCTURE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)
_SHOWN_NAME = 60


def parse_object(text: str) -> JsonValue:
    """The value of a JSON text. Size and depth are looked at before it is parsed.

    Raises:
        MalformedAnswer: too large, too deep, no JSON, a key twice in one object, half a character, NaN.
    """
    if len(text) > SIZE_MAX_BYTES or len(text.encode("utf-8", "surrogatepass")) > SIZE_MAX_BYTES:
        raise MalformedAnswer(f"the answer is larger than {SIZE_MAX_BYTES} bytes")
    _check_depth(text)
    try:
        value: JsonValue = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise MalformedAnswer("the answer holds half a character") from None
    except ValueError as error:
        raise MalformedAnswer(f"the answer is not JSON: {error}") from None
    return value


class Fields:
    """The fields of one JSON object, each read once under its own type.

    Raises:
        MalformedAnswer: the value is no object, a required field is missing, or an unknown one is there.
    """

    __slots__ = ("_held", "path")

    def __init__(
        self, value: JsonValue, path: str, *, required: Iterable[str] = (), optional: Iterable[str] = ()
    ) -> None:
        if not isinstance(value, dict):
            raise MalformedAnswer(f"{path} is an object, not {_kind(value)}")
        known = {*required, *optional}
        for name in value:
            if name not in known:
                raise MalformedAnswer(f"{path} has no field '{_excerpt(name)}'")
        for name in required:
            if name not in value:
                raise MalformedAnswer(f"{path} needs '{name}'")
        self._held = value
        self.path = path

    def has(self, name: str) -> bool:
        """Whether a field is there, null included."""
        return name in self._held

    def raw(self, name: str) -> JsonValue:
        """A field as it stands; null where it is absent."""
        return self._held.get(name)

    def place(self, name: str) -> str:
        """The path of a field."""
        return f"{self.path}.{name}"

    def text(self, name: str) -> str:
        """A text of 1 to 2,000 characters that is not blank."""
        return text_at(self.raw(name), self.place(name))

    def maybe_text(self, name: str) -> str | None:
        """The same, or None where the field is absent or null."""
        return None if self.raw(name) is None else self.text(name)

    def identity(self, name: str) -> str:
        """An id that may stand in a key: 1 to 128 of `A-Z a-z 0-9 . _ -`."""
        value = self.text(name)
        if not is_safe_segment(value):
            raise MalformedAnswer(f"{self.place(name)} is 1 to 128 of A-Z a-z 0-9 . _ -")
        return value

    def number(self, name: str) -> float:
        """A finite number; true and false are none, nor is a text of digits."""
        value = self.raw(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise MalformedAnswer(f"{self.place(name)} is a number, not {_kind(value)}")
        try:
            number = float(value)
        except OverflowError:
            number = float("inf")
        if not isfinite(number):
            raise MalformedAnswer(f"{self.place(name)} is a finite number")
        return number

    def maybe_number(self, name: str) -> float | None:
        """The same, or None where the field is absent or null."""
        return None if self.raw(name) is None else self.number(name)

    def maybe_instant(self, name: str) -> float | None:
        """Seconds since the epoch, written as ISO 8601 text or as a number; None where absent or null."""
        value = self.raw(name)
        if value is None:
            return None
        if not isinstance(value, str):
            return self.number(name)
        try:
            return parse_utc(value)
        except (ValueError, OverflowError):
            raise MalformedAnswer(
                f"{self.place(name)} is an ISO 8601 time or seconds since the epoch"
            ) from None

    def maybe_window(self, name: str) -> TimeWindow | None:
        """A window of two instants, or None where absent or null."""
        value = self.raw(name)
        if value is None:
            return None
        fields = Fields(value, self.place(name), required=("start", "end"))
        start_s, end_s = fields.maybe_instant("start"), fields.maybe_instant("end")
        if start_s is None or end_s is None:
            raise MalformedAnswer(f"{self.place(name)} has a start and an end")
        if end_s < start_s:
            raise MalformedAnswer(f"{self.place(name)} ends at or after its start")
        return TimeWindow(start_s, end_s)

    def choice(self, name: str, among: type[E]) -> E:
        """One value of a closed set."""
        value = self.raw(name)
        if not isinstance(value, str) or value not in among.__members__:
            raise MalformedAnswer(f"{self.place(name)} is one of {', '.join(among.__members__)}")
        return among[value]

    def maybe_choice(self, name: str, among: type[E]) -> E | None:
        """The same, or None where the field is absent or null."""
        return None if self.raw(name) is None else self.choice(name, among)

    def items(self, name: str, read: Callable[[JsonValue, str], T]) -> tuple[T, ...]:
        """A list of at most 200, each read under its own path; empty where the field is absent."""
        if not self.has(name):
            return ()
        value = self.raw(name)
        if not isinstance(value, list):
            raise MalformedAnswer(f"{self.place(name)} is a list, not {_kind(value)}")
        if len(value) > LIST_MAX:
            raise MalformedAnswer(f"{self.place(name)} holds more than {LIST_MAX}")
        return tuple(read(each, f"{self.place(name)}[{place}]") for place, each in enumerate(value))

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        return self.items(name, text_at)


def text_at(value: JsonValue, path: str) -> str:
    """A text of 1 to 2,000 characters that is not blank, wherever it stands.

    Raises:
        MalformedAnswer: it is none.
    """
    if not isinstance(value, str):
        raise MalformedAnswer(f"{path} is a text, not {_kind(value)}")
    if not value.strip() or len(value) > ANSWER_TEXT_MAX:
        raise MalformedAnswer(f"{path} is a text of 1 to {ANSWER_TEXT_MAX} characters")
    return value


def _check_depth(text: str) -> None:
    depth = 0
    for found in _STRUCTURE.finditer(text):
        if found[0] in "[{":
            depth += 1
            if depth > DEPTH_MAX:
                raise MalformedAnswer(f"the answer is nested deeper than {DEPTH_MAX} levels")
        elif found[0] in "]}":
            depth -= 1


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    held = dict(pairs)
    if len(held) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return held


def _no_constant(name: str) -> JsonValue:
    raise ValueError(f"{name} is no number")


def _kind(value: JsonValue) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "an object"


def _excerpt(name: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in name[:_SHOWN_NAME])
