"""One's own incidents: a copy without the truth, conditions, and one sentence for each mistake."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from tests.support.own_incidents import make_own

from diagnosis_harness.bench.case import Condition
from diagnosis_harness.bench.datasets.own import OwnIncidents
from diagnosis_harness.bench.datasets.truth_file import TRUTH_KEYS, read_truth
from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.kernel.errors import InvalidInput


def settings(folder: Path) -> dict[str, dict[str, object]]:
    """The incident.toml of an exported folder."""
    return tomllib.loads((folder / "incident.toml").read_text(encoding="utf-8"))


def test_a_copy_holds_the_data_and_not_the_truth(tmp_path: Path) -> None:
    """Data byte for byte, settings but for the name, normal operation; neither truth nor hidden files."""
    own = make_own(tmp_path / "ours")
    case = own.export("payments-db-is-full", Condition.AS_PUBLISHED, tmp_path / "out")
    source = tmp_path / "ours" / "payments-db-is-full"
    assert sorted(path.name for path in case.folder.iterdir()) == [
        "alert.json",
        "incident.toml",
        "metrics.csv",
    ]
    assert (case.folder / "metrics.csv").read_bytes() == (source / "metrics.csv").read_bytes()
    assert case.baseline is not None
    assert (case.baseline / "metrics.csv").exists()
    assert settings(case.folder) == {
        "incident": {"zone": "Asia/Shanghai", "onset": "2024-01-01T14:05:00", "name": case.folder.name},
        "baseline": {"folder": f"../{case.baseline.name}"},
        "units": {"latency ms": "ms"},
        "instances": {"payments-7d9f4-x2x": "payments"},
        "files": {"metrics.csv": {"time": "ts", "shift_s": 0.5, "ignore": False}},
    }
    assert case.owners == {"payments-7d9f4-x2x": "payments"}


def test_a_condition_takes_away_or_shifts_what_is_stated(tmp_path: Path) -> None:
    """Nothing stated is neither onset nor alert, in whichever file; a shift moves the stated onset."""
    own = make_own(tmp_path / "ours")
    bare = own.export("payments-db-is-full", Condition.NOTHING, tmp_path / "out").folder
    late = own.export("payments-db-is-full", Condition.ONSET_60_LATE, tmp_path / "out").folder
    assert "onset" not in settings(bare)["incident"]
    assert not (bare / "alert.json").exists()
    assert settings(late)["incident"]["onset"] == "2024-01-01T06:06:00Z"  # 14:05 in Shanghai, and a minute
    assert own.incident_ids(Condition.ONSET_60_LATE) == ("payments-db-is-full",)
    assert own.incident_ids(Condition.HEALTHY_ALERT) == ()


def test_an_alert_takes_the_place_of_the_onset(tmp_path: Path) -> None:
    """On the series that `[alert]` names, two minutes late; alert files go, since they would say another."""
    own = make_own(tmp_path / "ours")
    assert own.incident_ids(Condition.ALERT) == ()  # its alert names no series
    source = tmp_path / "ours" / "payments-db-is-full" / "incident.toml"
    text = source.read_text(encoding="utf-8")
    alert = '[alert]\nentity = "payments"\nsignal = "latency ms"\ndirection = "up"\n'
    source.write_text(text + alert, encoding="utf-8")
    assert own.incident_ids(Condition.ALERT) == ("payments-db-is-full",)
    folder = own.export("payments-db-is-full", Condition.ALERT, tmp_path / "out").folder
    assert "onset" not in settings(folder)["incident"]
    assert settings(folder)["alert"] == {
        "entity": "payments",
        "signal": "latency ms",
        "direction": "up",
        "time": "2024-01-01T06:07:00Z",
    }
    assert not (folder / "alert.json").exists()


def test_normal_operation_is_asked_about_as_a_healthy_window(tmp_path: Path) -> None:
    """Once, however many incidents name it; nothing is stated, and no truth is looked for."""
    own = make_own(tmp_path / "ours")
    other = tmp_path / "ours" / "another"
    other.mkdir()
    (other / "metrics.csv").write_text("a", encoding="utf-8")
    (other / "incident.toml").write_text('[baseline]\nfolder = "../a-quiet-day"\n', encoding="utf-8")
    assert own.incident_ids(Condition.HEALTHY_QUESTION) == ("another",)
    case = own.export("another", Condition.HEALTHY_QUESTION, tmp_path / "out")
    quiet = tmp_path / "ours" / "a-quiet-day" / "metrics.csv"
    assert (case.folder / "metrics.csv").read_bytes() == quiet.read_bytes()
    assert settings(case.folder) == {"incident": {"zone": "UTC", "name": case.folder.name}}
    assert (case.baseline, case.onset_s, case.alert_entity) == (None, None, None)


def test_an_alert_in_a_file_of_another_name_is_an_alert(tmp_path: Path) -> None:
    """Its role says so; with the file goes its table, which would name a file that does not exist."""
    own = make_own(tmp_path / "ours")
    folder = tmp_path / "ours" / "all-was-well"
    (folder / "page.json").write_text('{"entity": "web"}', encoding="utf-8")
    (folder / "incident.toml").write_text('[files."page.json"]\nrole = "alert"\n', encoding="utf-8")
    file = own.export("all-was-well", Condition.AS_PUBLISHED, tmp_path / "out").folder
    bare = own.export("all-was-well", Condition.NOTHING, tmp_path / "out").folder
    assert settings(file)["files"] == {"page.json": {"role": "alert"}}
    assert (file / "page.json").exists()
    assert "files" not in settings(bare)
    assert not (bare / "page.json").exists()


def test_normal_operation_is_not_an_incident(tmp_path: Path) -> None:
    """A folder that an incident names as its baseline is not asked about."""
    own = make_own(tmp_path / "ours")
    assert own.incident_ids() == ("all-was-well", "payments-db-is-full")


def test_the_truth_is_read_key_by_key(tmp_path: Path) -> None:
    """Every key of the page arrives where the scorer looks for it."""
    truths = make_own(tmp_path / "ours").labels(["payments-db-is-full", "all-was-well"])
    full = truths["payments-db-is-full"]
    assert full.entities == ("payments-db",)
    assert (full.fault_kind, full.region, full.level) == ("pool", "reports", "EXPLAINED")
    assert full.kinds == {"LATENCY"}
    assert (full.trigger, full.decoys) == (("v2.14.0",), ("v7.0.1",))
    assert (full.scope, full.decoy_entities) == (("payments",), ("reports",))
    assert full.mechanism == (("pool", "connections"), ("exhausted",))
    assert full.forbidden == ("dns",)
    assert truths["all-was-well"].entities == ()
    assert truths["all-was-well"].usable


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, r"truth\.toml: it is not there; write one"),
        ("", "it names neither"),
        ("entities = []", "it names neither"),
        ('entities = [""]', r"`entities\.0` is not usable"),
        ('entity = "a"', "`entity` is no key of it"),
        ('entities = ["a"]\nnothing_wrong = true', "says that nothing was wrong"),
        ('entities = ["a"]\ntrigger = ["b"]\nwithout_trigger = true', "says that there was none"),
        ('entities = ["a"]\nkinds = ["DISK"]', "`kinds` holds DISK, which is none of CPU"),
        ("entities = [", "it is not valid TOML"),
    ],
)
def test_a_mistake_in_a_truth_is_one_sentence(tmp_path: Path, text: str | None, sentence: str) -> None:
    """The incident is unusable, and its neighbours are scored."""
    own = make_own(tmp_path / "ours")
    path = tmp_path / "ours" / "payments-db-is-full" / "truth.toml"
    path.unlink()
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=sentence):
        read_truth(path)
    truths = own.labels(own.incident_ids())
    assert truths["payments-db-is-full"].unusable.count("\n") == 0
    assert not truths["payments-db-is-full"].usable
    assert truths["all-was-well"].usable


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({}, "holds no data"),
        ({"truth.toml": 'entities = ["a"]'}, "holds no data"),
        ({"metrics.csv": "a", "incident.toml": "[incident"}, "it is not valid TOML"),
        ({"metrics.csv": "a", "incident.toml": '[baseline]\nfolder = "../gone"'}, "does not exist"),
        ({"metrics.csv": "a", "incident.toml": '[incident]\nonset = "noon"'}, "is not understood"),
    ],
)
def test_a_half_written_folder_is_one_sentence(tmp_path: Path, files: dict[str, str], sentence: str) -> None:
    """It is said where that incident is exported; the list and the other incidents stand."""
    own = make_own(tmp_path / "ours")
    half = tmp_path / "ours" / "half"
    half.mkdir()
    for name, text in files.items():
        (half / name).write_text(text, encoding="utf-8")
    assert own.incident_ids() == ("all-was-well", "half", "payments-db-is-full")
    with pytest.raises(InvalidInput, match=sentence):
        own.export("half", Condition.AS_PUBLISHED, tmp_path / "out")
    own.export("all-was-well", Condition.AS_PUBLISHED, tmp_path / "out")


def test_a_link_out_of_the_folder_is_left_behind(tmp_path: Path) -> None:
    """A copy holds what is in the folder."""
    own = make_own(tmp_path / "ours")
    (tmp_path / "ours" / "all-was-well" / "logs.csv").symlink_to(tmp_path / "elsewhere.csv")
    case = own.export("all-was-well", Condition.AS_PUBLISHED, tmp_path / "out")
    assert not (case.folder / "logs.csv").exists()


def test_an_empty_folder_is_one_sentence(tmp_path: Path) -> None:
    """And so is one that does not exist."""
    with pytest.raises(InvalidInput, match="holds no incidents"):
        OwnIncidents(tmp_path).incident_ids()
    with pytest.raises(InvalidInput, match="cannot be read"):
        OwnIncidents(tmp_path / "nowhere").incident_ids()


def test_the_page_names_every_key_and_kind() -> None:
    """docs/reference/truth.md is the form."""
    page = (Path(__file__).parents[3] / "docs" / "reference" / "truth.md").read_text(encoding="utf-8")
    assert [name for name in TRUTH_KEYS if f"\n{name} = " not in page] == []
    assert [kind.value for kind in FaultKind if f"`{kind.value}`" not in page] == []


def test_tables_inside_of_tables_come_through(tmp_path: Path) -> None:
    """Whatever `incident.toml` may hold is in the copy, with the same values."""
    own = make_own(tmp_path / "ours")
    source = tmp_path / "ours" / "payments-db-is-full"
    written = source / "incident.toml"
    more = """
[signals."jobs_*"]
kind = "queue"
harmful = "up"
[aliases]
payments = ["支付", "pay \\"ments\\""]
limits = { low = -inf, high = 1e3, since = 2024-01-01T00:00:00Z }
"""
    written.write_text(written.read_text(encoding="utf-8") + more, encoding="utf-8")
    case = own.export("payments-db-is-full", Condition.AS_PUBLISHED, tmp_path / "out")
    before, after = tomllib.loads(written.read_text(encoding="utf-8")), settings(case.folder)
    assert {key: after[key] for key in ("signals", "aliases")} == {
        key: before[key] for key in ("signals", "aliases")
    }


def test_no_copy_of_the_truth_reaches_a_run(tmp_path: Path) -> None:
    """Neither a backup of it nor one that is written in capitals."""
    own = make_own(tmp_path / "ours")
    source = tmp_path / "ours" / "payments-db-is-full"
    for name in ("Truth.TOML", "truth.toml.bak", "truth.toml~"):
        (source / name).write_text("", encoding="utf-8")
    case = own.export("payments-db-is-full", Condition.AS_PUBLISHED, tmp_path / "out")
    assert not [path.name for path in case.folder.iterdir() if path.name.casefold().startswith("truth")]


def test_normal_operation_with_a_truth_is_an_incident_too(tmp_path: Path) -> None:
    """An incident is never left out without a sentence."""
    own = make_own(tmp_path / "ours")
    normal = own._baseline_of(tmp_path / "ours" / "payments-db-is-full")
    assert normal is not None
    assert normal.name not in own.incident_ids()
    (normal / "truth.toml").write_text("", encoding="utf-8")
    assert normal.name in own.incident_ids()


@pytest.mark.parametrize("onset", ["inf", "nan", "1e30", "'2024-01-01T00:00:00'\nzone = 'Europe'"])
def test_an_invalid_time_is_one_sentence(tmp_path: Path, onset: str) -> None:
    """As the whole bench would otherwise end with it."""
    own = make_own(tmp_path / "ours")
    written = tmp_path / "ours" / "payments-db-is-full" / "incident.toml"
    written.write_text(f"[incident]\nonset = {onset}\n", encoding="utf-8")
    own.incident_ids(Condition.ONSET_60_LATE)
    with pytest.raises(InvalidInput, match=r"is none|not understood"):
        own.export("payments-db-is-full", Condition.AS_PUBLISHED, tmp_path / "out")
