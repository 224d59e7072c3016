"""Forgeries of what a saved run had at hand and spent: its inventory, counters and limits."""

from __future__ import annotations

from tests.support.forgery import (
    Held,
    Random,
    counter_of,
    has_inventory,
    has_release,
    lines_of,
    pick,
    rewrite,
)

# ------------------------------------------------------------------ the inventory


def add_an_entity(content: Held, random: Random) -> bool:
    """A service that no telemetry knows."""
    del random
    if not has_inventory(content):
        return False
    content["inquiry"]["inventory"]["entities"].append(
        {"name": "zz-ledger", "owner": None, "telemetry": ["metrics"]}
    )
    return True


def remove_an_entity(content: Held, random: Random) -> bool:
    """One that the telemetry knows, with its calls."""
    if not has_inventory(content):
        return False
    inventory = content["inquiry"]["inventory"]
    gone = pick(inventory["entities"], random)
    if gone is None:
        return False
    inventory["entities"].remove(gone)
    inventory["calls"] = [call for call in inventory["calls"] if gone["name"] not in call.values()]
    return True


def add_a_call(content: Held, random: Random) -> bool:
    """Between two services that do not call each other."""
    if not has_inventory(content):
        return False
    inventory = content["inquiry"]["inventory"]
    names = [each["name"] for each in inventory["entities"]]
    if not names or not inventory["calls"]:
        return False
    call = {"caller": pick(names, random), "callee": pick(names, random)}
    inventory["calls"].append(call)
    return bool(inventory["calls"].count(call) == 1)


def remove_a_call(content: Held, random: Random) -> bool:
    """One that the source counts."""
    calls = content["inquiry"]["inventory"]["calls"] if has_inventory(content) else []
    if not calls:
        return False
    calls.remove(pick(calls, random))
    return True


def hide_a_kind_of_telemetry(content: Held, random: Random) -> bool:
    """As if the source had no logs."""
    if not has_inventory(content):
        return False
    kinds = content["inquiry"]["inventory"]["telemetry"]
    kinds.remove(pick(kinds, random))
    return True


def move_the_recording(content: Held, random: Random) -> bool:
    """Its end, as if the source had ended sooner."""
    del random
    if not has_inventory(content) or content["inquiry"]["inventory"]["incident"] is None:
        return False
    content["inquiry"]["inventory"]["incident"]["end"] = "2030-01-01T00:00:00Z"
    return True


def invent_a_baseline(content: Held, random: Random) -> bool:
    """A recording of normal operation that the source does not have."""
    del random
    if not has_inventory(content) or content["inquiry"]["inventory"]["baseline"] is not None:
        return False
    content["inquiry"]["inventory"]["baseline"] = dict(content["inquiry"]["inventory"]["incident"])
    return True


# ------------------------------------------------------------------ counters and limits


def count_fewer_calls(content: Held, random: Random) -> bool:
    """Of one tool, and of all of them."""
    counter = pick([each for each in content["run"]["usage"] if each["tool"]], random)
    if counter is None or content["run"]["state"] != "SUCCESS":
        return False
    counter["used"] -= 1
    whole = counter_of(content, "tool_calls")
    assert whole is not None
    whole["used"] -= 1
    return True


def count_more_of_something(content: Held, random: Random) -> bool:
    """Calls, tokens or bytes that nothing shows, in the counter and in the trace alike.

    What a run was charged when it was cut short need not show anywhere.
    """
    counter = pick([each for each in content["run"]["usage"] if each["tool"] is None], random)
    if counter is None or content["run"]["state"] != "SUCCESS":
        return False
    counter["used"] += 1
    for line in lines_of(content, "RUN_FINISHED"):
        if counter["name"] in line["data"]:
            rewrite(line, **{counter["name"]: counter["used"]})
    return True


def count_twice(content: Held, random: Random) -> bool:
    """One counter, with another number."""
    counter = pick(content["run"]["usage"], random)
    if counter is None:
        return False
    content["run"]["usage"].append({**counter, "used": 0})
    return True


def leave_a_counter_out(content: Held, random: Random) -> bool:
    """One that every run has."""
    counter = pick([each for each in content["run"]["usage"] if each["tool"] is None], random)
    if counter is None or not has_release(content):
        return False
    content["run"]["usage"].remove(counter)
    return True


def lower_a_limit(content: Held, random: Random) -> bool:
    """Below what was used."""
    counter = pick([each for each in content["run"]["usage"] if each["limit"] and each["used"]], random)
    if counter is None:
        return False
    counter["limit"] = counter["used"] - 1
    return True


def raise_a_limit(content: Held, random: Random) -> bool:
    """Of calls, which the first line of the trace tells."""
    counter = counter_of(content, pick(["llm_calls", "tool_calls"], random))
    if counter is None:
        return False
    counter["limit"] += 100
    return True


def shorten_the_time(content: Held, random: Random) -> bool:
    """The limit of a run that succeeded, below what it took."""
    del random
    if content["run"]["state"] != "SUCCESS" or content["run"]["duration_s"] < 0.1:
        return False
    content["run"]["limit_s"] = round(content["run"]["duration_s"] / 2, 6)
    return True


def lengthen_the_time(content: Held, random: Random) -> bool:
    """The limit of a run that ran out of time, beyond what it took."""
    del random
    if content["run"]["state"] != "TIMED_OUT":
        return False
    content["run"]["limit_s"] += 60.0
    return True
