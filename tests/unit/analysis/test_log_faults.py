"""What lines of failure say went wrong."""

from __future__ import annotations

import pytest

from diagnosis_harness.analysis.log_faults import (
    PHRASES,
    Mechanism,
    fault_kind_in,
    mechanism_of,
    reports_failure,
)
from diagnosis_harness.diagnosis.claim import FaultKind

LINES = (
    ("java.lang.OutOfMemoryError: Java heap space", Mechanism.OUT_OF_MEMORY),
    (
        "HikariPool-1 - Connection is not available, request timed out after 30000ms.",
        Mechanism.POOL_EXHAUSTED,
    ),
    ("pgx pool: acquire failed, pool exhausted", Mechanism.POOL_EXHAUSTED),
    ("FATAL: remaining connection slots are reserved", Mechanism.POOL_EXHAUSTED),
    ("write /var/lib/data: no space left on device", Mechanism.DISK_FULL),
    ("ERROR: deadlock detected", Mechanism.LOCK),
    ("Lock wait timeout exceeded; try restarting transaction", Mechanism.LOCK),
    ("ProvisionedThroughputExceededException: Rate exceeded", Mechanism.RATE_LIMIT),
    ("dial tcp: lookup api.example.com: no such host", Mechanism.NAME_RESOLUTION),
    ("x509: certificate has expired or is not yet valid", Mechanism.CERTIFICATE),
    ("token rejected: invalid issuer", Mechanism.PERMISSION),
    ("open /etc/app/key: permission denied", Mechanism.PERMISSION),
    ("Could not resolve placeholder 'db.url' in value", Mechanism.CONFIGURATION),
    ('pq: relation "dashboard_favorites" does not exist', Mechanism.SCHEMA),
    ("connect ECONNREFUSED 10.0.0.4:5432", Mechanism.REFUSED),
    ("read tcp: connection reset by peer", Mechanism.UNREACHABLE),
    ("panic: runtime error: invalid memory address or nil pointer dereference", Mechanism.CODE),
    ("TypeError: Cannot read properties of undefined", Mechanism.CODE),
    ("context deadline exceeded", Mechanism.TIMEOUT),
    ("ListCarts: context canceled by client before completion", Mechanism.GIVEN_UP),
)


@pytest.mark.parametrize(("line", "mechanism"), LINES, ids=[line for line, _ in LINES])
def test_the_fields_own_phrases_are_known(line: str, mechanism: Mechanism) -> None:
    """As runtimes, databases and libraries write them."""
    found = mechanism_of(line)
    assert found is not None
    assert found.mechanism is mechanism


def test_every_mechanism_has_one_row_and_an_example() -> None:
    """The table is total."""
    assert sorted(row.mechanism for row in PHRASES) == sorted(Mechanism)
    assert {mechanism for _, mechanism in LINES} == set(Mechanism)


def test_every_mechanism_is_evidence_for_a_kind_of_fault_that_a_cause_can_have() -> None:
    """The statistics know the kinds by their wire values alone."""
    assert {row.fault_kind for row in PHRASES} <= {kind.value for kind in FaultKind}


@pytest.mark.parametrize("line", ["order placed", "", "user bob logged in", "started in 3.8 seconds"])
def test_a_plain_line_names_no_mechanism(line: str) -> None:
    """And is no failure."""
    assert mechanism_of(line) is None
    assert not reports_failure(None, line)
    assert fault_kind_in(line) == "ERRORS"


@pytest.mark.parametrize(
    ("level", "line", "fails"),
    [
        ("ERROR", "anything", True),
        ("WARN", "slow call", True),
        ("INFO", "call to payments failed", True),
        (None, "java.io.IOException: x", True),
        ("DEBUG", "call failed, trying again", False),
        ("INFO", "0 errors, 12 files", False),
        ("INFO", "finished without errors", False),
        ("INFO", "batch done failed=0 total=7", False),
        ("INFO", "timeout=30 set", False),
        ("INFO", "done err=nil", False),
    ],
)
def test_a_failure_is_known_by_level_or_by_words(level: str | None, line: str, fails: bool) -> None:
    """A line that denies a failure, or states a limit, is not one."""
    assert reports_failure(level, line) is fails
