"""The bytes of evidence that one run may store."""

from __future__ import annotations

from threading import RLock

from diagnosis_harness.harness.handle import RunHandle
from diagnosis_harness.harness.numbers import is_count, short_repr
from diagnosis_harness.kernel.errors import CapacityRefused, ContractViolation


class RunCapacity(RunHandle):
    """Counts bytes up to a limit; a refused reservation changes nothing. It ends no run: the core does."""

    __slots__ = ("_lock", "_used_bytes", "limit_bytes")

    def __init__(self, lock: RLock, limit_bytes: int) -> None:
        self._lock = lock
        self._used_bytes = 0
        self.limit_bytes = limit_bytes

    @property
    def used_bytes(self) -> int:
        """Bytes of all granted reservations."""
        return self._used_bytes

    def reserve(self, size_bytes: int) -> None:
        """Reserve `size_bytes`, all or nothing; the limit itself may be reached.

        Raises:
            CapacityRefused: the limit would be passed.
            ContractViolation: the size is not a positive whole number.
        """
        require_positive_bytes(size_bytes)
        with self._lock:
            used_bytes = self._used_bytes
            if used_bytes + size_bytes > self.limit_bytes:
                raise CapacityRefused(
                    asked_bytes=size_bytes, used_bytes=used_bytes, limit_bytes=self.limit_bytes
                )
            self._used_bytes = used_bytes + size_bytes


def require_positive_bytes(size_bytes: object) -> None:
    """Refuse a size that is not a positive whole number.

    Raises:
        ContractViolation: it is not.
    """
    if not is_count(size_bytes, least=1):
        raise ContractViolation(f"a reservation is a positive number of bytes, not {short_repr(size_bytes)}")
