"""What sar and its relatives print of a host: each device is a series, dates are read as written."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.toolbox.ports import Recording, Sources

OpenFolder = Callable[[Mapping[str, str | bytes]], Sources]
RefuseFolder = Callable[[Mapping[str, str | bytes]], InvalidInput]
DAY_S = 1_778_025_600.0  # 2026-05-06T00:00:00Z
HALF_PAST_8_S = DAY_S + 8.5 * 3600
HEAD = "Linux 5.15.0-91-generic (web-1) \t{} \t_x86_64_\t(4 CPU)\n\n"


def values_by_signal(sources: Sources, ctx: RunContext) -> dict[str, tuple[list[float], list[float]]]:
    """Signal → times and values, all of the one host."""
    assert sources.metrics is not None
    found = sources.metrics.series(ctx, Recording.INCIDENT)
    assert {one.entity for one in found} == {"web-1"}
    return {one.signal: (one.time_s.tolist(), np.round(one.value, 2).tolist()) for one in found}


def test_devices_are_series_of_their_own(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Two disks are never averaged; a repeated header and the averages are no rows."""
    header = "08:30:01     DEV       tps     rkB/s     %util\n"
    rows = "08:40:01     sda     12.00     1.00     1.20\n08:40:01     sdb     2.00     0.00     0.10\n"
    later = rows.replace("08:40", "08:50").replace("12.00", "90.00")
    average = "\nAverage:     DEV     tps     rkB/s     %util\nAverage:     sda     51.00     1.00     1.20\n"
    text = HEAD.format("2026-05-06") + header + rows + "\n" + header + later + average

    series = values_by_signal(open_folder({"sar.txt": text}), ctx)

    times = [HALF_PAST_8_S + 601, HALF_PAST_8_S + 1201]
    assert series["tps{sda}"] == (times, [12.0, 90.0])
    assert series["tps{sdb}"] == (times, [2.0, 2.0])
    assert len(series) == 6


def test_rows_after_midnight_are_of_the_next_day(open_folder: OpenFolder, ctx: RunContext) -> None:
    """The date stands in the first line alone; another block begins again on that day."""
    cpu = "11:40:01 PM     CPU     %user     %idle\n11:50:01 PM     all     5.00     93.00\n"
    cpu += "12:00:01 AM     all     6.00     92.00\n12:10:01 AM     all     7.00     91.00\n\n"
    load = "11:40:01 PM   runq-sz   ldavg-1\n11:50:01 PM     1     0.50\n12:00:01 AM     2     0.60\n"

    series = values_by_signal(open_folder({"sar.txt": HEAD.format("05/06/2026") + cpu + load}), ctx)

    at_s = DAY_S + 86_400 - 599
    assert series["%user"] == ([at_s, at_s + 600, at_s + 1200], [5.0, 6.0, 7.0])
    assert series["ldavg-1"] == ([at_s, at_s + 600], [0.5, 0.6])


CPU = "08:30:01     CPU     %user     %idle\n08:40:01     all     5.00     93.00\n"


@pytest.mark.parametrize("date", ["2026-05-06", "06.05.2026", "05/06/26", "2026年05月06日", "05/06/2026 AM"])
def test_a_date_is_read_as_its_language_writes_it(
    open_folder: OpenFolder, ctx: RunContext, date: str
) -> None:
    """Also that of the language C, and the American one, which writes AM and PM."""
    day, half, _ = date.partition(" AM")
    text = HEAD.format(day) + (CPU.replace(":01 ", ":01 AM ") if half else CPU)

    assert values_by_signal(open_folder({"sar.txt": text}), ctx)["%user"] == ([HALF_PAST_8_S + 601], [5.0])


def test_a_date_that_can_be_two_days_is_refused_and_the_remedy_works(
    refuse_folder: RefuseFolder, open_folder: OpenFolder, ctx: RunContext
) -> None:
    """Both were possible when the file was written: no guess."""
    text = HEAD.format("05/06/2020") + CPU
    refusal = refuse_folder({"sar.txt": text})
    assert "two ways" in refusal.problem
    assert '"%m/%d/%Y"' in refusal.remedy

    settings = '[files."sar.txt"]\ntime_format = "%d/%m/%Y"\n'
    series = values_by_signal(open_folder({"sar.txt": text, "incident.toml": settings}), ctx)
    assert series["%user"][0] == [1_591_346_401.0]  # 2020-06-05T08:40:01Z


def test_processes_are_told_apart(open_folder: OpenFolder, ctx: RunContext) -> None:
    """The rows of pidstat are processes; its CPU is where one ran, not what is measured."""
    text = HEAD.format("2026-05-06") + (
        "08:30:01   UID   PID   %usr   %CPU   CPU  Command\n"
        "08:40:01     0     7   1.00   3.00     1  java\n08:40:01     0     9   2.00   4.00     0  nginx\n"
    )
    assert set(values_by_signal(open_folder({"pidstat.txt": text}), ctx)) == {
        "%usr{7 java}", "%CPU{7 java}", "%usr{9 nginx}", "%CPU{9 nginx}"
    }  # fmt: skip


def test_sizes_for_people_are_read_in_the_unit_of_the_column(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """As --human writes them."""
    text = HEAD.format("2026-05-06") + (
        "08:30:01     kbmemfree     %memused\n08:40:01     1.5M     70.1%\n08:50:01     512.0k     71.0%\n"
    )
    series = values_by_signal(open_folder({"sar.txt": text}), ctx)
    assert series["kbmemfree"][1] == [1536.0, 512.0]
    assert series["%memused"][1] == [70.1, 71.0]


def test_averages_without_times_are_refused(refuse_folder: RefuseFolder) -> None:
    """As of iostat: nothing says when."""
    text = HEAD.format("2026-05-06") + "avg-cpu:  %user   %idle\n           5.00   93.00\n"
    assert "at what time" in refuse_folder({"iostat.txt": text}).problem


def test_the_clock_of_the_host_is_read_in_the_zone_of_the_folder(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """`sadf -d -t` names no zone, and sar never does; `sadf -d` writes UTC."""
    line = "# hostname;interval;timestamp;CPU;%user;%idle\nweb-1;600;2026-05-06 08:40:01{};-1;5.00;93.00\n"
    zone = '[incident]\nzone = "+02:00"\n'
    files = {"a.txt": line.format(" UTC"), "incident.toml": zone}
    assert values_by_signal(open_folder(files), ctx)["%user"][0] == [HALF_PAST_8_S + 601]
    files = {"a.txt": line.format(""), "incident.toml": zone}
    assert values_by_signal(open_folder(files), ctx)["%user"][0] == [HALF_PAST_8_S + 601 - 7200]
