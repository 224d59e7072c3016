"""Compares log lines: patterns that are new, risen, fallen or gone, and lines in a changed order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from diagnosis_harness.analysis.log_faults import fault_kind_in, mechanism_of
from diagnosis_harness.analysis.log_patterns import SLICES, is_shift
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.json_value import Scalar
from diagnosis_harness.kernel.names import display_name, quote_text
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.toolbox.arguments import ENTITIES, ONSET_PARAMETER, UNTIL_PARAMETER, names, timestamp
from diagnosis_harness.toolbox.incident_view import IncidentView
from diagnosis_harness.toolbox.log_clues import own_breaks, region_of_pattern
from diagnosis_harness.toolbox.log_view import LogView, callees_to_blame
from diagnosis_harness.toolbox.views import ViewPart, Views
from diagnosis_harness.toolbox.wording import digits, one_line, round4
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind
from diagnosis_harness.tools.spec import ArgumentValue, ToolFindings, ToolSpec

LINE_MAX: Final = 120
"""Number of characters of a log line that are shown: its start says what went wrong."""
PATTERNS_MAX: Final = 40
"""Maximum number of reported patterns; those of failures come first."""


class Movement(StrEnum):
    """How the rate of a pattern changed."""

    NEW = "NEW"
    RISEN = "RISEN"
    FALLEN = "FALLEN"
    GONE = "GONE"


@dataclass(frozen=True, slots=True)
class CompareLogs:
    """LOG_PATTERN and LOG_ORDER items; patterns of failures first, then by score.

    `signal` is one line as written, cut and masked; `value` is the number of lines written after the onset,
    `baseline` the number that normal operation would have written in that time, and `onset_s` the time of
    the first line of a new pattern. `entity` is the writer. A line that names a callee it failed to reach
    is about the callee, and `peer` is the writer. Attributes: `movement` (NEW, RISEN, FALLEN, GONE),
    `level`, `template`, `mechanism` (the fault that the line reports), `fault_kind` of a failure, `bad`,
    `z`, `lines_before`, and `as_far` of `normal_windows` that deviate as far.

    A LOG_ORDER item: `signal` is a line, `next` the line that used to follow it in the same span, trace or
    thread, `value` and `baseline` the share of cases in which it does; `instead` is what follows now.
    """

    views: Views

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="compare_logs",
            description="Log lines before and after onset: new, risen, fallen, gone, or out of order.",
            description_zh="比较故障前后的日志：新出现、增多、减少、消失，或先后次序被打断。",
            parameters=(ONSET_PARAMETER, UNTIL_PARAMETER, ENTITIES),
            scope_names=("logs:read",),
        )

    def entities(self, ctx: RunContext) -> Collection[str]:
        """The names that it accepts."""
        return self.views.names(ctx)

    def run(self, ctx: RunContext, arguments: Mapping[str, ArgumentValue]) -> ToolFindings:
        """Compare the lines."""
        view = self.views.for_onset(ctx, timestamp(arguments, "onset"), until_s=timestamp(arguments, "until"))
        self.views.require(ViewPart.LOGS)
        if view is None or view.logs is None:
            return ToolFindings((), note="no log lines, or no onset to compare around")
        wanted = names(arguments, "entities")
        items = [
            item
            for item in (*_pattern_items(view, view.logs), *_order_items(view.logs))
            if wanted is None or item.entity in wanted or item.peer in wanted
        ]
        items.sort(key=lambda item: (not item.attributes.get("bad"), -(item.score or 0.0), item.item_id))
        logs = view.logs
        before_s, after_s = (digits(round4(each)) for each in (logs.normal_s, logs.window.duration_s))
        note = f"{len(logs.patterns)} patterns; {before_s} s of normal operation, {after_s} s after onset"
        narrow = "name some entities to see more of their lines"
        return ToolFindings(
            tuple(items[:PATTERNS_MAX]),
            logs.window,
            logs.lines_of(wanted),
            left_out=max(0, len(items) - PATTERNS_MAX),
            narrow=narrow,
            note=note,
        )


def _pattern_items(view: IncidentView, logs: LogView) -> Iterator[EvidenceItem]:
    shift = logs.shift
    for place in np.flatnonzero(is_shift(shift)).tolist():
        pattern = logs.patterns[place]
        more = bool(shift.z[place] > 0)
        callees = callees_to_blame(pattern, view.graph) if pattern.fails and more else ()
        value, usual = int(shift.after[place]), round4(float(shift.usual[place]))
        movement = _movement(more=more, before=int(shift.before[place]), after=value)
        line = one_line(pattern.example, most=LINE_MAX)
        phrase = mechanism_of(pattern.example) if pattern.fails else None
        attributes: dict[str, Scalar] = {
            "movement": movement.value,
            "template": region_of_pattern(pattern),
            "bad": pattern.fails and more,
            "z": round4(float(shift.z[place])),
            "lines_before": int(shift.before[place]),
            "as_far": int(shift.as_far[place]),
            "normal_windows": SLICES,
        }
        if pattern.level is not None:
            attributes["level"] = one_line(pattern.level, most=20)
        if phrase is not None:
            attributes["mechanism"] = phrase.mechanism.value
        if pattern.fails:
            attributes["fault_kind"] = fault_kind_in(pattern.example)
        about = callees[0] if callees else pattern.entity
        first_s = float(logs.first_s[place]) if movement is Movement.NEW else None
        naming = f" naming {display_name(about)}" if callees else ""
        since = f" since {utc_text(first_s)}" if first_s is not None else ""
        level = "" if pattern.level is None else f"{display_name(one_line(pattern.level, most=20))} "
        yield EvidenceItem(
            f"l{place + 1}",
            ItemKind.LOG_PATTERN,
            f"{display_name(pattern.entity)} wrote {value} {level}lines{naming}{since}, "
            f"usually {digits(usual)}: {quote_text(line)}",
            entity=about,
            peer=pattern.entity if callees else None,
            signal=line,
            value=float(value),
            baseline=usual,
            unit="lines",
            direction=Direction.UP if more else Direction.DOWN,
            window=logs.window,
            onset_s=first_s,
            score=round4(abs(float(shift.z[place]))),
            attributes=attributes,
            source_rows=value + int(shift.before[place]),
        )


def _movement(*, more: bool, before: int, after: int) -> Movement:
    if more:
        return Movement.RISEN if before else Movement.NEW
    return Movement.FALLEN if after else Movement.GONE


def _order_items(logs: LogView) -> Iterator[EvidenceItem]:
    order = logs.order
    for place in own_breaks(logs):
        value, usual = round4(float(order.after[place])), round4(float(order.before[place]))
        if value >= usual:
            continue
        first, then = logs.patterns[order.first[place]], logs.patterns[order.then[place]]
        line, following = (one_line(one.example, most=LINE_MAX) for one in (first, then))
        attributes: dict[str, Scalar] = {
            "next": following,
            "template": region_of_pattern(first),
            "next_template": region_of_pattern(then),
            "bad": True,
            "fault_kind": "ERRORS",
            "z": round4(float(order.z[place])),
            "lines_before": int(order.lines_before[place]),
            "lines_after": int(order.lines_after[place]),
            "as_far": int((order.null >= order.z[place]).sum()),
            "normal_windows": len(order.null),
        }
        if (instead := int(order.instead[place])) >= 0:
            attributes["instead"] = one_line(logs.patterns[instead].example, most=LINE_MAX)
        yield EvidenceItem(
            f"o{place + 1}",
            ItemKind.LOG_ORDER,
            f"in {display_name(first.entity)} the share of lines {quote_text(line)} that are followed by "
            f"{quote_text(following)} fell from {digits(usual)} ratio to {digits(value)} ratio",
            entity=first.entity,
            signal=line,
            value=value,
            baseline=usual,
            unit="ratio",
            direction=Direction.DOWN,
            window=logs.window,
            score=round4(float(order.z[place])),
            attributes=attributes,
            source_rows=int(order.lines_before[place] + order.lines_after[place]),
        )
