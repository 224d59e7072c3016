"""Whom a line of failure names as called."""

from __future__ import annotations

import pytest

from diagnosis_harness.toolbox.named_entities import find_callees

KNOWN = frozenset(
    {"orders", "payments", "payments-db", "search", "ts-basic-service", "10.0.3.4", "orders-7d9f"}
)
OWNERS = {"10.0.3.4": "stock", "orders-7d9f": "orders"}


@pytest.mark.parametrize(
    ("line", "callees"),
    [
        ("call to payments failed after 20 ms", ("payments",)),
        ("connection refused to payments-db:5432", ("payments-db",)),
        ("timeout connecting to payments", ("payments",)),
        ("dial tcp 10.0.3.4:8080: i/o timeout", ("stock",)),
        ("GET http://payments.prod.svc.cluster.local/charge: EOF", ("payments",)),
        ("lookup payments-db on 10.96.0.10:53: no such host", ("payments-db",)),
        ("No instances available for ts-basic-service", ("ts-basic-service",)),
        ("could not obtain a quote from payments", ("payments",)),
        ("upstream payments returned 503", ("payments",)),
        ("request from payments was refused", ()),
        ("search failed with status 500", ()),
        ("failed to place orders", ()),
        ("call to orders failed", ()),
        ("call to orders-7d9f failed", ()),
    ],
)
def test_a_name_counts_where_the_line_says_that_it_was_called(line: str, callees: tuple[str, ...]) -> None:
    """Never the writer itself, nor who asked, nor an everyday word that is also a service."""
    assert find_callees(line, "orders-7d9f", KNOWN, OWNERS) == callees
