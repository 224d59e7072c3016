"""What every test may ask for: the size of large runs, and the public data sets where they are at hand."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

# Derandomised: the same commit has the same outcome everywhere; `make proof` looks ten times further.
hypothesis.settings.register_profile(
    "tenth", max_examples=100, derandomize=True, deadline=None, database=None
)
hypothesis.settings.register_profile(
    "whole", max_examples=1000, derandomize=True, deadline=None, database=None
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--proof`, which runs large tests at their full size, and `--rewrite` of the scenarios."""
    parser.addoption("--proof", action="store_true", help="large runs at full size instead of a tenth")
    parser.addoption("--rewrite", action="store_true", help="write what the scenarios expect anew")


def pytest_configure(config: pytest.Config) -> None:
    """Choose how far hypothesis looks."""
    hypothesis.settings.load_profile("whole" if config.getoption("--proof") else "tenth")


@pytest.fixture(scope="session")
def scale(pytestconfig: pytest.Config) -> float:
    """Share of a large run to do: a tenth in `make test`, all of it in `make proof`.

    Use as `for _ in range(round(10_000 * scale))` in a test that is marked `proof`.
    """
    return 1.0 if pytestconfig.getoption("--proof") else 0.1


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder of the public data sets; the test is skipped where there is none, and always in CI."""
    named = os.environ.get("DIAGNOSIS_DATA", "")
    if os.environ.get("CI"):
        pytest.skip("data: public data sets are not used in CI")
    if not named or not Path(named).is_dir():
        pytest.skip("data: DIAGNOSIS_DATA names no folder")
    return Path(named)
