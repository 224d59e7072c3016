"""The evidence under a report: footnotes, and small plots of cited signals."""

from __future__ import annotations

import json
from collections.abc import Iterator

from rich.text import Text

from diagnosis_harness.cli.render.citations import Citations, Item
from diagnosis_harness.cli.render.sparkline import sparkline
from diagnosis_harness.cli.render.wrap import hang
from diagnosis_harness.diagnosis.claim import WHOLE_RECORD, EvidenceRef, Quote
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.window import TimeWindow, parse_utc, utc_text
from diagnosis_harness.release.document import RecordEntry, RunDocument, Window
from diagnosis_harness.release.measure import measure, measures
from diagnosis_harness.release.moment import shown, span
from diagnosis_harness.release.words import Words

_PLOT_COLUMNS = 32
_DIGEST_SHOWN = len("sha256:") + 12
# Seconds since the epoch of the years 2000 to 2100: a number of this size in a scope is an instant.
_INSTANTS_S = (946_684_800.0, 4_102_444_800.0)


def footnotes(document: RunDocument, cited: Citations, *, words: Words, width: int) -> Iterator[Text]:
    """Record by record: tool, window, digest and what was asked for; under it each cited item, verbatim."""
    quotes = _quotes(document)
    columns = len(str(len(cited.numbers))) + 2
    for call_id in dict.fromkeys(ref.tool_call_id for ref in cited.numbers):
        record = cited.records[call_id]
        source = source_line(record, words=words)
        source.append(f"{words.comma}{_asked_for(record, words=words)}", "dim")
        yield from hang(Text("  "), source, width)
        for ref, place in cited.numbers.items():
            if ref.tool_call_id == call_id:
                mark = Text("    ").append(f"[{place}]".rjust(columns), "cyan").append(" ")
                yield from hang(mark, Text(_quoted(ref, quotes, cited, words=words)), width)


def source_line(record: RecordEntry, *, words: Words) -> Text:
    """Where evidence comes from: tool, window, and the digest of the stored bytes."""
    parts = [record.tool]
    if record.window:
        parts.append(window_words(record.window, words=words))
    if record.digest:
        parts.append(record.digest[:_DIGEST_SHOWN])
    return Text(words.comma.join(parts))


def window_words(window: Window, *, words: Words) -> str:
    """A window as people read it."""
    start, end = span(TimeWindow(parse_utc(window.start), parse_utc(window.end)))
    return words.to.format(start=start, end=end)


def plot(item: Item, *, indent: int, width: int) -> Text | None:
    """`cpu  ▁▁▁│▇▇▇  12% → 97%` for an item that carries a series; None for one that does not."""
    points = item.get("points")
    if not isinstance(points, list):
        return None
    series = [float(point) if isinstance(point, int | float) else None for point in points]
    label = shown(str(item.get("signal") or item.get("entity") or ""))
    label = label if len(label) <= width // 3 else f"{label[: width // 3 - 1]}…"
    room = min(_PLOT_COLUMNS, width - indent - len(label) - 24)
    if room < 8 or not any(point is not None for point in series):
        return None
    line = Text(f"{' ' * indent}{label}  ", "dim")
    line.append(sparkline(series, width=room, mark=_onset_share(item)), "yellow")
    line.append(f"  {_from_to(item)}", "dim")
    line.rstrip()
    return line


def scope_words(scope: str, *, words: Words) -> str:
    """A normalised request as `name=value` pairs; instants in UTC."""
    held = json.loads(scope) if scope else {}
    if not isinstance(held, dict) or not held:
        return words.coverage.everything
    return words.comma.join(f"{name}={_argument(value)}" for name, value in held.items())


def _asked_for(record: RecordEntry, *, words: Words) -> str:
    return f"{words.asked_for}{words.colon}{scope_words(record.scope, words=words)}"


def _quotes(document: RunDocument) -> dict[EvidenceRef, Quote]:
    found: dict[EvidenceRef, Quote] = {}
    for claim in document.report.claims:
        for quote in claim.quotes:
            found.setdefault(quote.ref, quote)
    return found


def _quoted(ref: EvidenceRef, quotes: dict[EvidenceRef, Quote], cited: Citations, *, words: Words) -> str:
    """The claim's own quote, else the item's line: both verbatim from the stored bytes."""
    if ref.item_id == WHOLE_RECORD:
        return words.whole_record
    text = quotes[ref].text if ref in quotes else str(cited.items.get(ref, {}).get("line", ""))
    return f'"{shown(text)}"'


def _argument(value: JsonValue) -> str:
    if isinstance(value, list):
        return "+".join(_argument(each) for each in value)
    if isinstance(value, float) and _INSTANTS_S[0] <= value <= _INSTANTS_S[1]:
        return utc_text(value)
    return shown(f"{value:g}" if isinstance(value, float) else str(value))


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
    """Where the change begins, as a share of the plotted course; None where the item does not say."""
    onset, window, attributes = item.get("onset"), item.get("window"), item.get("attributes")
    if not isinstance(onset, str) or not isinstance(window, list) or len(window) != 2:
        return None
    begun = attributes.get("course_start", window[0]) if isinstance(attributes, dict) else window[0]
    start_s, end_s = parse_utc(str(begun)), parse_utc(str(window[1]))
    return (parse_utc(onset) - start_s) / (end_s - start_s) if end_s > start_s else None
