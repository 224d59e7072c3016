"""incident.toml, and which files of a folder are read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder
from diagnosis_harness.adapters.sources.incident_folder.settings_file import FileSettings, read_settings
from diagnosis_harness.analysis.meaning import SignalForm, SignalKind, SignalSide
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.toolbox.ports import UNSTATED, Recording, SeriesMeaning, Sources

OpenFolder = Callable[[Mapping[str, str | bytes]], Sources]
RefuseFolder = Callable[[Mapping[str, str | bytes]], InvalidInput]
WriteFolder = Callable[..., Path]

FIRST = 1_700_000_000
METRICS = "time,entity,signal,value\n" + "".join(f"{FIRST + 60 * i},shop,latency_ms,{i}\n" for i in range(10))

BAD_SETTINGS = {
    "no TOML": ("[incident\n", "not valid TOML", "line 1"),
    "an unknown table": ("[incidnt]\nname = 'x'\n", "there is no such key", "line 1 (incidnt)"),
    "an unknown key": ("[incident]\nname = 'x'\nonst = 5\n", "no such key", "line 3 (incident.onst)"),
    "a number for a text": ("[incident]\n# one\nname = 3\n", "a valid string", "line 3 (incident.name)"),
    "an unknown word": ("[alert]\ndirection = 'left'\n", "'up' or 'down'", "line 2 (alert.direction)"),
    "no time": ("[incident]\nonset = 'soon'\n", "'soon' is not a time", "line 2 (incident.onset)"),
    "a truth value for a time": ("[incident]\nonset = true\n", "is not usable", "line 2 (incident.onset)"),
    "no zone": ("[incident]\nzone = 'Mars/Olympus'\n", "there is no time zone", "line 2 (incident.zone)"),
    "a path as a zone": ("[incident]\nzone = '../../etc/passwd'\n", "there is no time zone", "line 2"),
    "no zone of a file": ("[files.'metrics.csv']\nzone = 'x'\n", "there is no time zone", "line 2"),
    "too many header rows": (
        '[files."metrics.csv"]\n\nheader_rows = 7\n',
        "less than or equal to 3",
        "line 3 (files.metrics.csv.header_rows)",
    ),
    "no kind of signal": ("[signals.jobs]\nkind = 'kew'\n", "'queue'", "line 2 (signals.jobs.kind)"),
    "no direction": (
        "[signals.'jobs_*']\n\nharmful = 1\n", "'up', 'down' or 'neither'", "line 3 (signals.jobs_*",
    ),
    "an unknown key of a signal": (
        "[signals.jobs]\ndirection = 'up'\n", "no such key", "line 2 (signals.jobs.direction)",
    ),
    "a file that is not there": ('[files."metric.csv"]\nignore = true\n', "names no file", "incident.toml"),
    "half a window": ("[baseline]\nstart = 1700000000\n", "a start and a later end", "line 1 (baseline)"),
    "a window elsewhere": (
        "[baseline]\nstart = 2020-01-01T00:00:00Z\nend = 2020-01-02T00:00:00Z\n", "outside", "baseline",
    ),
    "a baseline that is not there": ("[baseline]\nfolder = 'normal'\n", "no such folder", "normal"),
    "an infinite shift": ("[files.'metrics.csv']\nshift_s = inf\n", "finite number", "line 2"),
    "not UTF-8": (b"[incident]\nname = '\xff'\n", "not UTF-8", "incident.toml"),
    "larger than 1 MB": ("#" * 1_000_001, "larger than 1 MB", "incident.toml"),
}  # fmt: skip


@pytest.mark.parametrize(("toml", "problem", "place"), BAD_SETTINGS.values(), ids=BAD_SETTINGS.keys())
def test_a_bad_setting_is_refused_with_its_line_and_key(
    refuse_folder: RefuseFolder, toml: str | bytes, problem: str, place: str
) -> None:
    """A wrong key is never passed over."""
    refused = refuse_folder({"metrics.csv": METRICS, "incident.toml": toml})
    assert problem in refused.problem
    assert place in str(refused)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(codec="utf-8")))
def test_any_settings_text_is_read_or_refused_in_one_sentence(tmp_path: Path, text: str) -> None:
    """Nothing but InvalidInput leaves the reader."""
    (tmp_path / "incident.toml").write_bytes(text.encode())
    try:
        read_settings(tmp_path)
    except InvalidInput as refused:
        assert str(refused).isprintable()  # noqa: PT017  # both ways out are right


def test_a_file_is_left_out_when_the_settings_say_so(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Even one that could not be read."""
    toml = '[files."traces.csv"]\nignore = true\n'
    summary = open_folder(
        {"metrics.csv": METRICS, "traces.csv": "broken", "incident.toml": toml}
    ).summary.summary(ctx)
    assert {note.file: note.note for note in summary.files}["traces.csv"] == "left out as incident.toml asks"


def test_every_file_that_is_not_used_is_listed_with_its_reason(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """Nothing disappears."""
    files = {
        "metrics.csv": METRICS,
        "notes.csv": "a\n",
        "metrics.xlsx": "x",
        "metrics.parquet.gz": "x",
        ".hidden": "x",
    }
    notes = {note.file: note for note in open_folder(files).summary.summary(ctx).files}
    assert "no column says when, so nothing in it can be compared" in notes["notes.csv"].note
    assert "its content is in no known format" in notes["metrics.xlsx"].note
    assert "its name says gzip, but it is not" in notes["metrics.parquet.gz"].note
    assert "begins with a dot" in notes[".hidden"].note
    assert all(note.role is None for name, note in notes.items() if name != "metrics.csv")


def test_only_files_directly_in_the_folder_are_read(
    write_folder: WriteFolder, tmp_path: Path, ctx: RunContext
) -> None:
    """Links out of it, folders, and things that are no files are left out; a link inside is read."""
    (tmp_path / "secret.csv").write_text(METRICS.replace("shop", "secret"))
    folder = write_folder({"metrics.csv": METRICS, "data.csv": METRICS.replace("shop", "pay")})
    (folder / "metrics-out.csv").symlink_to(tmp_path / "secret.csv")
    (folder / "metrics-gone.csv").symlink_to(tmp_path / "gone.csv")
    (folder / "metrics-loop.csv").symlink_to(folder / "metrics-loop.csv")
    (folder / "metrics-in.csv").symlink_to(folder / "data.csv")
    (folder / "metrics-dir.csv").mkdir()
    os.mkfifo(folder / "metrics-pipe.csv")
    summary = open_incident_folder(folder).summary.summary(ctx)
    notes = {note.file: note.note for note in summary.files}
    assert summary.entities == ("pay", "shop")
    assert "a link to a place outside the folder" in notes["metrics-out.csv"]
    assert "cannot be reached" in notes["metrics-gone.csv"]
    assert "cannot be reached" in notes["metrics-loop.csv"]
    assert "it is not a file" in notes["metrics-dir.csv"]
    assert "it is not a file" in notes["metrics-pipe.csv"]


def test_a_folder_behind_a_link_or_with_signs_of_a_pattern_is_read(tmp_path: Path, ctx: RunContext) -> None:
    """Paths are paths, not patterns, and may hold quotes."""
    folder = tmp_path / "it's [1] of *"
    folder.mkdir()
    (folder / "metrics-[a]'*.csv").write_text(METRICS)
    (folder / "metrics-a'x.csv").write_text(METRICS.replace("shop", "pay"))
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert open_incident_folder(link).summary.summary(ctx).entities == ("pay", "shop")


def test_an_unreadable_file_is_refused(write_folder: WriteFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Permission is the remedy; tests may run as root, who may read all, so the refusal is made."""

    def deny(self: Path, *args: object, **options: object) -> None:
        raise PermissionError(13, "Permission deny")

    folder = write_folder({"metrics.csv": METRICS})
    monkeypatch.setattr(Path, "open", deny)
    with pytest.raises(InvalidInput) as refused:
        open_incident_folder(folder)
    assert str(refused.value) == "metrics.csv: it cannot be read (Permission deny); check its permissions."


def test_the_example_of_the_reference_page_is_valid_and_shows_every_key(tmp_path: Path) -> None:
    """The page is the contract."""
    page = (Path(__file__).parents[3] / "docs" / "reference" / "incident-folder.md").read_text(
        encoding="utf-8"
    )
    example = page.partition("```toml\n")[2].partition("```")[0]
    (tmp_path / "incident.toml").write_text(example, encoding="utf-8")

    read = read_settings(tmp_path).files["metrics.csv"]

    assert read.model_fields_set == set(FileSettings.model_fields)


STATED = """
[signals.jobs_left]
kind = "queue"
unit = "jobs"

[signals."jobs_*"]
kind = "efficiency"
harmful = "down"
side = "outgoing"
form = "gauge"

[units]
jobs_seen = "1"
"""


def test_the_meaning_of_a_signal_can_be_stated_by_name_and_by_pattern(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """The exact name wins over a pattern; both travel with the series and its listing."""
    rows = "".join(
        f"{FIRST + 60 * i},shop,{name},{i}\n" for name in ("jobs_left", "jobs_seen", "age") for i in range(5)
    )
    sources = open_folder({"metrics.csv": "time,entity,signal,value\n" + rows, "incident.toml": STATED})
    assert sources.metrics is not None
    listed = {one.signal: one for one in sources.metrics.signals(ctx, Recording.INCIDENT)}
    read = {one.signal: one for one in sources.metrics.series(ctx, Recording.INCIDENT)}
    assert listed["jobs_left"].meaning == SeriesMeaning(kind=SignalKind.QUEUE)
    assert listed["jobs_left"].unit == "jobs"
    assert listed["jobs_seen"].meaning == SeriesMeaning(
        kind=SignalKind.EFFICIENCY, side=SignalSide.OUTGOING, harmful=-1, form=SignalForm.GAUGE
    )
    assert listed["jobs_seen"].unit == "1"
    assert listed["age"].meaning == UNSTATED
    assert {name: one.meaning for name, one in read.items()} == {
        name: one.meaning for name, one in listed.items()
    }
