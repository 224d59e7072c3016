"""Which bytes are read, and what is said of those that are not; HTML as a reader sees it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.knowledge.document import read_runbook
from diagnosis_harness.knowledge.html import html_blocks
from diagnosis_harness.knowledge.passage import BlockKind

TAGS = "p /p li ul /ul h1 /h1 table td /table pre /pre script /script style /style br/ svg/ !DOCTYPE ?php"
PIECES = st.sampled_from(
    [
        *(f"<{tag}>" for tag in TAGS.split()),
        *("<![CDATA[", "<![if !IE]>", "<!--", "-->", "&#x110000;", "&amp;", "<", ">", '<a href="', "</"),
        *("text", "\n", "词"),
    ]
)


@pytest.mark.parametrize(
    ("data", "note"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00", "not used: it is binary, or UTF-16"),
        ("runbook".encode("utf-16"), "not used: it is binary, or UTF-16"),
        ("磁盘写满".encode("gb18030"), "not used: it is not UTF-8 (byte 1)"),
        (b"", "not used: it contains no text"),
        (b" \n\t\n", "not used: it contains no text"),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, note: str) -> None:
    """One clause, and no passage."""
    read = read_runbook("a.md", data, size=500)

    assert (read.note, read.passages) == (note, ())


@given(st.binary(max_size=300), st.sampled_from(["a.md", "a.html", "a.txt"]))
def test_any_bytes_are_read_or_refused(data: bytes, file: str) -> None:
    """Nothing is raised; passages, or a note."""
    read = read_runbook(file, data, size=500)

    assert bool(read.passages) != bool(read.note)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_html_is_read(page: str) -> None:
    """However broken: blocks in the order of their lines, each with text."""
    blocks = html_blocks(page)

    assert all(block.text.strip() and 1 <= block.first_line <= block.last_line for block in blocks)
    assert all(block.last_line <= page.count("\n") + 1 for block in blocks)


def test_a_page_is_read_as_its_reader_sees_it() -> None:
    """Without scripts and styles; items, code and tables are what they are."""
    page = (
        "<title>T</title><style>p{}</style><h1>Disk\nfull</h1><p>Some <b>bold</b> text.<script>x()</script>"
        "<ul><li>one</li><li>two</ul>\n<pre>du -x\n  | sort</pre>"
        "<table><tr><th>k<th>v</tr><tr><td>1<td>2</tr></table>"
    )

    assert [(block.kind, block.text) for block in html_blocks(page)] == [
        (BlockKind.HEADING, "T"),
        (BlockKind.HEADING, "Disk full"),
        (BlockKind.TEXT, "Some bold text."),
        (BlockKind.ITEM, "one"),
        (BlockKind.ITEM, "two"),
        (BlockKind.CODE, "du -x\n  | sort"),
        (BlockKind.TABLE, "k | v\n1 | 2"),
    ]


def test_a_secret_across_tags_is_masked() -> None:
    """The text is masked as it is read, not as it is marked up."""
    read = read_runbook("a.html", b"<p>password=<b>hunter2</b>hunter2</p>", size=500)

    assert "hunter2" not in str(read.passages)


def test_plain_text_with_underlined_titles_has_headings() -> None:
    """As people write them in text files."""
    read = read_runbook("a.txt", b"Poison message\n==============\n\nSteps\n-----\n- replay\n", size=500)

    assert [one.headings for one in read.passages] == [("Poison message", "Steps")]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("piece", ["<!--", "<a ", "<p>", "</p", "&#", "<![x", "<ul><li>x", "<script>"])
def test_a_page_that_is_made_to_be_slow_is_read_soon(piece: str) -> None:
    """The time grows with the length of a page, not with its square."""
    read_runbook("a.html", (piece * (200_000 // len(piece))).encode(), size=1_200)


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        " " * 200_000 + "|x\n" + " " * 200_000 + "|-x",
        "# a" + " " * 200_000 + "b",
        "x" * 200_000,
        "|\n" * 99_999,
    ],
    ids=["spaces", "heading", "word", "rows"],
)
def test_a_document_that_is_made_to_be_slow_is_read_soon(text: str) -> None:
    """Likewise."""
    read_runbook("a.md", text.encode(), size=1_200)
