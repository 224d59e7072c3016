"""A question of what to do is answered from the section that says it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.knowledge import index_of

from diagnosis_harness.knowledge.markdown import markdown_blocks
from diagnosis_harness.knowledge.remedy import asks_what_to_do, says_what_to_do

RUNBOOK = (Path(__file__).parents[2] / "cases" / "A44" / "runbooks" / "QueueBacklog.md").read_text()


@pytest.mark.parametrize(
    ("question", "section"),
    [
        ("What do I do when QueueBacklog fires?", "Mitigation"),
        ("how can I fix QueueBacklog", "Mitigation"),
        ("QueueBacklog 告警怎么处理？", "Mitigation"),
        ("What does QueueBacklog mean?", "Meaning"),
    ],
)
def test_what_to_do_comes_before_what_it_means_where_that_is_asked(question: str, section: str) -> None:
    """The best file's own section of it comes first; any other question keeps the order of the words."""
    texts = {"QueueBacklog.md": RUNBOOK, "Disk.md": "# DiskFull\n\n## Meaning\n\nA disk is almost full.\n"}

    hit = index_of(texts).search(question).hits[0].passage

    assert (hit.file, hit.headings[-1]) == ("QueueBacklog.md", section)


@pytest.mark.parametrize(
    "head",
    [
        ["---", "title: Queue Backlog", "tags: [queue]", "---"],
        ["+++", 'title = "Queue Backlog"', "+++"],
        ["\ufeff---", "weight: 20", "---"],
    ],
)
def test_front_matter_is_not_a_passage(head: list[str]) -> None:
    """YAML and TOML, also behind a byte order mark; what follows keeps its lines."""
    (block,) = markdown_blocks([*head, "", "Restart the workers."])

    assert (block.text, block.first_line) == ("Restart the workers.", len(head) + 2)


def test_a_rule_at_the_head_is_not_front_matter() -> None:
    """The text between two matches must not be dropped."""
    blocks = markdown_blocks(["---", "Restart the workers.", "---", "Then wait."])

    assert "Restart the workers." in "\n".join(block.text for block in blocks)


@pytest.mark.parametrize(
    "question",
    ["what should we do about full disks", "How to recover a replica?", "磁盘满了怎么办", "如何恢复主库"],
)
def test_questions_of_what_to_do_are_known(question: str) -> None:
    """In both languages."""
    assert asks_what_to_do(question)


@pytest.mark.parametrize("question", ["what does it mean?", "who owns checkout?", "磁盘告警是什么意思"])
def test_other_questions_ask_for_no_action(question: str) -> None:
    """What something is, and whose it is."""
    assert not asks_what_to_do(question)


@pytest.mark.parametrize(
    ("headings", "expected"),
    [
        (("Disk", "Mitigation"), True),
        (("磁盘", "处理步骤"), True),
        (("How to fix a full disk", "Meaning"), False),
        (("Remediation",), True),
        ((), False),
    ],
)
def test_a_section_says_what_to_do_by_its_own_heading(headings: tuple[str, ...], expected: bool) -> None:
    """The title of the whole document says nothing of one section."""
    assert says_what_to_do(headings) is expected
