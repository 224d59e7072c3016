"""The head of a CSV file: separator, header depth, column count."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.adapters.sources.incident_folder.csv_file import parse_header
from diagnosis_harness.kernel.errors import InvalidInput

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), min_size=1, max_size=12)


def parse(text: str, *, depth: int = 1, whole: bool = True) -> tuple[str, ...]:
    """The column names of a text."""
    return parse_header(text, whole=whole, depth=depth, tabs=False, place="metrics.csv").names


@given(st.text(), st.integers(1, 3), st.booleans(), st.booleans())
def test_any_text_has_a_header_or_is_refused_in_one_sentence(
    text: str, depth: int, whole: bool, tabs: bool
) -> None:
    """The parser raises nothing but InvalidInput, whatever the bytes of a file were."""
    try:
        header = parse_header(text, whole=whole, depth=depth, tabs=tabs, place="metrics.csv")
    except InvalidInput as refused:
        assert refused.place.startswith("metrics.csv")  # noqa: PT017  # both ways out are right
        return
    assert header.names
    assert all(len(row) == len(header.names) for row in header.sample)


@given(st.lists(CELLS, min_size=1, max_size=6, unique=True))
def test_a_header_that_was_written_by_the_rules_is_read_back(names: list[str]) -> None:
    """Quotes, separators and line breaks inside names survive."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([names, *[["1"] * len(names)] * 2])
    if "," in text.getvalue().split("\n", 1)[0] and names[0].strip():
        assert parse(text.getvalue()) == tuple(names)


@pytest.mark.parametrize(
    ("text", "separator"),
    [("time,a.x\n1,2\n", ","), ("time;a.x\n1;2\n", ";"), ("time\ta.x\n1\t2\n", "\t"), ("time\n1\n", ",")],
)
def test_the_separator_is_the_one_of_the_header(text: str, separator: str) -> None:
    """A comma wins; without one, a semicolon or a tab does."""
    assert parse_header(text, whole=True, depth=1, tabs=False, place="").separator == separator


def test_a_row_that_the_head_cuts_off_is_not_called_ragged() -> None:
    """The head of a large file ends anywhere."""
    assert parse("time,entity,value\n1,a,2\n2,b", whole=False) == ("time", "entity", "value")


def test_two_header_rows_are_refused_with_the_setting() -> None:
    """Words over words over numbers."""
    with pytest.raises(InvalidInput, match="header_rows = 2"):
        parse("service,Pay,Pay\nmetric,latency,errors\n1700000000,1,2\n")


def test_rows_of_words_alone_are_not_header_rows() -> None:
    """A topology file has no numbers at all."""
    assert parse("caller,callee\nshop,pay\npay,bank\n") == ("caller", "callee")


def test_more_header_rows_than_were_said_are_refused() -> None:
    """`header_rows = 2` over a file with three."""
    with pytest.raises(InvalidInput, match="header_rows = 3"):
        parse("service,Pay,Pay\nmetric,latency,latency\nstatistic,p50,p90\n1700000000,1,2\n", depth=2)


def test_empty_lines_are_skipped() -> None:
    """Between rows and at the end."""
    header = parse_header("time,a.x\n\n1,2\n\n3,4\n\n", whole=True, depth=1, tabs=False, place="")
    assert header.sample == (("1", "2"), ("3", "4"))
