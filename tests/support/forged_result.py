"""Forgeries of what a saved run came to: verdicts, claims, confidence and its end."""

from __future__ import annotations

import copy

from tests.support.forgery import Held, Random, has_release, lines_of, pick, rewrite

# ------------------------------------------------------------------ verdicts, claims and the end


def turn_the_verdict(content: Held, random: Random) -> bool:
    """Of the judge, in the line and in its status."""
    line = pick(lines_of(content, "SEMANTIC_GUARD_DECISION"), random)
    if line is None or not has_release(content):
        return False
    was = line["data"].get("verdict") == "SUPPORTED"
    line["status"] = "REJECTED" if was else "SUCCEEDED"
    return rewrite(line, verdict="UNSUPPORTED" if was else "SUPPORTED", reasons=["WEAK"] if was else [])


def pass_fewer_claims(content: Held, random: Random) -> bool:
    """The guard passed less than was published."""
    lines = lines_of(content, "EVIDENCE_GUARD_INITIAL", "EVIDENCE_GUARD_RECHECK")
    if not lines or not content["report"]["causes"] or lines[-1]["data"]["findings"]:
        return False
    return rewrite(lines[-1], passed=int(random.integers(len(content["report"]["claims"]))))


def drop_a_claim(content: Held, random: Random) -> bool:
    """One on which no cause rests, with the names of the others as they follow then."""
    needed = {each for cause in content["report"]["causes"] for each in cause["claim_ids"]}
    free = [each for each in content["report"]["claims"] if each["claim_id"] not in needed]
    claim = pick(free, random)
    if claim is None:
        return False
    content["report"]["claims"].remove(claim)
    names = {each["claim_id"]: f"k{place}" for place, each in enumerate(content["report"]["claims"], start=1)}
    for each in content["report"]["claims"]:
        each["claim_id"] = names[each["claim_id"]]
    for cause in content["report"]["causes"]:
        cause["claim_ids"] = [names[each] for each in cause["claim_ids"]]
    return True


def say_a_claim_twice(content: Held, random: Random) -> bool:
    """Once more at the end, under the name that is next."""
    claim = pick(content["report"]["claims"], random)
    if claim is None:
        return False
    name = f"k{len(content['report']['claims']) + 1}"
    content["report"]["claims"].append({**copy.deepcopy(claim), "claim_id": name})
    return True


def name_a_claim_otherwise(content: Held, random: Random) -> bool:
    """Out of the order in which a run names them."""
    claim = pick(content["report"]["claims"], random)
    if claim is None or any(claim["claim_id"] in cause["claim_ids"] for cause in content["report"]["causes"]):
        return False
    claim["claim_id"] = "k99"
    return True


def drop_a_candidate(content: Held, random: Random) -> bool:
    """One of several that stood."""
    candidates = content["report"]["candidates"]
    if len(candidates) < 2:
        return False
    candidates.remove(pick(candidates, random))
    return True


def alter_a_sentence(content: Held, random: Random) -> bool:
    """A claim whose words say more than it does, in either language."""
    claim = pick(content["report"]["claims"], random)
    if claim is None:
        return False
    claim["sentence"] += "其余一切正常。" if content["run"]["language"] == "zh" else " All else is sound."
    return True


def raise_the_confidence(content: Held, random: Random) -> bool:
    """Above that of the ranking that was judged."""
    cause = pick(content["report"]["causes"], random)
    if cause is None:
        return False
    cause["confidence"] = 0.99 if cause["confidence"] != 0.99 else 0.98
    return True


def end_out_of_time(content: Held, random: Random) -> bool:
    """A run that succeeded as one that ran out of time, in the document and in the trace alike."""
    del random
    if content["run"]["state"] != "SUCCESS" or not content["report"]["claims"] or content["report"]["causes"]:
        return False
    content["run"]["state"], content["run"]["termination"]["reason"] = "TIMED_OUT", "DEADLINE_EXCEEDED"
    for line in lines_of(content, "RUN_ENDED", "RUN_FINISHED"):
        rewrite(line, state="TIMED_OUT", reason="DEADLINE_EXCEEDED")
        if line["name"] == "RUN_ENDED":
            line["status"] = "FAILED"
    return True
