"""What may be quoted: whole units that stand in the passage, with the line that announces them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.kernel.errors import AnswerRefused, FailureKind
from diagnosis_harness.knowledge.document import read_runbook
from diagnosis_harness.knowledge.passage import Passage
from diagnosis_harness.knowledge.quotation import QUOTATIONS_MAX, Quotation, check_quotations
from diagnosis_harness.knowledge.units import units_of

TEXT = """# A
Never restart the database. Restart the cache, e.g. with `flush`. It takes 5 min.

Do not:
- drop the table
- stop the node

```
run it
```
"""


def passage(text: str = TEXT) -> Passage:
    """The first passage of a file."""
    return read_runbook("a.md", text.encode(), size=2_000).passages[0]


def test_units_are_sentences_items_and_blocks() -> None:
    """An abbreviation ends no sentence; what is announced knows its announcement."""
    assert [(unit.text, unit.lead) for unit in units_of(passage())] == [
        ("Never restart the database.", None),
        ("Restart the cache, e.g. with `flush`.", None),
        ("It takes 5 min.", None),
        ("Do not:", None),
        ("- drop the table", 3),
        ("- stop the node", 3),
        ("```\nrun it\n```", 3),
    ]


def test_chinese_sentences_are_units() -> None:
    """By their own full stops."""
    assert [unit.text for unit in units_of(passage("# A\n先封锁节点。再驱逐！完成？"))] == [
        "先封锁节点。",
        "再驱逐！",
        "完成？",
    ]


def test_whole_units_are_accepted_in_the_order_of_the_passage() -> None:
    """Whatever order they came in."""
    checked = check_quotations(
        [Quotation("It takes 5 min.", 1), Quotation("Never restart the database.", 1)], [passage()]
    )

    assert [quotation.text for quotation, _ in checked] == ["Never restart the database.", "It takes 5 min."]


@pytest.mark.parametrize(
    "quotations",
    [
        [],
        [Quotation("restart the database.", 1)],  # without its "Never"
        [Quotation("Never restart the cache.", 1)],
        [Quotation("It takes 6 min.", 1)],
        [Quotation("It takes 5 min.", 2)],
        [Quotation("It takes 5 min.", 0)],
        [Quotation("- drop the table", 1)],  # without "Do not:"
        [Quotation("Do not:\n- drop the table", 1)],
        [Quotation("", 1)],
        [Quotation("It takes 5 min.", 1)] * (QUOTATIONS_MAX + 1),
    ],
)
def test_anything_else_is_refused(quotations: list[Quotation]) -> None:
    """A typed failure: no answer is made of it."""
    with pytest.raises(AnswerRefused) as refused:
        check_quotations(quotations, [passage()])

    assert refused.value.kind is FailureKind.INVALID_OUTPUT


@given(st.text(max_size=300))
def test_every_unit_is_verbatim_in_its_passage(text: str) -> None:
    """And can be quoted, with its announcement."""
    made = read_runbook("a.md", text.replace("\x00", "").encode("utf-8", "ignore"), size=2_000).passages
    for one in made:
        units = units_of(one)
        assert all(unit.text in one.text for unit in units)
        for unit in units:
            quoted = [unit] if unit.lead is None else [units[unit.lead], unit]
            assert check_quotations([Quotation(each.text, 1) for each in quoted], [one])
