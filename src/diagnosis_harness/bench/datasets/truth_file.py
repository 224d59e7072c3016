"""truth.toml: the right answer to one's own incident (docs/reference/truth.md), checked key by key."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from diagnosis_harness.bench.case import Truth
from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.kernel.errors import InvalidInput

TRUTH_NAME = "truth.toml"
SEE_PAGE = "see docs/reference/truth.md for the values allowed here"
UNNAMED = "it names neither `entities` nor `nothing_wrong`"

_Words = Annotated[str, Field(min_length=1, max_length=500)]


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    entities: list[_Words] = []
    nothing_wrong: bool = False
    fault_kind: _Words | None = None
    kinds: list[_Words] = []
    region: _Words | None = None
    level: Literal["LOCALISED", "EXPLAINED", "TRIGGER", "SCOPED"] | None = None
    trigger: list[_Words] = []
    without_trigger: bool = False
    scope: list[_Words] = []
    decoys: list[_Words] = []
    decoy_entities: list[_Words] = []
    mechanism: list[Annotated[list[_Words], Field(min_length=1)]] = []
    forbidden: list[_Words] = []

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if not self.entities and not self.nothing_wrong:
            raise ValueError(UNNAMED)
        if self.entities and self.nothing_wrong:
            raise ValueError("it names entities and says that nothing was wrong")
        if self.trigger and self.without_trigger:
            raise ValueError("it names a trigger and says that there was none")
        unknown = sorted(set(self.kinds) - {kind.value for kind in FaultKind})
        if unknown:
            known = ", ".join(kind.value for kind in FaultKind)
            raise ValueError(f"`kinds` holds {unknown[0]}, which is none of {known}")
        return self


TRUTH_KEYS = tuple(_Document.model_fields)
"""The keys of a truth.toml."""


def read_truth(path: Path) -> Truth:
    """The truth in a file.

    Raises:
        InvalidInput: it does not exist, is not TOML, has an unknown key or value, or names no entity.
    """
    place = f"{path.parent.name}/{path.name}"
    try:
        document = _Document.model_validate(tomllib.loads(path.read_text(encoding="utf-8-sig")))
    except FileNotFoundError as error:
        raise InvalidInput(place, "it is not there", f"write one; {SEE_PAGE}") from error
    except OSError as error:
        raise InvalidInput(place, f"it cannot be read ({error.strerror})", "check its permissions") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(place, f"it is not valid TOML ({error})", "correct that line") from error
    except ValidationError as error:
        raise InvalidInput(place, _sentence(error), SEE_PAGE) from error
    return Truth(
        entities=tuple(dict.fromkeys(document.entities)),
        fault_kind=document.fault_kind or ("none" if document.nothing_wrong else "own"),
        region=document.region,
        kinds=frozenset(document.kinds),
        level=document.level or "",
        trigger=tuple(document.trigger),
        without_trigger=document.without_trigger,
        scope=tuple(document.scope),
        decoys=tuple(document.decoys),
        decoy_entities=tuple(document.decoy_entities),
        mechanism=tuple(tuple(group) for group in document.mechanism),
        forbidden=tuple(document.forbidden),
    )


def _sentence(error: ValidationError) -> str:
    """The first error, as a clause that continues the place."""
    first = error.errors(include_url=False, include_context=False)[0]
    keys = ".".join(str(key) for key in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"`{keys}` is no key of it"
    message = first["msg"].removeprefix("Value error, ")
    return f"`{keys}` is not usable: {message[:1].lower()}{message[1:]}" if keys else message
