"""A test that did not run for want of a program must not look like one that passed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SKIPS = Path(__file__).parents[2] / "dev" / "skips.py"


def _run(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("def test_it(): pytest.skip('data: no data sets here')", 0),
        ("def test_it(): pytest.skip('program: no make here')", 1),
        ("@pytest.mark.skipif(True, reason='slow')\ndef test_it(): pass", 1),
        ("pytest.importorskip('a_module_that_is_missing')", 1),
        ("def test_it(): pass", 0),
    ],
)
def test_only_missing_data_excuses_a_skip(tmp_path: Path, body: str, code: int) -> None:
    """Continuous integration fails on every other skip, a whole module's too."""
    (tmp_path / "test_sample.py").write_text(f"import pytest\n\n{body}\n", encoding="utf-8")
    # Plugins take longer to load than such a test to run.
    options = ["-q", "--disable-plugin-autoload", "-p", "no:cacheprovider", "--junitxml=report.xml"]
    _run(tmp_path, "-m", "pytest", *options, "test_sample.py")

    ended = _run(tmp_path, SKIPS, "report.xml")

    assert ended.returncode == code, ended.stdout + ended.stderr
