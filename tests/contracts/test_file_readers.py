"""Every reader of a format recognises its own files, no other's, and gives rows that the room can read."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.format_samples import MORE_SAMPLES, SAMPLES

from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder
from diagnosis_harness.adapters.sources.incident_folder.formats.reader import FileContent, read_file_head
from diagnosis_harness.adapters.sources.incident_folder.formats.readers import READERS
from diagnosis_harness.adapters.sources.incident_folder.listing import ListedFile
from diagnosis_harness.adapters.sources.incident_folder.settings_file import FileSettings
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.testing.runs import Rig

LIMIT = 10_000_000
EVERY = {key: (key, *sample) for key, sample in SAMPLES.items()} | MORE_SAMPLES
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["data", "result", "items", "kind", "alerts", "hits", "x"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@pytest.fixture
def ctx() -> RunContext:
    """A run that nothing limits."""
    return Rig().run()


def file_with(path: Path, text: str) -> ListedFile:
    """The file, written."""
    path.write_text(text, encoding="utf-8")
    return ListedFile(path, path.name, None, None, gzipped=False, settings=FileSettings())


@contextmanager
def text_of(text: str) -> Iterator[TextIO]:
    """A text as an open file."""
    with io.StringIO(text) as content:
        yield content


def test_every_reader_has_a_sample_and_a_key_of_its_own() -> None:
    """What is not shown here is not tested."""
    assert sorted(SAMPLES) == sorted(reader.key for reader in READERS)


@pytest.mark.parametrize("what", EVERY)
def test_a_file_is_recognised_by_its_own_reader_first(what: str, tmp_path: Path) -> None:
    """In the order in which they are asked."""
    key, name, text = EVERY[what]
    head = read_file_head(file_with(tmp_path / name, text), lambda: text_of(text), limit_bytes=LIMIT)
    assert next(reader.key for reader in READERS if reader.recognises(head)) == key


@pytest.mark.parametrize("what", EVERY)
def test_rows_have_the_columns_that_are_promised(what: str, tmp_path: Path) -> None:
    """At least one row, each as wide as the columns, of texts, numbers and nothing else."""
    key, name, text = EVERY[what]
    reader = next(reader for reader in READERS if reader.key == key)
    content = FileContent(file_with(tmp_path / name, text), lambda: text_of(text), limit_bytes=LIMIT)
    for found in reader.read(content):
        rows = list(found.rows)
        assert rows
        assert {len(row) for row in rows} == {len(found.columns)}
        assert all(isinstance(cell, str | int | float | None) for row in rows for cell in row)


@pytest.mark.parametrize("what", EVERY)
def test_a_folder_with_one_file_of_a_format_is_opened(what: str, tmp_path: Path, ctx: RunContext) -> None:
    """Under a name that says nothing; what it holds is counted. An alert alone is no data."""
    _, name, text = EVERY[what]
    (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "beside.csv").write_text(
        "time,entity,signal,value\n"
        + "".join(f"{1_778_056_800 + 60 * at},beside,latency_ms,{at}\n" for at in range(5)),
        encoding="utf-8",
    )
    summary = open_incident_folder(tmp_path).summary.summary(ctx)
    note = next(note for note in summary.files if note.file == name)
    assert note.role is not None, note.note
    assert note.rows > 0, note.note


@given(JSON | st.text(max_size=200))
def test_no_detector_raises(value: object) -> None:
    """Whatever a file holds, each detector answers."""
    import json

    text = value if isinstance(value, str) else json.dumps(value)
    file = ListedFile(Path("x"), "x", None, None, gzipped=False, settings=FileSettings())
    head = read_file_head(file, lambda: text_of(text), limit_bytes=LIMIT)
    assert all(reader.recognises(head) in {True, False} for reader in READERS)


@pytest.mark.parametrize("what", EVERY)
def test_a_file_that_breaks_off_is_read_in_part_or_refused_in_one_sentence(what: str, tmp_path: Path) -> None:
    """At every tenth of its length."""
    _, name, text = EVERY[what]
    for tenth in range(1, 10):
        (tmp_path / name).write_text(text[: len(text) * tenth // 10], encoding="utf-8")
        with suppress(InvalidInput):
            open_incident_folder(tmp_path)
