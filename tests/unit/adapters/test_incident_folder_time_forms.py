"""Times that are not ISO 8601 but can be read in one way only."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.toolbox.ports import Recording, Sources

OpenFolder = Callable[[Mapping[str, str | bytes]], Sources]
RefuseFolder = Callable[[Mapping[str, str | bytes]], InvalidInput]

NOON_S = 1_778_068_800.0  # 2026-05-06T12:00:00Z
FORMS = [
    "2026-05-06 12:00:00,000",
    "2026-05-06T12:00:00,000",
    "2026-05-06 12:00:00 UTC",
    "2026-05-06 12:00:00 +0000 UTC",
    "2026-05-06 14:00:00.000 +0200 CEST",
    "2026-05-06 12:00:00.000000000 +0000 UTC m=+0.000000001",
    "2026-05-06 14:00:00 +0200",
    "06/May/2026:12:00:00 +0000",
    "[06/May/2026:14:00:00 +0200]",
    "May 6, 2026 @ 12:00:00.000",
    "May 6, 2026 @ 12:00:00",
    "Wed, 06 May 2026 12:00:00 GMT",
    "Wed, 6 May 2026 14:00:00 +0200",
    "Wed May  6 12:00:00 2026",
    "Wed May 6 14:00:00 2026 +0200",
    "May 6, 2026, 12:00:00 PM",
    "May 6, 2026 12:00:00PM",
    "06-May-2026 12:00:00.000",
    "6 May 2026 12:00:00",
    "20260506T120000Z",
    "20260506-12:00:00.000",
    "2026/05/06 12:00:00",
]


@pytest.mark.parametrize("text", FORMS)
def test_a_time_of_every_known_form_is_read(open_folder: OpenFolder, ctx: RunContext, text: str) -> None:
    """Loggers, web servers, search pages and version control each have their own way."""
    sources = open_folder({"metrics.csv": f'time,entity,signal,value\n"{text}",shop,x,1\n'})
    assert sources.metrics is not None
    (series,) = sources.metrics.series(ctx, Recording.INCIDENT)
    assert series.time_s.tolist() == [NOON_S]


def test_a_fraction_behind_a_comma_counts(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Milliseconds of Python's and Java's loggers are kept."""
    sources = open_folder({"metrics.csv": 'time,entity,signal,value\n"2026-05-06 12:00:00,250",shop,x,1\n'})
    assert sources.metrics is not None
    (series,) = sources.metrics.series(ctx, Recording.INCIDENT)
    assert series.time_s.tolist() == [NOON_S + 0.25]


def test_a_date_and_a_time_of_day_in_two_columns_are_joined(open_folder: OpenFolder, ctx: RunContext) -> None:
    """As log parsers and many appliances write them; both columns count as used."""
    content = (
        "Date,Time,entity,signal,value\n2026-05-06,12:00:00.500,shop,x,1\n2026-05-06,12:01:00.500,shop,x,2\n"
    )
    sources = open_folder({"metrics.csv": content})
    assert sources.metrics is not None
    (series,) = sources.metrics.series(ctx, Recording.INCIDENT)
    assert series.time_s.tolist() == [NOON_S + 0.5, NOON_S + 60.5]
    assert "not used" not in sources.summary.summary(ctx).files[0].note


@pytest.mark.parametrize(
    ("rows", "shown"),
    [
        (("06/05/2026 12:00:00", "13/05/2026 12:00:00"), "day first"),
        (("05/06/2026 12:00:00 PM", "05/13/2026 12:00:00 PM"), "month first"),
        (("6.5.2026 12:00:00", "13.5.2026 12:00:00"), "day first"),
    ],
)
def test_a_date_of_numbers_is_read_where_one_of_them_decides(
    open_folder: OpenFolder, ctx: RunContext, rows: tuple[str, str], shown: str
) -> None:
    """A thirteenth month does not exist."""
    content = "time,entity,signal,value\n" + "".join(f"{row},shop,x,1\n" for row in rows)
    sources = open_folder({"metrics.csv": content})
    assert sources.metrics is not None
    (series,) = sources.metrics.series(ctx, Recording.INCIDENT)
    assert series.time_s.tolist() == [NOON_S, NOON_S + 7 * 86_400]
    assert shown in sources.summary.summary(ctx).files[0].note


def test_an_ambiguous_date_is_refused_and_the_remedy_works(
    open_folder: OpenFolder, refuse_folder: RefuseFolder, ctx: RunContext
) -> None:
    """Nothing is guessed; the line that the refusal names reads the file."""
    content = "time,entity,signal,value\n06/05/2026 12:00:00,shop,x,1\n"
    refused = refuse_folder({"metrics.csv": content})
    assert "day or with the month first" in refused.problem
    assert 'time_format = "%d/%m/%Y %H:%M:%S"' in refused.remedy

    toml = '[files."metrics.csv"]\ntime_format = "%d/%m/%Y %H:%M:%S"\n'
    sources = open_folder({"metrics.csv": content, "incident.toml": toml})

    assert sources.metrics is not None
    (series,) = sources.metrics.series(ctx, Recording.INCIDENT)
    assert series.time_s.tolist() == [NOON_S]


def test_a_time_format_that_does_not_fit_is_refused(refuse_folder: RefuseFolder) -> None:
    """It is said which cell, and how to write it."""
    toml = '[files."metrics.csv"]\ntime_format = "%H:%M"\n'
    content = "time,entity,signal,value\n06/05/2026 12:00:00,shop,x,1\n"
    refused = refuse_folder({"metrics.csv": content, "incident.toml": toml})
    assert "does not fit '06/05/2026 12:00:00'" in refused.problem


def test_one_file_that_cannot_be_used_is_named_and_the_rest_is_read(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """A broken or empty file beside good ones never refuses the question."""
    good = "time,entity,signal,value\n2026-05-06T12:00:00Z,shop,x,1\n"
    sources = open_folder(
        {"metrics.csv": good, "metrics-2.csv": "a,b\n1\n", "logs.csv": "", "traces.json": "[{"}
    )
    summary = sources.summary.summary(ctx)
    assert summary.metric_series == 1
    left_out = {note.file: note.note for note in summary.files if note.role is None}
    assert left_out["metrics-2.csv"].startswith("left out: line 2: this row has 1 column")
    assert "it is empty" in left_out["logs.csv"]
    assert "cut off" in left_out["traces.json"]


def test_where_no_file_can_be_used_each_is_named(refuse_folder: RefuseFolder) -> None:
    """One sentence with every reason, and what to do first."""
    refused = refuse_folder({"metrics.csv": "", "logs.csv": ""})
    assert "logs.csv: it is empty" in refused.problem
    assert "metrics.csv: it is empty" in refused.problem
