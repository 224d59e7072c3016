"""The evidence under a report: footnotes, and small plots of cited signals."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from diagnosis_harness.cli.render.sparkline import sparkline
from diagnosis_harness.cli.render.wrap import hang
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.kernel.window import parse_utc
from diagnosis_harness.report import words
from diagnosis_harness.report.citations import Citations, Item
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.report.excerpt import describe_scope, quotation, quotes_of, source_words
from diagnosis_harness.report.measure import measure, measures

_PLOT_COLUMNS = 32


def footnotes(document: RunDocument, cited: Citations, *, language: Language, width: int) -> Iterator[Text]:
    """For each record: tool, window, digest and arguments; below it each cited item, verbatim."""
    quotes = quotes_of(document)
    columns = len(str(len(cited.numbers))) + 2
    for call_id in dict.fromkeys(ref.tool_call_id for ref in cited.numbers):
        record = cited.records[call_id]
        source = Text(source_words(record, language=language))
        source.append(f"{words.COMMA.in_(language)}{describe_scope(record, language=language)}", "dim")
        yield from hang(Text("  "), source, width)
        for ref, place in cited.numbers.items():
            if ref.tool_call_id == call_id:
                mark = Text("    ").append(f"[{place}]".rjust(columns), "cyan").append(" ")
                yield from hang(mark, Text(quotation(ref, quotes, cited, language=language)), width)


def plot(item: Item, *, indent: int, width: int) -> Text | None:
    """`cpu  ▁▁▁│▇▇▇  12% → 97%` for an item that carries a series; None for one that does not."""
    points = item.get("points")
    if not isinstance(points, list):
        return None
    series = [float(point) if isinstance(point, int | float) else None for point in points]
    label = display_name(str(item.get("signal") or item.get("entity") or "?"))
    label = label if len(label) <= width // 3 else f"{label[: width // 3 - 1]}…"
    room = min(_PLOT_COLUMNS, width - indent - len(label) - 24)
    if room < 8 or not any(point is not None for point in series):
        return None
    line = Text(f"{' ' * indent}{label}  ", "dim")
    line.append(sparkline(series, width=room, mark=_onset_share(item)), "yellow")
    line.append(f"  {_from_to(item)}", "dim")
    line.rstrip()
    return line


def _from_to(item: Item) -> str:
    value, baseline, unit = item.get("value"), item.get("baseline"), item.get("unit")
    unit = unit if isinstance(unit, str) else None
    if not isinstance(value, int | float):
        return ""
    if not isinstance(baseline, int | float):
        return measure(value, unit)
    before, now = measures(baseline, value, unit)
    return f"{before} → {now}"


def _onset_share(item: Item) -> float | None:
    """The start of the change, as a share of the plotted series; None if the item does not state it."""
    onset, window, attributes = item.get("onset"), item.get("window"), item.get("attributes")
    if not isinstance(onset, str) or not isinstance(window, list) or len(window) != 2:
        return None
    begun = attributes.get("course_start", window[0]) if isinstance(attributes, dict) else window[0]
    start_s, end_s = parse_utc(str(begun)), parse_utc(str(window[1]))
    return (parse_utc(onset) - start_s) / (end_s - start_s) if end_s > start_s else None
