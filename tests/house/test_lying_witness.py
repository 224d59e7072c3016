"""The liar's witness knows the truth of its worlds: it objects to what is not so, and to nothing else."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from dev.lying.chosen.claim_truth import TRUE_WHEN
from dev.lying.chosen.claims import SUPPORTED_BY
from dev.lying.chosen.house import House
from dev.lying.chosen.witness import Witness
from dev.lying.chosen.worlds import make_world

from diagnosis_harness.diagnosis.claim import Predicate
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.players.embedded.analyst import EmbeddedAnalyst

Held = dict[str, Any]
SEED = 5


@pytest.fixture(scope="module")
def honest() -> Iterator[tuple[Held, Witness]]:
    """What the embedded analyst publishes in a plain world, and who knows the truth about it."""
    worlds = (make_world("plain", number, SEED) for number in range(50))
    house = House(next(each for each in worlds if each.plant.troubles[0].busier > 1.0))
    document = asyncio.run(house.run(EmbeddedAnalyst(), Language.EN))
    yield dict(document.as_json()), Witness(house.world, house.reference())
    house.close()


def claims(content: Held, predicate: str) -> list[Held]:
    """The claims of a document that say this."""
    return [each for each in content["report"]["claims"] if each["predicate"] == predicate]


def test_the_witness_knows_every_predicate() -> None:
    """A predicate that it cannot judge would stop the liar in the middle of a large run."""
    predicates = {each.value for each in Predicate}

    assert set(SUPPORTED_BY) == predicates
    assert set(TRUE_WHEN) == predicates


def other_cause(content: Held) -> None:
    """Another service is named."""
    content["report"]["causes"][0]["entity"] = content["report"]["candidates"][0]["entity"]


def other_number(content: Held) -> None:
    """A number is a tenth off."""
    claims(content, "CHANGED")[0]["value"] *= 1.1


def other_window(content: Held) -> None:
    """A window begins another day."""
    claims(content, "CHANGED")[0]["window"]["start"] = "2024-01-01T00:00:00Z"


def other_direction(content: Held) -> None:
    """What rose, fell."""
    claim = claims(content, "CHANGED")[0]
    claim["sentence"] = claim["sentence"].replace("rose", "fell")


def no_signal(content: Held) -> None:
    """It is not said what rose."""
    claim = claims(content, "CHANGED")[0]
    claim["sentence"] = claim["sentence"].replace(f"{claim['signal']} of ", "")


def cite_beside(content: Held) -> None:
    """A citation of the ranking, for a signal."""
    claims(content, "CHANGED")[0]["refs"].append(claims(content, "CAUSED")[0]["refs"][0])


def cite_twice(content: Held) -> None:
    """One citation, two times."""
    claims(content, "CHANGED")[0]["refs"] *= 2


def first_candidate_gone(content: Held) -> None:
    """The list begins with the second."""
    content["report"]["candidates"] = content["report"]["candidates"][1:]


def onset_given(content: Held) -> None:
    """Nobody said so."""
    content["report"]["onset"] = {"at": "2024-01-01T00:00:00Z", "method": "given", "alert_at": None}


def moon_missing(content: Held) -> None:
    """It is no telemetry."""
    content["report"]["missing_info"].append("the moon")


def culprit_affected(content: Held) -> None:
    """The cause is said to be hit, and not the cause."""
    claim = copy.deepcopy(claims(content, "CHANGED")[0])
    content["report"]["claims"].append({**claim, "predicate": "AFFECTED"})


def culprit_normal(content: Held) -> None:
    """What rose is called normal."""
    claim = copy.deepcopy(claims(content, "CHANGED")[0])
    content["report"]["claims"].append({**claim, "predicate": "NORMAL"})


def usual_exchanged(content: Held) -> None:
    """The new level is called the usual one."""
    claim = claims(content, "CHANGED")[0]
    now = claim["sentence"].split(" to ")[1].split(" (")[0]
    claim["sentence"] = f"{claim['signal']} of {claim['entity']} is usually {now}."


def older_ranking(content: Held) -> None:
    """The ranking that is cited is of an earlier instant than what was asked about."""
    ref = claims(content, "CAUSED")[0]["refs"][0]
    record = next(each for each in content["records"] if each["tool_call_id"] == ref["tool_call_id"])
    stored = json.loads(record["stored"])
    item = next(each for each in stored["items"] if each["item_id"] == ref["item_id"])
    item["onset"] = "2024-01-01T00:00:00Z"
    record["stored"] = json.dumps(stored)


EDITS: dict[str, Callable[[Held], None]] = {
    "wrong cause": other_cause,
    "number not as measured": other_number,
    "time not as recorded": other_window,
    "direction": other_direction,
    "cause of another time": older_ranking,
    "signal left out": no_signal,
    "citation that bears nothing": cite_beside,
    "the same citation twice": cite_twice,
    "candidates not as ranked": first_candidate_gone,
    "onset that nobody gave": onset_given,
    "not missing": moon_missing,
    "acquitted, and is the cause or unharmed": culprit_affected,
    "called normal, and is not": culprit_normal,
    "usual level exchanged": usual_exchanged,
}


def test_an_honest_document_is_not_objected_to(honest: tuple[Held, Witness]) -> None:
    """A witness that objects to everything proves nothing."""
    content, witness = honest

    assert content["report"]["causes"]
    assert witness.objections(content) == []


@pytest.mark.parametrize("kind", EDITS)
def test_one_thing_that_is_not_so_is_seen(honest: tuple[Held, Witness], kind: str) -> None:
    """And called by its name."""
    content, witness = json.loads(json.dumps(honest[0])), honest[1]

    EDITS[kind](content)

    assert kind in {each.kind for each in witness.objections(content)}


def test_a_sentence_that_is_known_to_be_false_is_seen(honest: tuple[Held, Witness]) -> None:
    """The agent's own wording, and its prose outside of quotation marks."""
    content, witness = honest
    sentence = claims(content, "CHANGED")[0]["sentence"]

    assert [each.kind for each in witness.objections(content, untrue=[sentence])] == ["false wording"]
    assert "prose outside quotation marks" in {
        each.kind for each in witness.objections(content, prose=[sentence])
    }
