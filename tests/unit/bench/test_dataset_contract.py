"""What every data set promises the bench: the same ids and bytes each time, and no truth before the end."""

from __future__ import annotations

import re
from dataclasses import astuple
from pathlib import Path
from shutil import rmtree

import pytest
from tests.support.small_sets import SMALL_SETS, SmallSet

from diagnosis_harness.bench.case import ALERT_DELAY_S, Case, Condition, DataSet
from diagnosis_harness.bench.datasets.catalog import NAMES
from diagnosis_harness.kernel.errors import InvalidInput

apart = [small for small in SMALL_SETS if small.labels]
each_set = pytest.mark.parametrize("small", SMALL_SETS, ids=[small.name for small in SMALL_SETS])


def files_below(folder: Path) -> dict[str, bytes]:
    """All files by their path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def export_all(data_set: DataSet, target: Path) -> list[Case]:
    """Every incident under every condition that the set has."""
    return [
        data_set.export(name, condition, target)
        for condition in Condition
        for name in data_set.incident_ids(condition)
    ]


def facts_of(case: Case, target: Path) -> tuple[object, ...]:
    """Everything that a case says, with paths from its target."""
    return tuple(value.relative_to(target) if isinstance(value, Path) else value for value in astuple(case))


def test_every_known_set_is_under_the_contract() -> None:
    """A new reader without a small set would be untested."""
    assert {small.name for small in SMALL_SETS} == {*NAMES, "ours"}  # and a folder of one's own


@each_set
def test_ids_are_the_same_each_time(tmp_path: Path, small: SmallSet) -> None:
    """Two objects over one folder list the same incidents in the same order, without doubles."""
    one, two = small.make(tmp_path / "one"), small.make(tmp_path / "two")
    for condition in Condition:
        ids = one.incident_ids(condition)
        assert list(ids) == list(two.incident_ids(condition)) == list(dict.fromkeys(ids))
    assert one.incident_ids()
    assert one.name == small.name


@each_set
def test_exports_are_the_same_byte_for_byte(tmp_path: Path, small: SmallSet) -> None:
    """Whenever, wherever and in whichever order."""
    data_set = small.make(tmp_path / "data")
    first = export_all(data_set, tmp_path / "first")
    again = [
        data_set.export(case.incident_id, case.condition, tmp_path / "again") for case in reversed(first)
    ]
    assert files_below(tmp_path / "first") == files_below(tmp_path / "again")
    assert [facts_of(case, tmp_path / "first") for case in first] == [
        facts_of(case, tmp_path / "again") for case in reversed(again)
    ]


@each_set
def test_another_truth_changes_no_exported_byte(tmp_path: Path, small: SmallSet) -> None:
    """Whatever the labels say, folders are the same to the last byte, and so are cases."""
    data_set = small.make(tmp_path / "data")
    before = export_all(data_set, tmp_path / "one")
    truths = data_set.labels(data_set.incident_ids())
    small.poison(tmp_path / "data")
    after = export_all(data_set, tmp_path / "two")
    assert data_set.labels(data_set.incident_ids()) != truths
    assert files_below(tmp_path / "one") == files_below(tmp_path / "two")
    assert [facts_of(case, tmp_path / "one") for case in before] == [
        facts_of(case, tmp_path / "two") for case in after
    ]
    assert not any(b"POISON" in data for data in files_below(tmp_path / "two").values())


@pytest.mark.parametrize("small", apart, ids=[small.name for small in apart])
def test_exports_need_no_label(tmp_path: Path, small: SmallSet) -> None:
    """Where the labels are in files of their own, nothing changes when they are gone."""
    data_set = small.make(tmp_path / "data")
    export_all(data_set, tmp_path / "one")
    for name in small.labels:
        path = tmp_path / "data" / name
        if path.is_dir():
            rmtree(path)
        else:
            path.unlink()
    export_all(data_set, tmp_path / "two")
    assert files_below(tmp_path / "one") == files_below(tmp_path / "two")


@each_set
def test_folders_have_opaque_names(tmp_path: Path, small: SmallSet) -> None:
    """Neither a path nor incident.toml names the published incident or the data set."""
    data_set = small.make(tmp_path / "data")
    cases = export_all(data_set, tmp_path / "out")
    for path, data in files_below(tmp_path / "out").items():
        assert re.match(r"incident-[0-9a-f]{12}/", path)
        for word in (*data_set.incident_ids(), data_set.name):
            assert word not in path
            assert word.encode() not in data
    assert len({case.folder for case in cases}) == len(cases)


@each_set
def test_every_incident_has_a_truth_or_a_reason(tmp_path: Path, small: SmallSet) -> None:
    """An incident that the labels do not know is unusable, in one sentence."""
    data_set = small.make(tmp_path / "data")
    truths = data_set.labels([*data_set.incident_ids(), "unheard-of"])
    assert set(truths) >= {*data_set.incident_ids(), "unheard-of"}
    assert truths["unheard-of"].unusable
    assert all(truths[name].usable for name in data_set.incident_ids())


@each_set
def test_what_is_stated_follows_the_condition(tmp_path: Path, small: SmallSet) -> None:
    """Nothing stated is nothing at all; a realistic alert is two minutes late and gives no onset."""
    data_set = small.make(tmp_path / "data")
    for case in export_all(data_set, tmp_path / "out"):
        text = (case.folder / "incident.toml").read_text(encoding="utf-8")
        match case.condition:
            case Condition.NOTHING | Condition.HEALTHY_QUESTION:
                assert "onset" not in text
                assert "[alert]" not in text
                assert not list(case.folder.glob("alert*"))
            case Condition.ALERT | Condition.HEALTHY_ALERT:
                assert "onset" not in text
                assert "[alert]" in text
            case Condition.HEALTHY_ONSET:
                assert "onset" in text
                assert "[alert]" not in text
            case _:
                pass
        if case.condition in {Condition.HEALTHY_ALERT, Condition.HEALTHY_ONSET}:
            assert case.onset_s is not None
    assert ALERT_DELAY_S == 120.0


@each_set
def test_missing_data_are_one_clear_sentence(tmp_path: Path, small: SmallSet) -> None:
    """A folder without the data set is refused before anything is written."""
    (tmp_path / "empty").mkdir()
    data_set = type(small.make(tmp_path / "data"))(tmp_path / "empty")  # type: ignore[call-arg]  # all take it
    with pytest.raises(InvalidInput, match="holds no incidents"):
        data_set.incident_ids()
