"""A record has four legal shapes and two moves."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from diagnosis_harness.kernel.canonical import digest
from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.testing.evidence import change_item, error_record, projecting_record, ready_record
from diagnosis_harness.tools.evidence import EvidenceStatus, InvocationStatus
from diagnosis_harness.tools.invocation import ErrorCode, EvidenceRecord

LEGAL = {
    (InvocationStatus.PROJECTING, None): projecting_record(),
    (InvocationStatus.READY, EvidenceStatus.EVIDENCE_FOUND): ready_record(change_item()),
    (InvocationStatus.READY, EvidenceStatus.NO_EVIDENCE): ready_record(),
    (InvocationStatus.ERROR, EvidenceStatus.ERROR): error_record(),
}


@pytest.mark.parametrize("pair", list(product(InvocationStatus, [None, *EvidenceStatus])))
def test_only_the_legal_pairs_of_statuses_can_be_built(
    pair: tuple[InvocationStatus, EvidenceStatus | None],
) -> None:
    """Whatever record one starts from, an illegal pair cannot be built."""
    if pair in LEGAL:
        record = LEGAL[pair]
        assert (record.invocation, record.evidence) == pair
        return
    for record in LEGAL.values():
        with pytest.raises(ContractViolation):
            replace(record, invocation=pair[0], evidence=pair[1])


@pytest.mark.parametrize("record", [ready_record(change_item()), ready_record(), error_record()])
def test_ready_and_error_are_final(record: EvidenceRecord) -> None:
    """No move leads out of a final record."""
    with pytest.raises(ContractViolation, match="final"):
        record.with_error(ErrorCode.TIMED_OUT, at_s=1.0)
    with pytest.raises(ContractViolation, match="final"):
        record.ready(ready_record().projection, at_s=1.0)  # type: ignore[arg-type]  # READY has one


def test_the_digest_is_over_the_stored_bytes() -> None:
    """Whoever holds the bytes can check them."""
    record = ready_record(change_item())
    assert record.projection is not None
    assert record.digest == digest(record.projection.stored)
    assert record.size_bytes == len(record.projection.stored)


@pytest.mark.parametrize(
    "bent",
    [
        {"error_code": ErrorCode.TIMED_OUT},
        {"digest": None},
        {"projection": None},
        {"finished_s": None},
        {"evidence": EvidenceStatus.NO_EVIDENCE},
    ],
)
def test_a_ready_record_is_whole(bent: dict[str, object]) -> None:
    """Projection, digest and end belong to READY, an error code does not, and found means found."""
    with pytest.raises(ContractViolation):
        replace(ready_record(change_item()), **bent)  # type: ignore[arg-type]  # fields of the record


@pytest.mark.parametrize(
    ("attributes", "number"),
    [({"margin": 0.25}, 0.25), ({"margin": 2}, 2.0), ({"margin": "wide"}, 0.0), ({}, 0.0)],
)
def test_an_attribute_that_states_no_number_counts_as_none(
    attributes: dict[str, float | str], number: float
) -> None:
    """Whoever weighs a candidate never takes a part that its tool did not state for more than nothing."""
    assert replace(change_item(), attributes=attributes).number("margin") == number
