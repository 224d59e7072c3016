"""Forgeries of the steps, times and lines of a saved run, and of records beside them."""

from __future__ import annotations

import copy

from tests.support.forgery import Held, Random, counter_of, has_release, lines_of, pick, rewrite

from diagnosis_harness.report.window import read_instant

_PLAINLY_S = 0.01
"""Times are written to the millisecond; what differs by more was not rounded."""

# ------------------------------------------------------------------ the steps of the trace

_STEPS = (
    "RUN_STARTED",
    "AGENT_MODEL_STEP",
    "TOOL_INVOCATION",
    "EVIDENCE_GUARD_INITIAL",
    "SEMANTIC_GUARD_DECISION",
    "RELEASE_DECISION",
    "RUN_ENDED",
    "RUN_FINISHED",
)


def leave_a_step_out(content: Held, random: Random) -> bool:
    """One that something else in the document needs."""
    needed = _STEPS if content["report"]["causes"] else ("TOOL_INVOCATION", "RUN_ENDED", "RUN_FINISHED")
    line = pick(
        lines_of(content, *needed) if has_release(content) else lines_of(content, "RUN_FINISHED"), random
    )
    if line is None:
        return False
    content["trace"].remove(line)
    return True


def double_a_step(content: Held, random: Random) -> bool:
    """At its own place, at its own time."""
    line = pick(lines_of(content, *_STEPS), random)
    if line is None:
        return False
    content["trace"].insert(content["trace"].index(line), copy.deepcopy(line))
    return True


def exchange_two_steps(content: Held, random: Random) -> bool:
    """The start and the end of one call, with the times where they were."""
    call = pick(lines_of(content, "TOOL_INVOCATION", status="STARTED"), random)
    if call is None:
        return False
    places = [
        place
        for place, line in enumerate(content["trace"])
        if line["name"] == "TOOL_INVOCATION" and line["data"]["tool_call_id"] == call["data"]["tool_call_id"]
    ]
    if len(places) != 2:
        return False
    one, other = places
    trace = content["trace"]
    trace[one], trace[other] = trace[other], trace[one]
    trace[one]["at"], trace[other]["at"] = trace[other]["at"], trace[one]["at"]
    return True


def judge_before_the_evidence(content: Held, random: Random) -> bool:
    """The judge's verdict before that of the guard, with the times where they were."""
    del random
    evidence, verdict = (
        lines_of(content, "EVIDENCE_GUARD_INITIAL"),
        lines_of(content, "SEMANTIC_GUARD_DECISION"),
    )
    if not (evidence and verdict):
        return False
    trace = content["trace"]
    one, other = trace.index(evidence[0]), trace.index(verdict[0])
    trace[one], trace[other] = trace[other], trace[one]
    trace[one]["at"], trace[other]["at"] = trace[other]["at"], trace[one]["at"]
    return True


def take_a_step_of_another_run(content: Held, random: Random) -> bool:
    """A call of which this run has no record."""
    line = pick(lines_of(content, "TOOL_INVOCATION", status="SUCCEEDED"), random)
    if line is None:
        return False
    other = copy.deepcopy(line)
    rewrite(other, tool_call_id="t99")
    content["trace"].insert(content["trace"].index(line), other)
    return True


def _refs(candidate: Held) -> list[Held]:
    return [*candidate["evidence_for"], *candidate["evidence_against"]]


def drop_a_record(content: Held, random: Random) -> bool:
    """One that nothing cites, from the list, the coverage and the counters."""
    cited = {ref["tool_call_id"] for claim in content["report"]["claims"] for ref in claim["refs"]}
    cited |= {each["tool_call_id"] for each in content["report"]["rankings"]}
    cited |= {ref["tool_call_id"] for each in content["report"]["candidates"] for ref in _refs(each)}
    free = [each for each in content["records"] if each["tool_call_id"] not in cited]
    record = pick(free, random)
    if record is None or not has_release(content):
        return False
    content["records"].remove(record)
    for part in ("asked", "empty", "failed"):
        listed = content["report"]["coverage"][part]
        listed[:] = [each for each in listed if each["tool_call_id"] != record["tool_call_id"]]
    for name, tool, less in (
        ("tool_calls", None, 1),
        ("tool_calls", record["tool"], 1),
        ("run_bytes", None, record["size_bytes"]),
    ):
        counter = counter_of(content, name, tool)
        assert counter is not None
        counter["used"] -= less
        for line in lines_of(content, "RUN_FINISHED") if tool is None else ():
            rewrite(line, **{name: counter["used"]})
    return True


def work_behind_the_end(content: Held, random: Random) -> bool:
    """A call that begins after a run that ended well."""
    lines = lines_of(content, "TOOL_INVOCATION", status="STARTED")
    end = lines_of(content, "RUN_ENDED")
    if not (lines and end) or content["release"]["outcome"] != "SUCCESS":
        return False
    line = pick(lines, random)
    content["trace"].remove(line)
    line["at"] = end[0]["at"]
    content["trace"].insert(content["trace"].index(end[0]) + 1, line)
    return True


# ------------------------------------------------------------------ times


def turn_time_back(content: Held, random: Random) -> bool:
    """One line earlier than the one before it."""
    if len(content["trace"]) < 2:
        return False
    line = content["trace"][int(random.integers(1, len(content["trace"])))]
    line["at"] = content["run"]["started_at"].replace("20", "19", 1)
    return True


def tell_of_a_call_before_it(content: Held, random: Random) -> bool:
    """The record of a call, moved to the end of the run, plainly behind the line that says that it began."""
    ended = content["run"]["termination"]["at"]
    ended_s = read_instant(ended, "run.termination.at")
    early = {
        line["data"]["tool_call_id"]
        for line in lines_of(content, "TOOL_INVOCATION")
        if read_instant(line["at"], "trace.at") < ended_s - _PLAINLY_S
    }
    record = pick(
        [each for each in content["records"] if each["status"] == "READY" and each["tool_call_id"] in early],
        random,
    )
    if record is None:
        return False
    record["started_at"], record["duration_s"] = ended, 0.0
    return True


def end_at_another_time(content: Held, random: Random) -> bool:
    """In the line that tells of the end, not in the document."""
    lines = lines_of(content, "RUN_ENDED")
    return bool(lines) and rewrite(lines[0], at_s=lines[0]["data"]["at_s"] - 1.0 - random.random())


# ------------------------------------------------------------------ what lines and records say


def alter_what_a_line_tells(content: Held, random: Random) -> bool:
    """Scope, size, count or result of a call that its record has otherwise."""
    line = pick(lines_of(content, "TOOL_INVOCATION", status="SUCCEEDED"), random)
    if line is None:
        return False
    name = pick(["scope", "bytes", "items", "invocation", "evidence", "tool"], random)
    value = line["data"][name]
    return rewrite(line, **{name: value + 1 if isinstance(value, int) else f"{value}x"})


def alter_the_status_of_a_step(content: Held, random: Random) -> bool:
    """As if a call had failed that succeeded, or the other way round."""
    line = pick(lines_of(content, "TOOL_INVOCATION", "RUN_ENDED", "EVIDENCE_GUARD_INITIAL"), random)
    if line is None:
        return False
    line["status"] = "SKIPPED"
    return True


def alter_the_phase_of_a_step(content: Held, random: Random) -> bool:
    """A guard's verdict as the agent's."""
    line = pick(lines_of(content, *_STEPS), random)
    if line is None:
        return False
    line["phase"] = "KNOWLEDGE"
    return True


def give_a_record_to_somebody_else(content: Held, random: Random) -> bool:
    """One of several."""
    if len(content["records"]) < 2:
        return False
    pick(content["records"], random)["caller"] = "somebody-else"
    return True
