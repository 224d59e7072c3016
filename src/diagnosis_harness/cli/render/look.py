"""Renders the explanation of a folder in aligned columns: first its content, then each file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from rich.cells import cell_len
from rich.text import Text

from diagnosis_harness.application.folder_look import FileLook, FolderLook, ServiceLook, SignalLook
from diagnosis_harness.cli.render.columns import column_lines
from diagnosis_harness.cli.render.runs import cut
from diagnosis_harness.cli.render.wrap import hang
from diagnosis_harness.cli.words import look as words
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.kernel.window import TimeWindow, utc_text
from diagnosis_harness.report.measure import measure
from diagnosis_harness.report.timestamps import escape_line, span

_SERVICES_SHOWN = 10
_SIGNALS_SHOWN = 12
_INSTANCES_SHOWN = 3
_NOTE_INDENT = 4
_NAME_WIDTH = 28
"""Cells for the name of a signal, so that its meaning still fits in 80 columns; --json has all of it."""

T = TypeVar("T")


def look_lines(look: FolderLook, language: Language, *, width: int) -> Iterator[Text]:
    """Everything a person needs to know before asking, on about one screen."""
    yield Text(_headline(look, language), "bold")
    if look.window is not None:
        yield Text(_span(look.window, language))
    yield Text(words.ZONE.render(language, zone=escape_line(look.zone or "UTC")), "dim")
    if look.obstacle is not None:
        error = look.obstacle
        sentence = words.OBSTACLE.render(
            language,
            place=escape_line(error.place),
            problem=escape_line(error.problem),
            remedy=escape_line(error.remedy),
        )
        yield from (Text(), *hang(Text(), Text(sentence, "red"), width))
    read = [file for file in look.files if file.role is not None]
    yield from _section(words.FILES.in_(language), _file_lines(read, language, width=width))
    unread = [file for file in look.files if file.role is None]
    yield from _section(words.UNREAD.in_(language), _unread_lines(unread, width=width))
    services = (Text(cut(line, width)) for line in _service_lines(look.services, language))
    yield from _section(words.SERVICES.in_(language), services)
    signals = (Text(cut(line, width)) for line in _signal_lines(look.signals, language))
    yield from _section(words.SIGNALS.in_(language), signals)
    lacks = (hang(Text("  "), Text(words.LACKS[lack].in_(language)), width) for lack in look.lacks)
    yield from _section(words.MISSING.in_(language), (line for lines in lacks for line in lines))


def look_json(look: FolderLook) -> JsonValue:
    """All of it as JSON."""
    return {
        "name": look.name,
        "window": _window_json(look.window),
        "baseline": _window_json(look.baseline),
        "zone": look.zone,
        "counts": dict(look.counts or {}),
        "files": [_file_json(file) for file in look.files],
        "services": [
            {"name": one.name, "instances": [*one.instances], "telemetry": [*one.telemetry]}
            for one in look.services
        ],
        "signals": [
            {
                "name": one.name,
                "unit": one.unit,
                "kind": one.kind,
                "side": one.side,
                "harmful": one.harmful,
                "series": one.series,
                "points": one.points,
            }
            for one in look.signals
        ],
        "missing": [lack.value for lack in look.lacks],
        "obstacle": None
        if look.obstacle is None
        else {
            "place": look.obstacle.place,
            "problem": look.obstacle.problem,
            "remedy": look.obstacle.remedy,
        },
    }


def _file_json(file: FileLook) -> JsonValue:
    return {
        "name": file.name,
        "role": file.role,
        "form": file.form,
        "decided_by": None if file.decided_by is None else file.decided_by.value,
        "rows": file.rows,
        "note": file.note,
        "window": _window_json(file.window),
        "step_s": file.step_s,
        "gaps": [_window_json(gap) for gap in file.gaps],
    }


def _window_json(window: TimeWindow | None) -> JsonValue:
    if window is None:
        return None
    return {"start": utc_text(window.start_s), "end": utc_text(window.end_s)}


def _headline(look: FolderLook, language: Language) -> str:
    return words.HEADLINE.render(
        language,
        name=display_name(look.name),
        read=sum(file.role is not None for file in look.files),
        files=len(look.files),
        services=len(look.services),
        signals=len({signal.name for signal in look.signals}),
    )


def _span(window: TimeWindow, language: Language) -> str:
    start, end = span(TimeWindow(float(int(window.start_s)), float(int(window.end_s))))
    took = measure(max(window.end_s - window.start_s, 0.0), "s")
    return words.SPAN.render(language, start=start, end=end.removesuffix(" UTC"), took=took)


def _section(title: str, lines: Iterator[Text]) -> Iterator[Text]:
    first = next(lines, None)
    if first is not None:
        yield Text()
        yield Text(title, "bold")
        yield first
        yield from lines


def _file_lines(files: Sequence[FileLook], language: Language, *, width: int) -> Iterator[Text]:
    rows = [
        (
            f"  {display_name(file.name)}",
            words.ROLES[file.role].in_(language) if file.role in words.ROLES else str(file.role),
            words.ROWS.render(language, count=f"{file.rows:,}"),
            "" if file.window is None else _clock(file.window),
            "" if file.step_s is None else words.EVERY.render(language, step=measure(file.step_s, "s")),
        )
        for file in files
    ]
    for line, file in zip(column_lines(rows) if rows else (), files, strict=True):
        yield Text(cut(line, width))
        by = "" if file.decided_by is None else f", {words.DECIDED[file.decided_by].in_(language)}"
        description = Text(f"{escape_line(file.form)}{by}: {escape_line(file.note)}", "dim")
        yield from hang(Text(" " * _NOTE_INDENT), description, width)
        if file.gaps:
            gaps = words.GAPS_BETWEEN.in_(language).join(_clock(gap) for gap in file.gaps)
            yield from hang(
                Text(" " * _NOTE_INDENT), Text(words.GAPS.render(language, gaps=gaps), "yellow"), width
            )


def _unread_lines(files: Sequence[FileLook], *, width: int) -> Iterator[Text]:
    widest = max((cell_len(display_name(file.name)) for file in files), default=0)
    for file in files:
        name = display_name(file.name)
        prefix = Text(f"  {name}{' ' * (min(widest, 24) - cell_len(name))}  ")
        yield from hang(prefix, Text(escape_line(file.note.removeprefix("left out: ")), "yellow"), width)


def _service_lines(services: Sequence[ServiceLook], language: Language) -> Iterator[str]:
    rows = []
    for service in services[:_SERVICES_SHOWN]:
        names = ", ".join(display_name(name) for name in service.instances[:_INSTANCES_SHOWN])
        more = len(service.instances) - _INSTANCES_SHOWN
        listed = words.INSTANCES.render(language, names=f"{names} (+{more})" if more > 0 else names)
        recorded = words.GAPS_BETWEEN.in_(language).join(
            words.ROLES[kind].in_(language) for kind in service.telemetry if kind in words.ROLES
        )
        rows.append((f"  {display_name(service.name)}", recorded, listed if service.instances else ""))
    yield from column_lines(rows) if rows else ()
    yield from _more(len(services) - _SERVICES_SHOWN, language)


def _signal_lines(signals: Sequence[SignalLook], language: Language) -> Iterator[str]:
    rows = [
        (
            f"  {cut(display_name(signal.name), _NAME_WIDTH)}",
            escape_line(signal.unit) if signal.unit else words.NO_UNIT.in_(language),
            _kind(signal, language),
            words.HARMFUL[signal.harmful].in_(language),
            words.SERIES.render(language, series=signal.series, points=f"{signal.points:,}"),
        )
        for signal in signals[:_SIGNALS_SHOWN]
    ]
    yield from column_lines(rows) if rows else ()
    yield from _more(len(signals) - _SIGNALS_SHOWN, language)


def _kind(signal: SignalLook, language: Language) -> str:
    kind = words.KINDS[signal.kind].in_(language) if signal.kind in words.KINDS else signal.kind
    side = words.SIDES[signal.side].in_(language) if signal.side in words.SIDES else signal.side
    if side and signal.kind == "other":
        return side
    return f"{kind} {side}".rstrip()


def _more(count: int, language: Language) -> Iterator[str]:
    if count > 0:
        yield f"  {words.MORE.render(language, count=count)}"


def _clock(window: TimeWindow) -> str:
    """Both ends to the minute, without the year of the headline; the second day only if it differs."""
    start, end = (utc_text(at_s)[5:16].replace("T", " ") for at_s in (window.start_s, window.end_s))
    return f"{start} – {end[6:] if end[:5] == start[:5] else end}"
