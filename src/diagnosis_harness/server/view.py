"""The base of every response body: one class builds it, serialises it, and describes it in OpenAPI."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationError,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.window import parse_utc, utc_text


def _describe(schema: dict[str, Any]) -> None:
    """The server sends no other fields, and a reference needs no title of its own."""
    schema["additionalProperties"] = False
    for field in schema["properties"].values():
        if "type" not in field and "$ref" in str(field):
            field.pop("title", None)


class View(BaseModel):
    """A response body or a part of one. Every field is always present; an unknown value is null.

    Reading one, as the command line does, ignores fields that only a newer server knows.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, json_schema_extra=_describe)

    def body(self) -> dict[str, JsonValue]:
        """The view as JSON values, in the order of its fields."""
        return self.model_dump(mode="json")

    @classmethod
    def read(cls, value: JsonValue) -> Self:
        """Read the view that a server sent.

        Raises:
            ValueError: a field is missing or of another type; the message names it.
        """
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            place = ".".join(map(str, error.errors()[0]["loc"])) or cls.__name__
            raise ValueError(f"{place} is missing or has the wrong type") from None


@dataclass(frozen=True, slots=True)
class DescribedAs:
    """Describes a value in OpenAPI by a stricter type than the one it is read with.

    A client must accept values that only a newer server knows, and a stored object is sent as it was stored.
    """

    kind: Any

    def __get_pydantic_json_schema__(self, _: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        # The wrapper makes the handler refer to a named schema instead of repeating it.
        return handler(core_schema.definitions_schema(TypeAdapter(self.kind).core_schema, []))


def _check_timestamp(text: str) -> str:
    parse_utc(text)
    return text


Timestamp: TypeAlias = Annotated[
    str, Field(examples=["2024-01-01T14:05:00Z"]), AfterValidator(_check_timestamp)
]
JsonObject: TypeAlias = dict[str, Any]


def timestamp_or_none(time_s: float | None) -> str | None:
    """A time as the API writes it."""
    return None if time_s is None else utc_text(time_s)
