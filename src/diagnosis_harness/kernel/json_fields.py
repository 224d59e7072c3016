"""Read JSON values strictly: exact types, no unknown field, and an error that names the place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from math import isfinite
from typing import TypeVar

from diagnosis_harness.kernel.errors import JsonInvalid
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.strict_json import excerpt
from diagnosis_harness.kernel.window import parse_utc, utc_text

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)


class JsonFields:
    """Reads the fields of one JSON object, each with its type.

    Args:
        optional: None if the object may have further fields that the caller does not read.

    Raises:
        JsonInvalid: the value is not an object, a required field is missing, or an unknown one is present.
    """

    __slots__ = ("_held", "path")

    def __init__(
        self,
        value: JsonValue,
        path: str,
        *,
        required: Iterable[str] = (),
        optional: Iterable[str] | None = (),
    ) -> None:
        self._held = object_at(value, path, required=required, optional=optional)
        self.path = path

    def has(self, name: str) -> bool:
        """Whether a field is present, even if it is null."""
        return name in self._held

    def raw(self, name: str) -> JsonValue:
        """A field unchanged; null if it is absent."""
        return self._held.get(name)

    def place(self, name: str) -> str:
        """The path of a field."""
        return place_in(self.path, name)

    def text(self, name: str) -> str:
        """A text."""
        return text_at(self.raw(name), self.place(name))

    def maybe_text(self, name: str) -> str | None:
        """The same, or None if the field is absent or null."""
        return None if self.raw(name) is None else self.text(name)

    def number(self, name: str) -> float:
        """A finite number; true, false and a text of digits are refused."""
        return number_at(self.raw(name), self.place(name))

    def maybe_number(self, name: str) -> float | None:
        """The same, or None if the field is absent or null."""
        return None if self.raw(name) is None else self.number(name)

    def count(self, name: str) -> int:
        """A whole number, zero or more."""
        return count_at(self.raw(name), self.place(name))

    def choice(self, name: str, among: type[E]) -> E:
        """One value of a closed set."""
        return member_at(among, self.raw(name), self.place(name))

    def maybe_choice(self, name: str, among: type[E]) -> E | None:
        """The same, or None if the field is absent or null."""
        return None if self.raw(name) is None else self.choice(name, among)

    def items(self, name: str, read: Callable[[JsonValue, str], T]) -> tuple[T, ...]:
        """A list with each element read under its own path; empty if the field is absent."""
        return items_at(self.raw(name), self.place(name), read) if self.has(name) else ()


def place_in(path: str, name: str) -> str:
    """The path of a field of the object at a path."""
    return f"{path}.{name}" if path else name


def object_at(
    value: JsonValue, place: str, *, required: Iterable[str] = (), optional: Iterable[str] | None = ()
) -> dict[str, JsonValue]:
    """An object with every required field, and no others except the optional ones (None: any)."""
    fields = any_object_at(value, place)
    wanted = tuple(required)
    if missing := [name for name in wanted if name not in fields]:
        raise JsonInvalid(
            place, _fields(missing), f"an object without {'it' if len(missing) == 1 else 'them'}"
        )
    known = fields if optional is None else {*wanted, *optional}
    if unknown := [name for name in fields if name not in known]:
        raise JsonInvalid(place, "only known fields", _fields(unknown))
    return fields


def any_object_at(value: JsonValue, place: str) -> dict[str, JsonValue]:
    """An object, whatever its fields."""
    if not isinstance(value, dict):
        raise JsonInvalid(place, "an object", kind_of(value))
    return value


def items_at(value: JsonValue, place: str, read: Callable[[JsonValue, str], T]) -> tuple[T, ...]:
    """A list with each element read under its own path."""
    if not isinstance(value, list):
        raise JsonInvalid(place, "a list", kind_of(value))
    return tuple(read(each, f"{place}[{number}]") for number, each in enumerate(value))


def text_at(value: JsonValue, place: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise JsonInvalid(place, "a text", kind_of(value))
    return value


def truth_at(value: JsonValue, place: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise JsonInvalid(place, "true or false", kind_of(value))
    return value


def number_at(value: JsonValue, place: str) -> float:
    """A finite number. A whole number is accepted and stays whole."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise JsonInvalid(place, "a number", kind_of(value))
    if not _is_finite(value):
        raise JsonInvalid(place, "a finite number", "one that is not")
    return value


def whole_at(value: JsonValue, place: str) -> int:
    """A whole number."""
    number = number_at(value, place)
    if not isinstance(number, int):
        raise JsonInvalid(place, "a whole number", "one with a fraction or exponent")
    return number


def count_at(value: JsonValue, place: str) -> int:
    """A whole number, zero or more."""
    number = whole_at(value, place)
    if number < 0:
        raise JsonInvalid(place, "a count", "a negative number")
    return number


def member_at(among: type[E], value: JsonValue, place: str) -> E:
    """One value of a closed set."""
    text = text_at(value, place)
    try:
        return among(text)
    except ValueError:
        raise JsonInvalid(place, f"one of {', '.join(among)}", f"'{excerpt(text)}'") from None


def instant_at(value: JsonValue, place: str) -> float:
    """Seconds since the epoch of a time as this program writes it: ISO 8601 in UTC, to the millisecond."""
    text = text_at(value, place)
    try:
        time_s = parse_utc(text)
        written = utc_text(time_s)
    except (ValueError, OverflowError):
        raise JsonInvalid(place, "an instant", f"'{excerpt(text)}'") from None
    if written != text:
        raise JsonInvalid(place, f"'{written}', in UTC to the millisecond", f"'{excerpt(text)}'")
    return time_s


def kind_of(value: JsonValue) -> str:
    """The kind of a JSON value, in words."""
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


def _is_finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # a whole number beyond every float
        return False


def _fields(names: list[str]) -> str:
    shown = ", ".join(f"'{excerpt(name)}'" for name in names[:5])
    return f"{'field' if len(names) == 1 else 'fields'} {shown}{' …' if len(names) > 5 else ''}"
