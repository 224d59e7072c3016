"""A saved run with supported claims that say less than their evidence, or other things, does not verify."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from diagnosis_harness.audit.verification.result import FlawCode
from diagnosis_harness.audit.verification.verify import verify
from diagnosis_harness.guards.verdict import FindingCode
from diagnosis_harness.report.document import root_digest

Saved = Callable[..., Any]
Change = Callable[[dict[str, Any]], None]


def codes_of(content: dict[str, Any]) -> set[str]:
    """What `verify` objects to in a file whose forger recomputed every digest."""
    for record in content["records"]:
        if record["stored"] is not None:
            record["digest"] = f"sha256:{hashlib.sha256(record['stored'].encode()).hexdigest()}"
    content["root_digest"] = root_digest(content)
    data = json.dumps(content, ensure_ascii=False, indent=2).encode() + b"\n"
    return {flaw.code.value for check in verify(data, file="run.json").checks for flaw in check.flaws}


def _first(content: dict[str, Any], predicate: str) -> dict[str, Any]:
    found: dict[str, Any] = next(c for c in content["report"]["claims"] if c["predicate"] == predicate)
    return found


def _rounds(content: dict[str, Any]) -> None:
    claim = _first(content, "CHANGED")
    claim["value"] = float(f"{claim['value']:.1e}")


def _leaves_out_the_signal(content: dict[str, Any]) -> None:
    _first(content, "CHANGED")["signal"] = None


def _leaves_out_the_window(content: dict[str, Any]) -> None:
    _first(content, "CHANGED")["window"] = None


def _cites_what_bears_nothing(content: dict[str, Any]) -> None:
    claims = content["report"]["claims"]
    first, other = claims[0], claims[1]
    first["refs"] = [*first["refs"], *other["refs"]]


def _cites_twice(content: dict[str, Any]) -> None:
    claim = content["report"]["claims"][0]
    claim["refs"] = claim["refs"] * 2


def _cuts_a_quote(content: dict[str, Any]) -> None:
    quote = _first(content, "CHANGED")["quotes"][0]
    quote["text"] = quote["text"].partition(", as far as")[0]


@pytest.mark.parametrize(
    "change",
    [
        _rounds,
        _leaves_out_the_signal,
        _leaves_out_the_window,
        _cites_what_bears_nothing,
        _cites_twice,
        _cuts_a_quote,
    ],
)
def test_a_claim_that_says_less_or_other_than_its_evidence_is_seen(saved: Saved, change: Change) -> None:
    """Even if every part of it is supported: the published numbers equal the evidence to the last digit."""
    content = json.loads(saved().data)
    before = json.dumps(content)
    change(content)

    assert json.dumps(content) != before
    assert FlawCode.STATEMENT_DIFFERS.value in codes_of(content)


def test_an_own_wording_of_who_is_the_cause_is_seen(saved: Saved) -> None:
    """It is grounded in the ranking, and says more than is known: code alone words this."""
    content = json.loads(saved().data)
    claim = _first(content, "CAUSED")
    claim["sentence"] = f"{claim['entity']} is the cause of what {claim['affected']} shows."

    assert FlawCode.SENTENCE_DIFFERS.value in codes_of(content)


def test_that_nothing_is_unusual_is_checked_as_any_claim_and_as_the_answer(saved: Saved) -> None:
    """With the number of its record; and where it is taken out, nothing answers the question."""
    content: dict[str, Any] = json.loads(saved("none").data)
    more, missing = copy.deepcopy(content), copy.deepcopy(content)
    _first(more, "UNREMARKABLE")["value"] += 1.0
    missing["report"]["claims"].remove(_first(missing, "UNREMARKABLE"))

    assert codes_of(content) == set()
    assert FindingCode.VALUE_NOT_SUPPORTED.value in codes_of(more)
    assert FlawCode.NOT_IN_THE_TABLE.value in codes_of(missing)
