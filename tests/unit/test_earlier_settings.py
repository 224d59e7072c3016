"""Names that settings had earlier are read, and one sentence in the log says what to write today."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from diagnosis_harness.kernel.errors import InvalidSetting
from diagnosis_harness.settings import load_settings


def test_a_file_with_the_earlier_names_is_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Each key gets its value, the rest stays as shipped, and the log says once what to write."""
    file = tmp_path / "settings.toml"
    file.write_text("[care]\nbeat_s = 3\nlook_s = 1\nredeliver_after_s = 30\ndrain_s = 5\n", encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        supervision = load_settings(file).supervision
        load_settings(file)
    assert (supervision.heartbeat_s, supervision.poll_s, supervision.requeue_after_s) == (3, 1, 30)
    assert (supervision.drain_s, supervision.dead_after_s) == (5, load_settings().supervision.dead_after_s)
    (record,) = caplog.records
    assert record.getMessage() == (
        f"{file}, [care] is an earlier name that a later version will not read; write [supervision]"
        " (beat_s is now heartbeat_s, look_s is now poll_s, redeliver_after_s is now requeue_after_s)"
    )


def test_a_key_under_both_names_has_the_value_of_the_name_of_today(tmp_path: Path) -> None:
    """In a file and in the environment."""
    file = tmp_path / "settings.toml"
    file.write_text("[care]\nbeat_s = 3\ndrain_s = 5\n[supervision]\nheartbeat_s = 4\n", encoding="utf-8")
    supervision = load_settings(file).supervision
    assert (supervision.heartbeat_s, supervision.drain_s) == (4, 5)
    file.write_text("[care]\nheartbeat_s = 4\nbeat_s = 3\n", encoding="utf-8")
    assert load_settings(file).supervision.heartbeat_s == 4


def test_json_of_the_name_of_today_wins_over_an_earlier_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable for one key wins over JSON, so the earlier one is left out."""
    monkeypatch.setenv("DIAGNOSE_CARE__BEAT_S", "3")
    monkeypatch.setenv("DIAGNOSE_CARE__LOOK_S", "2")
    monkeypatch.setenv("DIAGNOSE_SUPERVISION", '{"heartbeat_s": 9}')
    supervision = load_settings().supervision
    assert (supervision.heartbeat_s, supervision.poll_s) == (9, 2)


def test_variables_with_the_earlier_names_win_over_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One for each key, or one with JSON; a variable with the name of today wins over both."""
    file = tmp_path / "settings.toml"
    file.write_text("[supervision]\nheartbeat_s = 9\npoll_s = 9\ndrain_s = 9\n", encoding="utf-8")
    monkeypatch.setenv("DIAGNOSE_CARE__BEAT_S", "3")
    monkeypatch.setenv("DIAGNOSE_CARE", '{"look_s": 2}')
    monkeypatch.setenv("DIAGNOSE_CARE__DRAIN_S", "5")
    monkeypatch.setenv("DIAGNOSE_SUPERVISION__DRAIN_S", "6")
    with caplog.at_level(logging.WARNING):
        supervision = load_settings(file).supervision
    assert (supervision.heartbeat_s, supervision.poll_s, supervision.drain_s) == (3, 2, 6)
    assert all("write DIAGNOSE_SUPERVISION" in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize(
    "text", ["care = 3", "[care]\nbeat_s = 0", "[care]\nspeed = 1", "care = 3\n[supervision]"]
)
def test_a_wrong_value_under_an_earlier_name_is_refused(tmp_path: Path, text: str) -> None:
    """The same checks as under the name of today."""
    file = tmp_path / "settings.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidSetting, match="supervision"):
        load_settings(file)


def test_json_that_is_none_in_an_earlier_variable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a variable with the name of today."""
    monkeypatch.setenv("DIAGNOSE_CARE", "{")
    with pytest.raises(InvalidSetting, match="not valid JSON"):
        load_settings()
