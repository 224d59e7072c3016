"""Earlier names of settings: they are still read, and the log says once what to write instead."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from functools import cache
from typing import Final

_LOG = logging.getLogger("diagnosis_harness.settings")
_SECTIONS: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "care": (
        "supervision",
        {"beat_s": "heartbeat_s", "look_s": "poll_s", "redeliver_after_s": "requeue_after_s"},
    ),
}
"""The earlier name of a section: its name today, and the names of the keys that have changed."""
_PREFIX: Final = "diagnose_"  # pydantic-settings passes the names of variables in lower case


def rename_sections(given: Mapping[str, object], *, place: str) -> dict[str, object]:
    """The tables of a file under their names of today. A value under the name of today wins."""
    renamed = dict(given)
    for earlier, (section, keys) in _SECTIONS.items():
        if earlier not in renamed:
            continue
        table = renamed.pop(earlier)
        _warn_once(f"{place}, [{earlier}]", f"[{section}]{_list_keys(keys, table)}")
        renamed[section] = _rename_keys(table, keys, over=renamed.get(section, {}))
    return renamed


def rename_variables(environment: Mapping[str, str | None]) -> dict[str, str | None]:
    """The same for environment variables: `DIAGNOSE_SECTION__KEY`, and `DIAGNOSE_SECTION` that holds JSON."""
    renamed = dict(environment)
    for earlier, (section, keys) in _SECTIONS.items():
        stated = _read_json(environment.get(f"{_PREFIX}{section}"))
        stated = stated if isinstance(stated, dict) else {}
        for name, value in environment.items():
            table, _, key = name.removeprefix(_PREFIX).partition("__")
            if not name.startswith(_PREFIX) or table != earlier:
                continue
            today = f"{_PREFIX}{section}" + (f"__{keys.get(key, key)}" if key else "")
            _warn_once(name.upper(), today.upper() + ("" if key else _list_keys(keys, _read_json(value))))
            if keys.get(key, key) in stated:
                continue  # the JSON of today's name holds it; a variable of its own would win over that
            renamed.setdefault(today, value if key else _rename_json(value, keys))
    return renamed


def _rename_keys(table: object, keys: Mapping[str, str], *, over: object) -> object:
    """The table with today's keys, overridden by `over`. The settings refuse values that are not tables."""
    if not isinstance(table, dict) or not isinstance(over, dict):
        return table if isinstance(over, dict) else over
    earlier = {today: table[key] for key, today in keys.items() if key in table}
    return earlier | {key: value for key, value in table.items() if key not in keys} | over


def _rename_json(value: str | None, keys: Mapping[str, str]) -> str | None:
    table = _read_json(value)
    return json.dumps(_rename_keys(table, keys, over={})) if isinstance(table, dict) else value


def _read_json(value: str | None) -> object:
    try:
        return json.loads(value or "")
    except ValueError:
        return None  # the checks of the settings report it


def _list_keys(keys: Mapping[str, str], table: object) -> str:
    used = [
        f"{earlier} is now {today}"
        for earlier, today in keys.items()
        if isinstance(table, dict) and earlier in table
    ]
    return f" ({', '.join(used)})" if used else ""


@cache
def _warn_once(place: str, today: str) -> None:
    """Once for each process, since a command may load the settings more than once."""
    _LOG.warning("%s is an earlier name that a later version will not read; write %s", place, today)
