"""Reads the fields of a policy's answer with `kernel.json_fields`, within the bounds of an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from diagnosis_harness.diagnosis.answer_size import ANSWER_TEXT_MAX
from diagnosis_harness.harness.keys import is_safe_segment
from diagnosis_harness.kernel.errors import JsonInvalid
from diagnosis_harness.kernel.json_fields import JsonFields, text_at
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.strict_json import excerpt
from diagnosis_harness.kernel.window import TimeWindow, parse_utc

SIZE_MAX_BYTES = 256 * 1024
DEPTH_MAX = 16
LIST_MAX = 200

T = TypeVar("T")


class AnswerFields(JsonFields):
    """The fields of one object of an answer: bounds texts and lists, and reads times and windows.

    Raises:
        JsonInvalid: as for `JsonFields`.
    """

    __slots__ = ()

    def text(self, name: str) -> str:
        """A text of 1 to 2,000 characters that is not blank."""
        return answer_text_at(self.raw(name), self.place(name))

    def identity(self, name: str) -> str:
        """An id that is allowed in a key: 1 to 128 of `A-Z a-z 0-9 . _ -`."""
        value = self.text(name)
        if not is_safe_segment(value):
            raise JsonInvalid(self.place(name), "1 to 128 of A-Z a-z 0-9 . _ -", f"'{excerpt(value)}'")
        return value

    def maybe_instant(self, name: str) -> float | None:
        """Epoch seconds, written as ISO 8601 text or as a number; None if absent or null."""
        value = self.raw(name)
        if not isinstance(value, str):
            return self.maybe_number(name)
        try:
            return parse_utc(value)
        except (ValueError, OverflowError):
            wanted = "an ISO 8601 time or seconds since the epoch"
            raise JsonInvalid(self.place(name), wanted, f"'{excerpt(value)}'") from None

    def maybe_window(self, name: str) -> TimeWindow | None:
        """A window of two times; None if absent or null."""
        value = self.raw(name)
        if value is None:
            return None
        fields = AnswerFields(value, self.place(name), required=("start", "end"))
        start_s, end_s = fields.maybe_instant("start"), fields.maybe_instant("end")
        if start_s is None or end_s is None:
            raise JsonInvalid(self.place(name), "a start and an end", "null")
        if end_s < start_s:
            raise JsonInvalid(self.place(name), "an end at or after the start", "one before it")
        return TimeWindow(start_s, end_s)

    def items(self, name: str, read: Callable[[JsonValue, str], T]) -> tuple[T, ...]:
        """A list of at most 200, each item read under its own path; empty if the field is absent."""
        value = self.raw(name)
        if isinstance(value, list) and len(value) > LIST_MAX:
            raise JsonInvalid(self.place(name), f"at most {LIST_MAX} in the list", "more")
        return super().items(name, read)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        return self.items(name, answer_text_at)


def answer_text_at(value: JsonValue, place: str) -> str:
    """A text of 1 to 2,000 characters that is not blank, at any path.

    Raises:
        JsonInvalid: the value is not such a text.
    """
    text = text_at(value, place)
    if not text.strip() or len(text) > ANSWER_TEXT_MAX:
        found = "a blank one" if not text.strip() else "a longer one"
        raise JsonInvalid(place, f"a text of 1 to {ANSWER_TEXT_MAX} characters", found)
    return text
