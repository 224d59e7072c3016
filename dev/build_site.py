"""Lays out the pages of the documentation, and builds the site with every link checked."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ROOT / ".build" / "site-pages"
FOLDERS = ("docs", "examples")
NOT_PAGES = ("conformance.toml", "__pycache__")


def main() -> int:
    """Lay out the pages and build the site; returns the exit code of Zensical."""
    shutil.rmtree(PAGES, ignore_errors=True)
    PAGES.mkdir(parents=True)
    for page in (*ROOT.glob("*.md"), ROOT / "LICENSE"):
        shutil.copy(page, PAGES)
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, PAGES / folder, ignore=shutil.ignore_patterns(*NOT_PAGES))
    config = ROOT / ".build" / "site.yml"
    decisions = sorted(page.name for page in (PAGES / "docs" / "decisions").glob("*.md"))
    nav = "".join(f"      - docs/decisions/{name}\n" for name in decisions)
    text = (ROOT / "dev" / "site.yml").read_text(encoding="utf-8")
    text = text.replace("  - Decisions: docs/decisions/\n", f"  - Decisions:\n{nav}").replace(
        "../.build/", ""
    )
    config.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict", "--config-file", str(config)]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
