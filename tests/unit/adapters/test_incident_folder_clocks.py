"""Files of one folder whose clocks disagree: the odd one is left out if it can be identified."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.toolbox.ports import Recording, Sources

OpenFolder = Callable[[Mapping[str, str | bytes]], Sources]
RefuseFolder = Callable[[Mapping[str, str | bytes]], InvalidInput]

HEAD = "time,entity,signal,value\n"
ROWS = "".join(f"{1_700_000_000 + 60 * minute},checkout,latency_ms,{minute}\n" for minute in range(10))
GOOD = HEAD + ROWS


@pytest.mark.parametrize("shift_h", [8, 5.5, -7])
def test_two_files_whose_clocks_do_not_agree_are_refused(refuse_folder: RefuseFolder, shift_h: float) -> None:
    """Both files, both ranges and the distance are named."""
    moved = "".join(f"{1_700_000_000 + int(3600 * shift_h) + 60 * i},pay,latency_ms,{i}\n" for i in range(10))
    refused = refuse_folder({"metrics.csv": GOOD, "metrics-pay.csv": HEAD + moved})
    assert "their clocks do not agree" in refused.problem
    assert f"about {abs(shift_h):g} h apart" in refused.problem
    assert "shift_s" in refused.remedy


def metrics_at(shift_s: int) -> str:
    """Ten minutes of another service, so many seconds later than those of `GOOD`."""
    return HEAD + "".join(f"{1_700_000_000 + shift_s + 60 * i},pay,latency_ms,{i}\n" for i in range(10))


LATE = metrics_at(28_800)
LATE_LOG = "time,entity,message\n" + "".join(f"{1_700_028_800 + 60 * i},pay,a{i}\n" for i in range(10))


@pytest.mark.parametrize(
    ("files", "odd"),
    [
        ({"metrics-b.csv": metrics_at(60), "metrics-c.csv": LATE}, "metrics-c.csv"),
        ({"metrics-b.csv": LATE, "incident.toml": "[alert]\ntime = 1700000300\n"}, "metrics-b.csv"),
        ({"metrics-b.csv": LATE, "incident.toml": "[alert]\ntime = 1700029000\n"}, "metrics.csv"),
        ({"logs.csv": LATE_LOG}, "logs.csv"),
    ],
    ids=["the others agree", "the alert is in one", "the alert is in the other", "the only metrics"],
)  # fmt: skip
def test_the_file_with_another_clock_is_left_out_and_named(
    open_folder: OpenFolder, ctx: RunContext, files: Mapping[str, str], odd: str
) -> None:
    """Where a stated time, most files or the only metrics decide which one that is; the rest is read."""
    summary = open_folder({"metrics.csv": GOOD, **files}).summary.summary(ctx)
    left_out = {note.file: note.note for note in summary.files if note.role is None}
    assert set(left_out) == {odd}
    assert "clocks do not agree" in left_out[odd]
    assert "about 8 h apart" in left_out[odd]
    assert "shift_s" in left_out[odd]
    assert summary.incident is not None
    assert summary.incident.end_s - summary.incident.start_s < 3600


def test_a_clock_that_is_set_right_in_the_settings_is_read(open_folder: OpenFolder, ctx: RunContext) -> None:
    """`shift_s` is added to every time of the file."""
    moved = "".join(f"{1_700_028_800 + 60 * i},pay,latency_ms,{i}\n" for i in range(10))
    toml = '[files."metrics-pay.csv"]\nshift_s = -28800\n'
    sources = open_folder({"metrics.csv": GOOD, "metrics-pay.csv": HEAD + moved, "incident.toml": toml})
    assert sources.metrics is not None
    one, other = sources.metrics.series(ctx, Recording.INCIDENT)
    assert one.time_s.tolist() == other.time_s.tolist()


def test_files_that_follow_one_another_have_one_clock(open_folder: OpenFolder, ctx: RunContext) -> None:
    """A recording cut into pieces is one recording."""
    later = HEAD + "".join(f"{1_700_000_600 + 60 * i},checkout,latency_ms,{i}\n" for i in range(10))
    sources = open_folder({"metrics-1.csv": GOOD, "metrics-2.csv": later})
    assert sources.metrics is not None
    (series,) = sources.metrics.series(ctx, Recording.INCIDENT)
    assert len(series.time_s) == 20
