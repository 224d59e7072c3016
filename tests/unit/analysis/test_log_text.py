"""What is left of a log line when all that varies is replaced."""

from __future__ import annotations

import pytest

from diagnosis_harness.analysis.log_text import code_place, exception_of, level_of, mask_text

SAME = (
    ("order 17 took 12 ms", "order 9001 took 3.5 ms"),
    ("request 3f9a-77b0 of 10.0.3.4:8080", "request b00c-1ee7 of 10.9.9.9:80"),
    ("GET /api/v1/users/123/orders", "GET /api/v2/users/77/orders"),
    ("done at 2026-07-03T10:00:00.123Z", "done at 2026-07-04T11:01:02Z"),
    (
        "token eyJhbGciOiJIUzI1NiJ9abcdefghijklmnop is old",
        "token eyJzdWIiOiIxMjM0NTY3ODkwIn0qrstuvwxyz is old",
    ),
)
DIFFERENT = (
    ("payment accepted", "payment rejected"),
    ("GET /cart HTTP/1.1 status 200", "GET /cart HTTP/1.1 status 503"),
    ("GET /api/v1/users/1", "GET /api/v1/carts/1"),
    ("retry\n  at a.b.TimeoutException: x", "retry\n  at a.b.NullPointerException: x"),
)


@pytest.mark.parametrize(("one", "other"), SAME, ids=[one for one, _ in SAME])
def test_lines_of_one_statement_are_masked_alike(one: str, other: str) -> None:
    """Numbers, ids, addresses, times and tokens are replaced."""
    assert mask_text(one) == mask_text(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT, ids=[one for one, _ in DIFFERENT])
def test_lines_of_two_statements_stay_two(one: str, other: str) -> None:
    """Words, the class of a failed status, and the exception below the first line are what they say."""
    assert mask_text(one) != mask_text(other)


def test_a_stack_trace_is_its_first_line_and_the_type_of_its_exception() -> None:
    """Frames vary with every build; whose fault it is does not."""
    trace = "Servlet threw exception\njava.lang.IllegalStateException: no\n\tat shop.Cart.add(Cart.java:88)"
    assert mask_text(trace) == "Servlet threw exception java.lang.IllegalStateException"
    assert exception_of(trace) == "java.lang.IllegalStateException"


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("10:00 INFO o.s.OrderService#120 created", "o.s.OrderService#120"),
        ("handler.go:88 done", "handler.go:88"),
        ("order 5 done", None),
    ],
)
def test_a_place_in_the_code_keeps_its_number(line: str, place: str | None) -> None:
    """It names the statement."""
    assert code_place(line) == place


@pytest.mark.parametrize(
    ("level", "message", "expected"),
    [
        ("warning", "x", "WARN"),
        ("Err", "x", "ERROR"),
        (None, "10:00:01 ERROR [main] x", "ERROR"),
        (None, "no error was found", None),
        ("INFO", "10:00:01 ERROR inside", "INFO"),
        (None, "x" * 100 + " ERROR", None),
        ("odd", "x", "ODD"),
    ],
)
def test_a_level_has_one_name(level: str | None, message: str, expected: str | None) -> None:
    """Of the record's own field, else in capitals at the front."""
    assert level_of(level, message) == expected
