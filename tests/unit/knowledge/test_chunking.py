"""Documents to passages: no text is lost, places are right, ids are unique, whatever is in the file."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.knowledge.document import read_runbook
from diagnosis_harness.knowledge.passage import BlockKind, Passage

LINES = st.sampled_from(
    [
        "# One",
        "## Two",
        "### 三 級",
        "#",
        "Title",
        "=====",
        "---",
        "- item",
        "  goes on",
        "1. first",
        "```",
        "~~~ sh",
        "| a | b |",
        "|---|---|",
        "    indented",
        "",
        "word " * 40,
        "句子。" * 80,
        "x" * 700,
    ]
)
DOCUMENTS = st.one_of(
    st.lists(LINES, max_size=30).map("\n".join),
    st.text(max_size=400),
    st.lists(st.one_of(LINES, st.text(max_size=60)), max_size=20).map("\n".join),
)


def passages(text: str, size: int = 300) -> tuple[Passage, ...]:
    """The passages of a Markdown file."""
    return read_runbook("a.md", text.encode("utf-8", "surrogatepass"), size=size).passages


def words(text: str) -> list[str]:
    """What a reader reads, without space and the marks of headings."""
    return re.findall(r"\w", text)


@given(DOCUMENTS.filter(lambda text: "\x00" not in text and not re.search(r"[\ud800-\udfff]", text)))
def test_no_text_is_lost(text: str) -> None:
    """Every line with a word is in the range of a passage, or is the heading of one."""
    given_lines = re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff"))
    made = passages(text)
    kept = {number for one in made for number in range(one.first_line, one.last_line + 1)}
    headings = {heading for one in made for heading in one.headings}

    for number, line in enumerate(given_lines, start=1):
        if re.search(r"\w", line) and number not in kept:
            assert re.sub(r"^\s{0,3}#+\s+|\s+#+\s*$", "", line).strip() in headings


@given(DOCUMENTS.filter(lambda text: "\x00" not in text and not re.search(r"[\ud800-\udfff\r]", text)))
def test_a_passage_is_at_the_place_that_it_names(text: str) -> None:
    """Its words are those of the lines of its range, in their order."""
    lines = text.removeprefix("\ufeff").split("\n")

    for passage in passages(text):
        assert 1 <= passage.first_line <= passage.last_line <= len(lines)
        around = "\n".join(lines[passage.first_line - 1 : passage.last_line])
        assert "".join(words(passage.text)) in "".join(words(around))


@given(DOCUMENTS, st.integers(200, 600))
def test_ids_are_unique_and_sizes_kept(text: str, size: int) -> None:
    """Whatever the headings are called; no block is longer than the size."""
    made = passages(text.replace("\x00", ""), size)

    assert len({one.passage_id for one in made}) == len(made)
    assert all(len(block.text) <= size for one in made for block in one.blocks if block.level == 0)


@given(DOCUMENTS)
def test_the_same_bytes_give_the_same_passages(text: str) -> None:
    """Ids and digests are stable."""
    assert passages(text) == passages(text)


def test_a_passage_knows_its_headings() -> None:
    """The outermost first; a heading ends those at its level and below."""
    made = passages("# A\none\n## B\ntwo\n# C\nthree\n")

    assert [(one.passage_id, one.headings) for one in made] == [
        ("a.md#a-1", ("A",)),
        ("a.md#b-1", ("A", "B")),
        ("a.md#c-1", ("C",)),
    ]


def test_code_and_tables_stay_whole_where_they_fit() -> None:
    """A long section is parted between its blocks, not inside one that fits."""
    code = "```sh\n" + "\n".join(f"step {number}" for number in range(20)) + "\n```"
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |"
    made = passages(f"# A\n{'text ' * 40}\n\n{code}\n\n{'more ' * 40}\n\n{table}\n", size=250)

    blocks = {block.text: block.kind for one in made for block in one.blocks}
    assert blocks[code] is BlockKind.CODE
    assert blocks[table] is BlockKind.TABLE


def test_a_hash_inside_code_is_not_a_heading() -> None:
    """Comments of scripts are not the document's."""
    made = passages("# A\n```sh\n# not a heading\n```\nafter\n")

    assert [one.headings for one in made] == [("A",)]


def test_a_heading_with_nothing_below_is_a_passage() -> None:
    """Its words can be found, too."""
    assert passages("# A\ntext\n## Only this\n")[-1].text == "Only this"


def test_lines_are_those_of_the_file_when_a_key_of_many_lines_is_masked() -> None:
    """The text after the key keeps its place, and the key is masked."""
    key = "-----BEGIN PRIVATE KEY-----\n" + "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 2] * 6)
    text = f"# A\n\n{key}\n-----END PRIVATE KEY-----\n\nBehind it.\n"
    made = passages(text)

    assert all("MIIE" not in one.text for one in made)
    assert [block.first_line for one in made for block in one.blocks if block.text == "Behind it."] == [
        text.split("\n").index("Behind it.") + 1
    ]


def test_secrets_do_not_reach_a_passage_or_a_heading() -> None:
    """Masked before anything is kept."""
    made = passages("# password=hunter2hunter2\nexport API_TOKEN=abcdef1234567890abcdef\n")

    assert "hunter2" not in str(made)
    assert "abcdef1234567890" not in str(made)
