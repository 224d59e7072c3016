"""Deployments as command-line tools print them, and builds as Jenkins lists them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.formats.reader import (
    CHANGE_COLUMNS,
    LOG_COLUMNS,
    Cell,
    FileContent,
    FileHead,
    FileReader,
    Record,
    RoleRows,
    at,
    epoch_seconds,
    list_at,
    string_at,
)
from diagnosis_harness.adapters.sources.incident_folder.listing import Role

_Row = tuple[Cell, ...]

_TIME: Final = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} [+-]\d{4}(?= [A-Z]+)")
_ARGO_HISTORY: Final = re.compile(r"ID\s+DATE\s+REVISION")
_ARGO_RESOURCES: Final = re.compile(r"GROUP\s+KIND\s+NAMESPACE\s+NAME\s+STATUS\s+HEALTH")
_FIELD: Final = re.compile(r"(?P<key>[A-Z][\w ]*):\s+(?P<value>\S.*)")
_ARGO_WORDS: Final = frozenset({"argo", "argocd", "app", "apps", "history", "sync", "deploys", "deployments"})
_CALM: Final = frozenset({"Healthy", "Synced", "Suspended"})
_JOB: Final = re.compile(r"/job/([^/]+)/")
_DEPLOY_WORDS: Final = re.compile(
    r"(?:^|[-_ ])(?:deploy(?:ment)?|release|rollout|pipeline|build|prod(?:uction)?|cd)(?=[-_ ]|$)",
    re.IGNORECASE,
)


def _seconds(text: str) -> float | None:
    """A time as Go writes it, with the offset and the name of the zone."""
    found = _TIME.search(text)
    if found is None:
        return None
    return epoch_seconds(f"{found[0][:-2]}:{found[0][-2:]}".replace(" ", "T", 1).replace(" ", ""))


def _has_line(pattern: re.Pattern[str], *, within: int = 3) -> Callable[[FileHead], bool]:
    """Whether one of the first lines begins so."""
    return lambda head: any(pattern.match(line) for line in head.lines[:within])


def _read_argo_history(content: FileContent) -> Iterable[RoleRows]:
    words = set(re.split(r"[-_. ]", content.stem.lower()))
    entity = None if words <= _ARGO_WORDS else content.stem or None
    rows: list[_Row] = []
    for line in content.lines():
        time_s = _seconds(line)
        if time_s is not None:
            number, _, rest = line.strip().partition(" ")
            revision = rest.split()[-2:] if rest.endswith(")") else rest.split()[-1:]
            rows.append((time_s, entity, "deploy", f"sync {number} of {' '.join(revision)}"))
    return [RoleRows(Role.CHANGES, CHANGE_COLUMNS, rows)]


def _is_argo_application(head: FileHead) -> bool:
    keys = {found["key"] for line in head.lines[:40] if (found := _FIELD.match(line))}
    return {"Name", "Sync Status", "Health Status"} <= keys


def _read_argo_application(content: FileContent) -> Iterable[RoleRows]:
    """The sync of an application as a change, and the health of its resources when the file was written."""
    fields: dict[str, str] = {}
    states: list[_Row] = []
    place: dict[str, int] = {}
    for line in content.lines():
        found = _FIELD.match(line)
        if _ARGO_RESOURCES.match(line):
            place = {word[0]: word.start() for word in re.finditer(r"\S+", line)}
        elif place and line.strip():
            cells = {key: line[start:].split("  ")[0].strip() for key, start in place.items()}
            if cells["HEALTH"]:
                states.append(
                    _state(
                        content, cells["NAME"], cells["HEALTH"], f"{cells['KIND']} {cells.get('MESSAGE', '')}"
                    )
                )
        elif found is not None:
            fields.setdefault(found["key"], found["value"].strip())
    name = fields["Name"].rpartition("/")[2]
    states.append(_state(content, name, fields["Health Status"], f"application, {fields['Sync Status']}"))
    time_s = _seconds(fields.get("Start", ""))
    if time_s is not None:
        words = (fields.get("Sync Revision", "")[:12], fields.get("Phase", ""), fields.get("Message", ""))
        summary = f"sync of {' '.join(word for word in words if word)}"
        yield RoleRows(Role.CHANGES, CHANGE_COLUMNS, [(time_s, name, "deploy", summary)])
    yield RoleRows(Role.STATES, LOG_COLUMNS, states, f"states dated {content.counted_from}")


def _state(content: FileContent, name: str, health: str, rest: str) -> _Row:
    level = "INFO" if health.split(maxsplit=1)[0] in _CALM else "WARN"
    return content.changed_s, name, level, f"{health}: {rest}".rstrip(": ")


def _builds(document: Record) -> Iterator[tuple[str | None, Record]]:
    """The builds of a job or of several, each with the name of its job."""
    jobs: list[Record] = [one for one in list_at(document, "jobs") if isinstance(one, dict)]
    for job in jobs or [document]:
        for build in list_at(job, "builds") or ([job] if _is_build(job) else []):
            if _is_build(build):
                url = _JOB.search(string_at(build, "url") or "")
                yield string_at(job, "name") or (url[1] if url else None), build


def _is_build(one: object) -> bool:
    return (
        at(one, "number") is not None
        and at(one, "timestamp") is not None
        and isinstance(one, dict)
        and "result" in one
    )


def _is_jenkins(head: FileHead) -> bool:
    return bool(head.objects) and any(True for _ in _builds(head.objects[0]))


def _read_jenkins(content: FileContent) -> Iterable[RoleRows]:
    rows = [
        _build_row(job, build, content) for document in content.records() for job, build in _builds(document)
    ]
    return [RoleRows(Role.CHANGES, CHANGE_COLUMNS, rows)]


def _build_row(job: str | None, build: Record, content: FileContent) -> _Row:
    """A build of `deploy-cart` is a deploy of `cart`, at the time when it finished."""
    name = job or content.stem
    entity = _DEPLOY_WORDS.sub("", name).strip("-_ ") or name or None
    began, lasted = epoch_seconds(build.get("timestamp")), build.get("duration")
    took = lasted / 1000 if isinstance(lasted, int | float) else 0.0
    shown = string_at(build, "fullDisplayName") or f"{name} #{string_at(build, 'number')}"
    result = string_at(build, "result") or "running"
    title = string_at(build, "description", "displayName") or ""
    text = f"{shown} {result}" + (f": {title}" if title and title not in shown else "")
    return None if began is None else began + took, entity, "deploy" if name != entity else "ci", text


CHANGE_TABLE_READERS: Final = (
    FileReader(
        "argo-history",
        "the table of argocd app history",
        _has_line(_ARGO_HISTORY),
        _read_argo_history,
        is_text=True,
    ),
    FileReader(
        "argo-get",
        "an application as argocd app get shows it",
        _is_argo_application,
        _read_argo_application,
        is_text=True,
        counts_ages=True,
    ),
    FileReader("jenkins", "builds of Jenkins", _is_jenkins, _read_jenkins),
)
