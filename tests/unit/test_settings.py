"""Settings: the shipped file, over it a file of one's own, over that the environment; clients try once."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path

import pytest
from pydantic import ValidationError

from diagnosis_harness.harness.retry_policy import RETRYABLE
from diagnosis_harness.kernel.errors import InvalidSetting
from diagnosis_harness.settings import load_settings


@pytest.fixture
def own_file(tmp_path: Path) -> Path:
    """A settings file to write into."""
    return tmp_path / "settings.toml"


def test_the_shipped_configuration_lets_clients_try_once() -> None:
    """The file itself, parsed as it is shipped, and what is loaded from it: attempts, not retries."""
    shipped = tomllib.loads(files("diagnosis_harness").joinpath("settings.toml").read_text(encoding="utf-8"))
    assert shipped["client"]["max_attempts"] == 1
    assert load_settings().client.max_attempts == 1


@pytest.mark.parametrize("attempts", ["0", "2", "3", "10", "-1", "true", '"many"', "1.5"])
def test_any_other_number_of_client_attempts_is_refused_at_load(own_file: Path, attempts: str) -> None:
    """From a file, in one sentence that names the file and the key."""
    own_file.write_text(f"[client]\nmax_attempts = {attempts}\n", encoding="utf-8")
    with pytest.raises(InvalidSetting, match=r"client\.max_attempts") as refused:
        load_settings(own_file)
    assert refused.value.place.startswith(str(own_file))


def test_client_attempts_cannot_be_raised_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment wins over files, and meets the same refusal."""
    monkeypatch.setenv("DIAGNOSE_CLIENT__MAX_ATTEMPTS", "3")
    with pytest.raises(InvalidSetting, match=r"client\.max_attempts"):
        load_settings()


def test_values_of_a_file_win_over_the_shipped_ones_key_by_key(own_file: Path) -> None:
    """What the file does not name stays as shipped, also inside a table that it names."""
    own_file.write_text("[limits]\nllm_calls = 7\n", encoding="utf-8")
    shipped, own = load_settings(), load_settings(own_file)
    assert own.limits.llm_calls == 7
    assert own.limits.tool_calls == shipped.limits.tool_calls
    assert own.run == shipped.run


def test_the_environment_wins_over_a_file(own_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Key by key as well."""
    own_file.write_text("[run]\ntimeout_s = 30\nparallel_tools = 2\n", encoding="utf-8")
    monkeypatch.setenv("DIAGNOSE_RUN__TIMEOUT_S", "45.5")
    run = load_settings(own_file).run
    assert (run.timeout_s, run.parallel_tools) == (45.5, 2)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[limits]\nllm_calls = 0", r"limits\.llm_calls: 0 is refused"),
        ("[limits]\nllm_calls = true", "true or false"),
        ("[run]\ntimeout_s = nan", "nan is refused"),
        ("[run]\ntimeout_s = -1", "greater than 0"),
        ("[run]\ntimeout = 3", "unknown key"),
        ("[speed]\nfast = true", "unknown key"),
        ("run = 3", r"run: 3 is refused"),
        ("no toml at all", "is not TOML"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(own_file: Path, text: str, says: str) -> None:
    """Place, problem, remedy."""
    own_file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidSetting, match=says) as refused:
        load_settings(own_file)
    assert "\n" not in str(refused.value)


def test_a_missing_file_is_refused(own_file: Path) -> None:
    """Naming a file that is not there is a mistake, not a wish for defaults."""
    with pytest.raises(InvalidSetting, match="cannot be read"):
        load_settings(own_file)


def test_settings_are_frozen() -> None:
    """Read once, then the same for everybody."""
    settings = load_settings()
    with pytest.raises(ValidationError):
        settings.run = settings.run  # type: ignore[misc]  # the refusal is what is tested
    with pytest.raises(ValidationError):
        settings.run.timeout_s = 1.0  # type: ignore[misc]  # the refusal is what is tested


def test_limits_and_retry_policies_are_built_from_the_settings() -> None:
    """As the core takes them."""
    settings = load_settings()
    assert settings.budget_limits().llm_calls == settings.limits.llm_calls
    policies = settings.retry_policies()
    assert (policies.router.attempts_max, policies.router.delay_s) == (2, settings.retry.delay_s)
    assert policies.semantic_guard.retry_on == RETRYABLE
    assert policies.tool.attempts_max == 1


def test_a_list_in_the_environment_that_is_not_json_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the table and the form to write."""
    monkeypatch.setenv("DIAGNOSE_ACCESS__OPERATOR", "rank_causes")
    with pytest.raises(InvalidSetting) as refused:
        load_settings()
    assert refused.value.place == "DIAGNOSE_ACCESS…"
    assert '["a", "b"]' in refused.value.remedy
