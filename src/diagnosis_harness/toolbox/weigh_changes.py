"""Weighs which changes fit the incident in time, place and words, and why the others are ruled out."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from diagnosis_harness.analysis.change_weight import (
    FITTING,
    ChangeFacts,
    ChangeVerdict,
    WeighedChange,
    count_calls_between,
    weigh,
)
from diagnosis_harness.analysis.change_words import (
    has_own_words,
    matches_of,
    new_words,
    words_in,
    words_of_names,
)
from diagnosis_harness.analysis.graph import CallGraph, walk
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.json_value import Scalar
from diagnosis_harness.kernel.names import display_name, quote_text
from diagnosis_harness.kernel.window import TimeWindow, utc_text
from diagnosis_harness.toolbox.arguments import ONSET_PARAMETER, text, timestamp
from diagnosis_harness.toolbox.ports import ChangeEvent, LogLine, Recording, Sources
from diagnosis_harness.toolbox.views import Views
from diagnosis_harness.toolbox.wording import digits, one_line, round4
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.spec import ArgumentValue, Parameter, ParameterKind, ToolFindings, ToolSpec

LINES_READ = 20_000  # on each side of the onset: enough for the words, and a bound on memory
LINES_REACH_S = 3_600.0  # how long after the onset lines are read, the same as for metrics
WORDS_SHOWN = 6  # the rarest first, which explain why a change matches
WORDS_CACHED = 4_096  # texts of lines without their numbers; a system writes some hundreds
_NUMBER = re.compile(r"\d+")
SHORT_SHA = 7  # the length that `git log --oneline` uses
FARTHEST = 8  # calls from the affected entity; longer paths are of no interest
_TROUBLED = frozenset({"error", "err", "fatal", "critical", "crit", "panic", "severe", "emergency", "alert"})
_REASONS = {
    ChangeVerdict.CANDIDATE: "fits in time, place and words; unproven",
    ChangeVerdict.UNREAD: "fits in time and place; what it changed is not recorded",
    ChangeVerdict.UNCOMPARED: "fits in time and place; no new log line to compare its words with",
    ChangeVerdict.NO_MATCH: "nothing that is new speaks of what it changed",
    ChangeVerdict.AFTER: "ruled out: made after the onset",
    ChangeVerdict.LONG_BEFORE: "ruled out: it ran for more than a day without trouble",
    ChangeVerdict.ELSEWHERE: "ruled out: not among what the affected service calls",
    ChangeVerdict.REVERTED: "ruled out: taken back before the onset",
}


@dataclass(frozen=True, slots=True)
class WeighChanges:
    """CHANGE_EVENT items: unproven candidates, likeliest first, then the others with counter-evidence.

    A commit is joined with its deploy, at the time of the deploy. `score` (0 to 1) combines nearness in
    time, place on the path from the affected entity, and how well its words fit those of new log lines and
    of the alert; it is never a proof. Attributes of an item: `verdict` (`candidate`, `unread` if only time
    and place are known, `uncompared` if there is no new line, `no-match`, or why it is ruled out),
    `matched` (the words that fit), `leads` (no other fits nearly as well), `change_kind`, `summary`,
    `commit`, `author`, `files`, `before_onset_s`.
    """

    views: Views

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="weigh_changes",
            description="Changes weighed by time, place and words: unproven candidates, then the others.",
            description_zh="按时间、位置和用词衡量变更：未证实的候选在前，其余说明排除理由。",
            parameters=(
                ONSET_PARAMETER,
                Parameter(
                    "alert_entity",
                    ParameterKind.ENTITY,
                    "The affected entity. Default: the one that the alert names.",
                ),
            ),
            scope_names=("changes:read", "logs:read", "topology:read"),
        )

    def entities(self, ctx: RunContext) -> Collection[str]:
        """The names that it accepts."""
        return self.views.names(ctx)

    def run(self, ctx: RunContext, arguments: Mapping[str, ArgumentValue]) -> ToolFindings:
        """Return the weighed changes."""
        sources = self.views.sources
        if sources.changes is None:
            return ToolFindings((), note="the source has no changes")
        onset = self.views.onset(ctx, timestamp(arguments, "onset"))
        if onset is None:
            return ToolFindings((), note="no onset is stated, and no indicator changed clearly")
        graph, owners = self.views.graph(ctx)
        affected = text(arguments, "alert_entity") or self.views.find_affected(ctx)
        events = join_deploys(sources.changes.changes(ctx, window=None), self.views.names(ctx))
        below = _distances(graph, owners.get(affected or "", affected))
        changes = [_change(event, owners, below, graph.entities) for event in events]
        named = words_of_names(self.views.names(ctx))
        alerting, logged = _words_of_alert(ctx, sources), _words_of_new_lines(ctx, sources, onset.time_s)
        query = {word: weight for word, weight in (alerting | logged).items() if word not in named}
        fits = matches_of([words_in(each.text) for each in changes], query)
        weighed = weigh(changes, fits, onset_s=onset.time_s, has_new_lines=not named.issuperset(logged))
        items = tuple(
            _item(events[one.row], one, f"w{place}", onset_s=onset.time_s)
            for place, one in enumerate(weighed, start=1)
        )
        fitting = any(one.verdict in FITTING for one in weighed)
        note = None if fitting else f"none of the {len(events)} changes fits in time, place and words"
        return ToolFindings(items, None, len(events), narrow="name the affected entity", note=note)


def join_deploys(events: Sequence[ChangeEvent], names: Collection[str]) -> list[ChangeEvent]:
    """Each commit at the time and service of its deploy; a deploy of known commits is replaced by them.

    A commit that no deploy names belongs to the service that its files name, and arrived with that
    service's next deploy, if there is one.
    """
    commits = [event for event in events if event.files or event.diff]
    deploys = [event for event in events if event not in commits and event.sha is not None]
    joined = []
    for commit in commits:
        own = [each for each in deploys if _is_same(each.sha, commit.sha)]
        entity = commit.entity or next((each.entity for each in own), None) or _owner_of(commit, names)
        later = own or [each for each in deploys if each.entity == entity and each.time_s >= commit.time_s]
        at_s = min((each.time_s for each in later), default=commit.time_s)
        joined.append(
            ChangeEvent(
                at_s,
                entity,
                commit.kind,
                commit.summary,
                commit.sha,
                commit.files,
                commit.diff,
                commit.author,
            )
        )
    commit_shas = {each.sha for each in commits}
    others = [
        event
        for event in events
        if event not in commits and not any(_is_same(event.sha, sha) for sha in commit_shas)
    ]
    return [*joined, *others]


def _is_same(one: str | None, other: str | None) -> bool:
    return bool(one and other) and (str(one).startswith(str(other)) or str(other).startswith(str(one)))


def _owner_of(commit: ChangeEvent, names: Collection[str]) -> str | None:
    """The service that a folder is named after: `services/cart/x.go` belongs to `cartservice`."""
    folders = {part.lower() for file in commit.files for part in file.split("/")[:-1] if len(part) >= 4}
    found = sorted(
        name
        for name in names
        if any(name.lower() == part or name.lower().replace("-", "") == f"{part}service" for part in folders)
    )
    return found[0] if found else None


def _distances(graph: CallGraph, start: str | None) -> dict[str, int]:
    if start is None:
        return {}
    found = {start: 0}
    for _, callee, distance in walk(graph, start, towards_callers=False, depth=FARTHEST):
        found.setdefault(callee, distance)
    return found


def _change(
    event: ChangeEvent, owners: Mapping[str, str], below: Mapping[str, int], known: Collection[str]
) -> ChangeFacts:
    entity = owners.get(event.entity or "", event.entity)
    changed = "\n".join(line for line in event.diff.splitlines() if line[:1] in "+-")
    return ChangeFacts(
        event.time_s,
        count_calls_between(entity, below=below, known=known),
        event.sha,
        "\n".join((event.summary, *event.files, changed or event.diff)),
        bool(event.files or event.diff or has_own_words(event.summary, [entity or "", event.entity or ""])),
    )


def _words_of_alert(ctx: RunContext, sources: Sources) -> dict[str, float]:
    alert = sources.summary.summary(ctx).alert
    alert_text = " ".join(part for part in (alert.signal, alert.summary) if part)
    return dict.fromkeys(words_in(alert_text), 0.5)  # the author of an alert does not know the cause


def _words_of_new_lines(ctx: RunContext, sources: Sources, onset_s: float) -> dict[str, float]:
    """Words of log lines that are new since the onset, of errors if there are any."""
    if sources.logs is None:
        return {}
    after = _lines(ctx, sources, TimeWindow(onset_s, onset_s + LINES_REACH_S))
    before = _lines(ctx, sources, TimeWindow(onset_s - LINES_REACH_S, onset_s))
    troubled = [line for line in after if (line.level or "").lower() in _TROUBLED]
    words = lru_cache(WORDS_CACHED)(words_in)  # lines differ in their numbers, which are not words
    return new_words(
        (words(_NUMBER.sub("", line.message)) for line in troubled or after),
        (words(_NUMBER.sub("", line.message)) for line in before),
    )


def _lines(ctx: RunContext, sources: Sources, window: TimeWindow) -> Sequence[LogLine]:
    if sources.logs is None:
        return ()
    return sources.logs.search(
        ctx, Recording.INCIDENT, text=None, entities=None, window=window, limit=LINES_READ
    ).lines


def _item(event: ChangeEvent, one: WeighedChange, item_id: str, *, onset_s: float) -> EvidenceItem:
    sha = one_line(event.sha or "", most=40)
    kind, summary = one_line(event.kind, most=60), one_line(event.summary)
    before_s = round4(onset_s - event.time_s)
    matched = ", ".join(one.words[:WORDS_SHOWN])
    optional = {
        "matched": matched,
        "commit": sha,
        "author": one_line(event.author or "", most=60),
        "files": one_line(" ".join(event.files)),
    }
    attributes: dict[str, Scalar] = {
        "verdict": one.verdict.value,
        "reason": _REASONS[one.verdict],
        "change_kind": kind,
        "summary": summary,
        "before_onset_s": before_s,
        "leads": one.leads,
        **{name: value for name, value in optional.items() if value},
    }
    of = f" of {display_name(event.entity)}" if event.entity else ""
    nearness = f"{digits(abs(before_s))} s {'before' if before_s >= 0 else 'after'} the onset"
    words = f", words: {quote_text(matched)}" if matched and one.verdict is ChangeVerdict.CANDIDATE else ""
    made = f"{utc_text(event.time_s)} {display_name(kind)}{of}: {quote_text(summary)} ({nearness})"
    return EvidenceItem(
        item_id,
        ItemKind.CHANGE_EVENT,
        f"{made}; {_REASONS[one.verdict]}{words}",
        entity=event.entity,
        signal=f"{kind}:{sha[:SHORT_SHA]}" if sha else kind,
        onset_s=event.time_s,
        score=round4(one.score),
        attributes=attributes,
        source_rows=1,
    )
