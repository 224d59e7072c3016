"""Deployments and changes: GitHub, GitLab, Helm, Argo CD, git and CI runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.formats.reader import (
    CHANGE_COLUMNS,
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

_VERSION: Final = re.compile(r"-v?\d+\.\d+.*$")
_REPOSITORY: Final = re.compile(
    r"/repos/[^/]+/([^/]+)/|//github\.com/[^/]+/([^/]+)/"
    r"|//[^/]+/(?:[^/]+/)+?([^/]+)/(?:-/)?(?:pipelines|jobs|environments|deployments)/"
)
"""Addresses of GitHub's API, of its pages, and of GitLab's."""
_COMMIT: Final = re.compile(r"commit ([0-9a-f]{7,40})\b")
_HELM_TABLE: Final = re.compile(r"REVISION\s+UPDATED\s+STATUS\s+CHART")
_COLUMNS: Final = re.compile(r"\s{2,}(?!\d{1,2} )")
"""Columns are separated by two or more spaces; a day below 10 also follows two."""

_Row = tuple[Cell, ...]
_ToRow = Callable[[Record, FileContent], _Row]


def _reader(key: str, shown: str, needs: tuple[str, ...], row: _ToRow, *, path: str = "") -> FileReader:
    """A reader of objects with certain keys: the objects of the file, or of the list at `path`."""

    def entries(values: Iterable[Record]) -> Iterator[Record]:
        for value in values:
            yield from (one for one in (list_at(value, path) if path else [value]) if isinstance(one, dict))

    def recognises(head: FileHead) -> bool:
        first = list(entries(head.objects[:3]))[:3]
        return bool(first) and all(key in one for one in first for key in needs)

    def read(content: FileContent) -> Iterable[RoleRows]:
        rows = [row(one, content) for one in entries(content.records())]
        return [RoleRows(Role.CHANGES, CHANGE_COLUMNS, rows)]

    return FileReader(key, shown, recognises, read)


def _words(*parts: str | None) -> str:
    return " ".join(part for part in parts if part)


def _repository(record: Record) -> str | None:
    named = string_at(record, "repository.name", "project.name", "project_name")
    found = _REPOSITORY.search(string_at(record, "url", "html_url", "repository_url", "web_url") or "")
    return named or (next(group for group in found.groups() if group) if found else None)


def _github_deployment(record: Record, content: FileContent) -> _Row:
    time_s = epoch_seconds(string_at(record, "created_at", "createdAt"))
    sha = (string_at(record, "sha") or "")[:12]
    where = string_at(record, "environment")
    summary = _words("deployment of", string_at(record, "ref"), sha, f"to {where}" if where else None)
    description = string_at(record, "description")
    entity = string_at(record, "payload.service") or _repository(record) or content.stem or None
    return time_s, entity, "deploy", f"{summary}: {description}" if description else summary


def _gitlab_deployment(record: Record, content: FileContent) -> _Row:
    time_s = epoch_seconds(string_at(record, "deployable.finished_at", "updated_at", "created_at"))
    sha, where = (string_at(record, "sha") or "")[:12], string_at(record, "environment.name")
    title = string_at(record, "deployable.commit.title")
    summary = _words(
        "deployment of", string_at(record, "ref"), sha, f"to {where}", string_at(record, "status")
    )
    entity = string_at(record, "deployable.project.name") or _repository(record) or content.stem or None
    return time_s, entity, "deploy", f"{summary}: {title}" if title else summary


def _ci_run(record: Record, content: FileContent) -> _Row:
    time_s = epoch_seconds(string_at(record, "run_started_at", "startedAt", "created_at", "createdAt"))
    title = string_at(record, "display_title", "displayTitle", "name")
    outcome = string_at(record, "conclusion", "status")
    branch = string_at(record, "head_branch", "headBranch", "ref")
    name = string_at(record, "workflowName", "name")
    return time_s, _repository(record) or content.stem or None, "ci", _words(name, branch, outcome, title)


def _pipeline(record: Record, content: FileContent) -> _Row:
    time_s = epoch_seconds(string_at(record, "finished_at", "updated_at", "created_at"))
    sha = (string_at(record, "sha") or "")[:12]
    summary = _words("pipeline of", string_at(record, "ref"), sha, string_at(record, "status"))
    return time_s, _repository(record) or content.stem or None, "ci", summary


def _gitlab_job(record: Record, content: FileContent) -> _Row:
    time_s = epoch_seconds(string_at(record, "finished_at", "started_at", "created_at"))
    stage, name = string_at(record, "stage"), string_at(record, "name")
    commit = _words(string_at(record, "commit.short_id"), string_at(record, "commit.title"))
    kind = "deploy" if "deploy" in f"{stage} {name}".lower() else "ci"
    summary = _words(f"job {name}", string_at(record, "ref"), string_at(record, "status"), commit)
    return time_s, _repository(record) or content.stem or None, kind, summary


def _helm(record: Record, content: FileContent) -> _Row:
    chart, version = string_at(record, "chart") or "", string_at(record, "app_version")
    entity = string_at(record, "name") or _VERSION.sub("", chart) or content.stem or None
    summary = _words(chart, f"(app {version})" if version else None)
    revision, status = string_at(record, "revision"), string_at(record, "status")
    text = f"{summary}, revision {revision}, {status}: {string_at(record, 'description') or ''}"
    return _helm_time(string_at(record, "updated") or ""), entity, "deploy", text.rstrip(": ")


def _helm_time(text: str) -> float | None:
    """Helm 3.x writes ISO 8601; in tables and in Go's format it adds zone names."""
    plain = re.sub(r" ([+-]\d{2})(\d{2})( [-+A-Z0-9]+)?$", r"\1:\2", text.strip())
    return epoch_seconds(plain) if plain else None


def _argo(record: Record, content: FileContent) -> _Row:
    time_s = epoch_seconds(string_at(record, "deployedAt", "deployStartedAt"))
    revision = (string_at(record, "revision") or "")[:12]
    source = string_at(record, "source.path", "source.chart")
    target = string_at(record, "source.targetRevision")
    entity = string_at(record, "application") or content.stem or source
    return time_s, entity, "deploy", _words("sync of", source, target, revision)


def _is_argo_application(head: FileHead) -> bool:
    return any(
        isinstance(at(one, "status", "history"), list)
        for document in head.objects[:1]
        for one in (list_at(document, "items") or [document])
    )


def _read_argo_application(content: FileContent) -> Iterable[RoleRows]:
    rows = []
    for document in content.records():
        for application in list_at(document, "items") or [document]:
            name = string_at(application, "metadata.name")
            rows += [
                _argo({**one, "application": name}, content)
                for one in list_at(application, "status", "history")
            ]
    return [RoleRows(Role.CHANGES, CHANGE_COLUMNS, rows)]


def _is_git_log(head: FileHead) -> bool:
    lines = head.lines[:6]
    return (
        bool(lines)
        and _COMMIT.match(lines[0]) is not None
        and any(line.startswith(("Date:", "AuthorDate:", "CommitDate:")) for line in lines)
    )


def _read_git_log(content: FileContent) -> Iterable[RoleRows]:
    return [RoleRows(Role.CHANGES, CHANGE_COLUMNS, _commits(content))]


def _commits(content: FileContent) -> Iterator[_Row]:
    entity = content.stem if content.stem not in {"git", "git-log", "gitlog", "log", "commits"} else None
    sha, time_s, subject = "", None, ""
    for line in content.lines():
        commit = _COMMIT.match(line)
        if commit is not None:
            if sha:
                yield time_s, entity, "commit", f"{sha[:12]} {subject}"
            sha, time_s, subject = commit[1], None, ""
        elif line.startswith(("Date:", "AuthorDate:", "CommitDate:")):
            time_s = _git_time(line.partition(":")[2].strip())
        elif line.startswith("    ") and line.strip() and not subject:
            subject = line.strip()
    if sha:
        yield time_s, entity, "commit", f"{sha[:12]} {subject}"


def _git_time(text: str) -> float | None:
    for form in ("%a %b %d %H:%M:%S %Y %z", "%a, %d %b %Y %H:%M:%S %z", "%Y-%m-%d %H:%M:%S %z"):
        try:
            return datetime.strptime(text, form).timestamp()  # noqa: DTZ007 - every form has its offset
        except ValueError:
            continue
    return epoch_seconds(text)


def _is_helm_table(head: FileHead) -> bool:
    return bool(head.lines) and _HELM_TABLE.match(head.lines[0]) is not None


def _read_helm_table(content: FileContent) -> Iterable[RoleRows]:
    """Helm's table writes local times without a zone; they are read in the zone of the folder, as text."""
    rows: list[_Row] = []
    for number, line in enumerate(content.lines()):
        cells = [
            cell.strip() for cell in (line.split("\t") if "\t" in line else _COLUMNS.split(line.strip()))
        ]
        if number == 0 or len(cells) < 5:
            continue
        chart = cells[3]
        name = _VERSION.sub("", chart)
        rows.append((cells[1], name, "deploy", f"{chart}, revision {cells[0]}, {cells[2]}: {cells[-1]}"))
    return [RoleRows(Role.CHANGES, CHANGE_COLUMNS, rows)]


CHANGE_READERS: Final = (
    _reader(
        "gitlab-deployments",
        "deployments of GitLab",
        ("iid", "environment", "deployable"),
        _gitlab_deployment,
    ),
    _reader(
        "github-deployments",
        "deployments of GitHub",
        ("sha", "environment", "created_at"),
        _github_deployment,
    ),
    _reader(
        "github-runs", "runs of GitHub Actions", ("head_sha", "conclusion"), _ci_run, path="workflow_runs"
    ),
    _reader("gh-runs", "runs of GitHub Actions", ("displayTitle", "createdAt"), _ci_run),
    _reader("gitlab-jobs", "jobs of GitLab", ("stage", "status", "commit", "pipeline"), _gitlab_job),
    _reader("gitlab-pipelines", "pipelines of GitLab", ("ref", "sha", "status", "created_at"), _pipeline),
    _reader("helm", "a release history of Helm", ("revision", "updated", "chart"), _helm),
    _reader("argo", "a history of Argo CD", ("revision", "deployedAt", "source"), _argo),
    FileReader("argo-application", "an application of Argo CD", _is_argo_application, _read_argo_application),
    FileReader("git-log", "a git log", _is_git_log, _read_git_log, is_text=True),
    FileReader("helm-table", "the table of helm history", _is_helm_table, _read_helm_table, is_text=True),
)
