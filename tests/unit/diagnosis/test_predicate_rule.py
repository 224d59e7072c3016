"""One table of predicates: total, with no default that passes, tried on both sides of each limit."""

from __future__ import annotations

import ast
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

import pytest

from diagnosis_harness import guards
from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, Predicate
from diagnosis_harness.diagnosis.predicate_rule import RULES, rule_of
from diagnosis_harness.guards.statement import state_claim
from diagnosis_harness.guards.support import objections
from diagnosis_harness.guards.verdict import FindingCode
from diagnosis_harness.guards.wording import WordingCode, wording_objections
from diagnosis_harness.guards.wording_forms import FORMS
from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.kernel.json_value import Scalar
from diagnosis_harness.testing.evidence import change_claim, change_item
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind


class Invented(StrEnum):
    """A predicate without a row."""

    FROZE = "FROZE"


def test_every_predicate_has_its_rule() -> None:
    """A new one cannot be forgotten."""
    assert set(RULES) == set(Predicate)


def test_every_predicate_with_own_words_has_its_forms() -> None:
    """And one without has none."""
    assert set(FORMS) == {predicate for predicate, rule in RULES.items() if rule.own_words}


def test_a_predicate_without_a_rule_is_supported_by_nothing() -> None:
    """Not even by an item that agrees with every field of it."""
    claim = replace(change_claim(), predicate=Invented.FROZE)  # type: ignore[arg-type]  # the point of it

    assert rule_of(Invented.FROZE) is None  # type: ignore[arg-type]  # the point of it
    assert objections(claim, change_item()) == (FindingCode.PREDICATE_NOT_SUPPORTED,)
    assert [f.code for f in wording_objections("checkout rose", claim, [change_item()])] == [
        WordingCode.NO_OWN_WORDS
    ]
    with pytest.raises(ContractViolation):
        state_claim(Invented.FROZE, change_item(), claim_id="k", refs=())  # type: ignore[arg-type]  # the same


def test_no_guard_passes_what_it_does_not_know() -> None:
    """No `case _` of a guard says yes."""
    passing = [
        path.name
        for path in Path(guards.__file__).parent.glob("*.py")
        for case in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(case, ast.match_case)
        and ast.unparse(case.pattern) == "_"
        and ast.unparse(case.body[0]) == "return True"
    ]

    assert passing == []


def test_every_kind_of_item_but_inventory_and_logs_supports_some_predicate() -> None:
    """An item kind that no claim can use would be evidence that no sentence may state."""
    supported = frozenset().union(*(rule.kinds for rule in RULES.values()))

    assert set(ItemKind) - supported == {ItemKind.INVENTORY, ItemKind.LOG_LINES}


def claim_of(predicate: Predicate, item: EvidenceItem, **fields: object) -> Claim:
    """A claim that leaves out all it can."""
    bare = Claim("k1", predicate, item.entity or "", (EvidenceRef("t1", item.item_id),))
    return replace(bare, **fields)  # type: ignore[arg-type]  # a test names the fields


def share(value: float) -> EvidenceItem:
    """A processor at this share."""
    attributes: dict[str, Scalar] = {"kind": "cpu", "bad": True}
    return replace(change_item(), value=value, baseline=0.1, unit="ratio", attributes=attributes)


@pytest.mark.parametrize(
    ("value", "is_supported"), [(0.61, False), (0.85, False), (0.899, False), (0.9, True), (0.95, True)]
)
def test_a_limit_is_nine_tenths(value: float, *, is_supported: bool) -> None:
    """At 60% of a processor nothing ran at its limit."""
    assert (objections(claim_of(Predicate.SATURATED, share(value)), share(value)) == ()) is is_supported


EDGE = EvidenceItem("e1", ItemKind.CALL_EDGE, "cart calls checkout", entity="checkout", peer="cart")


@pytest.mark.parametrize(
    ("caller", "callee", "is_supported"),
    [
        ("cart", "checkout", True),
        ("checkout", "cart", False),
        ("checkout", "checkout", False),
        ("cart", "cart", False),
        ("cart", None, False),
    ],
)
def test_a_call_has_one_direction(caller: str, callee: str | None, *, is_supported: bool) -> None:
    """`checkout calls checkout` is not what an edge from cart to checkout says."""
    claim = Claim("k1", Predicate.CALLS, caller, (EvidenceRef("t1", "e1"),), affected=callee)

    assert (objections(claim, EDGE) == ()) is is_supported


def make_change(as_far: int, windows: int, direction: Direction = Direction.UP) -> EvidenceItem:
    """A change of which so many normal windows show the like."""
    attributes: dict[str, Scalar] = {"bad": True, "kind": "cpu", "as_far": as_far, "normal_windows": windows}
    low, high = (0.1, 0.95) if direction is Direction.UP else (0.95, 0.1)
    return replace(
        change_item(), value=high, baseline=low, unit="ratio", direction=direction, attributes=attributes
    )


BEYOND = (Predicate.CHANGED, Predicate.BEGAN, Predicate.AFFECTED, Predicate.SATURATED)


@pytest.mark.parametrize("predicate", BEYOND)
@pytest.mark.parametrize(("as_far", "windows"), [(9, 11), (3, 40), (1, 11), (40, 40)])
def test_a_move_that_also_occurs_in_normal_operation_is_not_a_finding(
    predicate: Predicate, as_far: int, windows: int
) -> None:
    """It is normal, and nothing began, changed or was hit."""
    item = make_change(as_far, windows)

    assert objections(claim_of(predicate, item), item) == (FindingCode.PREDICATE_NOT_SUPPORTED,)
    assert objections(claim_of(Predicate.NORMAL, item), item) == ()


@pytest.mark.parametrize("predicate", BEYOND)
@pytest.mark.parametrize(("as_far", "windows"), [(0, 11), (2, 40), (0, 0)])
def test_a_move_beyond_normal_operation_is_a_finding(predicate: Predicate, as_far: int, windows: int) -> None:
    """Up to one window in twenty may show as much; where no normal operation is known nothing is normal."""
    item = make_change(as_far, windows)

    assert objections(claim_of(predicate, item), item) == ()
    assert objections(claim_of(Predicate.NORMAL, item), item) == (FindingCode.PREDICATE_NOT_SUPPORTED,)


@pytest.mark.parametrize("predicate", BEYOND)
def test_a_level_that_did_not_move_is_not_a_finding(predicate: Predicate) -> None:
    """Nor one whose numbers contradict its direction, or are the same."""
    for item in (
        replace(make_change(0, 40), direction=Direction.FLAT),
        replace(make_change(0, 40), value=0.95, baseline=0.95),
        replace(make_change(0, 40), value=0.95, baseline=0.96),
    ):
        assert objections(claim_of(predicate, item), item) == (FindingCode.PREDICATE_NOT_SUPPORTED,)
