"""Base class of the parts of a run that must not be copied."""

from __future__ import annotations

from typing import NoReturn, Self, SupportsIndex

from diagnosis_harness.kernel.errors import ContractViolation


class RunHandle:
    """Base of a run's mutable state: copying returns the same object, and pickling raises."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise ContractViolation(f"a {type(self).__name__} is one run's live state and cannot be pickled")
